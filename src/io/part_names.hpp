// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace karst {

/// Name of a part of a plotfile (plotfile.hpp), from 1 on.
std::string part_name(const std::string& plotfile, int part);
/// The plotfile that a part belongs to, by its name; the name itself when it is none of a part.
std::string whole_of(const std::string& name);
/// The parts that lie beside a plotfile: part 1, 2 ... up to the first that is not there.
std::vector<std::string> parts_beside(const std::string& plotfile);

}  // namespace karst
