// SPDX-License-Identifier: BSD-3-Clause
// The error of discretisation of the dispersion tensor: flow and closure problems again on wider cells, at the same
// Péclet numbers (app/job/wider_cells.hpp, decision 088).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "app/job/solve_progress.hpp"
#include "base/math/no_number.hpp"
#include "ins/upscale/extrapolation.hpp"
#include "transport/dispersion/dispersion.hpp"

namespace karst {

/// With what the entries of its diagonal are off by: errors of the discretisation, from the same on wider cells.
struct TrustedPoint : DispersionPoint {
  TrustedPoint() = default;
  explicit TrustedPoint(const DispersionPoint& point) : DispersionPoint(point) {}
  std::array<Extrapolated, 3> trust{not_known, not_known, not_known};
  static constexpr Extrapolated not_known{no_number, {}, ErrorBasis::none};
};

/// Of one axis of the flow.
struct TrustedColumn {
  int axis = 0;
  bool connected = true;  ///< false: there is no flow along the axis, nothing was solved
  std::vector<TrustedPoint> points;
};

struct DispersionTrust {
  bool wanted = false;  ///< the deck asks for errors
  std::string none{};   ///< why there are none
  Messages notes{};     ///< why solves failed, if any did
};

/// Fills TrustedPoint::trust. Collective.
/// @param length  of the Péclet numbers [m]
DispersionTrust estimate_dispersion(const JobContext& run, double length, std::vector<TrustedColumn>& columns,
                                    SolveProgress& progress);

/// Tolerance of the closure problems for an estimate, which needs two digits.
constexpr double repeated_dispersion_tolerance = 1e-4;

}  // namespace karst
