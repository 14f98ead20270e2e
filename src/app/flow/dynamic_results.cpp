// SPDX-License-Identifier: BSD-3-Clause
// What job `dynamic_permeability` shows: text, table and the charts of its page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "app/flow/dynamic_job.hpp"
#include "app/flow/flow_job.hpp"
#include "app/flow/periodic_state.hpp"
#include "app/output/page_values.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/svg_chart.hpp"

namespace karst {

namespace {

using Complex = std::complex<double>;

constexpr std::array<const char*, 3> dashes{"", "7 3", "2 3"};
constexpr double much = 0.01;  ///< change of k(ω) by a solve left out that is worth a warning

std::string corner_text(const DynamicColumn& c) {
  return std::isnan(c.corner) ? "a frequency that the cells do not resolve" : fmt::format("{:.5g} Hz", c.corner);
}

std::vector<Complex> dynamic_of(const Json& column) {
  std::vector<Complex> all;
  const auto re = column.at("real_m2").get<std::vector<double>>(),
             im = column.at("imaginary_m2").get<std::vector<double>>();
  for (std::size_t i = 0; i < std::min(re.size(), im.size()); ++i) all.emplace_back(re[i], im[i]);
  return all;
}

/// A curve over the frequency for each axis.
/// @param value  of k(ω) / k(0)
template <class F>
Chart chart_of(const Json& all, const std::string& what, const ChartAxis& y, F&& value) {
  Chart chart;
  chart.description = what + " against the frequency";
  chart.x = {"frequency [Hz]", 1e300, -1e300, true};
  chart.y = y;
  for (const Json& c : all.at("columns")) {
    if (!c.at("connected").get<bool>() || c.at("frequency_Hz").size() < 2) continue;
    const std::string axis = axis_name(c);
    const double steady = c.at("permeability_m2");
    const std::vector<Complex> k = dynamic_of(c);
    const auto d = axis_of(c);
    if (k.size() != c.at("frequency_Hz").size())
      throw JsonError(fmt::format("{} permeabilities at {} frequencies", k.size(), c.at("frequency_Hz").size()));
    ChartSeries line{.name = axis, .colour = chart_colours[d], .dash = dashes[d]};
    for (std::size_t i = 0; i < k.size(); ++i) {
      line.x.push_back(std::log10(c.at("frequency_Hz")[i].get<double>()));
      line.y.push_back(value(k[i] / steady));
    }
    chart.x.low = std::min(chart.x.low, line.x.front());
    chart.x.high = std::max(chart.x.high, line.x.back());
    if (chart.y.log10)
      for (const double v : line.y) chart.y.low = std::min(chart.y.low, std::floor(v));
    chart.series.push_back(line);
  }
  return chart;
}

std::string facts_of(const Json& all) {
  ColumnTable table;
  for (const Json& c : all.at("columns"))
    if (c.at("connected").get<bool>()) table.add_column("drive along " + axis_name(c), c);
  const auto row = [&](const char* name, const char* key, const char* digits) {
    table.row(name, [&](const Json& c) -> std::string {
      return c.at(key).is_null() ? "–" : fmt::format(fmt::runtime(digits), number(c, key));
    });
  };
  row("steady permeability [m²]", "permeability_m2", "{:.4g}");
  row("flow 45° behind the driving force at [Hz]", "corner_frequency_Hz", "{:.4g}");
  row("mean relaxation time [s]", "relaxation_time_s", "{:.3g}");
  row("change of k(ω) without one of the solves [-]", "reduction_change", "{:.1e}");
  for (const char* key : {"solves", "iterations"})
    table.row(key, [&](const Json& c) { return fmt::format("{}", c.at(key).get<int>()); });
  return table.html();
}

}  // namespace

double DynamicResults::skin(double frequency) const { return std::sqrt(viscosity / (std::numbers::pi * frequency)); }

Complex DynamicResults::tortuosity(double frequency, Complex k) const {
  return viscosity * porosity / (Complex(0.0, 2.0 * std::numbers::pi * frequency) * k);
}

std::string dynamic_text(const DynamicResults& results) {
  std::string text = "Dynamic permeability of creeping flow under an oscillating driving force\n";
  for (const DynamicColumn& c : results.columns) {
    if (!c.connected) {
      text += fmt::format("  along {}: no flow, no pore percolates along it\n", axis_names[c.axis]);
      continue;
    }
    text += fmt::format(
        "  along {}, {} solves, {} iterations; without one of them it changes by {:.1e} at most\n"
        "    steady permeability               {:.6g} m²\n"
        "    phase lag of 45° at               {}\n"
        "    mean relaxation time              {:.4g} s\n"
        "    {:>12}{:>14}{:>14}{:>14}{:>12}{:>12}\n",
        axis_names[c.axis], c.solves, c.iterations, c.reduction_change, c.permeability, corner_text(c),
        c.relaxation_time, "Hz", "real, m²", "imaginary, m²", "size / steady", "° behind", "skin, cells");
    const std::size_t last = c.frequency.size() - 1, step = last / 10 + 1;
    for (std::size_t i = last % step; i <= last; i += step)
      text += fmt::format("    {:>12.4g}{:>14.5g}{:>14.5g}{:>14.4g}{:>12.2f}{:>12.3g}\n", c.frequency[i],
                          c.dynamic[i].real(), c.dynamic[i].imag(), std::abs(c.dynamic[i]) / c.permeability,
                          degrees_behind(c.dynamic[i]), results.skin(c.frequency[i]) / results.cell_width);
  }
  return text;
}

std::string dynamic_headline(const DynamicResults& results) {
  std::string text;
  for (const DynamicColumn& c : results.columns)
    if (c.connected)
      text += fmt::format("Dynamic permeability along {}: {} at frequency 0, flow 45° behind the driving force at {}\n",
                          axis_names[c.axis], darcy_text(c.permeability), corner_text(c));
  return text;
}

Json dynamic_json(const DynamicResults& results) {
  Json columns = Json::array();
  for (const DynamicColumn& c : results.columns) {
    Json& column = columns.push_back({});
    column = {{"axis", axis_names[c.axis]}, {"connected", c.connected}};
    if (!c.connected) continue;
    column["permeability_m2"] = c.permeability;
    column["corner_frequency_Hz"] = c.corner;
    column["relaxation_time_s"] = c.relaxation_time;
    column["reduction_change"] = c.reduction_change;
    column["solves"] = c.solves;
    column["iterations"] = c.iterations;
    column["frequency_Hz"] = c.frequency;
    Json re = Json::array(), im = Json::array();
    for (const Complex& k : c.dynamic) {
      re.push_back(k.real());
      im.push_back(k.imag());
    }
    column["real_m2"] = re;
    column["imaginary_m2"] = im;
  }
  return {{"dynamic_permeability",
           {{"resolved_frequency_Hz", results.resolved},
            {"kinematic_viscosity_m2_s", results.viscosity},
            {"columns", columns}}}};
}

std::string dynamic_csv(const DynamicResults& results) {
  std::string text =
      "axis,frequency_Hz,real_m2,imaginary_m2,size_over_steady,degrees_behind,tortuosity_real,tortuosity_imaginary,"
      "skin_m\n";
  for (const DynamicColumn& c : results.columns)
    for (std::size_t i = 0; i < c.frequency.size(); ++i) {
      const Complex k = c.dynamic[i], alpha = results.tortuosity(c.frequency[i], k);
      text += fmt::format("{},{:.10g},{:.10g},{:.10g},{:.8g},{:.8g},{:.8g},{:.8g},{:.6g}\n", axis_names[c.axis],
                          c.frequency[i], k.real(), k.imag(), std::abs(k) / c.permeability, degrees_behind(k),
                          alpha.real(), alpha.imag(), results.skin(c.frequency[i]));
    }
  return text;
}

std::vector<std::string> dynamic_warnings(const DynamicResults& results) {
  Messages all;
  for (const DynamicColumn& c : results.columns) {
    if (!c.connected) {
      all.add("dynamic permeability {0}: no pore percolates along {0}, so it is 0", axis_names[c.axis]);
      continue;
    }
    if (c.frequency.back() > 1.001 * results.resolved)
      all.add(
          "dynamic permeability {}: above {:.4g} Hz the viscous skin at a wall is thinner than a cell; values at "
          "higher frequencies have errors of some percent; finer cells help",
          axis_names[c.axis], results.resolved);
    if (c.reduction_change > much)
      all.add(
          "dynamic permeability {}: without one of its solves it changes by {:.1f} %, which estimates its error; a "
          "smaller flow.tolerance helps, or a narrower range of frequencies",
          axis_names[c.axis], 100.0 * c.reduction_change);
  }
  return all;
}

PagePart dynamic_page(const Json& summary, const Figures&) {
  PagePart page;
  if (!summary.contains("dynamic_permeability")) return page;
  const Json& all = summary.at("dynamic_permeability");
  std::string corners;
  for (const Json& c : all.at("columns"))
    if (c.at("connected").get<bool>() && !c.at("corner_frequency_Hz").is_null())
      corners += each_html(axis_name(c) + ' ' + format_si(number(c, "corner_frequency_Hz"), "Hz"));
  if (!corners.empty())
    page.tiles = {{"Flow 45° behind the driving force", corners, "above it inertia resists the flow, not friction"}};
  const Chart size = chart_of(all, "Dynamic permeability over the steady one", {"|k(ω)| / k(0) [-]", -1.0, 0.0, true},
                              [](Complex k) { return std::log10(std::abs(k)); });
  const Chart phase = chart_of(all, "Phase lag of the flow", {"phase lag of the flow [°]", 0.0, 90.0}, degrees_behind);
  std::vector<std::string> cards;
  if (!size.series.empty()) {
    cards.push_back(card("Dynamic permeability", svg(size),
                         "Response of the flow to an oscillating pressure gradient, without (u·∇)u."));
    cards.push_back(card("Phase", svg(phase), "Friction alone: 0°. Inertia alone: 90°."));
  }
  page.cards = {pairs_html(cards),
                card("Dynamic permeability: values", table_box(facts_of(all)),
                     fmt::format("The viscous skin at walls, √(2ν/ω), is one cell thick at {:.4g} Hz.",
                                 number(all, "resolved_frequency_Hz")))};
  return page;
}

}  // namespace karst
