// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/end_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/core/wall_clock.hpp"
#include "eb/shapes/formula.hpp"
#include "fields/face_field.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/flow_kernels.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/upscale/flow_fluxes.hpp"

namespace karst {
namespace {

/// Of GMRES with inertia: Newton's equations of eddies that nothing blows through are solved in some hundred iterations
/// without a restart, or not at all (a cavity at Re 1000 on 128² cells: none with 40, 16 steps of Newton with 150); as
/// many vectors as fit in `most_numbers` of 16 bits.
constexpr int least_restart = 40, most_restart = 150;
constexpr double most_numbers = 1.28e8;
constexpr double no_mean = 1e-9;  ///< mean of a profile, over its largest value, that counts as none
int restart_of_steady(const Index& cells) {
  const double fit = most_numbers / (4.0 * cells[0] * cells[1] * cells[2]);
  return static_cast<int>(std::clamp(fit, double{least_restart}, double{most_restart}));
}

double value_at(const Formula& formula, const Vec3& x) {
  double value = 0.0;
  Vec3 slope;
  formula.evaluate({&x, 1}, {&value, 1}, {&slope, 1});
  return value;
}

/// Flow rates through the inlet and the outlet, in the direction of the flow. [velocity h0²]
std::array<double, 2> rates_through(const Comm& comm, const FaceField& flux, int side) {
  const std::size_t in = side;
  std::array<double, 2> sum{};
  for (int l = 0; l < flux.grid().n_levels(); ++l) {
    const LevelGraph& graph = flux.grid().graph(l);
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      const double* f = flux.primary(l).box(b, direction_of(side)).data();
      for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
        for (const std::size_t s : {in, in ^ 1U})
          if (box.name(slots[s]) == domain_face) sum[s != in] += f[s % 2 == 1 ? slots[s] : vof];
      });
    }
  }
  comm.sum(std::span(sum));
  if (is_high(side)) sum = {-sum[0], -sum[1]};
  return sum;
}

/// Units of the solver: the velocity of the end, and the stress it makes in a cell.
struct EndUnits {
  double width, speed, pressure;
  double inertia;  ///< as in steady_solver.hpp; 0: Stokes flow
  EndUnits(const FlowOptions& options, const FluidOptions& fluid, double h)
      : width(h),
        speed(end_speed(options)),
        pressure(fluid.viscosity * speed / h),
        inertia(options.model == FlowModel::steady ? fluid.density * speed * h / fluid.viscosity : 0.0) {}
};

/// Sets the profile of the inlet. Returns its open area [h0²]. Throws Error when nothing would flow in. Collective.
double open_inlet(StokesLevels& op, const FlowOptions& options, const Domain& domain, double cell_width) {
  const InletFace face = set_inlet(op, options, domain, cell_width);
  require(face.mean > 0.0,
          "flow.inlet: profile \"{}\" has a mean of {:.3g} over the open part of the inlet, so there is no net inflow; "
          "give one with a mean above 0 where the inlet is open",
          options.inlets[0].profile, face.mean);
  return face.area;
}

/// Stokes flow, left in the solver.
StokesReport solve_slow(StokesSolver& solver, const FlowOptions& options) {
  try {
    return solver.solve(end_drive(options), end_solve_name(options, FlowModel::stokes));
  } catch (const Error& e) {
    if (options.inlets.empty()) throw;
    throw Error(
        fmt::format("{}\nIf there are pores at the inlet that do not lead to the outlet, the requested velocity cannot "
                    "enter them: geometry.keep = \"largest\" removes them, or finer cells resolve their connections",
                    e.what()));
  }
}

/// From there to the flow with inertia.
StokesReport solve_with_inertia(StokesSolver& solver, const FlowOptions& options, const EndUnits& unit,
                                const EndProgress& progress, EndFlow& flow) {
  const std::string name = end_solve_name(options, FlowModel::steady);
  SteadyOptions steady_options;
  steady_options.tolerance = options.tolerance;
  steady_options.max_steps = options.newton_steps;
  if (progress)
    steady_options.progress = [&](const StokesProgress& p) { progress(name, p.iteration, p.relative_residual); };
  SteadySolver steady(solver, steady_options);
  double solved = 0.0;
  const SteadyApproach way = approach(
      steady, end_drive(options), 0.0, unit.inertia, [&](double at, const SteadyReport&) { solved = at; }, name);
  require(way.reached,
          "{}: no steady flow found: Newton's method converged up to {:.3g} times the requested velocity, and stopped "
          "at {:.3g} times it with a residual of {:.1e}; required is {:.0e}. {}iner cells (the cell Reynolds number is "
          "{:.3g} there) or more flow.newton_steps help; above some velocity the flow is not steady",
          name, solved / unit.inertia, way.inertia / unit.inertia, way.last.flow.krylov.relative_residual,
          options.tolerance, options.lids.empty() ? "A longer distance to the outlet, f" : "F", way.last.cell_reynolds);
  flow.newton_steps = way.newton_steps;
  flow.drives_between = way.between;
  flow.cell_reynolds = way.last.cell_reynolds;
  StokesReport report = way.last.flow;
  report.krylov.iterations = way.iterations;
  return report;
}

