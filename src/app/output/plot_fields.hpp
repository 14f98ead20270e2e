// SPDX-License-Identifier: BSD-3-Clause
// Fields of the geometry in plotfiles: values of the cut cells, spread over the cells of their boxes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/deck/plot_words.hpp"
#include "eb/geometry.hpp"

namespace karst {

/// Fills one component in an own box; 0 (distance: its value) in covered cells.
///
///   fraction     volume of the fluid that lies in the cell / its volume, wherever it was joined to: 0 to 1
///   distance     φ at the cell centre [m], positive in the fluid
///   wall_area    area of the wall in the VoFs of the cell [m²]
///   mineral      1, 2, ...: that of the largest part of the wall in the VoFs of the cell, as numbered in
///                GeometryReport::minerals; 0 without wall
///   wall_normal  unit vector along Σ a_w n, into the fluid
///
/// @param cell_width  of level 0 [m]
/// @param[out] cells  one value per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_plot_component(const Geometry& geometry, const LevelSet& level_set, double cell_width,
                         const PlotComponent& component, int level, std::int64_t box, std::span<float> cells);

/// Which cells of an own box readers should hide: cell_is_solid without fluid, or with a fragment alone that has no
/// open face, cell_is_covered under a finer level, both, or 0.
/// @param[out] cells  one flag per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_hidden(const Geometry& geometry, int level, std::int64_t box, std::span<std::uint8_t> cells);

}  // namespace karst
