// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/run_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "app/deck/statistics.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

/// Of an image a box costs the reading and unpacking of several chunks.
constexpr SampleSize size_for_images{.classified = 1024, .cut = 512};

GridOptions with_cells(const GridOptions& grid, double factor) {
  GridOptions g = grid;
  for (int d = 0; d < 3; ++d) g.cells[d] = std::max(1, static_cast<int>(grid.cells[d] * factor));
  return g;
}

constexpr std::array level_counts{&LevelEstimate::candidates, &LevelEstimate::boxes,     &LevelEstimate::cells,
                                  &LevelEstimate::fluid,      &LevelEstimate::irregular, &LevelEstimate::cut,
                                  &LevelEstimate::volume,     &LevelEstimate::wall_area};
constexpr std::array level_errors{&LevelEstimate::fluid_error, &LevelEstimate::volume_error};

void multiply(LevelEstimate& level, double factor) {
  for (const auto count : level_counts) level.*count *= factor;
  for (const auto error : level_errors) level.*error *= factor;
}

/// Adds the counts of a block; their errors are independent.
void add(GeometrySample& sum, const GeometrySample& block) {
  if (sum.levels.size() < block.levels.size()) sum.levels.resize(block.levels.size());
  for (std::size_t l = 0; l < block.levels.size(); ++l) {
    LevelEstimate& a = sum.levels[l];
    const LevelEstimate& b = block.levels[l];
    for (const auto count : level_counts) a.*count += b.*count;
    for (const auto error : level_errors) a.*error = std::hypot(a.*error, b.*error);
  }
  const auto mean = [](double a, double n, double b, double m) { return n + m > 0 ? (a * n + b * m) / (n + m) : 0.0; };
  sum.seconds_per_box = mean(sum.seconds_per_box, sum.classified, block.seconds_per_box, block.classified);
  sum.seconds_per_cut_cell = mean(sum.seconds_per_cut_cell, sum.cut, block.seconds_per_cut_cell, block.cut);
  sum.classified += block.classified;
  sum.cut += block.cut;
}

/// The file knows the porosity of all its voxels: the sample is made to have it.
void use_known_porosity(const Source& source, GeometrySample& sample) {
  LevelEstimate& level = sample.levels[0];
  const double known = source.image->info().level_set_porosity,
               cells = static_cast<double>(source.grid.domain().box().count());
  if (level.volume_error == 0.0 || !(known > 0.0) || level.volume <= 0.0) return;
  const double factor = known * cells / level.volume;
  constexpr double believable = 1.5;  // beyond, file and sample speak of different things
  if (factor > believable || factor < 1.0 / believable) return;
  const double candidates = level.candidates;
  for (LevelEstimate& l : sample.levels) multiply(l, factor);
  level.candidates = candidates;
  level.boxes = std::min(level.boxes, candidates);
  level.volume_error = 0.0;
}

RunEstimate with_jobs(const Config& config, const std::vector<Job>& jobs, double program, const GridOptions& grid,
                      GeometrySample sample, double voxels) {
  RunEstimate e;
  e.grid = grid;
  e.sample = std::move(sample);
  e.counts = counts_of(e.sample, grid, voxels);
  e.reservoirs = reservoirs_of_run(config);
  if (e.reservoirs) {
    e.sample_counts = e.counts;
    e.counts = with_reservoirs(e.counts, *e.reservoirs, grid);
  }
  e.jobs = jobs;
  e.material = voxels > 0;
  e.memory.program = program;
  e.memory.n_components = n_plotted(config, jobs);
  for (const Job& job : jobs) {
    e.memory.jobs.push_back(job.cost.plan(config, grid));
    e.memory.names.emplace_back(job.word.name);
  }
  return e;
}

/// Largest factor below 1 on the cells per direction that fits; 0 when none does.
double fitting_factor(const RunEstimate& estimate, const MemoryShare& share, int ranks, MoreCells more) {
  double low = 0.0, high = 1.0;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    RunEstimate smaller = estimate;
    smaller.grid = with_cells(estimate.grid, middle);
    smaller.counts = scaled(estimate.counts, middle, more);
    if (more == MoreCells::larger_piece) smaller.memory.import_voxels *= middle * middle * middle;
    (fits(smaller, share, ranks) ? low : high) = middle;
  }
  return low;
}

