// SPDX-License-Identifier: BSD-3-Clause
// Runs with walls that move, and what comes out of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/job/moving_walls.hpp"
#include "app/run/simulation.hpp"
#include "app/walls/walls_job.hpp"
#include "base/core/text.hpp"
#include "eb/described_level_set.hpp"
#include "support/csv_file.hpp"
#include "support/job_cases.hpp"
#include "support/reactive_decks.hpp"

namespace karst::test {

struct WallsRun {
  std::map<std::string, std::vector<double>> columns;    ///< of evolution.csv; NaN where nothing stands
  std::map<std::string, std::vector<double>> transport;  ///< the same of transport.csv
  std::map<std::string, std::vector<double>> chemistry;  ///< and of chemistry.csv
  std::vector<std::vector<std::string>> events;          ///< lines of wall_events.csv
  JobResult result;                                      ///< of the walls
  Json reactions;                                        ///< "chemistry" of summary.json
  double first(const std::string& name) const { return columns.at(name).front(); }
  double last(const std::string& name) const { return columns.at(name).back(); }
};

/// Cells of width 1 m.
/// @param at_end  looks at the run while its files are there
inline WallsRun run_walls(const std::string& deck, const std::function<void(JobCase&, const WallsRun&)>& at_end = {}) {
  const Config config = config_of(deck);
  const std::unique_ptr<LevelSet> solids =
      make_described_level_set(config.geometry, config.grid.cell_width(), config.grid.size, config.grid.periodic);
  JobCase run(config.grid, *solids);
  run.config = config;
  run.context.walls =
      std::make_shared<MovingWalls>(run.comm, *solids, domain_of(run.context.geometry()),
                                    run.context.geometry().grid.n_levels() - 1, standing_solids(run.context, *solids));
  run.context.make_ground = [&](const GridOptions& grid, const BoxCosts& costs) {
    Geometry geometry = build_geometry(run.comm, grid, run.context.walls->now, KeepPores::all,
                                       {ControlVolumes::home_cells, true}, costs);
    run.context.walls->now.drop_cache();
    return std::make_shared<const Ground>(run.comm, std::move(geometry));
  };
  run.context.ground = run.context.make_ground(run.grid, {});
  check_jobs(run.context);
  const std::vector<Job> jobs = asked_jobs(run.config);
  run.services.exchanges.taken = taken_by(jobs, run.config);
  WallsRun ran;
  Simulation(run.context, jobs).run([&](JobResult result) {
    if (result.json.contains("chemistry")) ran.reactions = result.json.at("chemistry");
    ran.result = std::move(result);
  });
  run.comm.any(false);
  ran.columns = read_columns(run.folder.path() + "/evolution.csv");
  std::ifstream file(run.folder.path() + "/wall_events.csv");
  for (std::string line; std::getline(file, line);) ran.events.push_back(split(line, ','));
  if (jobs.size() > 1) ran.transport = read_columns(run.folder.path() + "/transport.csv");
  if (config.chemistry.asked()) ran.chemistry = read_columns(run.folder.path() + "/chemistry.csv");
  if (at_end) at_end(run, ran);
  return ran;
}

/// What has dissolved, by the moles, is what the fluid has gained with what walls still owe; no more is owed than a
/// hundredth of a cell of the wall.
inline void expect_balance(const WallsRun& ran, double most_owed = 0.01, const std::string& mineral = "solid") {
  for (std::size_t i = 0; i < ran.columns.at("time_s").size(); ++i) {
    const double dissolved = ran.columns.at("dissolved_m3")[i], moved = ran.columns.at("moved_m3")[i],
                 owed = ran.columns.at("owed_m3")[i];
    EXPECT_NEAR(dissolved - moved, owed, 1e-9 * std::max(1.0, std::abs(dissolved))) << i;
    EXPECT_LT(std::abs(owed), most_owed * ran.columns.at(mineral + "_area_m2")[i]) << i;
  }
  for (const Balance& b : ran.result.balances) {
    EXPECT_TRUE(b.name != "walls_relative" || b.relative < 1e-10) << b.relative;
  }
}

/// Fluid at rest between c0 at x = 0 and a wall at s with the law k c: D (c0 - c) / s = k c, so that
/// ds/dt = V k c0 / (1 + k s / D) and s + k s² / (2 D) = s0 + k s0² / (2 D) + V k c0 t. Below 0 the wall grows.
inline const std::string slab = cells_along_x({24, 8, 8}) + R"(
[[geometry.solid]]
shape = "plane"
point = [12.7, 0, 0]
normal = [-1, 0, 0]
[transport]
axis = "x"
tolerance = 1e-12
[[transport.component]]
name = "acid"
diffusivity = 0.2
inlet = 2
[[transport.wall]]
rate = 0.05
)";

inline double slab_at(double c0, double volume, double t) {
  const double s0 = 12.7, k = 0.05, d = 0.2;
  const double sum = s0 + k * s0 * s0 / (2.0 * d) + volume * k * c0 * t;
  return (std::sqrt(1.0 + 2.0 * k * sum / d) - 1.0) * d / k;
}

}  // namespace karst::test