void set_forces(StokesSolver& solver, const FlowOptions& options, const GeometryReport& report, const EndUnits& unit,
                EndFlow& flow) {
  const double h2 = unit.width * unit.width, newton = unit.pressure * h2;
  const StokesDrive drive = end_drive(options);
  for (const FlowLid& lid : options.lids) {
    const EndFriction f = end_friction(solver.op(), solver.values(), drive, lid.side);
    flow.drags.push_back({newton * f.force, h2 * f.area});
  }
  if (options.bodies.empty()) return;
  const MomentumRows rows = steady_momentum_rows(solver, drive, unit.inertia);
  for (const BodyForce& f : body_forces(solver.op(), solver.values(), drive, body_of(options.bodies, report), rows))
    flow.forces.push_back({newton * f.pressure, newton * f.friction, h2 * f.wall_area});
}

}  // namespace

std::string side_name(int side) {
  return fmt::format("{}{}", is_high(side) ? '+' : '-', axis_names[direction_of(side)]);
}

std::string end_solve_name(const FlowOptions& options, FlowModel model) {
  return fmt::format("{} {}", model == FlowModel::steady ? "steady" : "stokes",
                     options.lids.empty() ? "from the inlet" : "between moving walls");
}

double end_speed(const FlowOptions& options) {
  if (!options.inlets.empty()) return options.inlets[0].velocity;
  double largest = 0.0;
  for (const FlowLid& lid : options.lids) largest = std::max(largest, norm(lid.velocity));
  return largest;
}

FlowSides end_sides(const FlowOptions& options) {
  FlowSides sides;
  sides.fill(options.sides == FlowWalls::no_slip ? FlowSide::no_slip : FlowSide::symmetry);
  for (const FlowLid& lid : options.lids) sides[lid.side] = FlowSide::no_slip;
  for (const FlowInlet& inlet : options.inlets) {
    sides[inlet.side] = FlowSide::velocity;
    sides[opposite(inlet.side)] = FlowSide::outlet;
  }
  return sides;
}

StokesDrive end_drive(const FlowOptions& options) {
  StokesDrive drive;
  for (const FlowInlet& inlet : options.inlets) drive.at_end[inlet.side] = 1.0;
  for (const FlowLid& lid : options.lids) drive.of_wall[lid.side] = (1.0 / end_speed(options)) * lid.velocity;
  return drive;
}

ProfileOnEnd profile_on_end(const EndProfile& profile, int side, const Domain& domain) {
  const int d = direction_of(side), e = (d + 1) % 3, f = (d + 2) % 3;
  ProfileOnEnd found;
  Vec3 x;
  x[d] = is_high(side) ? domain.cells[d] : 0.0;
  for (int i = 0; i < domain.cells[e]; ++i)
    for (int j = 0; j < domain.cells[f]; ++j) {
      x[e] = i + 0.5;
      x[f] = j + 0.5;
      const double value = profile(x);
      if (!std::isfinite(value)) {
        found.not_finite = x;
        return found;
      }
      found.mean += value / (1.0 * domain.cells[e] * domain.cells[f]);
      found.largest = std::max(found.largest, std::abs(value));
    }
  if (std::abs(found.mean) <= no_mean * found.largest) found.mean = 0.0;
  return found;
}

double mean_pressure_on(const StokesLevels& op, const FlowValues& u, int side) {
  std::array<double, 2> sum{};  // p times area, area
  for (int l = 0; l < op.n_levels(); ++l) {
    const StokesOperator& level = op.level(l);
    const double h = StokesLevels::width(l);
    for (int b = 0; b < level.geometry().graph.n_local(); ++b) {
      const BoxGraph box = level.geometry().graph.box(b);
      const Quad* x = u.level(l).x.box(b).data();
      for (const FlowRow& row : level.rows().of(b)) {
        if (row.area[side] == 0.0F || box.name(row.slot[side]) != domain_face) continue;
        const double slope = kernels::row_gradient(x, row, {})[side / 2];
        const double area = h * h * double{row.area[side]};
        sum[0] += area * (x[row.vof].v[kernels::p] + (side % 2 == 1 ? 0.5 : -0.5) * slope) / h;
        sum[1] += area;
      }
    }
  }
  op.comm().sum(std::span(sum));
  return sum[1] > 0.0 ? sum[0] / sum[1] : 0.0;
}