/// Nodes with so much memory and so many ranks; 0 when a million of them would not do.
int nodes_needed(const RunEstimate& estimate, const MemoryShare& share) {
  constexpr int most = 1 << 20;
  int high = 1;
  while (high <= most && !fits(estimate, share, high * share.ranks)) high *= 2;
  if (high > most) return 0;
  int low = high / 2;
  while (high - low > 1) (fits(estimate, share, (low + high) / 2 * share.ranks) ? high : low) = (low + high) / 2;
  return high;
}

std::string sizes(const Index& n, const char* between) {
  return fmt::format("{}{}{}{}{}", n[0], between, n[1], between, n[2]);
}

/// Numbers of cells that are cubes again: about so many times those of the grid. Empty when a box would be wider.
std::string fewer_cells(const GridOptions& grid, double factor) {
  int common = 0;
  for (int d = 0; d < 3; ++d)
    if (grid.cells[d] > 1) common = std::gcd(common, grid.cells[d]);
  int part = static_cast<int>(common * factor);
  if (part >= 2 * grid.box) part -= part % grid.box;
  Index n;
  for (int d = 0; d < 3; ++d) {
    n[d] = grid.cells[d] > 1 ? grid.cells[d] / common * part : 1;
    if (grid.cells[d] > 1 && n[d] < grid.box) return "";
  }
  return fmt::format("grid.cells = [{}]", sizes(n, ", "));
}

}  // namespace

std::vector<MemoryStage> RunEstimate::stages(int ranks) const { return memory_stages(memory, counts, grid, ranks); }

double RunEstimate::cells() const { return static_cast<double>(grid.domain().box().count()); }

RunEstimate estimate_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, double program,
                         const Source& source) {
  GeometrySample sample =
      sample_geometry(comm, source.grid, *source.level_set, source.image ? size_for_images : SampleSize{});
  double voxels = 0;
  if (source.image) {
    const Index& n = source.image->info().voxels;
    voxels = static_cast<double>(n[0]) * n[1] * n[2];
    if (config.geometry.wall_shift == 0.0) use_known_porosity(source, sample);
  }
  RunEstimate e = with_jobs(config, jobs, program, source.grid, std::move(sample), voxels);
  e.counts.minerals = source.level_set->minerals().size() > 1;
  return e;
}

RunEstimate estimate_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, double program,
                         const ImageSample& image, const ImageExtent& extent) {
  GeometrySample sample;
  double cells = 0;
  for (const ImageBlock& block : image.blocks) {
    cells += static_cast<double>(block.source.grid.domain().box().count());
    add(sample, sample_geometry(comm, block.source.grid, *block.source.level_set, size_for_images));
  }
  const double factor = image.share * static_cast<double>(image.grid.domain().box().count()) / cells;
  for (LevelEstimate& level : sample.levels) multiply(level, factor);
  sample.levels[0].candidates /= image.share;
  const Index& n = image.voxels;
  RunEstimate e =
      with_jobs(config, jobs, program, image.grid, std::move(sample), static_cast<double>(n[0]) * n[1] * n[2]);
  e.counts.minerals = std::ranges::any_of(
      image.blocks, [](const ImageBlock& block) { return block.source.image->info().phases.size() > 2; });
  e.memory.import_voxels = extent.voxels();
  e.import_seconds = image.seconds_per_voxel * extent.voxels();
  return e;
}

bool fits(const RunEstimate& estimate, const MemoryShare& share, int ranks) {
  const std::vector<MemoryStage> stages = estimate.stages(ranks);
  return peak_stage(stages, ranks).largest_rank(ranks) <= share.of_rank().bytes;
}

std::string need_against_limit(const RunEstimate& estimate, const MemoryShare& share, int ranks) {
  const std::vector<MemoryStage> stages = estimate.stages(ranks);
  const MemoryStage& peak = peak_stage(stages, ranks);
  const MemoryLimit limit = share.of_rank();
  const auto n = [](int count) { return fmt::format("{} rank{}", count, count == 1 ? "" : "s"); };
  const Index& cells = estimate.grid.cells;
  return fmt::format(
      "{} cells need about {} on {}, {} on the busiest (stage \"{}\"); a rank can have {} here, with {} on the node "
      "({})",
      sizes(cells, " x "), format_bytes(peak.all_ranks(ranks)), n(ranks), format_bytes(peak.largest_rank(ranks)),
      peak.name, format_bytes(limit.bytes), n(share.ranks), limit.by);
}

