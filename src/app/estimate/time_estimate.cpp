// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/time_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <utility>

#include "app/deck/source.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/format.hpp"
#include "base/core/wall_clock.hpp"
#include "eb/shapes/sphere_list.hpp"

namespace karst {

namespace {

constexpr double cost_of_cut_cell = 5.0;   ///< linked, in VoFs: weight_of_box() counts 6, cutting included
constexpr double share_of_linking = 0.57;  ///< of the time of a geometry of spheres; the rest is cutting
constexpr double pictures = 2.0;           ///< of a solve, in iterations
constexpr double component_cost = 0.25;    ///< of a value of the plotfile, in iterations per VoF
constexpr double spread = 1.5;             ///< either way, beside the iterations

/// A periodic packing of overlapping spheres of 10 cells per radius, porosity 0.35.
struct Packing {
  explicit Packing(int n) {
    constexpr double radius = 10.0, porosity = 0.35;
    const double each = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
    const int count = static_cast<int>(std::lround(-std::log(porosity) * n * n * n / each));
    std::vector<Sphere> spheres;
    for (int i = 1; i <= count; ++i) {  // R_3 sequence: M. Roberts 2018, generalised golden ratio
      Vec3 x;
      for (int d = 0; d < 3; ++d) {
        constexpr double g = 1.22074408460575947536;
        const double at = 0.5 + i / std::pow(g, d + 1);
        x[d] = n * (at - std::floor(at));
      }
      spheres.push_back({x, radius});
    }
    grid.cells = Index::all(n);
    grid.size = Vec3::all(n);
    grid.periodic = {true, true, true};
    level_set = make_sphere_list(std::move(spheres), {grid.size, grid.periodic});
  }
  GridOptions grid;
  std::unique_ptr<LevelSet> level_set;
};

/// Wide enough that all threads have boxes.
int width_of_packing() { return n_threads() <= 8 ? 64 : n_threads() <= 32 ? 96 : 128; }

constexpr double usual_porosity = 0.3, usual_irregular = 0.4;  // of the cells, of the VoFs
constexpr double usual_voxels = 1e6;                           // of an image that is not there

/// What one rank takes when it does all of it [s].
double geometry_seconds(const GeometryPace& pace, const GridCounts& counts) {
  return pace.per_box * counts.boxes + pace.per_cut_cell * counts.cut +
         pace.linking * (counts.fluid + cost_of_cut_cell * counts.cut);
}

struct GridSeconds {
  double geometry = 0.0;  ///< where it builds one of its own
  double setup = 0.0, solves = 0.0, pictures = 0.0;
};

GridSeconds grid_seconds(const GeometryPace& geometry, const JobCost& cost, const JobPace& pace,
                         const PlannedGrid& planned, const GridCounts& counts, const GridOptions& grid) {
  const GridCounts c = counts_on(planned, counts, grid);
  GridSeconds s;
  if (planned.builds) s.geometry = geometry_seconds(geometry, c);
  s.setup = pace.setup * cost.setup_work(c.fluid, c.irregular);
  s.solves = pace.iteration * c.fluid * planned.iterations;
  if (planned.width == 1.0) s.pictures = pace.iteration * c.fluid * pictures;
  return s;
}

/// @param pace  JobPace::iteration of the slowest job; 0: no job
double plotfile_seconds(const GeometryPace& geometry, double pace, int n_components, const GridCounts& counts) {
  return component_cost * (pace > 0.0 ? pace : geometry.linking) * n_components * counts.box_cells;
}

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

MachinePace measure_pace(const Comm& comm, const std::vector<Job>& jobs) {
  const Comm alone = Comm::self();
  const Packing packing(width_of_packing());
  MachinePace pace;
  const WallClock clock;
  const auto ground = std::make_shared<const Ground>(
      alone, build_geometry(alone, packing.grid, *packing.level_set, KeepPores::connected));
  const LevelReport& level = ground->geometry().report.levels[0];
  const double work = static_cast<double>(level.vofs) + cost_of_cut_cell * static_cast<double>(level.cut.cells_cut);
  pace.linking = comm.max(share_of_linking * clock.seconds() / work);
  for (const Job& job : jobs) {
    const JobTrial trial = job.cost.trial(ground);
    const auto fluid = static_cast<double>(level.vofs), irregular = static_cast<double>(level.irregular);
    pace.jobs.push_back({comm.max(trial.setup / job.cost.setup_work(fluid, irregular)),
                         comm.max(trial.solves / fluid / std::max(1, trial.iterations))});
  }
  return pace;
}

std::vector<TimePart> time_parts(const MachinePace& pace, const RunEstimate& run, int ranks) {
  const GeometrySample& sample = run.sample;
  const GridCounts& counts = run.counts;
  const double looks = sample.seconds_per_box * sample.sum(&LevelEstimate::candidates) / counts.boxes;
  const GeometryPace making{looks / n_threads(), sample.seconds_per_cut_cell / n_threads(), pace.linking};
  const double first =
      (geometry_seconds(making, counts) + (run.sample_counts ? geometry_seconds(making, *run.sample_counts) : 0.0)) /
      ranks;
  std::vector<TimePart> parts;
  if (run.import_seconds > 0) parts.push_back({"import", run.import_seconds, run.import_seconds});
  parts.push_back({"geometry", first, first});
  double iteration = 0.0;
  for (std::size_t j = 0; j < run.jobs.size(); ++j) {
    const JobPlan& plan = run.memory.jobs[j];
    GridSeconds main, others;
    for (const PlannedGrid& g : plan.grids) {
      const GridSeconds s = grid_seconds(making, run.jobs[j].cost, pace.jobs[j], g, counts, run.grid);
      GridSeconds& sum = g.name.empty() || (g.reservoir > 0 && g.width == 1.0) ? main : others;
      sum.geometry += s.geometry / ranks;
      sum.setup += s.setup / ranks;
      sum.solves += (s.solves + s.pictures) / ranks;
    }
    const double more = plan.more_work;
    const std::string name(run.jobs[j].word.name);
    if (main.geometry > 0) parts.push_back({name + ": geometry with reservoirs", main.geometry, main.geometry});
    parts.push_back({name + ": set-up", main.setup, main.setup});
    parts.push_back({name + ": solves", main.solves, more * main.solves});
    const double rest = others.geometry + others.setup;
    if (rest > 0) parts.push_back({name + ": on other grids", rest + others.solves, rest + more * others.solves});
    iteration = std::max(iteration, pace.jobs[j].iteration);
  }
  const double output = plotfile_seconds(making, iteration, run.memory.n_components, counts) / ranks;
  parts.push_back({"plotfile", output, output});
  return parts;
}

std::string time_table(const std::vector<TimePart>& parts) {
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value, const std::string& note) {
    text += fmt::format("  {:<48}{:>14}{}\n", name, value, note);
  };
  TimePart all;
  for (const TimePart& p : parts) {
    line(p.name, format_seconds(p.seconds), "");
    all.seconds += p.seconds;
    all.most += p.most;
  }
  line("the run", format_seconds(all.seconds),
       fmt::format("   {} to {}", format_seconds(all.seconds / spread), format_seconds(spread * all.most)));
  return text;
}

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
  if (const auto reservoirs = reservoirs_of_run(config)) c = with_reservoirs(c, *reservoirs, size.grid);
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
  for (const Job& job : jobs) {
    add_job(config, job, size, parts);
    iteration = std::max(iteration, job.cost.usual_pace.iteration);
  }
  parts.push_back({"output", plotfile_seconds(usual_geometry_pace, iteration, n_plotted(config, jobs), size.counts)});
  return parts;
}

void follow_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, RunProgress& progress) {
  progress.follow(comm, parts_of_run(config, jobs, size_before(config)));
  if (needs_import(config)) progress.begin("import", "import");
}

}  // namespace karst
