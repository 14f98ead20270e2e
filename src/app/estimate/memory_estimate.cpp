// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/deck/node_memory.hpp"
#include "base/core/format.hpp"
#include "io/plotfile.hpp"

namespace karst {

namespace {

constexpr double imbalance = 1.05;  ///< of a partition of many boxes; docs/performance.md has at most 1.06

// Bytes.
constexpr BytesPer geometry_bytes{2.0, 257.0, 0.0};     // moments, table rows, runs
constexpr BytesPer connectivity_bytes{5.0, 16.0, 0.0};  // halo lists, exchange plans, extra faces
constexpr double per_cut_cell = 530.0;                  // of pieces and links, while the geometry is made
constexpr double per_cell = 12.0;                       // of boxes, likewise
constexpr double per_voxel = 4.0;                       // samples of an image, likewise
constexpr double mineral_per_voxel = 1.0;               // where there are several, likewise
constexpr double minerals_per_irregular = 5.0;          // likewise, kept: docs/decisions/026
constexpr double per_box = 8.0 + 1.0;                   // key and refined octants, on every rank
constexpr double per_box_made = 24.0;                   // keys and weights that are gathered while the layout is made

double bytes(const BytesPer& per, const GridCounts& c) {
  return per.fluid * c.fluid + per.irregular * c.irregular + per.slot * c.slots;
}

/// Values stored per VoF: docs/performance.md, "Memory of the geometry".
double values_per_vof(int box) { return box == 8 ? 1.75 : box == 16 ? 1.375 : 1.19; }

/// Those of a geometry while it lives.
std::vector<MemoryPart> standing(const std::string& of, const GridCounts& c) {
  const double minerals = c.minerals ? minerals_per_irregular * c.irregular : 0.0;
  return {{"geometry" + of, bytes(geometry_bytes, c) + minerals, 0.0},
          {"connectivity" + of, bytes(connectivity_bytes, c), per_box * c.boxes}};
}

/// Those of a geometry while it is made.
MemoryPart making(const GridCounts& c) {
  const double voxel = per_voxel + (c.minerals ? mineral_per_voxel : 0.0);
  return {"fluid fragments and links", per_cut_cell * c.cut + per_cell * c.box_cells + voxel * c.voxels,
          per_box_made * c.boxes};
}

std::string before(const std::string& comma, const std::string& text) { return text.empty() ? "" : comma + text; }

}  // namespace

GridCounts counts_of(const GeometrySample& sample, const GridOptions& grid, double voxels) {
  GridCounts c;
  c.boxes = sample.sum(&LevelEstimate::boxes);
  c.box_cells = sample.sum(&LevelEstimate::cells);
  c.fluid = sample.sum(&LevelEstimate::fluid);
  c.irregular = sample.sum(&LevelEstimate::irregular);
  c.cut = sample.sum(&LevelEstimate::cut);
  c.voxels = voxels;
  c.slots = values_per_vof(grid.box) * c.fluid;
  return c;
}

GridCounts scaled(const GridCounts& counts, double cells, MoreCells more) {
  constexpr double most_irregular = 0.7;  // of the VoFs, where cells are as wide as pores
  const double volume = cells * cells * cells, wall = more == MoreCells::larger_piece ? volume : cells * cells;
  GridCounts c = counts;
  for (double GridCounts::*count : {&GridCounts::boxes, &GridCounts::box_cells, &GridCounts::fluid, &GridCounts::slots})
    c.*count *= volume;
  c.irregular = std::min(wall * c.irregular, most_irregular * c.fluid);
  c.cut = std::min(wall * c.cut, 2.0 * most_irregular * c.fluid);
  if (more == MoreCells::larger_piece) c.voxels *= volume;
  return c;
}

GridCounts counts_on(const PlannedGrid& planned, const GridCounts& counts, const GridOptions& grid) {
  GridCounts c = scaled(counts, 1.0 / planned.width, MoreCells::finer_cells);
  const double length = grid.cells[planned.axis] / planned.width;
  const double across = static_cast<double>(grid.domain().box().count()) / std::pow(planned.width, 3) / length;
  const double free = 2.0 * planned.reservoir * across;
  c.slots *= 1.0 + free / c.fluid;
  c.fluid += free;
  c.box_cells += free;
  c.boxes *= 1.0 + 2.0 * planned.reservoir / length;
  return c;
}

GridCounts with_reservoirs(const GridCounts& counts, const Reservoirs& reservoirs, const GridOptions& grid) {
  return counts_on({.name = "", .reservoir = reservoirs.cells, .axis = reservoirs.axis}, counts, grid);
}

double MemoryStage::all_ranks(int ranks) const {
  double sum = 0.0;
  for (const MemoryPart& p : parts) sum += p.on(ranks);
  return sum;
}

double MemoryStage::largest_rank(int ranks) const {
  double sum = 0.0;
  for (const MemoryPart& p : parts) sum += (ranks > 1 ? imbalance : 1.0) * p.shared / ranks + p.per_rank;
  return sum;
}

std::vector<MemoryStage> memory_stages(const MemoryInput& input, const GridCounts& counts, const GridOptions& grid,
                                       int ranks) {
  const MemoryPart program{"program and libraries", 0.0, input.program};
  std::vector<MemoryStage> stages;
  if (input.import_voxels > 0)
    stages.push_back(
        {"import of the image",
         {program, {"labels, distances, layers", per_imported_voxel * input.import_voxels, per_importing_rank}}});
  MemoryStage geometry{"building the geometry", {program}};
  std::ranges::copy(standing("", counts), std::back_inserter(geometry.parts));
  geometry.parts.push_back(making(counts));
  stages.push_back(geometry);

  double kept = 0.0;
  const auto stage = [&](const std::string& name) {
    MemoryStage s{name, {program}};
    std::ranges::copy(standing("", counts), std::back_inserter(s.parts));
    if (kept > 0.0) s.parts.push_back({"fields of finished solves", kept, 0.0});
    return s;
  };
  for (std::size_t j = 0; j < input.jobs.size(); ++j) {
    const JobPlan& plan = input.jobs[j];
    kept += plan.kept * counts.fluid;
    for (const PlannedGrid& g : plan.grids) {
      const GridCounts c = counts_on(g, counts, grid);
      MemoryStage solve = stage(input.names[j] + before(", ", g.name));
      if (g.builds) {
        MemoryStage made = stage("geometry for " + solve.name);
        for (const MemoryPart& p : standing(" of this grid", c)) made.parts.push_back(p), solve.parts.push_back(p);
        made.parts.push_back(making(c));
        stages.push_back(made);
      }
      solve.parts.push_back({"operators, multigrids, vectors", bytes(plan.solve, c), 0.0});
      stages.push_back(solve);
    }
  }
  constexpr double value = sizeof(float);
  MemoryStage plot = stage("writing the plotfile");
  const double n = input.n_components;
  const double values =
      std::min(static_cast<double>(PlotDescription{}.buffer_bytes) * ranks, value * n * counts.box_cells);
  // Beside the values a vector of them sorted, and flags.
  plot.parts.push_back({fmt::format("buffer of {} components", input.n_components),
                        values * (n + std::min(n, 3.0) + 1.0) / std::max(n, 1.0), 0.0});
  stages.push_back(plot);
  return stages;
}

const MemoryStage& peak_stage(const std::vector<MemoryStage>& stages, int ranks) {
  return *std::ranges::max_element(stages, {}, [&](const MemoryStage& s) { return s.largest_rank(ranks); });
}

std::string memory_table(const std::vector<MemoryStage>& stages, int ranks) {
  const auto line = [](const std::string& name, const std::string& a, const std::string& b) {
    return fmt::format("  {:<48}{:>14}{:>14}\n", name, a, b);
  };
  const MemoryStage& peak = peak_stage(stages, ranks);
  std::string text = line("", "busiest rank", "all ranks");
  for (const MemoryStage& s : stages)
    text += line(s.name, format_bytes(s.largest_rank(ranks)), format_bytes(s.all_ranks(ranks)));
  text += line("peak: " + peak.name, format_bytes(peak.largest_rank(ranks)), format_bytes(peak.all_ranks(ranks)));
  for (const MemoryPart& p : peak.parts) {
    const MemoryStage alone{"", {p}};
    text += line("  of that " + p.name, format_bytes(alone.largest_rank(ranks)), format_bytes(alone.all_ranks(ranks)));
  }
  return text;
}

}  // namespace karst
