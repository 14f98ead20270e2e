// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "solvers/krylov/truncated_gcr.hpp"
#include "transport/march/scalar_grid.hpp"

namespace karst {

/// How well the fluxes of a flow add up.
struct FlowContinuity {
  /// Largest |Σ flow| of a volume / what it exchanges (volume / largest_step, its outflow): as given, as used.
  double before = 0.0, after = 0.0;
  int iterations = 0;  ///< of the projection
};

/// A face through which the flow leaves a volume that is treated implicitly.
struct ImplicitFace {
  std::int32_t face, from, to;  ///< to >= n_all: out of the domain
  double flow;                  ///< F
};

/// A flow as transport uses it. Numbers per face; F > 0 from left to right [h0³/time].
struct CarryingFlow {
  Array<double> all;
  /// Without what leaves volumes that are treated implicitly, which the list has. Empty without such volumes.
  Array<double> explicit_part;
  std::vector<ImplicitFace> implicit_faces;
  Array<double> outflow;                ///< of the own volumes [h0³/time]
  Array<std::uint8_t> implicit_volume;  ///< n_all
  std::int64_t n_implicit = 0;          ///< of all ranks
  double largest_step = 0.0;  ///< least volume / outflow of the volumes of half a cell and more; infinite at rest
  double largest_explicit_step = 0.0;  ///< of the volumes that are not implicit
  bool given = false, at_rest = true;

  std::span<const double> explicit_flow() const { return n_implicit > 0 ? explicit_part.span() : all.span(); }
};

/// Lists the fluxes and makes them divergence-free: an irrotational flow through the same faces takes up what is left.
/// Throws Error when they miss continuity by more than `allowed`, saying where and by how much. Collective.
FlowContinuity set_flow(ScalarGrid& grid, FaceField& faces, double allowed, CarryingFlow& flow);

/// Marks the volumes that the flow changes in less than dt. Collective.
void choose_implicit(ScalarGrid& grid, double dt, CarryingFlow& flow);

/// flux += F c_up through the faces that are treated implicitly. values: n_values; flux: n_faces. Not collective.
void add_implicit_flux(const CarryingFlow& flow, std::span<const double> values, std::span<double> flux);

/// Solves D^-1 A x = D^-1 b until the norm of what is left is below `tolerance`, in units of x; returns the number of
/// iterations, or -1 when the method fails.
/// @param apply  (x, y): y = D^-1 A x over the own volumes
/// @param b      D^-1 b
/// @param[out] x     n_own numbers at its front; starts from 0
/// @param direction  n_own numbers at its front; apply may use what lies behind
template <class Apply>
int solve_scaled(TruncatedGcr& gcr, Apply&& apply, std::span<const double> b, std::span<double> x, double tolerance,
                 int max_iterations, std::span<double> direction) {
  const auto n = b.size();
  std::ranges::fill(x, 0.0);
  double left = gcr.start(b);
  for (int i = 0; i <= max_iterations; ++i) {
    if (left <= tolerance) return i;
    std::ranges::copy(gcr.to_precondition(), direction.begin());
    apply(direction, gcr.image());
    std::ranges::copy(direction.first(n), gcr.direction().begin());
    left = gcr.advance(x.first(n));
    if (!(left >= 0.0)) return -1;
  }
  return -1;
}

}  // namespace karst
