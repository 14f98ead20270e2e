// SPDX-License-Identifier: BSD-3-Clause
// Dispersion tensor of a periodic sample for flows along given axes and a list of Péclet numbers: the closure problem
// of closure.hpp. One flow per axis serves all its Péclet numbers, Pe = U ℓ / D with U the mean velocity of the fluid.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eb/geometry.hpp"
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

struct DispersionColumn {
  int axis = 0;
  bool connected = true;  ///< false: there is no flow along the axis, nothing was solved
  std::vector<DispersionPoint> points;
};

/// Request for one axis, with its flow.
struct DispersionFlow {
  int axis = 0;
  std::vector<double> peclet;
  /// Volume fluxes of a flow along the axis, of any speed. Called once, if there is anything to solve. Collective.
  std::function<FaceField()> fluxes;
};

struct DispersionWatch {
  std::function<void(const std::string& solve, int iteration, double residual)> iteration{};
  /// After each Péclet number. Collective.
  std::function<void(int axis, const DispersionPoint& point)> solved{};
  /// Result of an earlier run, which is then not computed again. Collective.
  std::function<std::optional<DispersionPoint>(int axis, double peclet)> known{};
};

/// Mean diameter of the grains, 6 x volume of the solid / its surface [h0], with everything outside of percolating
/// pores counted as solid: the diameter of equal spheres. 0 without solid.
double grain_diameter(const GeometryReport& report);

/// "dispersion x Pe 10"
std::string dispersion_solve_name(int axis, double peclet);

/// Errors for this geometry, found before any solve. Not collective, the same on every rank.
std::vector<std::string> mistakes(const DispersionOptions& options, const Geometry& geometry);

/// Columns in the order of the flows. Throws Error when a solve fails. Collective.
/// @param length  ℓ [h0]
std::vector<DispersionColumn> dispersion(const Comm& comm, const Geometry& geometry, const DispersionOptions& options,
                                         double length, const std::vector<DispersionFlow>& flows,
                                         const DispersionWatch& watch = {});

}  // namespace karst
