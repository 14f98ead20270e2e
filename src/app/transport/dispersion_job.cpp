// SPDX-License-Identifier: BSD-3-Clause
// Job `dispersion`: dispersion tensor of a periodic sample over a list of Péclet numbers, with the flow of job `flow`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "app/job/flow_sample.hpp"
#include "app/job/job.hpp"
#include "app/job/steady_solves.hpp"
#include "app/job/wider_cells.hpp"
#include "app/output/page_values.hpp"
#include "app/output/quantity.hpp"
#include "app/transport/dispersion_estimate.hpp"
#include "app/transport/transport_job.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "ins/upscale/unbounded_flow.hpp"
#include "page/svg_chart.hpp"
#include "solvers/krylov/truncated_gcr.hpp"
#include "transport/dispersion/dispersion.hpp"

namespace karst {

/// Numbers of a run that turn what is over D and h0 into SI units.
struct DispersionScale {
  double cell_width = 0.0;  ///< h0 [m]
  double length = 0.0;      ///< of the Péclet number [m]
  bool length_given = false;
  double diffusivity = 0.0;            ///< [m²/s]
  double reynolds_per_velocity = 0.0;  ///< of the mean velocity in the pores [s/m]
  double velocity(double peclet) const { return peclet * diffusivity / length; }  ///< mean of the fluid [m/s]
  double reynolds(double peclet) const { return reynolds_per_velocity * velocity(peclet); }
  double cell_peclet(double peclet) const { return peclet * cell_width / length; }
};

/// What a Péclet number gave, in the order of dispersion.csv.
/// @param axis  of the flow
void each_quantity(const DispersionScale& scale, int axis, Of<TrustedPoint> auto& p, auto&& f) {
  using namespace shown;
  f(Quantity{"peclet", "", csv | json | record}, p.peclet);
  f(Quantity{"velocity", "m_s", csv | json}, scale.velocity(p.peclet));
  f(Quantity{"cell_peclet", "", csv | json, "{:.6g}"}, scale.cell_peclet(p.peclet));
  f(Quantity{"reynolds", "", csv | json, "{:.6g}"}, scale.reynolds(p.peclet));
  f(Quantity{"longitudinal", "", csv | json}, double{p.tensor[axis][axis]});
  f(Quantity{"longitudinal_error", "", csv, "{:.3g}"}, double{p.trust[axis].error});
  for (const auto& [a, b] : {std::pair{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}})
    f(Quantity{std::string(axis_names[a]) + axis_names[b], "", csv}, double{p.tensor[a][b]});
  for (int d = 0; d < 3; ++d)
    f(Quantity{std::string(axis_names[d]) + axis_names[d] + "_error", "", csv, "{:.3g}"}, double{p.trust[d].error});
  f(Quantity{"tensor", "", json | record}, p.tensor);
  f(Quantity{"iterations", "", csv | json | record}, p.iterations);
  f(Quantity{"relative_residual", "", csv | json | record, "{:.3g}"}, p.relative_residual);
  f(Quantity{"seconds"}, p.seconds);
  f(Quantity{"setup_seconds"}, p.setup_seconds);
}

namespace {

using DispersionColumns = std::vector<TrustedColumn>;

double along(const TrustedColumn& c, const TrustedPoint& p) { return p.tensor[c.axis][c.axis]; }

const char* length_words(bool given) {
  return given ? "dispersion.length" : "mean grain diameter, 6 x volume of the solid / its surface";
}

Json point_json(const TrustedColumn& c, const TrustedPoint& p, const DispersionScale& scale, bool with_error) {
  Json json, across = Json::array();
  each_quantity(scale, c.axis, p, ToJson{json, shown::json});
  for (int d = 0; d < 3; ++d) across.push_back(d == c.axis ? Json(nullptr) : Json(p.tensor[d][d]));
  json["transverse"] = across;
  if (!with_error) return json;
  const Extrapolated& along_flow = p.trust[c.axis];
  json["longitudinal_error"] = along_flow.error;
  json["longitudinal_error_basis"] =
      along_flow.basis == ErrorBasis::none ? Json(nullptr) : Json(basis_text(along_flow.basis));
  json["longitudinal_extrapolated"] = along_flow.limit ? Json(*along_flow.limit) : Json(nullptr);
  Json errors = Json::array();
  for (int d = 0; d < 3; ++d) errors.push_back(d == c.axis ? Json(nullptr) : Json(p.trust[d].error));
  json["transverse_error"] = errors;
  return json;
}

/// A number at each of which a line of the chart has a point; none where it is not positive.
void add_point(double peclet, const Json& value, ChartSeries& line, ChartAxis& x, ChartAxis& y) {
  if (value.is_null() || !(peclet > 0.0) || !(value.get<double>() > 0.0)) return;
  line.x.push_back(std::log10(peclet));
  line.y.push_back(std::log10(value.get<double>()));
  x.low = std::min(x.low, line.x.back()), x.high = std::max(x.high, line.x.back());
  y.low = std::min(y.low, line.y.back()), y.high = std::max(y.high, line.y.back());
}

Chart chart_of(const Json& summary) {
  Chart chart;
  chart.description = "Dispersion coefficients over the diffusivity of the fluid against the Péclet number";
  chart.x = {"Péclet number [-]", 1e300, -1e300, true};
  chart.y = {"dispersion coefficient / diffusivity of the fluid [-]", 1e300, -1e300, true};
  for (const Json& c : summary.at("columns")) {
    const std::string axis = axis_name(c);
    const auto a = axis_of(c);
    ChartSeries longitudinal{.name = "along the flow, " + axis, .colour = chart_colours[a]};
    for (const Json& p : c.at("points"))
      add_point(p.at("peclet"), p.at("longitudinal"), longitudinal, chart.x, chart.y);
    if (longitudinal.x.empty()) continue;
    chart.series.push_back(longitudinal);
    for (std::size_t d = 0; d < 3; ++d) {
      ChartSeries across{.name = fmt::format("flow {}, transverse along {}", axis, axis_names[d]),
                         .colour = chart_colours[d],
                         .dash = "5 4"};
      for (const Json& p : c.at("points"))
        add_point(p.at("peclet"), p.at("transverse").at(d), across, chart.x, chart.y);
      if (!across.x.empty()) chart.series.push_back(across);
    }
  }
  if (chart.series.empty()) return chart;
  for (ChartAxis* axis : {&chart.x, &chart.y}) {
    axis->low = std::floor(axis->low);
    axis->high = std::max(std::ceil(axis->high), axis->low + 1.0);
  }
  return chart;
}

std::string table_of(const Json& column) {
  std::vector<std::vector<std::string>> rows{
      {"Pe [-]", "mean velocity [m/s]", "D<sub>xx</sub>/D [-]", "D<sub>yy</sub>/D [-]", "D<sub>zz</sub>/D [-]",
       "D<sub>xy</sub>/D [-]", "D<sub>xz</sub>/D [-]", "D<sub>yz</sub>/D [-]", "cell Pe [-]", "iterations"}};
  const bool with_error = column.at("points").at(0).contains("longitudinal_error");
  const std::string name = axis_name(column);
  if (with_error) rows[0].push_back(fmt::format("error of D<sub>{0}{0}</sub> [%]", name));
  for (const Json& p : column.at("points")) {
    const auto entry = [&](int i, int j) { return number_or_dash(p.at("tensor").at(i).at(j), 5); };
    rows.push_back({fmt::format("{:.4g}", number(p, "peclet")), fmt::format("{:.4g}", number(p, "velocity_m_s")),
                    entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2),
                    fmt::format("{:.2g}", number(p, "cell_peclet")), fmt::format("{}", p.at("iterations").get<int>())});
    if (!with_error) continue;
    const Json& error = p.at("longitudinal_error");
    rows.back().push_back(
        error.is_null() ? "unknown"
                        : fmt::format("{:.2g}", 100.0 * error.get<double>() / std::abs(number(p, "longitudinal"))));
  }
  return html_table(rows);
}

bool is_known(const TrustedColumn& c) {
  return std::ranges::all_of(c.points, [&](const TrustedPoint& p) { return std::isfinite(p.trust[c.axis].error); });
}

/// Estimated error over what it is an error of.
std::string error_text(double error, double value) {
  return std::isfinite(error) ? fmt::format("{:.2g} %", 100.0 * error / std::abs(value)) : "unknown";
}

std::string dispersion_text(const DispersionColumns& columns, const DispersionScale& scale,
                            const DispersionTrust& trust) {
  std::string text =
      fmt::format("Dispersion tensor over the diffusivity of the fluid, Péclet number with {:.4g} m ({})\n",
                  scale.length, length_words(scale.length_given));
  for (const TrustedColumn& c : columns) {
    text += fmt::format("  flow along {0}\n    {1:>10}{2:>14}{3:>12}{4:>12}{5:>12}{6:>12}{7:>12}{8:>12}{9:>12}{10}\n",
                        axis_names[c.axis], "Pe", "velocity m/s", "xx", "yy", "zz", "xy", "xz", "yz", "iterations",
                        trust.wanted ? fmt::format("{:>15}", fmt::format("error of {0}{0}", axis_names[c.axis])) : "");
    if (!c.connected) text += "    no flow: no pore percolates along it\n";
    const auto entry = [](double x) { return std::isfinite(x) ? fmt::format("{:.5g}", x) : std::string("-"); };
    for (const TrustedPoint& p : c.points) {
      const Matrix3& t = p.tensor;
      text += fmt::format("    {:>10.4g}{:>14.4g}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{}\n", p.peclet,
                          scale.velocity(p.peclet), entry(t[0][0]), entry(t[1][1]), entry(t[2][2]), entry(t[0][1]),
                          entry(t[0][2]), entry(t[1][2]), p.iterations,
                          trust.wanted ? fmt::format("{:>15}", error_text(p.trust[c.axis].error, along(c, p))) : "");
    }
  }
  if (!trust.none.empty())
    text += "  no error estimate: " + trust.none + '\n';
  else if (trust.wanted)
    text += fmt::format("  error: estimated, of the discretisation{}\n",
                        std::ranges::all_of(columns, is_known)
                            ? ""
                            : " (unknown: on wider cells nothing percolates, or fewer than 16 of them are left along a "
                              "period)");
  return text;
}

std::string dispersion_headline(const DispersionColumns& columns, bool with_error) {
  std::string text;
  for (const TrustedColumn& c : columns) {
    if (c.points.empty()) continue;
    const TrustedPoint& p = c.points.back();
    text += fmt::format(
        "Longitudinal dispersion, flow along {}: {:.4g} times the diffusivity at a Péclet number of {:.4g}{}\n",
        axis_names[c.axis], along(c, p), p.peclet,
        with_error ? ", estimated error of the discretisation " + error_text(p.trust[c.axis].error, along(c, p)) : "");
  }
  return text;
}

Json dispersion_json(const DispersionColumns& columns, const DispersionScale& scale, bool with_error) {
  Json json{{"length_m", scale.length},
            {"length", length_words(scale.length_given)},
            {"diffusivity_m2_s", scale.diffusivity},
            {"columns", Json::array()}};
  for (const TrustedColumn& c : columns) {
    Json points = Json::array();
    for (const TrustedPoint& p : c.points) points.push_back(point_json(c, p, scale, with_error));
    json["columns"].push_back({{"axis", axis_names[c.axis]}, {"points", points}});
  }
  return {{"dispersion", json}};
}

std::string dispersion_csv(const DispersionColumns& columns, const DispersionScale& scale) {
  std::string text = csv_head("flow_axis", scale, 0, TrustedPoint());
  for (const TrustedColumn& c : columns)
    for (const TrustedPoint& p : c.points) text += csv_line(axis_names[c.axis], scale, c.axis, p);
  return text;
}

/// @param inertia  that of the flow is computed
std::vector<std::string> dispersion_warnings(const DispersionColumns& columns, const DispersionScale& scale,
                                             bool inertia) {
  Messages all;
  for (const TrustedColumn& c : columns) {
    if (!c.connected) all.add("dispersion {0}: nothing flows along {0}, so there is no advection", axis_names[c.axis]);
    if (!inertia && !c.points.empty() && scale.reynolds(c.points.back().peclet) > largest_creeping_reynolds)
      all.add(
          "dispersion {}: at a Péclet number of {:.4g} the Reynolds number is {:.3g}: inertia matters, which the "
          "creeping "
          "flow neglects; D*/D is that of a species with a smaller diffusivity, or of a fluid with a larger viscosity",
          axis_names[c.axis], c.points.back().peclet, scale.reynolds(c.points.back().peclet));
    if (!c.points.empty() && scale.cell_peclet(c.points.back().peclet) > largest_cell_peclet)
      all.add(
          "dispersion {}: at a Péclet number of {:.4g} the cell Péclet number is {:.3g}: concentration layers behind "
          "grains are thinner than cells, and the coefficients may have errors of several percent; finer cells help",
          axis_names[c.axis], c.points.back().peclet, scale.cell_peclet(c.points.back().peclet));
  }
  return all;
}

PagePart dispersion_page(const Json& summary, const Figures&) {
  PagePart page;
  if (!summary.contains("dispersion")) return page;
  const Json& all = summary.at("dispersion");
  std::string values, range;
  for (const Json& c : all.at("columns")) {
    if (c.at("points").empty()) continue;
    const Json& last = c.at("points").back();
    values += each_html(fmt::format("{} {:.4g}", axis_name(c), number(last, "longitudinal")));
    range = fmt::format("at a Péclet number of {:.4g}", number(last, "peclet"));
  }
  if (values.empty()) return page;
  page.tiles = {{"Dispersion along the flow / diffusivity [-]", values, range}};
  const Chart chart = chart_of(all);
  std::vector<std::string> cards;
  if (!chart.series.empty())
    cards.push_back(card("Dispersion", svg(chart),
                         fmt::format("Longitudinal and transverse dispersion over the diffusivity in the free fluid. "
                                     "Péclet number: mean velocity of the fluid × length / diffusivity, length {:.4g} "
                                     "m ({}). On the left, where diffusion dominates, 1 / tortuosity.",
                                     number(all, "length_m"), html_of(all.at("length")))));
  page.cards = cards;
  for (const Json& c : all.at("columns"))
    if (!c.at("points").empty())
      page.cards.push_back(
          card("Dispersion tensor, flow along " + axis_name(c), table_of(c),
               "Of the mean over the fluid, in the frame that moves with the mean velocity. The tensor is symmetric."));
  return page;
}

/// Nothing that a record holds depends on it.
constexpr DispersionScale any_scale{.cell_width = 1.0, .length = 1.0};

SolveRecord record_of(const Comm& comm, const TrustedPoint& p) {
  Json state;
  each_quantity(any_scale, 0, p, ToJson{state, shown::record});
  state["seconds"] = comm.max(p.seconds);
  state["setup_seconds"] = comm.max(p.setup_seconds);
  return {state, state};
}

TrustedPoint point_of(const Json& state) {
  TrustedPoint p;
  each_quantity(any_scale, 0, p, FromRecord{state});
  return p;
}

/// Of the asked axes, from what the flow job has left.
std::vector<DispersionFlow> flows_of(const JobContext& run, double length) {
  const DispersionOptions& options = run.config.dispersion;
  std::vector<DispersionFlow> flows;
  for (const int axis : options.axes) {
    DispersionFlow& flow = flows.emplace_back();
    flow.axis = axis;
    flow.peclet = options.peclet;
    const std::vector<FlowColumn>& columns = run.services.exchanges.flow.columns;
    const auto column = std::ranges::find(columns, axis, &FlowColumn::axis);
    if (column == columns.end() || !column->connected) continue;
    if (flow.peclet.empty())
      flow.peclet = {std::abs(column->darcy_velocity[axis]) / run.geometry().report.connected_porosity * length /
                     options.diffusivity};
    flow.fluxes = [&run, &flow_of = *column] {
      return flow_fluxes(run.ground->composite(), run.config.flow, run.config.fluid.viscosity, run.grid.cell_width(),
                         flow_of);
    };
  }
  return flows;
}

DispersionColumns columns_of(const JobContext& run, double length, SolveProgress& progress) {
  const DispersionOptions& options = run.config.dispersion;
  SolveKind<TrustedPoint> kind{.job = "dispersion"};
  kind.depends = run.services.solved.dependencies(kind.job, run.geometry(), run.grid.cell_width());
  kind.places = places_of(run.geometry(), *run.ground->numbering());
  kind.record = [&](const TrustedPoint& p) { return record_of(run.comm, p); };
  kind.restore = point_of;
  DispersionSolver solver(
      run.ground, options, length / run.grid.cell_width(),
      [&](const std::string& solve, int n, double residual) { progress.iteration(solve, n, residual); });
  DispersionColumns columns;
  for (const DispersionFlow& flow : flows_of(run, length)) {
    kind.rows = [&](const TrustedPoint& p) {
      return std::vector{
          solve_report(dispersion_solve_name(flow.axis, p.peclet), "tgcr", "graph multigrid, sweep downstream", p)};
    };
    std::vector<SteadySolve<TrustedPoint>> list;
    if (flow.fluxes)
      for (const double peclet : flow.peclet)
        list.push_back({dispersion_solve_name(flow.axis, peclet),
                        [&, peclet] { return TrustedPoint(solver.solve(flow, peclet)); }});
    columns.push_back({flow.axis, bool{flow.fluxes}, run_solves(run, kind, progress, list)});
  }
  return columns;
}

JobResult run_dispersion(const JobContext& context) {
  const DispersionOptions& options = context.config.dispersion;
  SolveProgress progress(context, "dispersion", options.tolerance);
  DispersionScale scale;
  scale.cell_width = context.grid.cell_width();
  scale.length_given = options.length > 0.0;
  scale.length = scale.length_given ? options.length : scale.cell_width * grain_diameter(context.geometry().report);
  scale.diffusivity = options.diffusivity;
  const FlowSample sample = sample_of(context, scale.cell_width);
  scale.reynolds_per_velocity = reynolds_number(sample, context.config.fluid, sample.porosity);
  DispersionColumns columns = columns_of(context, scale.length, progress);
  DispersionTrust trust = estimate_dispersion(context, scale.length, columns, progress);
  JobResult result;
  result.text = dispersion_text(columns, scale, trust);
  result.headline = dispersion_headline(columns, trust.wanted);
  result.json = dispersion_json(columns, scale, trust.wanted);
  result.solves = progress.rows();
  const Vec3& size = context.grid.size;
  const double longest = std::max({size[0], size[1], size[2]});
  result.warnings = std::move(trust.notes);
  result.warnings.add(dispersion_warnings(columns, scale, context.config.flow.model == FlowModel::steady));
  constexpr double usual = 10.0;
  if (scale.length_given && scale.length > usual * longest)
    result.warnings.add(
        "dispersion.length: {:g} m, {:.3g} times the length of the domain: is it in metres? It may be a text with its "
        "unit, such as \"0.8 mm\"",
        scale.length, scale.length / longest);
  context.services.files.write(context.comm, "dispersion.csv", dispersion_csv(columns, scale));
  result.files.push_back({"dispersion.csv", "dispersion tensor against the Péclet number"});
  return result;
}

std::vector<std::string> dispersion_mistakes(const JobContext& context) {
  const FlowOptions& flow = context.config.flow;
  Messages found = mistakes(context.config.dispersion, context.geometry());
  if (flow.model != FlowModel::stokes && flow.model != FlowModel::steady) {
    found.emplace_back(
        "dispersion.axes: the advecting flow is missing; give [flow] model = \"stokes\", drive = \"pressure-gradient\" "
        "and the same axes");
    return found;
  }
  if (flow.model == FlowModel::steady && !context.config.dispersion.peclet.empty())
    found.emplace_back(
        "dispersion.peclet: a flow with inertia cannot be scaled to another velocity; remove it for the flow of the "
        "deck, or use flow.model = \"stokes\"");
  for (const int axis : context.config.dispersion.axes)
    if (std::ranges::count(flow.axes, axis) == 0)
      found.add("dispersion.axes: {0} is not among flow.axes, so no flow along it is computed; add \"{0}\" there",
                axis_names[axis]);
  for (const int axis : context.config.dispersion.axes)
    if (std::string problem = unbounded_drive(flow, context.geometry(), axis); !problem.empty())
      found.push_back(std::move(problem));
  if (flow.reservoir > 0)
    found.emplace_back(
        "flow.reservoir: the dispersion tensor is that of a periodic sample without reservoirs; remove flow.reservoir "
        "or dispersion.axes");
  return found;
}

/// Per VoF: of the operator and multigrid, of what a solve works on, and of the directions that it keeps.
double solve_bytes(const DispersionOptions& options) {
  const double side_by_side = options.transverse ? 3.0 : 1.0;
  const bool easy = !options.peclet.empty() && std::ranges::max(options.peclet) <= 10.0;
  const double directions = easy ? 8.0 : BasicTruncatedGcr<1>::largest_memory;
  return 490.0 + side_by_side * (83.0 + 2.0 * sizeof(double) * directions);
}

/// Bytes and iterations: docs/performance.md.
JobPlan plan_dispersion(const Config& config, const GridOptions& grid) {
  const DispersionOptions& options = config.dispersion;
  const double n = static_cast<double>(options.axes.size()) * (options.transverse ? 3.0 : 1.0) *
                   std::max(1.0, static_cast<double>(options.peclet.size()));
  JobPlan all;
  all.grids.push_back(
      {.name = "", .iterations = n * 2.0 * -std::log10(options.tolerance), .solves = static_cast<int>(n)});
  if (options.estimate_error && config.flow.model == FlowModel::stokes)
    for (const Index& cells : wider_grids(grid.cells, config.geometry.copies)) {
      const double width = static_cast<double>(grid.cells[0]) / cells[0];
      const double tolerance = std::max(options.tolerance, repeated_dispersion_tolerance);
      all.grids.push_back({.name = fmt::format("cells {:.3g} times as wide", width),
                           .width = width,
                           .builds = true,
                           .iterations = n * 2.0 * -std::log10(tolerance),
                           .solves = static_cast<int>(n)});
    }
  all.solve = {solve_bytes(options), 3350.0, 0.0};
  all.kept = 4.0 * sizeof(double) * static_cast<double>(options.axes.size());
  all.more_work = 4.0;  // Péclet numbers of a cell far above 1
  return all;
}

JobTrial try_dispersion(const std::shared_ptr<const Ground>& ground) {
  DispersionOptions options;
  options.transverse = false;
  options.tolerance = 1e-4;
  ClosureOptions solve;
  solve.tolerance = 1e-4;
  Timer setup("pace");
  Closure closure(ground->composite(), solve);
  FaceField flow(ground->composite());
  closure.set_directions({0});
  closure.set_flow(flow);
  const double setup_seconds = setup.seconds();
  setup.stop();
  const Dispersion found = closure.solve(1e-9, "pace");
  return {setup_seconds, found.solves.at(0).seconds, found.solves[0].iterations};
}

}  // namespace

Job dispersion_job() {
  return {
      .word = job_word("dispersion"),
      .mistakes = dispersion_mistakes,
      .start = [](const JobContext& context) { return one_step(context, run_dispersion); },
      .page = dispersion_page,
      .cost = {.plan = plan_dispersion, .trial = try_dispersion, .usual_pace = {.setup = 4.5e-6, .iteration = 0.3e-6}},
      .takes = [](const Config&) { return std::vector{ExchangeName::flow}; }};
}

}  // namespace karst