std::vector<int> body_of(const std::vector<FlowBody>& bodies, const GeometryReport& report) {
  std::vector<int> found(std::max<std::size_t>(report.minerals.size(), 1), -1);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t m = 0; m < found.size(); ++m)
      if (bodies[i].mineral.empty() || report.minerals[m].name == bodies[i].mineral) found[m] = static_cast<int>(i);
  return found;
}

bool changes_in_time(const FlowInlet& inlet) {
  if (inlet.profile == "uniform" || inlet.profile == "parabolic") return false;
  try {
    const Formula without_time(inlet.profile);
  } catch (const Error&) {
    return true;
  }
  return false;
}

EndProfile inlet_profile(const FlowOptions& options, const Domain& domain, double cell_width, double time) {
  const FlowInlet& inlet = options.inlets.at(0);
  if (inlet.profile == "uniform") return [](const Vec3&) { return 1.0; };
  if (inlet.profile == "parabolic")
    return [domain, axis = direction_of(inlet.side)](const Vec3& x) {
      double product = 1.0;
      for (int d = 0; d < 3; ++d) {
        const double s = x[d] / domain.cells[d];
        if (d != axis && !domain.periodic[d]) product *= 6.0 * s * (1.0 - s);
      }
      return product;
    };
  return [formula = Formula(inlet.profile, "xyz", time), cell_width](const Vec3& x) {
    return value_at(formula, cell_width * x);
  };
}

InletFace set_inlet(StokesLevels& op, const FlowOptions& options, const Domain& domain, double cell_width,
                    double time) {
  const FlowInlet& inlet = options.inlets.at(0);
  const EndProfile profile = inlet_profile(options, domain, cell_width, time);
  std::array<double, 2> sums = op.set_profile(inlet.side, profile);
  op.comm().sum(std::span(sums));
  const auto [integral, area] = sums;
  InletFace face{area, area > 0.0 ? integral / area : 0.0};
  if (inlet.profile != "parabolic" || face.mean <= 0.0) return face;
  op.set_profile(inlet.side, [&profile, mean = face.mean](const Vec3& x) { return profile(x) / mean; });
  return {area, 1.0};
}

std::optional<Vec3> force_coefficients(const Vec3& force, const FlowBody& body, const FlowOptions& options,
                                       const FluidOptions& fluid) {
  if (body.area == 0.0) return {};
  const double speed = body.speed > 0.0 ? body.speed : end_speed(options);
  return (2.0 / (fluid.density * speed * speed * body.area)) * force;
}

namespace {

void check_inlet(const FlowOptions& options, const Geometry& geometry, double cell_width,
                 std::vector<std::string>& found) {
  const FlowInlet& inlet = options.inlets.at(0);
  const Domain& domain = geometry.grid.levels[0].layout.domain();
  const int axis = direction_of(inlet.side);
  const std::string side = side_name(inlet.side);
  if (domain.periodic[axis])
    found.push_back(
        fmt::format("flow.inlet: side = \"{0}\", but the domain is periodic along {1} and has no face there; set "
                    "grid.periodic to false along {1}, or choose a side in another direction",
                    side, axis_names[axis]));
  else if (!geometry.report.percolates[axis])
    found.push_back(
        fmt::format("flow.inlet: no pore leads from the inlet on {} to the opposite face, so the inflow could not "
                    "leave; choose another side, or use finer cells",
                    side));
  const auto [mean, largest, place] = profile_on_end(inlet_profile(options, domain, cell_width), inlet.side, domain);
  if (place)
    found.push_back(fmt::format(
        "flow.inlet: profile \"{}\" has no finite value at ({:.4g}, {:.4g}, {:.4g}) m; it must have one on all of {}",
        inlet.profile, cell_width * (*place)[0], cell_width * (*place)[1], cell_width * (*place)[2], side));
  else if (mean <= 0.0 && !changes_in_time(inlet) && geometry.report.specific_surface == 0.0)  // else: of what is open
    found.push_back(
        fmt::format("flow.inlet: profile \"{}\" is {} on average over {}, so there is no net inflow; choose the side "
                    "where the fluid enters, and a profile with a mean above 0",
                    inlet.profile, mean == 0.0 ? "0" : "negative", side));
}

void check_lids(const FlowOptions& options, const Geometry& geometry, std::vector<std::string>& found) {
  const Domain& domain = geometry.grid.levels[0].layout.domain();
  for (const FlowLid& lid : options.lids) {
    const char* axis = axis_names[direction_of(lid.side)];
    if (domain.periodic[direction_of(lid.side)])
      found.push_back(
          fmt::format("flow.lid: side = \"{0}\", but the domain is periodic along {1} and has no face there; set "
                      "grid.periodic to false along {1}, or choose a side in another direction",
                      side_name(lid.side), axis));
  }
}

}  // namespace

