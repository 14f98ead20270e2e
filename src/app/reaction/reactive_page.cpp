// SPDX-License-Identifier: BSD-3-Clause
// Chemistry of transport in time on the page: charts over the time, pictures of pH and saturation, numbers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/output/curve_chart.hpp"
#include "app/output/field_view.hpp"
#include "app/output/page_values.hpp"
#include "app/reaction/reactive_run.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

constexpr double highest_ratio = 3.0;       ///< near equilibrium both rates go to 0
constexpr double decades = 6.0;             ///< of rates on one chart, at most
constexpr double least_imbalance = 1e-17;   ///< below round-off
constexpr double narrowest_picture = 1e-3;  ///< range of values that is more than the accuracy of a speciation

std::string ph_chart(const Json& transport, const Json& history) {
  CurveChart chart(transport, history, "pH", "pH");
  chart.add("outlet", 0, curve_of(history.at("pH_outlet")));
  chart.add("mean composition", 1, curve_of(history.at("pH_mean")), dashes);
  return chart.html(
      "Of the mixed outflow (flux-weighted mean of each total), and of the mean of each total over the fluid. Every "
      "step is in chemistry.csv.",
      0.5);
}

std::string saturation_chart(const Json& transport, const Json& chemistry) {
  const Json& history = chemistry.at("history");
  CurveChart chart(transport, history, "Saturation index", "log₁₀ Ω");
  for (std::size_t m = 0; m < chemistry.at("minerals").size(); ++m) {
    const std::string name = name_of(chemistry.at("minerals").at(m));
    chart.add(name, m, curve_of(history.at("saturation_index_outlet").at(m)));
    chart.add(chemistry.at("minerals").size() < 3 ? name + ", mean composition" : "", m,
              curve_of(history.at("saturation_index_mean").at(m)), dashes);
  }
  const bool outlet = !chemistry.at("pH_outlet").is_null();
  return chart.html(
      std::string(outlet ? "At the outlet, dashed: of the mean composition." : "Of the mean composition.") +
          " Below 0 a mineral dissolves.",
      0.5, lowest_index);
}

/// A curve per probe.
/// @param field  place among those of the history of a probe
std::string probe_chart(const Json& transport, const Json& chemistry, std::size_t field, const std::string& title,
                        const std::string& label) {
  const Json &history = chemistry.at("history"), &probes = chemistry.at("probes");
  CurveChart chart(transport, history, title + " at probes", label);
  for (std::size_t p = 0; p < probes.size(); ++p)
    chart.add(name_of(probes.at(p)), p, curve_of(history.at(fmt::format("probe_{}", p)).at(field)));
  return chart.html("Every step is in chemistry.csv.", 0.5, lowest_index);
}

/// Values of one sign by their logarithm; a curve ends where that of the other sign begins.
void add_of_sign(CurveChart& chart, std::string name, std::size_t colour, const Curve& y, double sign,
                 const char* dash) {
  const Curve all = log10_of(y, 0.0);
  for (std::size_t begin = 0; begin < y.size();) {
    Curve part(y.size(), NAN);
    std::size_t end = begin;
    for (; end < y.size() && std::isfinite(y[end]) && sign * y[end] > 0.0; ++end) part[end] = all[end];
    if (end > begin) {
      chart.add(name, colour, part, dash);
      name.clear();  // once in the legend
    }
    begin = end + 1;
  }
}

/// @param sign  1: of minerals while they dissolve, -1: while they precipitate
std::string rate_chart(const Json& transport, const Json& chemistry, double sign) {
  const Json& history = chemistry.at("history");
  CurveChart chart(transport, history, sign > 0.0 ? "Rates of dissolution" : "Rates of precipitation", "rate [mol/s]");
  chart.logarithmic_y();
  for (std::size_t m = 0; m < chemistry.at("minerals").size(); ++m) {
    const std::string name = name_of(chemistry.at("minerals").at(m));
    Curve mixed = curve_of(history.at("well_mixed_rate_mol_s").at(m));
    if (!mixed.empty()) mixed[0] = NAN;  // nothing has reacted yet
    add_of_sign(chart, name, m, curve_of(history.at("rate_mol_s").at(m)), sign, "");
    add_of_sign(chart, chemistry.at("minerals").size() < 3 ? name + ", well-mixed" : "", m, mixed, sign, dashes);
  }
  return chart.html("Dashed: for the mean composition on the whole surface, as in a well-mixed fluid.", 1.0,
                    chart.highest() - decades);
}

