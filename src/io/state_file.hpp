// SPDX-License-Identifier: BSD-3-Clause
// States (fields/state.hpp) in files of values of VoFs: a table per set of VoFs, and a description of the items and the
// numbers as JSON. Written on any ranks, read on any, every bit.
#pragma once

#include <string>
#include <vector>

#include "fields/state.hpp"
#include "io/vof_file.hpp"

namespace karst {

/// The values of a state, which must outlive the tables, as must the geometry. Not collective.
/// @param prefix  of the names of the tables: several states stand in one file
std::vector<VofTable> tables_of(const State& state, const Geometry& geometry, const std::string& prefix);

/// All that the tables do not hold: numbers, and name, set, unit, kind, components and precision of each item.
Json description_of(const State& state);

/// The same on this geometry, whose boxes may have other owners than those of the writer. Throws Error, maybe on some
/// ranks alone: of another grid, or a VoF is lacking. Not collective.
State read_state(const VofFile& file, const Json& description, const Geometry& geometry, const std::string& prefix);

}  // namespace karst
