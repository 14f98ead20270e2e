// SPDX-License-Identifier: BSD-3-Clause
// The error of discretisation of the dispersion tensor: flow and closure problems again on wider cells, at the same
// Péclet numbers (app/job/wider_cells.hpp, decision 088).
#pragma once

#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "app/job/solve_progress.hpp"
#include "transport/dispersion/dispersion.hpp"

namespace karst {

struct DispersionTrust {
  bool wanted = false;  ///< the deck asks for errors
  std::string none{};   ///< why there are none
  Messages notes{};     ///< why solves failed, if any did
};

/// Fills DispersionPoint::trust. Collective.
/// @param length  of the Péclet numbers [m]
DispersionTrust estimate_dispersion(const JobContext& run, double length, std::vector<DispersionColumn>& columns,
                                    SolveProgress& progress);

/// Tolerance of the closure problems for an estimate, which needs two digits.
constexpr double repeated_dispersion_tolerance = 1e-4;

}  // namespace karst
