// SPDX-License-Identifier: BSD-3-Clause
// The seven-point stencil over the regular VoFs of a box, for C interleaved vectors: component c of slot s at C s + c.
// Instantiated for 1 and 4; coefficients are those of all components.
#pragma once

#include <array>

#include "grid/level_graph.hpp"

namespace karst {

/// y_v = center x_v - side Σ_six sides x_neighbour for all regular VoFs; the others are not written.
/// @param x       C n_slots values: own VoFs, halo, ghosts, closed slot
/// @param[out] y  C n_own values, not overlapping x
template <int C>
void apply_plain(const BoxGraph& graph, double center, double side, const double* __restrict x, double* __restrict y);

/// y_v = reaction x_v + side Σ β_face (x_v - x_neighbour) for all regular VoFs.
/// @param beta  per direction n_slots values: the face on the low side of each slot
template <int C>
void apply_plain(const BoxGraph& graph, double reaction, double side, const std::array<const double*, 3>& beta,
                 const double* __restrict x, double* __restrict y);

}  // namespace karst