std::string what_fits(const RunEstimate& estimate, const MemoryShare& share) {
  std::vector<std::string> ways;
  const int ranks = share.ranks;  // on this node alone
  if (estimate.material) {
    const double factor = fitting_factor(estimate, share, ranks, MoreCells::larger_piece);
    const Index n = with_cells(estimate.grid, factor).cells;
    if (n[0] > 1 || n[1] > 1) ways.push_back(fmt::format("a crop of the image to {} cells", sizes(n, " x ")));
  }
  const std::string cells = fewer_cells(estimate.grid, fitting_factor(estimate, share, ranks, MoreCells::finer_cells));
  if (!cells.empty()) ways.push_back(cells);
  const int nodes = nodes_needed(estimate, share);
  if (nodes > 0)
    ways.push_back(fmt::format("all of it on {} nodes like this one ({} rank{})", nodes, nodes * share.ranks,
                               nodes * share.ranks == 1 ? "" : "s"));
  return "What would fit: " +
         (ways.empty() ? std::string("nothing useful; other ranks or threads use the memory") : join(ways, "; "));
}

std::string sample_table(const RunEstimate& estimate) {
  const GeometrySample& s = estimate.sample;
  std::string text =
      fmt::format("Estimate, from {} of {} boxes, {} of them cut\n", grouped(static_cast<std::int64_t>(s.classified)),
                  grouped(std::llround(s.sum(&LevelEstimate::candidates))), grouped(static_cast<std::int64_t>(s.cut)));
  const auto line = [&](const std::string& name, const std::string& value) {
    text += fmt::format("  {:<34}{}\n", name, value);
  };
  const auto count = [](double n) { return n < 1e15 ? grouped(std::llround(n)) : fmt::format("{:.4g}", n); };
  const auto error = [](double e, double n) {
    return e > 0.0 && n > 0.0 ? fmt::format(" ± {:.2g} %", 100.0 * e / n) : std::string();
  };
  const LevelEstimate& coarse = s.levels[0];
  const double cells = estimate.cells();
  line("domain",
       fmt::format("{} cells of {}", sizes(estimate.grid.cells, " x "), format_si(estimate.grid.cell_width(), "m")));
  if (estimate.reservoirs) {
    Index n = estimate.grid.cells;
    n[estimate.reservoirs->axis] += 2 * estimate.reservoirs->cells;
    line("with its reservoirs", fmt::format("{} cells, {} with fluid", sizes(n, " x "), count(estimate.counts.fluid)));
  }
  line("porosity", fmt::format("{:.4f}{}", coarse.volume / cells, error(coarse.volume_error, coarse.volume)));
  line("specific surface", fmt::format("{:.4g} 1/m   wall area / volume of the sample",
                                       coarse.wall_area / cells / estimate.grid.cell_width()));
  for (std::size_t l = 0; l < s.levels.size(); ++l) {
    const LevelEstimate& level = s.levels[l];
    if (s.levels.size() > 1) line(fmt::format("level {}", l), "");
    line("boxes with fluid", fmt::format("{} of {}", count(level.boxes), count(level.candidates)));
    line("fluid cells", count(level.fluid) + error(level.fluid_error, level.fluid));
    line("  irregular", count(level.irregular));
    line("cells cut by the wall", count(level.cut));
  }
  return text;
}

void refuse_what_cannot_fit(const Comm& comm, const Config& config, const std::vector<Job>& jobs) {
  const auto program = static_cast<double>(comm.max(arena::peak_resident_set()));
  std::optional<RunEstimate> estimate;
  if (needs_import(config)) {
    if (!image_exists(image_path(config)) || takes_all_memory(config)) return;
    ImageExtent extent;
    fail_together(comm, [&] { extent = image_extent(config); });
    const Index& cells = config.grid.cells;
    if (extent.voxels() < large_import && 1.0 * cells[0] * cells[1] * cells[2] < large_grid && config.grid.levels == 1)
      return;
    estimate = estimate_run(comm, config, jobs, program, sample_image(comm, config, extent), extent);
  } else {
    const GridOptions& grid = config.grid;
    if (config.geometry.image.empty() && static_cast<double>(grid.domain().box().count()) < large_grid &&
        grid.levels == 1)
      return;
    const Source source = open_source(comm, config, {});
    if (static_cast<double>(source.grid.domain().box().count()) < large_grid && grid.levels == 1) return;
    estimate = estimate_run(comm, config, jobs, program, source);
  }
  const MemoryShare share = memory_share(comm);
  require(fits(*estimate, share, comm.size()),
          "this run does not fit into the memory: {}. {}. `karst check` lists the parts; --force runs it anyway",
          need_against_limit(*estimate, share, comm.size()), what_fits(*estimate, share));
}

}  // namespace karst
