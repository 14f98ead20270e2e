// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/steady_approach.hpp"

#include <algorithm>
#include <cmath>

namespace karst {
namespace {

constexpr int most_failures = 6;
constexpr double first_factor = 4.0;  ///< between two strengths, where only Stokes flow is known
constexpr double least_factor = 1.1;

}  // namespace

SteadyApproach approach(SteadySolver& steady, const StokesDrive& drive, double from, double inertia,
                        const std::function<void(double, const SteadyReport&)>& on_flow, const std::string& name) {
  SteadyApproach all;
  double next = inertia, factor = from > 0.0 ? inertia / from : first_factor;
  for (int failures = 0;;) {
    all.last = steady.solve(drive, next, name);
    all.inertia = next;
    all.newton_steps += static_cast<int>(all.last.steps.size()) - 1;
    all.iterations += all.last.flow.krylov.iterations;
    if (all.last.converged) {
      from = next;
      on_flow(next, all.last);
      all.reached = next == inertia;
      if (all.reached) return all;
      ++all.between;
      next = factor > 1.0 ? std::min(inertia, factor * from) : std::max(inertia, factor * from);
      factor *= factor;
      continue;
    }
    if (from > 0.0) factor = std::sqrt(next / from);
    if (++failures > most_failures || std::abs(factor - 1.0) < least_factor - 1.0) return all;
    next = from > 0.0 ? factor * from : next / first_factor;
  }
}

}  // namespace karst
