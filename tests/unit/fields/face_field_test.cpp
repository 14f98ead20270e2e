// SPDX-License-Identifier: BSD-3-Clause
#include "fields/face_field.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "grid/vof_loops.hpp"
#include "support/field_cases.hpp"
#include "support/flux_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::face_field_test {
namespace {

const Vec3 stream{0.3, -1.1, 2.0};

std::shared_ptr<const Composite> composite_of(const Comm& comm, const LevelSet& walls, int levels, bool periodic,
                                              ControlVolumes volumes = ControlVolumes::home_cells) {
  return std::make_shared<const Composite>(
      comm, std::make_shared<const Geometry>(
                build_geometry(comm, test::grid_of(16, levels, periodic), walls, KeepPores::all, volumes)));
}

/// Largest |div - u·(a_w n) h²| over the unknowns, coarse VoFs next to a finer level left out.
double free_stream_error(const CellField& balance, int component) {
  const Composite& grid = balance.grid();
  double worst = 0.0;
  for (int l = 0; l < grid.n_levels(); ++l)
    for (int b = 0; b < grid.graph(l).n_local(); ++b) {
      const BoxGraph box = grid.graph(l).box(b);
      std::vector<double> left(balance.level(l).own(b, component).begin(), balance.level(l).own(b, component).end());
      const auto moments = grid.level(l).box(b).moments;
      const double h2 = Composite::width(l) * Composite::width(l);
      for (std::size_t r = 0; r < moments.size(); ++r) left[box.row_vof[r]] -= h2 * dot(moments[r].wall, stream);
      for (const std::uint16_t v : grid.covered_in(l, b)) left[v] = 0.0;
      if (l + 1 < grid.n_levels())
        for (const CoarseEntrance& e : grid.entrances_in(l, b)) left[e.vof] = 0.0;
      for (const double x : left) worst = std::max(worst, std::abs(x));
    }
  return grid.comm().max(worst);
}

/// A plate thinner than a cell that ends in the fluid: beyond its edge a piece meets two of the cell before.
std::unique_ptr<LevelSet> plate_with_edge() {
  const Vec3 normal{0.48, 0.6, 0.64}, along{0.8, 0.0, -0.6};
  const Vec3 middle{8.1, 7.9, 8.2};
  LevelSetParts sides;
  sides.push_back(make_level_set(HalfSpace{middle + 0.1 * normal, normal}));
  sides.push_back(make_level_set(HalfSpace{middle - 0.1 * normal, -normal}));
  sides.push_back(make_level_set(HalfSpace{middle, along}));
  return intersection_of_solids(std::move(sides));
}

// A uniform flow is without divergence but for what the wall of a VoF takes: Σ_high α - Σ_low α = a_w n.
TEST(FaceField, UniformFlowEndsAtWallsAloneMpi) {
  const Comm comm = Comm::world();
  std::int64_t crossing = 0;
  const auto expect_free = [&](const LevelSet& walls, int levels, bool periodic, ControlVolumes volumes) {
    const auto grid = composite_of(comm, walls, levels, periodic, volumes);
    FaceField flux(grid);
    CellField balance(grid, 2);
    test::set_uniform(flux, stream);
    divergence(flux, balance, 1);
    EXPECT_LT(free_stream_error(balance, 1), 1e-12) << levels << periodic;
    for (int l = 0; l < grid->n_levels(); ++l) crossing += std::ssize(grid->coarse_fine(l));
  };
  expect_free(*plate_with_edge(), 1, false, ControlVolumes::pieces);
  expect_free(*plate_with_edge(), 2, false, ControlVolumes::pieces);
  expect_free(*test::packing(12, 4.0, 16, true), 2, true, ControlVolumes::home_cells);
  EXPECT_GT(comm.sum(crossing), 0);
}

// What leaves a fine VoF enters a coarse one: the sum of all balances is what crosses the ends of the domain, and 0 in
// a periodic one.
TEST(FaceField, WhatLeavesALevelEntersTheOtherMpi) {
  const Comm comm = Comm::world();
  const auto grid =
      test::composite_of(comm, test::refined_in(test::flow_grid(Index::all(16)), 1, {5, 0, 3}, {13, 11, 12}),
                         *test::packing(14, 3.3, 16, true, 3));
  ASSERT_GT(comm.sum(std::int64_t{std::ssize(grid->coarse_fine(0))}), 0);
  FaceField flux(grid);
  test::set_uniform(flux, stream);
  for (std::size_t i = 0; i < grid->coarse_fine(0).size(); ++i)
    if (grid->coarse_fine(0)[i].behind.found) flux.coarse_fine(0)[i] = 1.0 + std::sin(double(i));
  CellField balance(grid);
  divergence(flux, balance);
  double sum = 0.0, size = 0.0;
  for (int l = 0; l < grid->n_levels(); ++l)
    for (int b = 0; b < grid->graph(l).n_local(); ++b)
      for (const double x : balance.level(l).own(b)) {
        sum += x;
        size += std::abs(x);
      }
  EXPECT_LT(std::abs(comm.sum(sum)), 1e-12 * comm.sum(size));
}

}  // namespace
}  // namespace karst::face_field_test