std::vector<std::string> end_mistakes(const FlowOptions& options, const Geometry& geometry, double cell_width) {
  std::vector<std::string> found = mistakes(options, geometry);
  options.lids.empty() ? check_inlet(options, geometry, cell_width, found) : check_lids(options, geometry, found);
  std::string known;
  for (const MineralWall& m : geometry.report.minerals)
    known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", m.name);
  for (const FlowBody& body : options.bodies)
    if (!body.mineral.empty() && std::ranges::count(geometry.report.minerals, body.mineral, &MineralWall::name) == 0)
      found.push_back(
          fmt::format("flow.body: mineral = \"{}\" has no wall here; those with walls: {}", body.mineral, known));
  return found;
}

EndFlow solve_end_flow(const std::shared_ptr<const Composite>& grid, const FlowOptions& options,
                       const FluidOptions& fluid, const FlowSample& sample, const EndProgress& progress,
                       bool keep_fluxes) {
  const Timer timer("flow");
  const EndUnits unit(options, fluid, sample.cell_width);
  const double h = unit.width;
  const WallClock clock;
  const Domain& domain = domain_of(grid->geometry());
  StokesOptions solve_options;
  solve_options.krylov.tolerance = options.tolerance;
  solve_options.krylov.max_iterations = options.max_iterations;
  solve_options.krylov.restart = unit.inertia > 0.0 ? restart_of_steady(domain.cells) : FlowBasis::short_basis;
  if (progress)
    solve_options.progress = [&, name = end_solve_name(options, FlowModel::stokes)](const StokesProgress& p) {
      progress(name, p.iteration, p.relative_residual);
    };
  StokesSolver solver(grid, end_sides(options), solve_options);
  EndFlow flow;
  if (!options.inlets.empty()) flow.open_area = h * h * open_inlet(solver.op(), options, domain, h);
  flow.counts = solver.op().counts();
  require(flow.counts.flow_cells > 0,
          "{}: no cell centre is in the fluid: the pores are thinner than a cell; use finer cells",
          end_solve_name(options, FlowModel::stokes));
  flow.setup_seconds = clock.seconds();
  StokesReport report = solve_slow(solver, options);
  flow.slow_iterations = report.krylov.iterations;
  if (unit.inertia > 0.0) report = solve_with_inertia(solver, options, unit, progress, flow);
  flow.seconds = clock.seconds() - flow.setup_seconds;
  FaceField fluxes = solver.face_fluxes();
  set_forces(solver, options, grid->geometry().report, unit, flow);
  for (const FlowInlet& inlet : options.inlets) {
    const auto [in, out] = rates_through(grid->comm(), fluxes, inlet.side);
    flow.flow_rate = unit.speed * h * h * in;
    flow.imbalance = in != 0.0 ? std::abs(out / in - 1.0) : 0.0;
    flow.pressure_drop = unit.pressure * mean_pressure_on(solver.op(), solver.values(), inlet.side);
  }
  flow.darcy_velocity = unit.speed * report.velocity;
  flow.largest_speed = unit.speed * report.largest_speed;
  flow.tortuosity = report.tortuosity;
  for (const FlowLid& lid : options.lids)
    if (norm(lid.velocity) == unit.speed)
      flow.reynolds = fluid.density * unit.speed * h / fluid.viscosity * domain.cells[direction_of(lid.side)];
  if (options.lids.empty() && sample.specific_surface > 0.0)
    flow.reynolds = fluid.density * norm(flow.darcy_velocity) * 4.0 / sample.specific_surface / fluid.viscosity;
  flow.divergence = report.divergence;
  flow.iterations = report.krylov.iterations;
  flow.relative_residual = report.krylov.relative_residual;
  for (const Quad& q : solver.solution())
    flow.solution.push_back({{unit.speed * q.v[0], unit.speed * q.v[1], unit.speed * q.v[2], unit.pressure * q.v[3]}});
  if (keep_fluxes) {
    scale(fluxes, unit.speed / h);
    flow.fluxes = std::move(fluxes);
  }
  return flow;
}

}  // namespace karst
