// SPDX-License-Identifier: BSD-3-Clause
// Job `flow`: permeability and velocity of steady flow, without and with inertia.
#include "app/flow/flow_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "app/flow/flow_in_time.hpp"
#include "app/job/steady_solves.hpp"
#include "app/job/wider_cells.hpp"
#include "app/output/field_view.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/vof_values.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

/// [m²]: pores of about 5 mm; sand and gravel end at 1e-7 (Bear 1972, section 5.5).
constexpr double largest_permeability = 1e-6;
/// Of solves for an estimate, which needs two digits: 1e-4 moved permeabilities of Ketton by 1e-5.
constexpr double repeated_tolerance = 1e-4;
constexpr double largest_imbalance = 0.2;  ///< of drag and drive: decision 015

bool is_solved(const FlowColumn& column) { return column.connected && !column.unbounded; }

/// @param where  added to the name
SolveReport report_of(const FlowColumn& column, const std::string& where) {
  return solve_report(flow_solve_name(column.axis) + where, "gmres", flow_preconditioner, column);
}

SolveReport report_of(const std::string& name, const InertiaPoint& point) {
  return solve_report(name, "newton, gmres", flow_preconditioner, point);
}

/// The key that gives the flow another velocity for transport; empty where none does.
std::string scaled_by(const Config& config) {
  if (config.transport.peclet > 0.0) return "transport.peclet";
  return config.dispersion.peclet.empty() ? "" : "dispersion.peclet";
}

/// @param scaled  scaled_by()
std::vector<std::string> warnings_of(const FlowColumns& columns, bool estimated, const std::string& scaled) {
  Messages all;
  for (const FlowColumn& c : columns) {
    const char* axis = axis_names[c.axis];
    if (!c.connected) {
      all.push_back(
          c.unresolved
              ? fmt::format(
                    "flow {0}: pores percolate through the sample along {0}, but through places so narrow that no "
                    "cell centre lies in them, where these cells carry no flow: the permeability is not 0, but "
                    "not known, and nothing was solved; use finer cells",
                    axis)
              : fmt::format(
                    "flow {0}: no pore percolates through the sample along {0}: the permeability is 0, and nothing "
                    "was solved",
                    axis));
      continue;
    }
    if (c.unbounded) {
      all.add(
          "flow {}: there is neither a wall nor a lateral face with flow.sides = \"no-slip\", so the permeability is "
          "infinite{}",
          axis,
          std::isfinite(c.darcy_velocity[c.axis])
              ? ", and the requested flow is uniform"
              : ", and there is no steady flow under a pressure gradient: no velocity is reported");
      continue;
    }
    if (c.inertia.empty() && c.reynolds > largest_creeping_reynolds)
      all.add(
          "flow {}: Reynolds number {:.3g}: with this driving force inertia matters, which Stokes flow neglects; "
          "velocity and flow rate are too large (the permeability is that of Stokes flow, and correct){}",
          axis, c.reynolds,
          scaled.empty() ? ""
                         : fmt::format(". This is the flow of the driving force: {} scales it to another velocity, "
                                       "whose Reynolds number is given there",
                                       scaled));
    if (c.permeability[c.axis] > largest_permeability)
      all.add(
          "flow {}: a permeability of {:.3g} m² is beyond {:.0e} m²: are grid.size and the voxel width in metres, and "
          "are there solids in the flow along {}?",
          axis, c.permeability[c.axis], largest_permeability, axis);
    if (estimated && std::isnan(c.estimated_error))
      all.add(
          "flow {}: no error estimate: on wider cells nothing flows through the sample, so the throats are too narrow "
          "for these cells; a reliable permeability needs finer cells",
          axis);
    if (drag_imbalance(c) > largest_imbalance)
      all.add(
          "flow {}: drag on the walls and driving force differ by {:.0f} % (usually at most {:.0f} %): the flow next "
          "to the walls is not resolved, and the error of the permeability may be several percent or more; finer cells "
          "help",
          axis, 100.0 * drag_imbalance(c), 100.0 * largest_imbalance);
    if (c.divergence > largest_divergence)
      all.add("flow {}: mass is conserved only to {:.1e}; a smaller flow.tolerance helps", axis, c.divergence);
  }
  return all;
}