std::string ratio_chart(const Json& transport, const Json& chemistry) {
  const Json& history = chemistry.at("history");
  CurveChart chart(transport, history, "Rate over the well-mixed rate", "ratio");
  chart.hold(0.0);
  for (std::size_t m = 0; m < chemistry.at("minerals").size(); ++m) {
    Curve rate = curve_of(history.at("rate_mol_s").at(m));
    const Curve mixed = curve_of(history.at("well_mixed_rate_mol_s").at(m));
    if (mixed.size() != rate.size())
      throw JsonError(fmt::format("history: {} well mixed rates, {} rates", mixed.size(), rate.size()));
    for (std::size_t i = 0; i < rate.size(); ++i) rate[i] = mixed[i] != 0.0 ? rate[i] / mixed[i] : NAN;
    chart.add(name_of(chemistry.at("minerals").at(m)), m, rate);
  }
  return chart.html(
      "1: a model of the mean composition is exact; below 1 the water at the wall is closer to equilibrium than the "
      "mean.",
      0.2, -highest_ratio, highest_ratio);
}

std::string balance_chart(const Json& transport, const Json& chemistry) {
  const Json& history = chemistry.at("history");
  CurveChart chart(transport, history, "Imbalance of a step, relative", "imbalance");
  chart.logarithmic_y();
  const auto add = [&](const std::string& name, std::size_t i, Curve y) {
    if (!y.empty()) y[0] = NAN;  // no step yet
    chart.add(name, i, log10_of(y, least_imbalance));
  };
  const Json& elements = chemistry.at("elements");
  for (std::size_t p = 0; p < elements.size(); ++p)
    add(name_of(elements.at(p)), p, curve_of(history.at("imbalance").at(p)));
  add("charge", elements.size(), curve_of(history.at("charge_imbalance")));
  return chart.html(
      "Gain or loss of each element and of charge in a step, relative to the amount that moved, reacted or was "
      "present.",
      1.0, std::log10(least_imbalance));
}

/// The solutions side by side; empty where the summary has but their charge.
std::string waters_card(const Json& chemistry) {
  const Json& solutions = chemistry.at("solutions");
  if (std::ranges::none_of(solutions, [](const Json& s) { return s.contains("pH"); })) return "";
  ColumnTable table;
  for (const Json& s : solutions) table.add_column(escape_html(name_of(s)), s);
  table.row("use", [](const Json& s) { return html_of(s.at("use")); });
  const auto row = [&](const char* name, const char* key, int digits) {
    if (std::ranges::any_of(solutions, [&](const Json& s) { return !s.at(key).is_null(); }))
      table.row(name, [&](const Json& s) { return number_or_dash(s.at(key), digits); });
  };
  row("pH", "pH", 4);
  row("ionic strength [mol/kgw]", "ionic_strength_mol_kgw", 4);
  const auto or_zero = [](const Json& value, double least, int digits) {
    return value.is_number() && std::abs(value.get<double>()) < least ? "0" : number_or_dash(value, digits);
  };
  table.row("charge error [% of the ions]",
            [&](const Json& s) { return or_zero(s.at("charge_error_percent"), 1e-6, 2); });
  row("alkalinity [eq/kgw]", "alkalinity_eq_kgw", 4);
  row("dissolved inorganic carbon [mol/kgw]", "inorganic_carbon_mol_kgw", 4);
  const Json& minerals = chemistry.at("minerals");
  for (std::size_t m = 0; m < minerals.size(); ++m)
    table.row("saturation index of " + escape_html(name_of(minerals.at(m))),
              [&](const Json& s) { return or_zero(s.at("minerals").at(m).at("saturation_index"), 5e-5, 3); });
  return card("Solutions", table.html(),
              "As the deck describes them. –: a solution without the carbon, or without one of the elements of the "
              "mineral.");
}

std::string minerals_card(const Json& minerals) {
  ColumnTable table;
  for (const Json& m : minerals) table.add_column(escape_html(name_of(m)), m);
  const auto row = [&](const char* name, const char* key, int digits = 4) {
    table.row(name, [&](const Json& m) { return number_or_dash(m.at(key), digits); });
  };
  row("area [m²]", "area_m2");
  row("rate of dissolution at the end [mol/s]", "rate_mol_s");
  row("  per area [mol/m²/s]", "rate_mol_m2_s");
  row("  well-mixed [mol/s]", "well_mixed_rate_mol_s");
  row("  over that of a well-mixed fluid", "ratio_to_well_mixed");
  row("saturation index at the outlet", "saturation_index_outlet");
  row("  of the mean composition", "saturation_index_mean");
  row("dissolved [mol]", "dissolved_mol");
  row("  volume [m³]", "dissolved_m3");
  row("  error of steps and cells, estimated [mol]", "step_error_mol", 2);
  return card("Minerals", table.html(), "Negative: precipitated.");
}

