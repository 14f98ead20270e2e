// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/dispersion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/core/wall_clock.hpp"

namespace karst {
namespace {

const char* name_of(int axis) { return axis_names[axis]; }

/// The closure problem, made when something is first to be solved, and the flow that it has.
class Solver {
 public:
  Solver(const Comm& comm, const Geometry& geometry, const DispersionOptions& options, double length,
         const DispersionWatch& watch)
      : comm_(comm), geometry_(geometry), options_(options), length_(length), watch_(watch) {}

  DispersionPoint solve(const DispersionFlow& flow, double peclet) {
    DispersionPoint point;
    WallClock clock;
    const bool fresh = flow_ == nullptr || axis_ != flow.axis;
    name_ = dispersion_solve_name(flow.axis, peclet);
    if (fresh) take(flow);
    if (fresh) point.setup_seconds = clock.seconds();
    clock = {};
    const double velocity = closure_->velocity()[flow.axis];
    require(velocity > 0.0, "{}: the mean velocity along {} is {:.3g}; a flow along the axis is needed", name_,
            name_of(flow.axis), velocity);
    const Dispersion found = closure_->solve(peclet / (length_ * velocity), name_);
    point.peclet = peclet;
    point.tensor = found.tensor;
    for (const SolveReport& s : found.solves) {
      point.iterations += s.iterations;
      point.relative_residual = std::max(point.relative_residual, s.true_residual);
    }
    point.seconds = clock.seconds();
    return point;
  }

 private:
  void take(const DispersionFlow& flow) {
    const Timer timer("set-up");
    flow_ = std::make_unique<FaceField>(flow.fluxes());
    axis_ = flow.axis;
    trim_heap();
    if (!closure_) {
      ClosureOptions options;
      options.tolerance = options_.tolerance;
      options.max_iterations = options_.max_iterations;
      if (watch_.iteration) options.watch = [this](int n, double residual) { watch_.iteration(name_, n, residual); };
      closure_ = std::make_unique<Closure>(comm_, geometry_, std::move(options));
    }
    if (!options_.transverse) closure_->set_directions({axis_});
    closure_->set_flow(*flow_);
  }

  const Comm& comm_;
  const Geometry& geometry_;
  const DispersionOptions& options_;
  double length_;
  const DispersionWatch& watch_;
  std::unique_ptr<FaceField> flow_;
  std::unique_ptr<Closure> closure_;
  int axis_ = -1;
  std::string name_;
};

}  // namespace

double grain_diameter(const GeometryReport& report) {
  return report.specific_surface > 0.0 ? 6.0 * (1.0 - report.connected_porosity) / report.specific_surface : 0.0;
}

std::string dispersion_solve_name(int axis, double peclet) {
  return fmt::format("dispersion {} Pe {:.6g}", name_of(axis), peclet);
}

std::vector<std::string> mistakes(const DispersionOptions& options, const Geometry& geometry) {
  const Domain& domain = geometry.grid.levels[0].layout.domain();
  std::vector<std::string> found;
  for (const int axis : options.axes) {
    if (!domain.periodic[axis])
      found.push_back(
          fmt::format("dispersion.axes: the domain is not periodic along {0}, and a dispersion tensor is that of a "
                      "periodic sample; set grid.periodic to true along {0}, or remove {0}",
                      name_of(axis)));
    else if (domain.cells[axis] == 1)
      found.push_back(fmt::format("dispersion.axes: {0} is one cell thick and periodic (a 2-D problem); remove {0}",
                                  name_of(axis)));
  }
  for (int d = 0; d < 3; ++d) {
    const int n = domain.cells[d];
    if (domain.periodic[d] && n > 1 && n < least_cells_of_planes)
      found.push_back(
          fmt::format("dispersion: the domain is periodic along {} and {} cells wide there; at least {} are needed (or "
                      "one, for a 2-D problem): use smaller cells or several periods",
                      name_of(d), n, least_cells_of_planes));
  }
  if (options.length == 0.0 && !(grain_diameter(geometry.report) > 0.0))
    found.emplace_back(
        "dispersion.length: there are no grains whose diameter could define the Péclet number; give the length [m]");
  return found;
}

std::vector<DispersionColumn> dispersion(const Comm& comm, const Geometry& geometry, const DispersionOptions& options,
                                         double length, const std::vector<DispersionFlow>& flows,
                                         const DispersionWatch& watch) {
  const Timer timer("dispersion");
  require(length > 0.0, "dispersion: {} is not a valid length for the Péclet number", length);
  Solver solver(comm, geometry, options, length, watch);
  std::vector<DispersionColumn> columns;
  for (const DispersionFlow& flow : flows) {
    DispersionColumn& column = columns.emplace_back();
    column.axis = flow.axis;
    column.connected = bool{flow.fluxes};
    if (!column.connected) continue;
    for (const double peclet : flow.peclet) {
      std::optional<DispersionPoint> known;
      if (watch.known) known = watch.known(flow.axis, peclet);
      column.points.push_back(known ? *known : solver.solve(flow, peclet));
      if (!known && watch.solved) watch.solved(flow.axis, column.points.back());
    }
  }
  return columns;
}

}  // namespace karst