/// What an axis gave: its column without fields, and these as far as they are wanted.
struct AxisFlow {
  FlowColumn column;
  KeptFlow kept{};               ///< for the plotfile
  std::vector<Quad> solution{};  ///< the same to the last bit, for later jobs
  bool has_fields() const { return column.connected && (!column.unbounded || std::isfinite(column.largest_speed)); }
};

/// Takes the fields out of a column.
/// @param exact  FlowColumn::solution is wanted
AxisFlow axis_flow(FlowColumn column, bool exact) {
  std::vector<Quad> solution = std::exchange(column.solution, {});
  column.speed = std::vector<double>();  // its memory, too: {} would keep that
  KeptFlow kept = kept_flow(column.axis, solution);
  return {std::move(column), std::move(kept), exact ? std::move(solution) : std::vector<Quad>()};
}

FlowWatch watch_of(SolveProgress& progress, const std::string& where) {
  FlowWatch watch;
  watch.iteration = [&progress, where](const std::string& solve, int n, double residual, double permeability) {
    progress.iteration(solve + where, n, residual, fmt::format("k = {}", darcy_text(permeability)));
  };
  watch.slow_flow = [&progress, where](const FlowColumn& column) { progress.solved(report_of(column, where)); };
  watch.point = [&progress](const std::string& solve, const InertiaPoint& p) { progress.solved(report_of(solve, p)); };
  return watch;
}

/// "stokes x", "steady x"; the latter is the sweep together with the Stokes flow that it starts from.
std::string axis_name(const FlowOptions& options, int axis) {
  return options.model == FlowModel::steady ? steady_solve_name(axis) : flow_solve_name(axis);
}

/// Of the Stokes flow and of the points of a sweep.
std::vector<SolveReport> reports_of(const FlowOptions& options, const FlowColumn& column, const std::string& where,
                                    const std::vector<InertiaPoint>& points) {
  std::vector<SolveReport> all{report_of(column, where)};
  for (std::size_t i = 0; i < points.size(); ++i)
    all.push_back(report_of(point_name(steady_solve_name(column.axis), options.steps.size(), i), points[i]));
  return all;
}

std::string sweep_name(int axis) { return steady_solve_name(axis) + ", sweep"; }

/// The numbers of rows of four (Quad, or an array), one after the other; none where a rank has no rows.
template <class Row>
auto numbers_of(std::span<Row> rows) {
  const auto first = [&] {
    if constexpr (requires(Row & row) { row.v; })
      return rows.front().v.data();
    else
      return rows.front().data();
  };
  return rows.empty() ? decltype(std::span(first(), rows.size()))() : std::span(first(), 4 * rows.size());
}

/// Sweeps with inertia are kept on the way, too.
void keep_sweeps(const JobContext& run, const VofPlaces& places, const std::string& depends, SolveProgress& progress,
                 FlowWatch& watch) {
  constexpr const char* field = "velocity_and_pressure_of_solver";
  watch.pause = [&, depends](const PausedSweep& sweep, std::span<const Quad> flow) {
    const VofTable table{solve_table, places, {{field, 4, numbers_of(flow)}}};
    run.services.solved.save(sweep_name(sweep.slow.axis), depends, record_of(run.comm, sweep), {&table, 1});
  };
  watch.resume = [&, depends](int axis, std::span<Quad> flow) -> std::optional<PausedSweep> {
    PausedSweep sweep;
    if (!run.services.solved.load(sweep_name(axis), depends, [&](const VofFile& file, const Json& state) {
          sweep = paused_sweep(state);
          file.read(solve_table, field, places, 4, numbers_of(flow));
        }))
      return {};
    for (const SolveReport& row : reports_of(run.config.flow, sweep.slow, "", sweep.state.points)) progress.read(row);
    return sweep;
  };
}

