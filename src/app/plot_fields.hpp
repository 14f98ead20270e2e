// SPDX-License-Identifier: BSD-3-Clause
// What may be plotted, and the fields of the geometry: values of the cut cells, spread over the cells of their boxes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deck.hpp"
#include "eb/geometry.hpp"

namespace karst {

enum class PlotField {
  fraction,
  distance,
  wall_area,
  wall_normal,
  mineral,
  velocity,
  speed,
  pressure,
  concentration,
  chemistry
};

struct PlotWord {
  std::string_view word;
  PlotField field;
  std::string_view help;
  std::string_view job;   ///< of `karst run` that makes it; empty: it belongs to the geometry
  std::string_view unit;  ///< SI, as in "m/s"; "1" without dimension
  bool is_vector = false;
  std::string_view or_job{};  ///< another one that makes it
};
/// The words of output.plot.
std::span<const PlotWord> plot_words();
/// Field of a word of the deck; notes a mistake at output.plot (with the nearest word) when there is none.
std::vector<PlotField> read_plot_fields(Reader& in, const std::vector<std::string>& words);

/// One component of the plotfile.
struct PlotComponent {
  std::string name;
  PlotField field;
  int direction;  ///< of a vector
};
const PlotWord& word_of(PlotField field);
/// The job that makes a field; empty: none is needed.
std::string_view job_of(PlotField field);
/// The components of those of some fields that belong to the geometry, in their order: a vector gives three, with _x,
/// _y, _z.
std::vector<PlotComponent> plot_components(const std::vector<PlotField>& fields);

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

/// Which cells of an own box readers should hide: cell_is_solid without fluid, or with a fragment alone that has no open
/// face, cell_is_covered under a finer level, both, or 0.
/// @param[out] cells  one flag per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_hidden(const Geometry& geometry, int level, std::int64_t box, std::span<std::uint8_t> cells);

}  // namespace karst
