// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace karst {

/// Name of a part of a plotfile (plotfile.hpp), from 1 on.
std::string part_name(const std::string& plotfile, int part);
/// Name of the plotfile to which a part belongs; the name itself if it is not that of a part.
std::string whole_of(const std::string& name);
/// The parts next to a plotfile: part 1, 2 ... up to the first that does not exist.
std::vector<std::string> parts_beside(const std::string& plotfile);

}  // namespace karst
