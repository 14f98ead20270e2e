// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/run_parts.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/deck/plot_words.hpp"
#include "app/deck/source.hpp"
#include "app/estimate/time_estimate.hpp"

namespace karst {

namespace {

constexpr double usual_porosity = 0.3, usual_irregular = 0.4;  // of the cells, of the VoFs
constexpr double usual_voxels = 1e6;                           // of an image that is not there

/// The solves of a job, grid by grid; the first on a grid has its set-up, and the pictures come with what follows.
void add_job(const Config& config, const Job& job, const RunSize& size, std::vector<RunPart>& parts) {
  const std::string name(job.word.name);
  double before = 0.0;  // what the next part begins with
  for (const PlannedGrid& g : job.cost.plan(config, size.grid).grids) {
    const GridSeconds s = grid_seconds(usual_geometry_pace, job.cost, job.cost.usual_pace, g, size.counts, size.grid);
    before += s.geometry + s.setup;
    for (int solve = 0; solve < g.solves; ++solve)
      parts.push_back({name, std::exchange(before, 0.0) + s.solves / g.solves});
    before += s.pictures;
  }
  parts.push_back({name, before});
}

}  // namespace

RunSize size_before(const Config& config) {
  const auto count = [](const Index& n) { return double{1} * n[0] * n[1] * n[2]; };
  RunSize size;
  size.voxels = count(config.import.size);
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(image_path(config), problem);
  if (size.voxels <= 0.0) size.voxels = problem ? usual_voxels : static_cast<double>(bytes);
  size.grid = config.grid;
  const int width = 2 * std::max(1, static_cast<int>(std::cbrt(size.voxels) / 2.0));
  if (!config.cells_given) size.grid.cells = count(config.import.size) > 0.0 ? config.import.size : Index::all(width);
  GridCounts& c = size.counts;
  c.box_cells = count(size.grid.cells);
  c.boxes = c.box_cells / std::pow(size.grid.box, 3);
  c.fluid = usual_porosity * c.box_cells;
  c.irregular = c.cut = usual_irregular * c.fluid;
  return size;
}

RunSize size_of(const GeometryStatistics& s, const GridOptions& grid) {
  RunSize size;
  size.grid = grid;
  GridCounts& c = size.counts;
  c.boxes = static_cast<double>(s.sum(&LevelReport::boxes));
  c.box_cells = c.boxes * std::pow(grid.box, 3);
  c.fluid = static_cast<double>(s.sum(&LevelReport::vofs));
  c.irregular = static_cast<double>(s.sum(&LevelReport::irregular));
  c.cut = static_cast<double>(s.sum(&CutCounts::cells_cut));
  return size;
}

std::vector<RunPart> parts_of_run(const Config& config, const std::vector<Job>& jobs, const RunSize& size) {
  std::vector<RunPart> parts;
  if (needs_import(config)) parts.push_back({"import", usual_import_per_voxel * size.voxels});
  parts.push_back({"geometry", geometry_seconds(usual_geometry_pace, size.counts)});
  double iteration = 0.0;
  int n_components = static_cast<int>(plot_components(config.output.plot).size());
  for (const Job& job : jobs) {
    add_job(config, job, size, parts);
    iteration = std::max(iteration, job.cost.usual_pace.iteration);
    n_components += job.cost.n_components(config);
  }
  parts.push_back({"output", plotfile_seconds(usual_geometry_pace, iteration, n_components, size.counts)});
  return parts;
}

void follow_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, RunProgress& progress) {
  progress.follow(comm, parts_of_run(config, jobs, size_before(config)));
  if (needs_import(config)) progress.begin("import", "import");
}

}  // namespace karst