/// How flows are told of and kept.
/// @param fields  they are wanted
SolveKind<AxisFlow> flow_kind(const JobContext& run, const FlowOptions& part, const std::string& where, bool fields) {
  const CompositeNumbering& numbering = *run.ground->numbering();
  const bool exact = fields && run.services.exchanges.is_taken(ExchangeName::flow);
  SolveKind<AxisFlow> kind{.job = "flow", .where = where};
  kind.rows = [&part, where](const AxisFlow& f) { return reports_of(part, f.column, where, f.column.inertia); };
  if (part.error > 0.0 && fields) return kind;  // of its grids the errors are kept
  kind.depends = run.services.solved.dependencies(kind.job, run.geometry(), run.grid.cell_width());
  kind.places = places_of(run.geometry(), numbering);
  kind.record = [&run](const AxisFlow& f) { return record_of(run.comm, f.column); };
  kind.restore = [n = numbering.n_own(), fields, exact](const Json& state) {
    AxisFlow flow{flow_column(state)};
    flow.kept = {flow.column.axis, std::vector<std::array<float, 4>>(fields ? n : 0)};
    flow.solution.resize(exact ? n : 0);
    return flow;
  };
  kind.fields = [fields, exact](AxisFlow& f) {
    std::vector<SolveField> all;
    if (exact) all.push_back({"velocity_and_pressure_exact", 4, numbers_of(std::span(f.solution))});
    if (fields) all.push_back({"velocity_and_pressure", 4, numbers_of(std::span(f.kept.values))});
    return all;
  };
  return kind;
}

/// Flows along the axes of a part.
/// @param where   what is other than in the deck, added to the names of the solves
/// @param fields  those of the flows are wanted
/// Collective.
std::vector<AxisFlow> solve_axes(const JobContext& run, const FlowOptions& part, const FlowSample& sample,
                                 const std::string& where, bool fields, SolveProgress& progress) {
  const SolveKind<AxisFlow> kind = flow_kind(run, part, where, fields);
  FlowWatch watch = watch_of(progress, where);
  watch.keep_solution = fields;
  watch.keep_fluxes = run.services.exchanges.is_taken(ExchangeName::flow) && part.axes.size() == 1;
  watch.find_friction = fields && part.error > 0.0;
  // A sweep is kept as values of all VoFs, of which those under a finer level have no place in the file.
  const bool sweeps = part.model == FlowModel::steady && run.geometry().levels.size() == 1;
  if (sweeps) keep_sweeps(run, kind.places, kind.depends, progress, watch);
  std::optional<PermeabilitySolver> solver(std::in_place, run.ground, part, run.config.fluid, sample, watch);
  std::vector<SteadySolve<AxisFlow>> list;
  for (const int axis : part.axes)
    list.push_back(
        {axis_name(part, axis),
         [&, axis] { return axis_flow(solver->solve(axis), run.services.exchanges.is_taken(ExchangeName::flow)); },
         !solver->solves(axis), sweeps ? sweep_name(axis) : ""});
  std::vector<AxisFlow> flows = run_solves(run, kind, progress, list);
  solver.reset();
  trim_heap();
  return flows;
}

/// All axes at once, or one after the other where each has reservoirs of its own.
std::vector<FlowOptions> parts_of(const FlowOptions& options) {
  if (options.reservoir == 0) return {options};
  std::vector<FlowOptions> parts;
  for (const int axis : options.axes) {
    parts.push_back(options);
    parts.back().axes = {axis};
  }
  return parts;
}

std::shared_ptr<const Ground> ground_of(const JobContext& run, const Source& source) {
  return std::make_shared<const Ground>(
      run.comm, build_geometry(run.comm, source.grid, *source.level_set, run.config.geometry.keep));
}

/// The grid of an axis with its reservoirs, whose outer faces are those of the run.
struct Extended {
  Extended(const JobContext& run, Source sample, const FlowOptions& part)
      : source(with_reservoirs(std::move(sample), {part.axes[0], part.reservoir},
                               run.sample ? ReservoirEnds::open : ReservoirEnds::joined)),
        ground(ground_of(run, source)) {}
  Source source;
  std::shared_ptr<const Ground> ground;
};

/// What solves of the same sample on other cells, or with its wall elsewhere, gave.
struct Repeated {
  FlowColumns columns;            ///< of the axes that percolate there and whose solves ended
  std::array<bool, 3> blocked{};  ///< axes along which nothing percolates there
  double porosity = 0.0;          ///< of the sample
};

