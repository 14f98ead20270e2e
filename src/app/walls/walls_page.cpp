// SPDX-License-Identifier: BSD-3-Clause
// Moving walls on the page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/output/curve_chart.hpp"
#include "app/output/page_values.hpp"
#include "app/walls/walls_job.hpp"
#include "app/walls/walls_process.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"
#include "page/page_text.hpp"
#include "page/plane_picture.hpp"

namespace karst {

namespace {

/// About ten parts of what a chart shows.
double step_for(const std::vector<Curve>& curves) {
  double low = INFINITY, high = -INFINITY;
  for (const Curve& curve : curves)
    for (const double y : curve)
      if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
  if (!(high > low)) return high != 0.0 && std::isfinite(high) ? std::abs(high) : 1.0;
  return std::pow(10.0, std::floor(std::log10(high - low)));
}

struct NamedCurve {
  std::string name;
  Curve y;
};

/// Over more than two decades, all of one sign.
bool wants_logarithm(const std::vector<NamedCurve>& curves) {
  double least = INFINITY, largest = 0.0;
  for (const NamedCurve& curve : curves)
    for (const double y : curve.y) {
      if (y <= 0.0) return false;
      if (std::isfinite(y)) least = std::min(least, y), largest = std::max(largest, y);
    }
  return largest > 100.0 * least;
}

/// Along x: the time, from 0, or the porosity, which may also go down.
struct Along {
  std::string label;
  Curve x;
  bool from_zero = true;
};

std::string chart(const std::string& title, const Along& along, const std::string& y_label,
                  const std::vector<NamedCurve>& curves, const std::string& note) {
  CurveChart chart(title, along.label, y_label, along.x);
  if (!along.from_zero) chart.fit_x(step_for({along.x}));
  const bool logarithmic = wants_logarithm(curves);
  if (logarithmic) chart.logarithmic_y();
  std::vector<Curve> all;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    all.push_back(logarithmic ? log10_of(curves[i].y, 0.0) : curves[i].y);
    chart.add(curves.size() > 1 ? curves[i].name : "", i, all.back());
  }
  return chart.html(note, logarithmic ? 1.0 : step_for(all));
}

bool has_numbers(const Curve& curve) {
  return std::ranges::any_of(curve, [](double y) { return std::isfinite(y); });
}

std::vector<NamedCurve> permeabilities(const Json& history) {
  std::vector<NamedCurve> curves;
  for (int d = 0; d < 3; ++d) {
    NamedCurve c{fmt::format("along {}", axis_names[d]), {}};
    for (const Json& k : history.at("permeability_m2")) c.y.push_back(k.at(d).is_null() ? NAN : k.at(d).get<double>());
    if (has_numbers(c.y)) curves.push_back(std::move(c));
  }
  return curves;
}

std::vector<std::string> charts(const Json& walls) {
  const Json& history = walls.at("history");
  const Along time{"time [s]", curve_of(history.at("time_s"))};
  const Along porosity{"porosity", curve_of(history.at("porosity")), false};
  std::vector<std::string> all;
  const auto add = [&](std::string card) {
    if (!card.empty()) all.push_back(std::move(card));
  };
  const std::vector<NamedCurve> k = permeabilities(history);
  if (!k.empty()) {
    add(chart("Permeability", time, "permeability [m²]", k, "Every step is in evolution.csv."));
    add(chart("Permeability against porosity", porosity, "permeability [m²]", k, ""));
  }
  add(chart("Porosity", time, "porosity", {{"", porosity.x}}, ""));
  std::vector<NamedCurve> rates, areas, volumes;
  for (const Json& m : history.at("minerals")) {
    const Curve rate = curve_of(m.at("rate_mol_m2_s")), volume = curve_of(m.at("volume_m3"));
    if (has_numbers(rate)) rates.push_back({name_of(m), rate});
    if (has_numbers(volume)) volumes.push_back({name_of(m), volume});
    areas.push_back({name_of(m), curve_of(m.at("area_m2"))});
  }
  if (!rates.empty()) {
    const std::string note = "Effective rate: per area of the wall of the mineral.";
    add(chart("Rate of dissolution", time, "mol/m²/s", rates, note));
    add(chart("Rate of dissolution against porosity", porosity, "mol/m²/s", rates, note));
  }
  add(chart("Area of the walls", time, "m²", areas, ""));
  if (volumes.size() > 1) add(chart("Volume of the minerals", time, "m³", volumes, ""));
  return all;
}

/// Length, unit said once: "(1, 2, 3) mm"; a dash where there is none.
std::string place_text(const Json& place) {
  Vec3 at;
  double largest = 0.0;
  for (int d = 0; d < 3; ++d) {
    if (place.at(d).is_null()) return "–";
    at[d] = place.at(d).get<double>();
    largest = std::max(largest, std::abs(at[d]));
  }
  const ScaledUnit unit = scaled_unit(largest, "m");
  return triple_text((1.0 / unit.factor) * at, 4) + ' ' + unit.name;
}

std::string events_card(const Json& walls) {
  const Json& events = walls.at("events");
  std::vector<std::vector<std::string>> rows{{"time", "what", "volume [m³]", "place (x, y, z)"}};
  for (const Json& event : events.at("largest"))
    rows.push_back({format_si(number(event, "time_s"), "s"), html_of(event.at("what")),
                    number_or_dash(event.at("volume_m3"), 3), place_text(event.at("position_m"))});
  if (rows.size() == 1) return "";
  std::string note = "All are in wall_events.csv. Volume and place are those of the smaller part.";
  if (const auto small = events.at("of_parts_below_a_cell").get<std::int64_t>(); small > 0)
    note += fmt::format(" {} events of parts smaller than a cell are left out.", small);
  return card("Pores and grains: events", html_table(rows), note);
}

std::string fragments_card(const Json& walls) {
  std::vector<std::vector<std::string>> rows{{"place (x, y, z)", "volume [m³]", "loose since"}};
  bool came_loose = false;
  for (const Json& fragment : walls.at("fragments")) {
    const Json& since = fragment.at("loose_since_s");
    came_loose = came_loose || !since.is_null();
    rows.push_back({place_text(fragment.at("position_m")), number_or_dash(fragment.at("volume_m3"), 4),
                    since.is_null() ? "the beginning" : format_si(since.get<double>(), "s")});
  }
  if (!came_loose) return "";
  return card("Solid that holds on to nothing", html_table(rows),
              "At the end. These fragments stay where they are: neither flow nor weight moves them (walls.fragments).");
}

std::string numbers_card(const Json& walls) {
  std::vector<std::vector<std::string>> rows{{"", "at the beginning", "at the end"}};
  const Json &first = walls.at("first"), &last = walls.at("last");
  const auto row = [&](const std::string& label, const Json& was, const Json& is, int digits) {
    rows.push_back({escape_html(label), number_or_dash(was, digits), number_or_dash(is, digits)});
  };
  row("porosity", first.at("porosity"), last.at("porosity"), 5);
  row("specific surface [1/m]", first.at("specific_surface_per_m"), last.at("specific_surface_per_m"), 4);
  for (int d = 0; d < 3; ++d)
    if (const Json& k = first.at("permeability_m2").at(d); !k.is_null())
      row(fmt::format("permeability along {} [m²]", axis_names[d]), k, last.at("permeability_m2").at(d), 4);
  for (std::size_t m = 0; m < first.at("minerals").size(); ++m) {
    const Json &was = first.at("minerals").at(m), &is = last.at("minerals").at(m);
    const std::string name = name_of(was);
    row("wall of " + name + " [m²]", was.at("area_m2"), is.at("area_m2"), 4);
    row(name + ", volume [m³]", was.at("volume_m3"), is.at("volume_m3"), 5);
    if (!was.at("moves").get<bool>()) continue;
    row(name + ", rate [mol/m²/s]", was.at("rate_mol_m2_s"), is.at("rate_mol_m2_s"), 4);
    row(name + ", dissolved [m³]", was.at("dissolved_m3"), is.at("dissolved_m3"), 5);
    row(name + ", dissolved [mol]", was.at("dissolved_mol"), is.at("dissolved_mol"), 5);
    if (!is.contains("carried_away_m3") || !(number(is, "carried_away_m3") > 0.0)) continue;
    row(name + ", carried away as solid [m³]", was.at("carried_away_m3"), is.at("carried_away_m3"), 5);
    row(name + ", carried away as solid [mol]", was.at("carried_away_mol"), is.at("carried_away_mol"), 5);
  }
  row("dissolved, and walls yet to be moved [m³]", first.at("owed_m3"), last.at("owed_m3"), 2);
  std::string note = fmt::format("{} steps.", walls.at("steps").get<std::int64_t>());
  if (const auto reason = walls.at("ended_by").get<std::string>(); !reason.empty())
    note += " Ended before time.end: " + escape_html(reason) + '.';
  return card("Moving walls: numbers", html_table(rows), note);
}

}  // namespace

PagePart walls_page(const Json& summary, const Figures& figures) {
  PagePart part;
  if (!summary.contains("walls")) return part;
  const Json& walls = summary.at("walls");
  part.tiles.push_back({"Porosity at the end", number_or_dash(walls.at("last").at("porosity"), 4),
                        fmt::format("{} at the beginning", number_or_dash(walls.at("first").at("porosity"), 4))});
  part.cards = wall_picture_cards(summary, figures);
  part.cards.push_back(pairs_html(charts(walls)));
  part.cards.push_back(numbers_card(walls));
  part.cards.push_back(events_card(walls));
  part.cards.push_back(fragments_card(walls));
  return part;
}

}  // namespace karst
