// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_sampler.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "grid/layout_builder.hpp"
#include "io/plotfile.hpp"
#include "support/errors.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::plot_sampler_test {
namespace {

/// A plotfile of 16 x 10 x 8 cells with one field, where asked with cells of half the width in the lower half along x.
struct Sample {
  Sample(bool refined, const std::function<double(const Vec3&)>& value,
         const std::function<bool(const Index&)>& solid) {
    Domain domain{{16, 10, 8}, {}};
    for (int l = 0; l < (refined ? 2 : 1); ++l) {
      layouts.push_back(
          build_layout(comm, domain, 8, [&](const Box& box) { return l == 0 || box.hi[0] <= 16 ? 1.0 : 0.0; }).layout);
      domain = domain.refined();
    }
    plot.title = "sample";
    plot.version = "test";
    plot.arrays = {{"f", "Pa", false}};
    for (const Layout& layout : layouts) plot.levels.push_back(&layout);
    plot.fill = [&](int l, std::int64_t box, int, std::span<float> values) {
      std::size_t n = 0;
      for_each_cell(layouts[l].box(box), [&](const Index& c) {
        values[n++] = static_cast<float>(value(std::ldexp(1.0, -l) * Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5}));
      });
    };
    plot.hide = [&](int l, std::int64_t box, std::span<std::uint8_t> flags) {
      std::size_t n = 0;
      for_each_cell(layouts[l].box(box), [&](const Index& c) {
        flags[n++] = l == 0 && refined && c[0] < 8 ? cell_is_covered : l == 0 && solid(c) ? cell_is_solid : 0;
      });
    };
    write_plotfile(comm, path, plot);
  }
  Comm comm = Comm::self();
  test::SharedDirectory folder{comm};
  std::string path = folder.path() + "/plot.vtkhdf";
  std::vector<Layout> layouts;
  PlotDescription plot;
};

bool nowhere(const Index&) { return false; }
double linear(const Vec3& x) { return 1.0 + 2.0 * x[0] - 3.0 * x[1] + 0.5 * x[2]; }

// At any place, ends of the domain included.
TEST(PlotSampler, LinearFieldsAreExact) {
  const Sample sample(false, linear, nowhere);
  PlotSampler file(sample.path, {"f"}, {});
  for (const Vec3& x : {Vec3{0.0, 0.0, 0.0}, {16.0, 10.0, 8.0}, {3.5, 2.5, 7.5}, {4.1, 9.8, 0.2}, {8.0, 4.0, 4.0}}) {
    const PlotSampler::Sample& here = file.at(x);
    EXPECT_NEAR(here.weighted[0], linear(x), 1e-5);
    EXPECT_NEAR(here.fluid, 1.0, 1e-12);
  }
}

// Values are those of the finest cells; beside a face between levels of the mean or the coarser cell (half a cell off).
TEST(PlotSampler, FinerCellsCount) {
  const Sample sample(true, linear, nowhere);
  PlotSampler file(sample.path, {"f"}, {});
  for (const Vec3& x : {Vec3{2.25, 3.75, 1.25}, {1.6, 3.1, 5.2}, {7.75, 2.25, 2.25}, {8.5, 2.5, 2.5}, {11.1, 7.7, 3.4}})
    EXPECT_NEAR(file.at(x).weighted[0], linear(x), 1e-5);
  EXPECT_NEAR(file.at({8.0, 2.0, 2.0}).weighted[0], linear({8.0, 2.0, 2.0}), 1.1);
}

// Periodic neighbours go on at the other end; cells without fluid count 0 and are missing in the weight.
TEST(PlotSampler, OtherEndAndSolid) {
  const auto solid = [](const Index& c) { return c[0] == 15; };
  const Sample sample(
      false, [](const Vec3& x) { return x[0] < 1.0   ? 4.0
                                        : x[0] < 2.0 ? 2.0
                                                     : 8.0; }, solid);
  PlotSampler file(sample.path, {"f"}, {true, true, true});
  EXPECT_NEAR(file.at({1.0, 2.0, 2.0}).weighted[0], 3.0, 1e-12);
  const PlotSampler::Sample& beside = file.at({0.25, 5.0, 0.0});
  EXPECT_NEAR(beside.weighted[0], 0.75 * 4.0, 1e-12);
  EXPECT_NEAR(beside.fluid, 0.75, 1e-12);
}

TEST(PlotSampler, WhatIsMissingOrNoNumberIsSaid) {
  const Sample sample(
      false, [](const Vec3& x) { return x[0] > 11.0 ? std::numeric_limits<double>::infinity() : 1.0; }, nowhere);
  EXPECT_TRUE(test::has(test::error_of([&] {
                          PlotSampler(sample.path, {"f", "velocity_x"}, {});
                        }),
                        "contains no velocity_x, only f"));
  PlotSampler file(sample.path, {"f"}, {});
  EXPECT_NEAR(file.at({1.0, 1.0, 1.0}).weighted[0], 1.0, 1e-6);
  EXPECT_TRUE(test::has(test::error_of([&] { file.at({11.5, 1.0, 1.0}); }), "f is not finite"));
}

}  // namespace
}  // namespace karst::plot_sampler_test
