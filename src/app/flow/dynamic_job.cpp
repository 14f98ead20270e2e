// SPDX-License-Identifier: BSD-3-Clause
// Job `dynamic_permeability`: what creeping flow answers to an oscillating drive, over the frequency.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "app/flow/flow_job.hpp"
#include "app/flow/periodic_state.hpp"
#include "app/job/job.hpp"
#include "app/job/run_services.hpp"
#include "app/job/solve_progress.hpp"
#include "app/output/page_values.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "ins/upscale/dynamic_permeability.hpp"
#include "page/svg_chart.hpp"

namespace karst {

namespace {

using Complex = std::complex<double>;

/// Along one axis; SI units.
struct DynamicColumn {
  int axis = 0;
  bool connected = true;          ///< false: no pore leads along the axis; nothing was solved
  double permeability = 0.0;      ///< of steady flow, k0 [m²]
  double corner = 0.0;            ///< where the flow is 45° behind the drive [Hz]; NaN: beyond what the cells resolve
  double relaxation_time = 0.0;   ///< mean, in which flow comes to rest [s]
  double reduction_change = 0.0;  ///< largest relative change of k(ω) when a solve is left out
  std::vector<double> frequency;  ///< [Hz]
  std::vector<Complex> dynamic;   ///< k(ω), drive and flow as e^{iωt} [m²]
  int solves = 0;
  int iterations = 0;  ///< of all solves
};

struct DynamicResults {
  double resolved = 0.0;    ///< frequency up to which the skin is at least one cell thick [Hz]
  double cell_width = 0.0;  ///< [m]
  double viscosity = 0.0;   ///< kinematic [m²/s]
  double porosity = 0.0;    ///< connected
  std::vector<DynamicColumn> columns;

