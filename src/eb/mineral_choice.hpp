// SPDX-License-Identifier: BSD-3-Clause
// Minerals that are distinguished on the wall, and their numbers.
#pragma once

#include <string>
#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// Name of all minerals that are not in geometry.minerals.
inline constexpr const char* other_minerals = "other";
/// Name of the surface along which a sample was cut out of an image; it is not a pore wall.
inline constexpr const char* surroundings = "outside of the sample";

struct MineralChoice {
  std::vector<std::string> names;     ///< LevelSet::minerals()
  std::vector<MineralNumber> number;  ///< of each existing name
};

/// Numbers minerals in the requested order; all others follow as one, `other_minerals`, and `surroundings` as a
/// separate one. Without a request: all, in their order.
/// @param there  different names
/// @param asked  geometry.minerals. Throws Error that lists requested names that do not exist, and ambiguous names.
MineralChoice choose_minerals(const std::vector<std::string>& there, const std::vector<std::string>& asked);

/// Error message for a name of a mineral; empty if it is valid.
std::string wrong_mineral_name(const std::string& name);

}  // namespace karst
