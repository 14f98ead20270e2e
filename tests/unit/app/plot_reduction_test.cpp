// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/plot_reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/deck/plot_extent.hpp"
#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/vof_values.hpp"
#include "io/plot_reader.hpp"
#include "support/errors.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::plot_reduction_test {
namespace {

/// A ball in 32^3 cells in boxes of 8^3, those at the wall refined, and values that differ from cell to cell.
struct Ball {
  explicit Ball(const Comm& on, int levels) : comm(on), grid(test::grid_of(32, levels)) {
    ground = test::ground_on(comm, build_geometry(comm, grid, level_set(), KeepPores::all));
    config.output.plot = {PlotField::fraction, PlotField::distance, PlotField::wall_area, PlotField::wall_normal,
                          PlotField::concentration};
  }
  static const LevelSet& level_set() {
    static const std::unique_ptr<LevelSet> ball = make_level_set(Sphere{{17.1, 14.9, 16.2}, 9.3});
    return *ball;
  }
  /// A plotfile, as rank 0 reads it.
  std::unique_ptr<PlotReader> written(const std::string& name) {
    const JobContext context{comm, config, grid, ground, services};
    std::vector<double> values(ground->numbering()->n_own());
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = std::sin(0.37 * static_cast<double>(v) + comm.rank());
    Source source;
    source.level_set = make_level_set(Sphere{{17.1, 14.9, 16.2}, 9.3});
    const std::string path = folder.path() + "/" + name;
    write_plot(context, source, path, {concentration_field(context, "a", values)});
    return comm.rank() == 0 ? std::make_unique<PlotReader>(path) : nullptr;
  }
  const Comm& comm;
  Config config{};
  GridOptions grid;
  RunServices services{};
  std::shared_ptr<const Ground> ground;
  test::SharedDirectory folder{comm};
};

/// Σ α c V and Σ α V of cells that are shown, and their number; the area of all walls.
struct Sums {
  double content = 0.0, volume = 0.0, wall = 0.0;
  std::int64_t shown = 0;
};
Sums sums_of(const PlotReader& file) {
  Sums all;
  const auto number = [&](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(file.components(), name) - file.components().begin());
  };
  const std::array<std::size_t, 3> read{number("fraction"), number("concentration_a"), number("wall_area")};
  for (int l = 0; l < file.n_levels(); ++l)
    for (std::size_t b = 0; b < file.boxes(l).size(); ++b) {
      const std::size_t n = file.boxes(l)[b].count();
      std::array<std::vector<float>, 3> v;
      for (std::size_t c = 0; c < 3; ++c) v[c].resize(n), file.read(l, b, read[c], v[c]);
      std::vector<std::uint8_t> hidden(n);
      file.read_hidden(l, b, hidden);
      const double cell = std::pow(std::ldexp(file.cell_width(), -l), 3);
      for (std::size_t i = 0; i < n; ++i) {
        if ((hidden[i] & cell_is_covered) == 0) all.wall += double{v[2][i]};
        if (hidden[i] != 0) continue;
        all.volume += cell * double{v[0][i]};
        all.content += cell * double{v[0][i]} * double{v[1][i]};
        ++all.shown;
      }
    }
  return all;
}

// Contents, volumes and the area of the wall are those of the grid, to the rounding of single precision, on one level
// and on two, for blocks of 2 and 4 cells.
TEST(PlotReductionMpi, CoarserCellsHoldWhatTheirCellsHold) {
  const Comm comm = Comm::world();
  for (const int levels : {1, 2}) {
    Ball ball(comm, levels);
    const auto fine = ball.written("fine");
    for (const int n : {2, 4}) {
      ball.config.output.coarsening = n;
      const auto coarse = ball.written("coarse");
      ball.config.output.coarsening = 1;
      if (comm.rank() != 0) continue;
      EXPECT_EQ(coarse->n_levels(), levels);
      EXPECT_EQ(coarse->cells(), Index::all(32 / n));
      EXPECT_DOUBLE_EQ(coarse->cell_width(), n * fine->cell_width());
      EXPECT_EQ(std::ssize(coarse->boxes(0)), n == 2 ? 8 : 1) << "boxes of level 0 have as many cells as before";
      const Sums is = sums_of(*coarse), was = sums_of(*fine);
      EXPECT_NEAR(is.volume / was.volume, 1.0, 1e-6);
      EXPECT_NEAR(is.wall / was.wall, 1.0, 1e-6);
      EXPECT_NEAR(is.content, was.content, 1e-6 * was.volume);
      EXPECT_GT(is.shown, was.shown / (n * n * n));
    }
  }
}

// The file of a region is made of the boxes that the whole file has there, value by value.
TEST(PlotReductionMpi, RegionsAreWholeBoxes) {
  const Comm comm = Comm::world();
  Ball ball(comm, 2);
  const auto whole = ball.written("whole");
  const double h = ball.grid.cell_width();
  ball.config.output.region_given = true;
  ball.config.output.region_lo = {13.0 * h, 9.0 * h, 0.0};
  ball.config.output.region_hi = {22.0 * h, 16.0 * h, 100.0 * h};
  const auto part = ball.written("part");
  if (comm.rank() != 0) return;
  EXPECT_TRUE(part->holds_region());
  EXPECT_FALSE(whole->holds_region());
  EXPECT_EQ(part->cells(), (Index{16, 8, 32}));
  const Index low{8, 8, 0};
  for (int l = 0; l < 2; ++l) {
    std::size_t found = 0;
    for (std::size_t b = 0; b < part->boxes(l).size(); ++b) {
      const Box in_domain = part->boxes(l)[b].shifted(low * (1 << l));
      const auto other = std::ranges::find(whole->boxes(l), in_domain);
      ASSERT_NE(other, whole->boxes(l).end());
      const std::size_t n = in_domain.count();
      for (std::size_t c = 0; c < part->components().size(); ++c) {
        std::vector<float> is(n), was(n);
        part->read(l, b, c, is);
        whole->read(l, other - whole->boxes(l).begin(), c, was);
        EXPECT_EQ(is, was);
      }
      ++found;
    }
    const Box region = Box{low, low + part->cells()};
    EXPECT_EQ(std::ranges::count_if(whole->boxes(l),
                                    [&](const Box& box) {
                                      return region.contains({box.lo[0] >> l, box.lo[1] >> l, box.lo[2] >> l});
                                    }),
              static_cast<std::ptrdiff_t>(found));
  }
}

TEST(PlotReduction, MistakesAreNamed) {
  GridOptions grid = test::grid_of(36, 1);
  grid.box = 8;
  OutputOptions output;
  EXPECT_TRUE(plot_mistakes(output, grid, {}).empty());
  output.coarsening = 8;
  const std::vector<std::string> found = plot_mistakes(output, grid, {});
  ASSERT_EQ(found.size(), 4U);
  EXPECT_TRUE(test::has(found[0], "output.coarsening = 8: at most half the width of a box, grid.box = 8"));
  EXPECT_TRUE(test::has(found[3], "the domain has 36 cells along z, which 8 does not divide; write 4"));
  output.coarsening = 1;
  output.region_given = true;
  output.region_lo = grid.size;
  output.region_hi = 2.0 * grid.size;
  EXPECT_TRUE(test::has(plot_mistakes(output, grid, {}).at(0), "no cell of the domain is between them"));
}

}  // namespace
}  // namespace karst::plot_reduction_test
