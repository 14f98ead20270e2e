// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/inlet_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/timer.hpp"
#include "eb/shapes/formula.hpp"
#include "fields/face_field.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/flow_kernels.hpp"
#include "ins/upscale/flow_fluxes.hpp"

namespace karst {
namespace {

constexpr const char* solve_name = "stokes from the inlet";

std::string side_name(int side) { return fmt::format("{}{}", is_high(side) ? '+' : '-', "xyz"[direction_of(side)]); }

double value_at(const Formula& formula, const Vec3& x) {
  double value = 0.0;
  Vec3 slope;
  formula.evaluate({&x, 1}, {&value, 1}, {&slope, 1});
  return value;
}

/// A place on an end [cells] where the profile is no number.
std::optional<Vec3> not_finite(const EndProfile& profile, int side, const Index& cells) {
  const int d = direction_of(side), e = (d + 1) % 3, f = (d + 2) % 3;
  Vec3 x;
  x[d] = is_high(side) ? cells[d] : 0.0;
  for (int i = 0; i < cells[e]; ++i)
    for (int j = 0; j < cells[f]; ++j) {
      x[e] = i + 0.5;
      x[f] = j + 0.5;
      if (!std::isfinite(profile(x))) return x;
    }
  return {};
}

/// Flow rates through the inlet and the outlet, in the direction of the flow. [velocity h0²]
std::array<double, 2> rates_through(const Comm& comm, const FaceField& flux, int side) {
  const auto in = static_cast<std::size_t>(side);
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

/// Mean pressure over the open area of an end of a flow that was applied, in units of h0. Collective.
double pressure_on(const StokesLevels& op, const FlowValues& u, int side) {
  const auto s = static_cast<std::size_t>(side);
  std::array<double, 2> sum{};  // p times area, area
  for (int l = 0; l < op.n_levels(); ++l) {
    const StokesOperator& level = op.level(l);
    const double h = StokesLevels::width(l);
    for (int b = 0; b < level.geometry().graph.n_local(); ++b) {
      const BoxGraph box = level.geometry().graph.box(b);
      const Quad* x = u.level(l).x.box(b).data();
      for (const FlowRow& row : level.rows().of(b)) {
        if (row.area[s] == 0.0F || box.name(row.slot[s]) != domain_face) continue;
        const double slope = kernels::row_gradient(x, row, {})[s / 2];
        const double area = h * h * double{row.area[s]};
        sum[0] += area * (x[row.vof].v[kernels::p] + (s % 2 == 1 ? 0.5 : -0.5) * slope) / h;
        sum[1] += area;
      }
    }
  }
  op.comm().sum(std::span(sum));
  return sum[1] > 0.0 ? sum[0] / sum[1] : 0.0;
}

}  // namespace

FlowSides inlet_sides(const FlowOptions& options) {
  FlowSides sides;
  sides.fill(options.sides == FlowWalls::no_slip ? FlowSide::no_slip : FlowSide::symmetry);
  const int in = options.inlets.at(0).side;
  sides[static_cast<std::size_t>(in)] = FlowSide::velocity;
  sides[static_cast<std::size_t>(opposite(in))] = FlowSide::pressure;
  return sides;
}

StokesDrive inlet_drive(const FlowOptions& options) {
  StokesDrive drive;
  drive.at_end[static_cast<std::size_t>(options.inlets.at(0).side)] = 1.0;
  return drive;
}

EndProfile inlet_profile(const FlowOptions& options, double cell_width) {
  return [formula = Formula(options.inlets.at(0).profile), cell_width](const Vec3& x) {
    return value_at(formula, cell_width * x);
  };
}

std::vector<std::string> inlet_mistakes(const FlowOptions& options, const Geometry& geometry, double cell_width) {
  std::vector<std::string> found = mistakes(options, geometry);
  const FlowInlet& inlet = options.inlets.at(0);
  const Domain& domain = geometry.grid.levels[0].layout.domain();
  const int axis = direction_of(inlet.side);
  const std::string side = side_name(inlet.side);
  if (domain.periodic[static_cast<std::size_t>(axis)])
    found.push_back(fmt::format(
        "flow.inlet: side = \"{0}\", but the domain is periodic along {1} and has no end there; set grid.periodic to "
        "false along {1}, or name a side of another direction",
        side, "xyz"[axis]));
  else if (!geometry.report.percolates[static_cast<std::size_t>(axis)])
    found.push_back(
        fmt::format("flow.inlet: no pore leads from the inlet on {} to the opposite end: what flows in could not "
                    "leave; name another "
                    "side, or use finer cells",
                    side));
  if (const auto place = not_finite(inlet_profile(options, cell_width), inlet.side, domain.cells))
    found.push_back(fmt::format(
        "flow.inlet: profile \"{}\" has no finite value at ({:.4g}, {:.4g}, {:.4g}) m; it must have one on all of {}",
        inlet.profile, cell_width * (*place)[0], cell_width * (*place)[1], cell_width * (*place)[2], side));
  return found;
}

InletFlow solve_inlet_flow(const Comm& comm, const Geometry& geometry, const FlowOptions& options,
                           const FluidOptions& fluid, const FlowSample& sample,
                           const std::function<void(int, double)>& progress, bool keep_fluxes) {
  const Timer timer("flow");
  const FlowInlet& inlet = options.inlets.at(0);
  const double h = sample.cell_width, speed = inlet.velocity, pressure = fluid.viscosity * speed / h;
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  StokesOptions solve_options;
  solve_options.krylov.tolerance = options.tolerance;
  solve_options.krylov.max_iterations = options.max_iterations;
  if (progress) solve_options.progress = [&](const StokesProgress& p) { progress(p.iteration, p.relative_residual); };
  StokesSolver solver(comm, geometry, inlet_sides(options), solve_options);
  solver.op().set_profile(inlet.side, inlet_profile(options, h));
  InletFlow flow;
  flow.counts = solver.op().counts();
  require(flow.counts.flow_cells > 0,
          "{}: no cell centre lies in the fluid: the pores are thinner than a cell; use "
          "finer cells",
          solve_name);
  flow.setup_seconds = seconds();
  StokesReport report;
  try {
    report = solver.solve(inlet_drive(options), solve_name);
  } catch (const Error& e) {
    throw Error(fmt::format(
        "{}\nIf pores end at the inlet that do not lead to the outlet, no flow goes in with the velocity asked for: "
        "geometry.keep = \"largest\" takes them away, or finer cells open what joins them",
        e.what()));
  }
  flow.seconds = seconds() - flow.setup_seconds;
  FaceField fluxes = solver.face_fluxes();
  const auto [in, out] = rates_through(comm, fluxes, inlet.side);
  flow.flow_rate = speed * h * h * in;
  flow.imbalance = in != 0.0 ? std::abs(out / in - 1.0) : 0.0;
  flow.darcy_velocity = speed * report.velocity;
  flow.pressure_drop = pressure * pressure_on(solver.op(), solver.values(), inlet.side);
  flow.largest_speed = speed * report.largest_speed;
  flow.tortuosity = report.tortuosity;
  if (sample.specific_surface > 0.0)
    flow.reynolds = fluid.density * norm(flow.darcy_velocity) * 4.0 / sample.specific_surface / fluid.viscosity;
  flow.divergence = report.divergence;
  flow.iterations = report.krylov.iterations;
  flow.relative_residual = report.krylov.relative_residual;
  for (const Quad& q : solver.solution())
    flow.solution.push_back({{speed * q.v[0], speed * q.v[1], speed * q.v[2], pressure * q.v[3]}});
  if (keep_fluxes) {
    scale(fluxes, speed / h);
    flow.fluxes = std::move(fluxes);
  }
  return flow;
}

}  // namespace karst
