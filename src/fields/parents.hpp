// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "fields/composite.hpp"

namespace karst {

/// The VoF of level l under each own VoF of level l + 1, box after box: of its cell, or of the home of its cell's fluid
/// (home cells), of several the one whose fluid is nearest; no_face where the coarse level sees no fluid. Collective.
std::vector<VofName> find_parents(const Composite& grid, int l);

/// κ of the own VoFs of a box.
std::vector<double> volumes_in(const LevelGeometry& level, int box);

}  // namespace karst
