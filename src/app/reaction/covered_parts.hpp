// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "app/deck/config.hpp"
#include "eb/geometry.hpp"

namespace karst {

/// [mineral of the geometry][mineral of the deck] Which part of its walls is covered. Not collective.
std::vector<std::vector<double>> covered_parts(const Config& config, const Geometry& geometry);

}  // namespace karst