/// Creeping flow once more.
/// @param axes            of the drive
/// @param where           what is other, added to the names of the solves
/// @param reservoir       its cells
/// @param[in,out] notes   why solves failed, if any did
/// Collective.
Repeated repeat(const JobContext& run, const std::vector<int>& axes, const Variant& variant, const std::string& where,
                int reservoir, SolveProgress& progress, Messages& notes) {
  FlowOptions options = run.config.flow;
  options.axes = axes;
  options.model = FlowModel::stokes;
  options.reservoir = reservoir;
  options.tolerance = std::max(options.tolerance, repeated_tolerance);
  Repeated all;
  const auto solve = [&](const Source& source, std::shared_ptr<const Ground> ground, FlowOptions part) {
    const Geometry& geometry = ground->geometry();
    const double free = 2.0 * reservoir, length = source.grid.cells[part.axes[0]];
    all.porosity = (geometry.report.porosity * length - free) / (length - free);
    std::erase_if(part.axes, [&](int axis) {
      all.blocked[axis] = !geometry.report.percolates[axis];
      return all.blocked[axis];
    });
    if (part.axes.empty()) return;
    const JobContext here{run.comm, run.config, source.grid, std::move(ground), run.services};
    const FlowSample sample = sample_of(run, source.grid.cell_width());
    for (AxisFlow& flow : solve_axes(here, part, sample, where, false, progress))
      all.columns.push_back(std::move(flow.column));
  };
  for (const FlowOptions& part : parts_of(options)) try {
      Source source = run.again(variant);
      if (part.reservoir > 0) {
        const Extended grid(run, std::move(source), part);
        solve(grid.source, grid.ground, part);
      } else {
        solve(source, ground_of(run, source), part);
      }
    } catch (const Error& e) {  // the same on all ranks; neither estimate nor range is worth the results
      notes.add("flow{}: {}", where, e.what());
    }
  return all;
}

/// Errors and limits of the columns. Returns whether any grid fits that is wider. Collective.
bool estimate(const JobContext& run, SolveProgress& progress, FlowColumns& columns, Messages& notes) {
  const Timer timer("error estimate");
  std::vector<NumberedValue> values;
  for (const FlowColumn& c : columns)
    if (is_solved(c)) values.push_back({c.axis, c.permeability[c.axis]});
  const auto found = estimate_on_wider_cells(run, values, [&](const std::vector<int>& axes, const WiderCells& wide) {
    const auto reservoir = static_cast<int>(std::ceil(run.config.flow.reservoir / wide.width));
    std::vector<NumberedValue> all;
    for (const FlowColumn& c : repeat(run, axes, {wide.cells}, wide.where, reservoir, progress, notes).columns)
      all.push_back({c.axis, c.permeability[c.axis]});
    return all;
  });
  if (!found) return false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    FlowColumn& c = *std::ranges::find(columns, values[i].number, &FlowColumn::axis);
    c.estimated_error = (*found)[i].error;
    c.extrapolated = (*found)[i].limit;
    c.error_basis = (*found)[i].basis;
  }
  return true;
}

/// The permeabilities with the wall of the image as far off as it may plausibly be, to both sides. Collective.
WallRange wall_range(const JobContext& run, SolveProgress& progress, const FlowColumns& columns, Messages& notes) {
  const Timer timer("range of walls");
  WallRange range;
  range.moved = run.wall_uncertainty;
  range.permeability.resize(columns.size(), {no_number, no_number});
  for (std::size_t side = 0; side < 2; ++side) {
    const double moved = side == 0 ? -range.moved : range.moved;
    const Repeated found =
        repeat(run, run.config.flow.axes, {run.sample_grid().cells, moved},
               fmt::format(", wall moved by {:+.3g} voxel", moved), run.config.flow.reservoir, progress, notes);
    range.porosity[side] = found.porosity;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const int axis = columns[c].axis;
      if (found.blocked[axis]) {
        range.permeability[c][side] = 0.0;
        if (!columns[c].connected) continue;  // said already
        notes.add(
            "flow {0}: with the wall of the image moved by {1:+.3g} voxel, which is plausible, no pore percolates "
            "through the sample along {0}: the range of the permeability starts at 0",
            axis_names[axis], moved);
      }
      for (const FlowColumn& other : found.columns)
        if (other.axis == axis) range.permeability[c][side] = other.permeability[axis];
    }
  }
  return range;
}

