// SPDX-License-Identifier: BSD-3-Clause
// Which minerals are told apart on the wall, and their numbers.
#pragma once

#include <string>
#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// Name of what geometry.minerals leaves out.
inline constexpr const char* other_minerals = "other";
/// Name of the surface along which a sample was cut out of an image: no wall of a pore.
inline constexpr const char* surroundings = "outside of the sample";

struct MineralChoice {
  std::vector<std::string> names;     ///< LevelSet::minerals()
  std::vector<MineralNumber> number;  ///< of each of the names that there are
};

/// Numbers minerals in the order asked for; all that are not named follow as one, `other_minerals`, and `surroundings`
/// as itself. Nothing asked for: each by itself, in their order.
/// @param there  different names
/// @param asked  geometry.minerals
/// Throws Error that lists what was asked for and is not there, and names that mean two things.
MineralChoice choose_minerals(const std::vector<std::string>& there, const std::vector<std::string>& asked);

/// What is wrong with a name of a mineral; empty: nothing.
std::string wrong_mineral_name(const std::string& name);

}  // namespace karst
