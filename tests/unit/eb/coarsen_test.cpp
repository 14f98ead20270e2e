// SPDX-License-Identifier: BSD-3-Clause
#include "eb/coarsen.hpp"

#include <gtest/gtest.h>

#include "support/level_cases.hpp"

namespace karst {
namespace {

using test::free_stream_error;
using test::single_level;
using test::totals;

// Volume, wall and closure survive every coarsening down to one cell per box; so does the symmetry of the graph.
TEST(Coarsen, KeepsVolumeWallAndClosureMpi) {
  const Comm comm = Comm::world();
  for (const bool periodic : {false, true}) {
    const auto phi = test::packing(40, 5.3, 36, periodic);
    LevelGeometry level = single_level(comm, *phi, {Index::all(36), {periodic, periodic, periodic}}, 16).geometry;
    const auto fine = totals(comm, level);
    double scale = 1.0;
    for (int box = 8; box >= 1; box /= 2) {
      level = coarsen(comm, level).geometry;
      scale *= 2.0;
      const auto t = totals(comm, level);
      EXPECT_NEAR(t.volume * scale * scale * scale, fine.volume, 1e-10 * fine.volume) << box;
      EXPECT_NEAR(t.wall_area * scale * scale, fine.wall_area, 1e-10 * fine.wall_area) << box;
      for (int d = 0; d < 3; ++d) EXPECT_NEAR(t.wall[d] * scale * scale, fine.wall[d], 1e-8) << box;
      EXPECT_LT(free_stream_error(level), 1e-12) << box;
      const auto wrong = check(comm, level.graph);
      EXPECT_TRUE(wrong.empty()) << box << ": " << wrong.front();
      EXPECT_EQ(level.graph.layout().box_size(), box);
    }
  }
}

// A plate half a cell thick still separates when a coarse cell is as wide as the box: coarse cells hold two VoFs.
TEST(Coarsen, ThinPlateStaysClosed) {
  const Comm self = Comm::self();
  const auto phi = test::plate({7.37, 8.0, 8.0}, {1.0, 0.3, 0.2}, 0.5);
  LevelGeometry level = single_level(self, *phi, {Index::all(16), {}}, 16).geometry;
  for (int box = 8; box >= 1; box /= 2) {
    level = coarsen(self, level).geometry;
    EXPECT_EQ(test::n_components(level.graph), 2) << box;
  }
  EXPECT_EQ(level.graph.counts().vofs, 2);
}

// Every fine VoF has a parent in the coarse cell over its own, and parents hold the volume of their children.
TEST(Coarsen, ParentsHoldTheirChildren) {
  const Comm self = Comm::self();
  const auto phi = test::packing(40, 5.3, 32, false);
  const LevelGeometry fine = single_level(self, *phi, {Index::all(32), {}}, 8).geometry;
  const Coarsened coarse = coarsen(self, fine);
  for (int b = 0; b < fine.graph.n_local(); ++b) {
    const BoxGraph down = fine.graph.box(b), up = coarse.geometry.graph.box(b);
    std::vector<double> volume(static_cast<std::size_t>(up.n_own)), expected(volume.size(), 1.0);
    std::vector<double> kappa(static_cast<std::size_t>(down.n_own), 1.0);
    for (std::size_t r = 0; r < fine.box(b).moments.size(); ++r) kappa[down.row_vof[r]] = fine.box(b).moments[r].kappa;
    const auto& up_moments = coarse.geometry.box(b).moments;
    for (std::size_t r = 0; r < up_moments.size(); ++r) expected[up.row_vof[r]] = up_moments[r].kappa;
    for_each_vof(down, [&](int vof, int cell) {
      const int parent = coarse.parent[static_cast<std::size_t>(b)][static_cast<std::size_t>(vof)];
      volume[static_cast<std::size_t>(parent)] += kappa[static_cast<std::size_t>(vof)] / 8.0;
      const Index f = down.cells.cell(cell), c = up.cells.cell(cell_of(up, parent));
      for (int d = 0; d < 3; ++d) EXPECT_EQ(f[d] / 2, c[d]);
    });
    for (std::size_t v = 0; v < volume.size(); ++v) EXPECT_NEAR(volume[v], expected[v], 1e-13);
  }
}

}  // namespace
}  // namespace karst
