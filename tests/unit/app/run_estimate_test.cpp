// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/run_estimate.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "eb/shapes/shapes.hpp"
#include "support/errors.hpp"
#include "support/shared_directory.hpp"

namespace karst::run_estimate_test {
namespace {

using test::has;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double gib = 1024.0 * 1024.0 * 1024.0;

/// A ball in so many cells, of which flow is asked for along x.
RunEstimate ball(int n, Config config = {}) {
  const Comm comm = Comm::world();
  config.flow.model = FlowModel::stokes;
  config.flow.axes = {0};
  Source source;
  source.grid.cells = Index::all(n);
  source.grid.size = Vec3::all(n);
  source.level_set = make_level_set(Sphere{Vec3::all(0.5 * n), 0.4 * n});
  return estimate_run(comm, config, asked_jobs(config), 40e6, source);
}

MemoryShare share_of(double bytes, int ranks = 1) { return {{bytes, "test"}, ranks, {infinite, ""}}; }

// Memory falls where ranks share it, apart from what each of them holds.
TEST(RunEstimateMpi, MemoryIsSharedByTheRanks) {
  const RunEstimate estimate = ball(512);
  const std::vector<MemoryStage> stages = estimate.stages(1);
  const MemoryStage& peak = peak_stage(stages, 1);
  EXPECT_EQ(peak.name, "flow");
  EXPECT_DOUBLE_EQ(peak.all_ranks(1), peak.largest_rank(1));
  const double bytes_per_cell = peak.all_ranks(1) / estimate.counts.fluid;
  EXPECT_TRUE(bytes_per_cell > 400.0 && bytes_per_cell < 650.0) << bytes_per_cell;
  EXPECT_GT(8.0 * peak.largest_rank(8), peak.all_ranks(1));
  EXPECT_LT(peak.largest_rank(8), peak.all_ranks(1) / 7.0);
}

// What is said to fit does, and more does not.
TEST(RunEstimate, WhatFitsIsTheLargestThatDoesAloneByDay) {
  const RunEstimate estimate = ball(512);
  EXPECT_TRUE(fits(estimate, share_of(1000 * gib), 1));
  const MemoryShare small = share_of(10 * gib);
  ASSERT_FALSE(fits(estimate, small, 1));
  const std::string text = what_fits(estimate, small);
  const std::string begin = "grid.cells = [";
  ASSERT_TRUE(has(text, begin)) << text;
  const int n = std::stoi(text.substr(text.find(begin) + begin.size()));
  EXPECT_EQ(n % 16, 0);
  EXPECT_TRUE(fits(ball(n), small, 1)) << n;
  EXPECT_FALSE(fits(ball(n + 32), small, 1)) << n;
  const std::string nodes = "all of it on ";
  ASSERT_TRUE(has(text, nodes)) << text;
  const int needed = std::stoi(text.substr(text.find(nodes) + nodes.size()));
  EXPECT_TRUE(fits(estimate, small, needed));
  EXPECT_FALSE(fits(estimate, small, needed - 1));
}

// The jobs of a run with transport share a domain with reservoirs; where there is flow alone they belong to its plan.
TEST(RunEstimateMpi, ReservoirsOfTheRunAreCounted) {
  Config config;
  config.flow.reservoir = 8;
  config.flow.estimate_error = false;
  const RunEstimate flow = ball(64, config);
  EXPECT_FALSE(flow.reservoirs);
  EXPECT_EQ(flow.memory.jobs[0].grids[0].reservoir, 8);
  config.transport.components.emplace_back();
  config.time.end_pore_volumes = 1.0;
  const RunEstimate all = ball(64, config);
  ASSERT_EQ(all.jobs.size(), 2U);
  EXPECT_DOUBLE_EQ(all.counts.fluid, flow.counts.fluid + 2 * 8 * 64 * 64);
  EXPECT_DOUBLE_EQ(all.sample_counts->fluid, flow.counts.fluid);
  for (const JobPlan& plan : all.memory.jobs)
    for (const PlannedGrid& grid : plan.grids) EXPECT_TRUE(grid.reservoir == 0 && !grid.builds);
  EXPECT_TRUE(has(sample_table(all), "80 x 64 x 64 cells"));
}

// Two ranks on a node have half of it each; a limit of the process holds for each.
TEST(RunEstimate, RanksOfANodeShareIt) {
  EXPECT_DOUBLE_EQ(share_of(10 * gib, 2).of_rank().bytes, 5 * gib);
  MemoryShare limited = share_of(10 * gib, 2);
  limited.process = {gib, "ulimit"};
  EXPECT_EQ(limited.of_rank().by, "ulimit");
}

// 10^6 cells per direction: 10^18 cells are counted, not wrapped.
TEST(RunEstimate, CountsDoNotOverflow) {
  RunEstimate estimate = ball(64);
  const double cells = estimate.cells(), fluid = estimate.counts.fluid;
  estimate.grid.cells = Index::all(1000000);
  estimate.counts = scaled(estimate.counts, 1e6 / 64, MoreCells::finer_cells);
  EXPECT_DOUBLE_EQ(estimate.cells(), 1e18);
  EXPECT_NEAR(estimate.counts.fluid / 1e18, fluid / cells, 1e-12);
  const std::vector<MemoryStage> stages = estimate.stages(1);
  EXPECT_GT(peak_stage(stages, 1).largest_rank(1), 1e20);
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

// /proc and /sys as a machine of 8 GiB has them, in a container of 4 GiB of which 1 is used, and a batch job in it.
TEST(NodeMemory, TheLeastLimitHolds) {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / "karst_node_memory";
  std::filesystem::remove_all(root);
  EXPECT_EQ(memory_of_node(root).bytes, infinite);
  write(root / "proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  EXPECT_DOUBLE_EQ(memory_of_node(root).bytes, 8 * gib);
  write(root / "proc/self/cgroup", "0::/job/step\n");
  const auto group = root / "sys/fs/cgroup/job";
  write(group / "step/memory.max", "max\n");
  write(group / "step/memory.current", "4096\n");
  EXPECT_DOUBLE_EQ(memory_of_node(root).bytes, 8 * gib);
  write(group / "memory.max", "4294967296\n");
  write(group / "memory.current", "1073741824\n");
  write(group / "memory.stat", "anon 5\ninactive_file 536870912\n");
  EXPECT_DOUBLE_EQ(memory_of_node(root).bytes, 3.5 * gib);
  EXPECT_TRUE(has(memory_of_node(root).by, "container"));
  write(root / "proc/self/cgroup", "5:cpu:/a\n7:memory:/b\n");
  write(root / "sys/fs/cgroup/memory/b/memory.limit_in_bytes", "2147483648\n");
  write(root / "sys/fs/cgroup/memory/b/memory.usage_in_bytes", "1073741824\n");
  EXPECT_DOUBLE_EQ(memory_of_node(root).bytes, gib);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace karst::run_estimate_test
