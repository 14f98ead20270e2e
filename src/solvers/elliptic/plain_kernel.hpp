// SPDX-License-Identifier: BSD-3-Clause
// The plain seven points over the regular VoFs of a box.
#pragma once

#include <array>

#include "grid/level_graph.hpp"

namespace karst {

/// y_v = center x_v - side Σ_six sides x_neighbour for all regular VoFs; the others are not written.
/// @param x       n_slots values: own VoFs, halo, ghosts, closed slot
/// @param[out] y  n_own values, not overlapping x
void apply_plain(const BoxGraph& graph, double center, double side, const double* x, double* y);

/// y_v = reaction x_v + side Σ β_face (x_v - x_neighbour) for all regular VoFs.
/// @param beta  per direction n_slots values: the face on the low side of each slot
void apply_plain(const BoxGraph& graph, double reaction, double side, const std::array<const double*, 3>& beta,
                 const double* x, double* y);

}  // namespace karst
