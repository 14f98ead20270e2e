// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

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
  std::int32_t to_place;        ///< of `to` among the own implicit volumes; -1: none of them
  double flow;                  ///< F
};

/// A flow as transport uses it. Numbers per face; F > 0 from left to right [h0³/time].
struct CarryingFlow {
  Array<double> all;
  /// Without what leaves volumes that are treated implicitly, which the list has. Empty without such volumes.
  Array<double> explicit_part;
  std::vector<ImplicitFace> implicit_faces;
  std::vector<std::int32_t> implicit_list;  ///< own volumes that are treated implicitly, increasing
  Array<double> outflow;                    ///< of the own volumes [h0³/time]
  Array<double> potential;  ///< n_values: of the irrotational flow in it [h0²/time]; empty: none was needed
  Array<std::uint8_t> implicit_volume;  ///< n_all
  std::int64_t n_implicit = 0;          ///< of all ranks
  double largest_step = 0.0;  ///< least volume / outflow of the volumes of half a cell and more; infinite at rest
  double largest_explicit_step = 0.0;  ///< of the volumes that are not implicit
  double chosen_for = 0.0;             ///< time step of choose_implicit(); 0: none yet
  bool given = false, at_rest = true;
  bool enters = false;  ///< through an end of the domain of any rank

  std::span<const double> explicit_flow() const { return n_implicit > 0 ? explicit_part.span() : all.span(); }
};

/// Lists the fluxes and makes them divergence-free: an irrotational flow through the same faces takes up what is left.
/// Throws Error when they miss continuity by more than `allowed`, saying where and by how much. Collective.
/// @param potential  of an earlier call for these fluxes, n_own [h0²/time]: taken as it is, so that the flow has the
///                   same bits whoever owns which volumes; empty: solved for
FlowContinuity set_flow(ScalarGrid& grid, FaceField& faces, double allowed, CarryingFlow& flow,
                        std::span<const double> potential = {});

/// Marks the volumes that the flow changes in less than dt; nothing where it has. Collective.
void choose_implicit(ScalarGrid& grid, double dt, CarryingFlow& flow);

}  // namespace karst