  /// √(2 ν / ω) [m].
  double skin(double frequency) const { return std::sqrt(viscosity / (std::numbers::pi * frequency)); }
  /// α(ω) = ν φ / (i ω k(ω)).
  Complex tortuosity(double frequency, Complex k) const {
    return viscosity * porosity / (Complex(0.0, 2.0 * std::numbers::pi * frequency) * k);
  }
};

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
    ChartSeries line{.name = axis, .colour = chart_colours[d], .dash = axis_dashes[d]};
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

constexpr double per_decade = 10.0;  ///< frequencies
constexpr double as_steady = 0.02;   ///< ω x the mean time of relaxation: as good as steady, one degree behind
constexpr double expected_solves = 12.0;
constexpr double per_digit_of_shift =
    1.7;  ///< iterations, as measured: a solve begins with the flow of the shift before

double angular(double frequency) { return 2.0 * std::numbers::pi * frequency; }

/// From there to what the cells resolve.
std::vector<double> usual_frequencies(const DynamicResults& results) {
  double low = 0.1 * results.resolved;
  for (const DynamicColumn& c : results.columns)
    if (c.connected) low = std::min(low, as_steady / angular(c.relaxation_time));
  const double ratio = results.resolved / low;
  const int n = static_cast<int>(std::ceil(per_decade * std::log10(ratio)));
  std::vector<double> all;
  for (int i = 0; i <= n; ++i) all.push_back(low * std::pow(ratio, static_cast<double>(i) / n));
  return all;
}

/// ω at which the flow is 45° behind the drive, which it is ever more; NaN where that is above `highest`.
double corner_of(const DynamicPermeability& k, double highest) {
  const auto is_above = [&](double omega) { return -std::arg(k.at(omega)) > 0.25 * std::numbers::pi; };
  if (!is_above(highest)) return no_number;
  double low = 0.0, high = highest;
  while (high - low > 1e-6 * high) (is_above(0.5 * (low + high)) ? high : low) = 0.5 * (low + high);
  return high;
}

SolveReport report_of(int axis, int number, const ShiftSolve& s, double setup_seconds) {
  SolveReport solve =
      solve_report(fmt::format("dynamic {} {}", axis_names[axis], number), "gmres", flow_preconditioner, s);
  solve.setup_seconds = setup_seconds;
  return solve;
}

/// The solver of the ends that go with an axis.
struct Solver {
  std::optional<StokesSolver> stokes;
  double setup_seconds = 0.0;  ///< 0: made before
  std::string name;            ///< of the solve under way
};

void make(const JobContext& run, SolveProgress& progress, const FlowSides& sides, Solver& solver) {
  solver.setup_seconds = 0.0;
  if (solver.stokes && solver.stokes->op().sides() == sides) return;
  Timer timer("set-up");
  solver.stokes.reset();
  StokesOptions options;
  options.krylov.tolerance = run.config.flow.tolerance;
  options.krylov.max_iterations = run.config.flow.max_iterations;
  options.progress = [&](const StokesProgress& p) {
    progress.iteration(solver.name, p.iteration, p.relative_residual);
  };
  solver.stokes.emplace(run.ground->composite(), sides, options);
  trim_heap();
  solver.setup_seconds = timer.seconds();
}

/// @param highest  angular frequency [ν / h0²]
DynamicPermeability solve(const JobContext& run, int axis, double highest, SolveProgress& progress, Solver& solver,
                          DynamicColumn& column) {
  const Domain& domain = run.geometry().grid.levels[0].layout.domain();
  make(run, progress, flow_sides(domain, run.config.flow, axis), solver);
  check_flow_cells(solver.stokes->op().counts(), "dynamic permeability");
  const auto name = [&] { return fmt::format("dynamic {} {}", axis_names[axis], column.solves + 1); };
  solver.name = name();
  DynamicWatch watch;
  watch.solved = [&](const ShiftSolve& s) {
    const bool first = column.solves++ == 0;
    progress.solved(report_of(axis, column.solves, s, first ? solver.setup_seconds : 0.0));
    column.iterations += s.iterations;
    solver.name = name();
  };
  return dynamic_permeability(*solver.stokes, run.geometry(), unit_drive(domain, axis), axis, highest, watch);
}

JobResult run_dynamic(const JobContext& context) {
  const DynamicOptions& options = context.config.dynamic_permeability;
  SolveProgress progress(context, "dynamic permeability", context.config.flow.tolerance);
  const double h = context.grid.cell_width();
  DynamicResults all;
  all.cell_width = h;
  all.viscosity = context.config.fluid.viscosity / context.config.fluid.density;
  all.porosity = context.geometry().report.connected_porosity;
  const double time = h * h / all.viscosity;  // unit of the solver
  all.resolved = resolved_frequency / angular(time);
  const double highest = options.frequencies.empty() ? resolved_frequency : angular(options.frequencies.back() * time);
  Solver solver;
  std::vector<DynamicPermeability> answers;
  for (const int axis : options.axes) {
    DynamicColumn& c = all.columns.emplace_back();
    c.axis = axis;
    c.connected = context.geometry().report.percolates[axis];
    DynamicPermeability& k = answers.emplace_back();
    if (!c.connected) continue;
    k = solve(context, axis, highest, progress, solver, c);
    c.permeability = h * h * k.answer[0];
    c.corner = corner_of(k, resolved_frequency) / (angular(1.0) * time);
    c.relaxation_time = time * k.relaxation_time();
  }
  const std::vector<double> frequencies = options.frequencies.empty() ? usual_frequencies(all) : options.frequencies;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    DynamicColumn& c = all.columns[i];
    if (!c.connected) continue;
    c.frequency = frequencies;
    for (const double f : frequencies) {
      const double omega = angular(f * time);
      c.dynamic.push_back(h * h * answers[i].at(omega));
      c.reduction_change = std::max(c.reduction_change, answers[i].change_without_a_shift(omega));
    }
  }
  JobResult result;
  result.text = dynamic_text(all);
  result.headline = dynamic_headline(all);
  result.json = dynamic_json(all);
  result.solves = progress.rows();
  result.warnings = dynamic_warnings(all);
  context.services.files.write(context.comm, "dynamic_permeability.csv", dynamic_csv(all));
  result.files.push_back({"dynamic_permeability.csv", "permeability against the frequency of the driving force"});
  return result;
}

std::vector<std::string> dynamic_mistakes(const JobContext& context) {
  const FlowOptions& flow = context.config.flow;
  Messages found;
  if ((flow.model != FlowModel::stokes && flow.model != FlowModel::steady) || ends_drive(flow)) {
    found.emplace_back(
        "dynamic_permeability.axes: the steady flow is missing; give [flow] model = \"stokes\", flow.drive (no inlet, "
        "no lids) and the same axes");
    return found;
  }
  for (const int axis : context.config.dynamic_permeability.axes)
    if (std::ranges::count(flow.axes, axis) == 0)
      found.add("dynamic_permeability.axes: {0} is not among flow.axes; add \"{0}\" there", axis_names[axis]);
  if (flow.reservoir > 0)
    found.emplace_back(
        "flow.reservoir: dynamic_permeability is computed for the sample without reservoirs, which would oscillate "
        "with "
        "it; remove flow.reservoir or dynamic_permeability.axes");
  return found;
}

/// Bytes and iterations: docs/performance.md.
JobPlan plan_dynamic(const Config& config, const GridOptions&) {
  const double solves = expected_solves * static_cast<double>(config.dynamic_permeability.axes.size());
  JobPlan all;
  all.grids.push_back({.name = "",
                       .iterations = per_digit_of_shift * -std::log10(config.flow.tolerance) * solves,
                       .solves = static_cast<int>(solves)});
  all.solve = {450.0 + 12.0 * expected_solves, 310.0, 115.0};
  all.more_work = 1.5;
  return all;
}

}  // namespace

Job dynamic_job() {
  return {.word = job_word("dynamic_permeability"),
          .mistakes = dynamic_mistakes,
          .start = [](const JobContext& context) { return one_step(context, run_dynamic); },
          .page = dynamic_page,
          .cost = {.plan = plan_dynamic,
                   .irregular_setup = flow_job().cost.irregular_setup,
                   .trial = try_flow,
                   .usual_pace = flow_job().cost.usual_pace}};
}

}  // namespace karst
