// SPDX-License-Identifier: BSD-3-Clause
// Inlets side by side: what enters depends on the place. Places are those of the deck, in metres from the low corner of
// the sample.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// The concentration of a formula of x, y, z [m] at a place of the grid [h0] and any time. Thread-safe.
std::function<double(const Vec3& x, double t)> of_place(const JobContext& run, const std::string& formula);

/// What is wrong on the faces of an inlet: formulas of place that are not finite or leave the bounds of the deck, and
/// places where none of [[chemistry.inflow]] enters, or several. The same on every rank. Collective.
/// @param side  of the domain
std::vector<std::string> inlet_mistakes(const JobContext& run, std::span<const BoundaryFace> faces, int side);

}  // namespace karst
