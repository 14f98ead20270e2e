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
  for (std::string& mistake : narrow_periods("dispersion", domain)) found.push_back(std::move(mistake));
  if (options.length == 0.0 && !(grain_diameter(geometry.report) > 0.0))
    found.emplace_back(
        "dispersion.length: there are no grains whose diameter could define the Péclet number; give the length [m]");
  return found;
}

DispersionSolver::DispersionSolver(std::shared_ptr<const Ground> ground, const DispersionOptions& options,
                                   double length, Watch watch)
    : ground_(std::move(ground)), options_(options), length_(length), watch_(std::move(watch)) {
  require(length > 0.0, "dispersion: {} is not a valid length for the Péclet number", length);
}

DispersionPoint DispersionSolver::solve(const DispersionFlow& flow, double peclet) {
  DispersionPoint point;
  WallClock clock;
  name_ = dispersion_solve_name(flow.axis, peclet);
  if (axis_ != flow.axis) {
    take(flow);
    point.setup_seconds = clock.seconds();
  }
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

void DispersionSolver::take(const DispersionFlow& flow) {
  const Timer timer("set-up");
  flow_ = std::make_unique<FaceField>(flow.fluxes());
  axis_ = flow.axis;
  trim_heap();
  if (!closure_) {
    ClosureOptions options;
    options.tolerance = options_.tolerance;
    options.max_iterations = options_.max_iterations;
    if (watch_) options.watch = [this](int n, double residual) { watch_(name_, n, residual); };
    closure_ = std::make_unique<Closure>(ground_->composite(), std::move(options));
  }
  if (!options_.transverse) closure_->set_directions({axis_});
  closure_->set_flow(*flow_);
}

}  // namespace karst
