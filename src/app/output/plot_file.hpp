// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles of a run. Fields of the geometry: values of the cut cells, spread over the cells of their boxes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/deck/plot_words.hpp"
#include "app/deck/source.hpp"
#include "app/job/job.hpp"
#include "app/output/field_view.hpp"
#include "eb/geometry.hpp"
#include "io/plotfile.hpp"

namespace karst {

/// Writes the fields that output.plot asks for: those of the geometry, then those of the jobs that ran. Nothing is
/// written when there are none, nor where no cell holds fluid. Throws the same Error on all ranks, also where a
/// component is on another ground. Collective.
/// @param time  of the fields [s]
PlotSize write_plot(const JobContext& run, const Source& source, const std::string& path,
                    const std::vector<JobComponent>& of_jobs, double time = 0.0);

/// Unit of a component in files: amounts of [chemistry] are in mol/kgw, all else as PlotWord says.
std::string unit_of(const Config& config, const JobComponent& component);

/// How a plotfile is parted, to be said behind what it is for; empty where output.files asks for one file.
std::string told_parts(const JobContext& run, const PlotSize& size);

/// Fields of jobs for pictures: what a plotfile with them would hold. It keeps the ground
/// and what the components keep.
FieldView view_of(const JobContext& run, std::vector<JobComponent> of_jobs);

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