std::string elements_card(const Json& chemistry) {
  std::vector<std::vector<std::string>> rows{{"", "in the water [mol]", "sorbed [mol]", "largest imbalance of a step"}};
  bool sorbs = false;
  for (const Json& e : chemistry.at("elements")) {
    rows.push_back({escape_html(name_of(e)), number_or_dash(e.at("content_mol"), 6),
                    number_or_dash(e.at("sorbed_mol"), 6), number_or_dash(e.at("largest_imbalance"), 2)});
    sorbs = sorbs || !e.at("sorbed_mol").is_null();
  }
  rows.push_back({"charge", number_or_dash(chemistry.at("charge_mol"), 2), "",
                  number_or_dash(chemistry.at("largest_charge_imbalance"), 2)});
  for (std::vector<std::string>& row : rows)
    if (!sorbs) row.erase(row.begin() + 2);
  return card("Elements and charge", html_table(rows),
              fmt::format("{} of {} solves of reacting cells were skipped (chemistry.skip).",
                          chemistry.at("kept").get<std::int64_t>(),
                          chemistry.at("kept").get<std::int64_t>() + chemistry.at("solved").get<std::int64_t>()));
}

/// What has become of the elements since the beginning; empty of a summary without it.
std::string ledger_card(const Json& chemistry) {
  const Json& elements = chemistry.at("elements");
  if (std::ranges::none_of(elements, [](const Json& e) { return e.contains("stored_mol"); })) return "";
  const bool moves = std::ranges::any_of(elements, [](const Json& e) { return e.contains("by_walls_mol"); });
  std::vector<std::vector<std::string>> rows{{"", "in", "out", "released"}};
  std::vector<const char*> keys{"in_mol", "out_mol", "released_mol"};
  if (moves) rows[0].emplace_back("by walls"), keys.push_back("by_walls_mol");
  rows[0].emplace_back("stored"), keys.push_back("stored_mol");
  for (const Json& e : elements) {
    rows.push_back({escape_html(name_of(e))});
    for (const char* key : keys) rows.back().push_back(number_or_dash(e.at(key), 5));
  }
  return card(
      "Elements from the beginning to the end [mol]", html_table(rows),
      std::string(moves ? "In - out + released + by walls = stored. By walls: the fluid they leave or take. "
                        : "In - out + released = stored. ") +
          "Released by minerals, sorbents and gases into the water; negative: precipitated or sorbed. The total "
          "of H counts H⁺ in excess over water: OH⁻ counts -1. Over the time: chemistry.csv.");
}

std::string title_of(const std::string& field) {
  const std::string index = "saturation_index_";
  return field.starts_with(index) ? "Saturation index of " + field.substr(index.size()) : field;
}

bool nothing_to_draw(const std::array<double, 2>& range) { return !(range[1] - range[0] > narrowest_picture); }

std::string figure_key(const std::string& field, const std::string& which) {
  return fmt::format("chemistry {} {}", field, which);
}

}  // namespace

PlaneLook chemistry_look(const std::string& field, double cell_width, double low, double high,
                         const std::string& caption) {
  PlaneLook look;
  look.low = low;
  look.high = high;
  if (field != "pH" && high > lowest_index) look.low = std::max(low, lowest_index);
  if (!(look.high - look.low > narrowest_picture)) {
    const double middle = std::isfinite(low + high) ? 0.5 * (look.low + look.high) : 0.0;
    look.low = middle - 0.5;
    look.high = middle + 0.5;
  }
  look.quantity = field == "pH" ? field : "log₁₀ Ω";
  look.cell_width = cell_width;
  look.caption = caption;
  return look;
}

