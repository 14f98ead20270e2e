// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/time_estimate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "app/deck/session.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/format.hpp"
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

}  // namespace

MachinePace measure_pace(const Comm& comm, const std::vector<Job>& jobs) {
  const Comm alone = Comm::self();
  const Packing packing(width_of_packing());
  MachinePace pace;
  const WallClock clock;
  const Geometry geometry = build_geometry(alone, packing.grid, *packing.level_set, KeepPores::connected);
  const LevelReport& level = geometry.report.levels[0];
  const double work = static_cast<double>(level.vofs) + cost_of_cut_cell * static_cast<double>(level.cut.cells_cut);
  pace.linking = comm.max(share_of_linking * clock.seconds() / work);
  for (const Job& job : jobs) {
    JobPace of_job = job.cost.pace(alone, geometry);
    of_job.setup = comm.max(of_job.setup);
    of_job.iteration = comm.max(of_job.iteration);
    pace.jobs.push_back(of_job);
  }
  return pace;
}

double geometry_seconds(const GeometryPace& pace, const GridCounts& counts) {
  return pace.per_box * counts.boxes + pace.per_cut_cell * counts.cut +
         pace.linking * (counts.fluid + cost_of_cut_cell * counts.cut);
}

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

double plotfile_seconds(const GeometryPace& geometry, double pace, int n_components, const GridCounts& counts) {
  return component_cost * (pace > 0.0 ? pace : geometry.linking) * n_components * counts.box_cells;
}

std::vector<TimePart> time_parts(const MachinePace& pace, const GeometrySample& sample, const std::vector<Job>& jobs,
                                 const std::vector<JobPlan>& plans, const GridCounts& counts, const GridOptions& grid,
                                 int n_components, int ranks) {
  const double looks = sample.seconds_per_box * sample.sum(&LevelEstimate::candidates) / counts.boxes;
  const GeometryPace making{looks / n_threads(), sample.seconds_per_cut_cell / n_threads(), pace.linking};
  const double first = geometry_seconds(making, counts) / ranks;
  std::vector<TimePart> parts{{"geometry", first, first}};
  double iteration = 0.0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    GridSeconds main, others;
    for (const PlannedGrid& g : plans[j].grids) {
      const GridSeconds s = grid_seconds(making, jobs[j].cost, pace.jobs[j], g, counts, grid);
      GridSeconds& sum = g.name.empty() || (g.reservoir > 0 && g.width == 1.0) ? main : others;
      sum.geometry += s.geometry / ranks;
      sum.setup += s.setup / ranks;
      sum.solves += (s.solves + s.pictures) / ranks;
    }
    const double more = plans[j].more_work;
    const std::string name(jobs[j].word.name);
    if (main.geometry > 0) parts.push_back({name + ": geometry with reservoirs", main.geometry, main.geometry});
    parts.push_back({name + ": set-up", main.setup, main.setup});
    parts.push_back({name + ": solves", main.solves, more * main.solves});
    const double rest = others.geometry + others.setup;
    if (rest > 0) parts.push_back({name + ": on other grids", rest + others.solves, rest + more * others.solves});
    iteration = std::max(iteration, pace.jobs[j].iteration);
  }
  const double output = plotfile_seconds(making, iteration, n_components, counts) / ranks;
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

}  // namespace karst