/// What all solves gave.
struct Solved {
  FlowColumns columns;
  Figures figures;
  std::vector<JobComponent> components;  ///< that output.plot asks for, on the grid of the geometry
  std::vector<JobFile> files;
};

/// The flows of some axes on one grid: what they gave, with pictures, and their fields.
std::vector<JobComponent> show_on(const JobContext& grid, const FlowOptions& part, std::vector<AxisFlow> axes,
                                  Solved& all) {
  KeptFlows flows;
  const JoinedCells& joined = *grid.ground->joined();
  for (AxisFlow& flow : axes) {
    all.columns.push_back(flow.column);
    if (!flow.has_fields()) continue;
    append_homes(joined, flow.kept);
    flows.push_back(std::make_shared<const KeptFlow>(std::move(flow.kept)));
    Exchanges& exchanges = grid.services.exchanges;
    if (!exchanges.is_taken(ExchangeName::flow)) continue;
    exchanges.flow.columns.push_back(std::move(flow.column));
    if (!exchanges.flow.columns.back().fluxes) exchanges.flow.columns.back().solution = std::move(flow.solution);
  }
  const Drives drives = grid.config.flow.axes.size() > 1 ? Drives::several : Drives::one;
  std::vector<JobComponent> components = flow_components(grid.ground, flows, drives);
  if (!grid.services.solves_in_a_step) {
    const FieldView view = view_of(grid, components);
    for (const auto& flow : flows)
      add_flow_figures(grid.comm, view, {flow->axis, prefix_of(flow->axis, drives), part.reservoir}, all.figures);
  }
  return asked_of(grid.config, std::move(components));
}

std::vector<JobComponent> solve_on(const JobContext& grid, const FlowOptions& part, const FlowSample& sample,
                                   SolveProgress& progress, Solved& all) {
  return show_on(grid, part, solve_axes(grid, part, sample, "", true, progress), all);
}

/// Where the run has none every axis has its reservoirs, with its grid, its geometry and its plotfile, which go before
/// the next axis comes.
void solve_with_reservoirs(const JobContext& run, const FlowSample& sample, SolveProgress& progress, Solved& all) {
  for (const FlowOptions& part : parts_of(run.config.flow)) {
    const Timer timer("with reservoirs");
    const Extended grid(run, run.again({run.grid.cells}), part);
    const JobContext here{run.comm, run.config, grid.source.grid, grid.ground, run.services};
    const std::vector<JobComponent> components = solve_on(here, part, sample, progress, all);
    if (components.empty()) continue;
    const char* axis = axis_names[part.axes[0]];
    const std::string name = fmt::format("plot_{}.vtkhdf", axis);
    const PlotSize size = write_plot(here, grid.source, run.services.files.path(name), components);
    all.files.push_back({name, fmt::format("the flow along {} with its reservoirs, for ParaView, yt and Python{}", axis,
                                           told_parts(run, size))});
  }
}

Solved solve(const JobContext& run, SolveProgress& progress) {
  const FlowSample sample = sample_of(run, run.grid.cell_width());
  Solved all;
  if (run.config.flow.reservoir > 0 && !run.sample)
    solve_with_reservoirs(run, sample, progress, all);
  else
    all.components = solve_on(run, run.config.flow, sample, progress, all);
  return all;
}

/// What the errors are of.
struct Trust {
  bool wanted = false, estimated = false;
  WallRange range{};
  Messages notes{};
};

