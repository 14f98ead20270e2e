// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ins/operator/stokes_levels.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"

namespace karst {

/// Local permeability k of the flow cells, for weights of a preconditioner: the velocity that a unit force would drive
/// without a pressure gradient,
///
///   -Δk = 1 in the fluid, k = 0 on the wall,
///
/// so that conductances of straight slits and tubes of any shape are correct. A few steps of conjugate gradients with
/// the velocity multigrid: accurate to some per cent, less far from walls; between 1e-4 and 1e4 cells². Returns sqrt(k)
/// in cells of each level; covered cells, fine ghosts and halos filled. Uses values() of the levels. Collective.
std::vector<FloatField> find_permeable_lengths(StokesLevels& op, BasicGraphMultigrid<3>& velocity);

}  // namespace karst