ReactivePage reactive_page(const Json& summary, const Figures& figures) {
  ReactivePage page;
  if (!summary.contains("chemistry") || !summary.contains("transport")) return page;
  const Json &chemistry = summary.at("chemistry"), &transport = summary.at("transport");
  const Json &minerals = chemistry.at("minerals"), &ph = chemistry.at("pH_outlet");
  page.tiles.push_back({ph.is_null() ? "pH of the mean composition" : "pH at the outlet",
                        number_or_dash(ph.is_null() ? chemistry.at("pH_mean") : ph),
                        ph.is_null()
                            ? std::string("at the end")
                            : fmt::format("of the mean composition {}", number_or_dash(chemistry.at("pH_mean")))});
  for (std::size_t m = 0; m < std::min<std::size_t>(minerals.size(), 3); ++m)
    page.tiles.push_back(
        {"Rate of " + escape_html(name_of(minerals.at(m))),
         with_unit(number_or_dash(minerals.at(m).at("rate_mol_m2_s"), 3), "mol/m²/s"),
         number_or_dash(minerals.at(m).at("ratio_to_well_mixed"), 3) + " of that of a well-mixed fluid"});
  page.numbers.push_back(waters_card(chemistry));
  page.charts = {ph_chart(transport, chemistry.at("history"))};
  if (!minerals.empty()) {
    page.charts.push_back(saturation_chart(transport, chemistry));
    for (const double sign : {1.0, -1.0}) page.charts.push_back(rate_chart(transport, chemistry, sign));
    page.charts.push_back(ratio_chart(transport, chemistry));
    page.numbers.push_back(minerals_card(minerals));
  }
  for (std::size_t f = 0; chemistry.contains("probes") && f <= minerals.size(); ++f)  // the fields that are drawn
    page.charts.push_back(
        f == 0 ? probe_chart(transport, chemistry, f, "pH", "pH")
               : probe_chart(transport, chemistry, f, "Saturation index of " + name_of(minerals.at(f - 1)), "log₁₀ Ω"));
  page.charts.push_back(balance_chart(transport, chemistry));
  page.numbers.push_back(elements_card(chemistry));
  page.numbers.push_back(ledger_card(chemistry));
  for (const Json& p : chemistry.at("pictures")) {
    const auto field = p.at("field").get<std::string>();
    if (const auto range = p.at("range").get<std::array<double, 2>>(); nothing_to_draw(range)) {
      page.uniform.push_back({escape_html(title_of(field)), fmt::format("{:.4f}", range[0])});
      continue;
    }
    PictureRow pictures(figures);
    for (std::size_t i = 1; i <= transport.at("output_times_s").size(); ++i)
      pictures.add(figure_key(field, std::to_string(i)));
    pictures.add(figure_key(field, "end"));
    pictures.add_card(title_of(field),
                      field == "pH" ? "Planes through the middle, one scale for all times."
                                    : "Planes through the middle, one scale for all times; 0 is equilibrium, below 0 "
                                      "the mineral dissolves. -5 and less have one colour.",
                      page.pictures);
  }
  return page;
}

void draw_reactive(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures) {
  if (!summary.contains("chemistry")) return;
  const Json& transport = summary.at("transport");
  const int axis = axis_of(transport);
  for (const Json& p : summary.at("chemistry").at("pictures")) {
    const auto field = p.at("field").get<std::string>();
    const auto range = p.at("range").get<std::array<double, 2>>();
    const auto place = view.find(field);
    if (!place || nothing_to_draw(range)) continue;
    const PlaneValues plane = middle_plane_to_walls(comm, view, {&*place, 1}, across(view.cells, axis));
    if (comm.rank() == 0)
      figures[figure_key(field, "end")] = plane_figure_to_walls(
          plane, chemistry_look(field, view.cell_width, range[0], range[1],
                                fmt::format("{}, plane in the middle of {}", format_si(number(transport, "end_s"), "s"),
                                            axis_names[plane.direction])));
  }
}

void ReactiveRun::take_picture(const FieldView& view, int axis, double time) {
  ReactivePicture picture{time, {}};
  for (const std::string& field : drawn_fields())
    if (const auto place = view.find(field))
      picture.planes.push_back(middle_plane_to_walls(run_.comm, view, {&*place, 1}, across(view.cells, axis)));
  past_.pictures.push_back(std::move(picture));
}

/// [field] of all pictures.
std::vector<std::pair<double, double>> ReactiveRun::picture_ranges() const {
  std::vector<std::pair<double, double>> ranges(drawn_fields().size(), {INFINITY, -INFINITY});
  for (const ReactivePicture& picture : past_.pictures)
    for (std::size_t f = 0; f < ranges.size(); ++f)
      for (const double value : picture.planes[f].values) {
        if (!std::isfinite(value)) continue;
        ranges[f].first = std::min(ranges[f].first, value);
        ranges[f].second = std::max(ranges[f].second, value);
      }
  for (auto& [low, high] : ranges)
    if (!(low <= high)) low = high = 0.0;
  return ranges;
}

void ReactiveRun::draw(Figures& figures) const {
  if (run_.comm.rank() != 0) return;
  const std::vector<std::string> fields = drawn_fields();
  const auto ranges = picture_ranges();
  for (std::size_t i = 0; i + 1 < past_.pictures.size(); ++i)
    for (std::size_t f = 0; f < fields.size(); ++f)
      if (!nothing_to_draw({ranges[f].first, ranges[f].second}))
        figures[figure_key(fields[f], std::to_string(i + 1))] = plane_figure_to_walls(
            past_.pictures[i].planes[f],
            chemistry_look(fields[f], cell_width_, ranges[f].first, ranges[f].second,
                           fmt::format("{}, plane in the middle of {}", format_si(past_.pictures[i].time, "s"),
                                       axis_names[past_.pictures[i].planes[f].direction])));
}

}  // namespace karst
