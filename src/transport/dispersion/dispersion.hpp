// SPDX-License-Identifier: BSD-3-Clause
// Dispersion tensor of a periodic sample for flows along given axes and a list of Péclet numbers: the closure problem
// of closure.hpp. One flow per axis serves all its Péclet numbers, Pe = U ℓ / D with U the mean velocity of the fluid.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fields/ground.hpp"
#include "transport/dispersion/closure.hpp"
#include "transport/dispersion/dispersion_options.hpp"

namespace karst {

struct DispersionPoint {
  double peclet = 0.0;
  Matrix3 tensor;                  ///< D* / D, symmetric; NaN if a direction is not periodic, or was not requested
  int iterations = 0;              ///< of all its solves
  double relative_residual = 0.0;  ///< the largest
  double seconds = 0.0;            ///< of this rank
  double setup_seconds = 0.0;      ///< with the first point of an axis: what all share
};

/// Request for one axis, with its flow.
struct DispersionFlow {
  int axis = 0;
  std::vector<double> peclet;
  /// Volume fluxes of a flow along the axis, of any speed; empty: nothing flows. Called once, where something is to be
  /// solved. Collective.
  std::function<FaceField()> fluxes;
};

/// Mean diameter of the grains, 6 x volume of the solid / its surface [h0], what no percolating pore holds counted as
/// solid: the diameter of equal spheres. 0 without solid.
double grain_diameter(const GeometryReport& report);

/// "dispersion x Pe 10"
std::string dispersion_solve_name(int axis, double peclet);

/// Errors for this geometry, found before any solve. Not collective, the same on every rank.
std::vector<std::string> mistakes(const DispersionOptions& options, const Geometry& geometry);

/// The solves on one ground, a Péclet number at a time. The closure problem is made with the first one, and the
/// fluxes of an axis with its first.
class DispersionSolver {
 public:
  using Watch = std::function<void(const std::string& solve, int iteration, double residual)>;
  /// The options must outlive it. Throws Error when there is no length. Not collective, the same on every rank.
  /// @param length  ℓ [h0]
  /// @param watch   told after each iteration; may be empty
  DispersionSolver(std::shared_ptr<const Ground> ground, const DispersionOptions& options, double length,
                   Watch watch = {});
  /// Axis by axis. Throws Error when the solve fails. Collective.
  DispersionPoint solve(const DispersionFlow& flow, double peclet);

 private:
  void take(const DispersionFlow& flow);

  std::shared_ptr<const Ground> ground_;
  const DispersionOptions& options_;
  double length_;
  Watch watch_;
  std::unique_ptr<FaceField> flow_;
  std::unique_ptr<Closure> closure_;
  int axis_ = -1;
  std::string name_;  ///< of the solve under way
};

}  // namespace karst
