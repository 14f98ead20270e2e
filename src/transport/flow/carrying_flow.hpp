// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Continuity error of the fluxes of a flow.
struct FlowContinuity {
  /// Largest |Σ flow| of a volume / its exchange (volume / largest_step, its outflow): of the given flow and of the
  /// flow used.
  double before = 0.0, after = 0.0;
  int iterations = 0;  ///< of the projection
};

/// A face through which the flow leaves a volume that is treated implicitly.
struct ImplicitFace {
  std::int32_t face, from, to;  ///< to >= n_all: outflow from the domain
  std::int32_t to_place;        ///< index of `to` among the own implicit volumes; -1: not one of them
  double flow;                  ///< F
};

/// A flow as transport uses it. One number per face; F > 0 from left to right [h0³/time].
struct CarryingFlow {
  Array<double> all;
  /// The flow without the outflow of volumes that are treated implicitly, which is in the list. Empty without such
  /// volumes.
  Array<double> explicit_part;
  std::vector<ImplicitFace> implicit_faces;
  std::vector<std::int32_t> implicit_list;  ///< own volumes that are treated implicitly, increasing
  Array<double> outflow;                    ///< of the own volumes [h0³/time]
  Array<double> potential;  ///< n_values: potential of the irrotational flow in it [h0²/time]; empty: none was needed
  Array<std::uint8_t> implicit_volume;  ///< n_all
  std::int64_t n_implicit = 0;          ///< of all ranks
  double largest_step =
      0.0;  ///< smallest volume / outflow of the volumes of half a cell and more; infinite without flow
  /// The same without the fastest volumes of each level, which together have a tenth of its Σ outflow or less, to a
  /// thirty-second of an octave.
  double step_of_most = 0.0;
  double largest_explicit_step = 0.0;  ///< of the volumes that are not implicit
  double chosen_for = 0.0;             ///< time step of the last choose_implicit(); 0: none
  bool given = false, at_rest = true;
  bool enters = false;  ///< through a domain face of any rank

  std::span<const double> explicit_flow() const { return n_implicit > 0 ? explicit_part.span() : all.span(); }
};

/// Where the fluxes that are given are not continuous.
enum class Gaps {
  anywhere,  ///< an irrotational flow through the same faces removes them (flow_projection.hpp), but for a billionth
  in_places  ///< of what was continuous on another grid: removed around them (flow_balance.hpp), with the same bits for
             ///< any distribution of the volumes
};

/// Lists the fluxes and makes them divergence-free, to round-off. Throws Error if the continuity error exceeds
/// `allowed`, with its position and size. Collective.
/// @param potential  of an earlier call for these fluxes, n_own [h0²/time]: used unchanged, so that the flow is
///                   bitwise the same for any distribution of the volumes; empty: computed; unused for gaps in places
FlowContinuity set_flow(ScalarGrid& grid, FaceField& faces, double allowed, CarryingFlow& flow,
                        std::span<const double> potential = {}, Gaps gaps = Gaps::anywhere);

/// Marks the volumes that the flow empties in less than dt; does nothing if this was done for the same dt. Collective.
void choose_implicit(ScalarGrid& grid, double dt, CarryingFlow& flow);

}  // namespace karst
