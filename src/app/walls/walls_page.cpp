// SPDX-License-Identifier: BSD-3-Clause
// Moving walls on the page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/output/curve_chart.hpp"
#include "app/output/page_values.hpp"
#include "app/walls/walls_job.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

Curve curve_of(const Json& values) {
  Curve all;
  for (const Json& v : values) all.push_back(v.is_null() ? NAN : v.get<double>());
  return all;
}

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

std::string chart(const std::string& title, const std::string& x_label, const Curve& x, const std::string& y_label,
                  const std::vector<NamedCurve>& curves, const std::string& note) {
  CurveChart chart(title, x_label, y_label, x);
  std::vector<Curve> all;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    chart.add(curves.size() > 1 ? curves[i].name : "", i, curves[i].y);
    all.push_back(curves[i].y);
  }
  return chart.html(note, step_for(all));
}

std::vector<NamedCurve> permeabilities(const Json& history) {
  std::vector<NamedCurve> curves;
  for (int d = 0; d < 3; ++d) {
    NamedCurve c{fmt::format("along {}", axis_names[d]), {}};
    for (const Json& k : history.at("permeability_m2")) c.y.push_back(k.at(d).is_null() ? NAN : k.at(d).get<double>());
    if (std::ranges::any_of(c.y, [](double y) { return std::isfinite(y); })) curves.push_back(std::move(c));
  }
  return curves;
}

std::vector<std::string> charts(const Json& walls) {
  const Json& history = walls.at("history");
  const Curve time = curve_of(history.at("time_s")), porosity = curve_of(history.at("porosity"));
  std::vector<std::string> all;
  const auto add = [&](std::string card) {
    if (!card.empty()) all.push_back(std::move(card));
  };
  const std::vector<NamedCurve> k = permeabilities(history);
  if (!k.empty()) {
    add(chart("Permeability", "time [s]", time, "permeability [m²]", k, "Every step is in evolution.csv."));
    add(chart("Permeability against porosity", "porosity", porosity, "permeability [m²]", k, ""));
  }
  add(chart("Porosity", "time [s]", time, "porosity", {{"", porosity}}, ""));
  std::vector<NamedCurve> rates, areas;
  for (const Json& m : history.at("minerals")) {
    const Curve rate = curve_of(m.at("rate_mol_m2_s"));
    if (std::ranges::any_of(rate, [](double y) { return std::isfinite(y); })) rates.push_back({name_of(m), rate});
    areas.push_back({name_of(m), curve_of(m.at("area_m2"))});
  }
  if (!rates.empty())
    add(chart("Rate of dissolution", "time [s]", time, "mol/m²/s", rates, "Per area of the wall of the mineral."));
  add(chart("Area of the walls", "time [s]", time, "m²", areas, ""));
  return all;
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
    if (!was.at("moves").get<bool>()) continue;
    row(name + ", rate [mol/m²/s]", was.at("rate_mol_m2_s"), is.at("rate_mol_m2_s"), 4);
    row(name + ", dissolved [m³]", was.at("dissolved_m3"), is.at("dissolved_m3"), 5);
    row(name + ", dissolved [mol]", was.at("dissolved_mol"), is.at("dissolved_mol"), 5);
  }
  row("dissolved, and walls yet to be moved [m³]", first.at("owed_m3"), last.at("owed_m3"), 2);
  std::string note = fmt::format("{} steps.", walls.at("steps").get<std::int64_t>());
  if (const auto reason = walls.at("ended_by").get<std::string>(); !reason.empty())
    note += " Ended before time.end: " + escape_html(reason) + '.';
  return card("Moving walls: numbers", html_table(rows), note);
}

}  // namespace

PagePart walls_page(const Json& summary, const Figures&) {
  PagePart part;
  if (!summary.contains("walls")) return part;
  const Json& walls = summary.at("walls");
  part.tiles.push_back({"Porosity at the end", number_or_dash(walls.at("last").at("porosity"), 4),
                        fmt::format("{} at the beginning", number_or_dash(walls.at("first").at("porosity"), 4))});
  part.cards = charts(walls);
  part.cards.push_back(numbers_card(walls));
  return part;
}

}  // namespace karst