JobResult result_of(const JobContext& context, Solved all, Trust trust, const SolveProgress& progress) {
  const FlowOptions& options = context.config.flow;
  JobResult result;
  result.warnings = std::move(trust.notes);
  const FlowGrid grid{context.sample_grid().cells, options.reservoir, !context.config.geometry.image.empty()};
  if (!trust.estimated)
    for (FlowColumn& c : all.columns) c.estimated_error = no_number;
  result.text = flow_text(all.columns, grid, trust.wanted, trust.range);
  if (trust.wanted && !trust.estimated) result.text += "  no error estimate: " + no_wider_grid(grid.sample) + '\n';
  result.headline = flow_headline(all.columns, trust.wanted);
  result.json = flow_json(all.columns, grid, trust.wanted, trust.range);
  result.solves = progress.rows();
  double mass = 0.0;
  for (const FlowColumn& c : all.columns) mass = std::max(mass, c.divergence);
  result.balances.push_back({"mass_relative", mass});
  result.warnings.add(warnings_of(all.columns, trust.estimated, scaled_by(context.config)));
  result.warnings.add(inertia_warnings(all.columns));
  if (const std::vector<int> axes = short_axes(context); !axes.empty())
    result.warnings.push_back("flow: " + too_short(axes, grid.sample));
  result.components = std::move(all.components);
  result.files = std::move(all.files);
  result.figures = std::move(all.figures);
  if (options.model == FlowModel::steady) {
    context.services.files.write(context.comm, "inertia.csv", inertia_csv(all.columns));
    result.files.push_back({"inertia.csv", "apparent permeability against Reynolds number"});
  }
  return result;
}

JobResult run_flow(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  SolveProgress progress(context, "flow", options.tolerance);
  Solved all = solve(context, progress);
  Trust trust{.wanted = options.estimate_error && std::ranges::any_of(all.columns, is_solved)};
  trust.estimated = trust.wanted && estimate(context, progress, all.columns, trust.notes);
  if (options.uncertainty) trust.range = wall_range(context, progress, all.columns, trust.notes);
  return result_of(context, std::move(all), std::move(trust), progress);
}

/// On one of the grids on the way to a stated error; a result on the last of them.
JobResult run_flow_to_error(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  SolveProgress progress(context, "flow", options.tolerance);
  std::vector<AxisFlow> flows =
      solve_axes(context, options, sample_of(context, context.grid.cell_width()), "", true, progress);
  FlowColumns columns;
  for (const AxisFlow& flow : flows) columns.push_back(flow.column);
  Trust trust{.wanted = std::ranges::any_of(columns, is_solved), .estimated = true};
  const FlowRounds& rounds = context.services.flow_rounds;
  if (rounds.grids.empty() && trust.wanted && !estimate(context, progress, columns, trust.notes))
    for (FlowColumn& c : columns) c.estimated_error = no_number;
  end_grid(context, columns);
  if (rounds.next) return {};
  for (std::size_t i = 0; i < flows.size(); ++i) flows[i].column = std::move(columns[i]);
  Solved all;
  all.components = show_on(context, options, std::move(flows), all);
  trust.notes.add(grids_warnings(context));
  JobResult result = result_of(context, std::move(all), std::move(trust), progress);
  result.text += grids_text(context);
  result.json["refinement"] = grids_json(context);
  return result;
}

PagePart page(const Json& summary, const Figures& figures) {
  if (summary.contains("flow_in_time")) return flow_in_time_page(summary, figures);
  return summary.contains("flow") ? flow_page(summary, figures) : end_flow_page(summary, figures);
}

}  // namespace

Job flow_job() {
  return {
      .word = job_word("flow"),
      .mistakes = flow_mistakes,
      .start =
          [](const JobContext& context) {
            if (is_in_time(context.config)) return start_flow_in_time(context);
            if (context.config.flow.error > 0.0) return start_flow_to_error(context, run_flow_to_error);
            return one_step(context, ends_drive(context.config) ? run_end_flow : run_flow);
          },
      .draw = draw_flow,
      .page = page,
      .cost = {.plan = plan_flow,
               .irregular_setup = 5.6,  // rows next to walls and multigrids
               .trial = try_flow,
               .usual_pace = {.setup = 1.5e-6, .iteration = 0.32e-6},
               .n_fields = [](const Config& config, PlotField) { return static_cast<int>(config.flow.axes.size()); }},
      .in_time = [](const Config& config) { return is_in_time(config); },
      .gives = {ExchangeName::flow}};
}

}  // namespace karst
