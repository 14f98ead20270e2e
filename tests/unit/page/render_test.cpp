// SPDX-License-Identifier: BSD-3-Clause
#include "page/render.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/comm/parallel.hpp"

namespace karst::render_test {
namespace {

template <class F>
Volume volume(const Index& size, F&& value) {
  Volume v{size, {}};
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) v.values.push_back(static_cast<float>(value(x + 0.5, y + 0.5, z + 0.5)));
  return v;
}

/// On every rank for itself.
Rendering render(const Volume& v, const RenderOptions& o) { return render(Comm::self(), v, o); }

RenderOptions plain() {
  RenderOptions o;
  o.width = 360;
  o.height = 320;
  o.cut_corner = false;
  o.edges = false;
  return o;
}

bool covered(const Picture& p, const RenderOptions& o, int column, int row) {
  return !std::equal(o.background.begin(), o.background.end(), p.pixel(column, row));
}

double covered_pixels(const Picture& p, const RenderOptions& o) {
  double n = 0;
  for (int row = 0; row < p.height; ++row)
    for (int column = 0; column < p.width; ++column) n += covered(p, o, column, row) ? 1 : 0;
  return n;
}

Volume sphere(double radius) {
  return volume({40, 40, 40}, [&](double x, double y, double z) {
    return radius - std::sqrt((x - 20) * (x - 20) + (y - 20) * (y - 20) + (z - 20) * (z - 20));
  });
}

TEST(Render, ASphereIsADisc) {
  RenderOptions o = plain();
  const Volume v = sphere(14);
  for (const double azimuth : {-56.0, 200.0}) {
    o.azimuth = azimuth;
    const Rendering r = render(v, o);
    const double radius = 14 * r.scale;
    ASSERT_GT(radius, 50);
    EXPECT_NEAR(covered_pixels(r.picture, o) / (std::numbers::pi * radius * radius), 1, 0.02);
  }
}

// Seen along x = y the left half is the right half with x and y exchanged.
TEST(Render, ASphereIsSymmetric) {
  RenderOptions o = plain();
  o.azimuth = -45;
  const Picture p = render(sphere(14), o).picture;
  int different = 0;
  for (int row = 0; row < p.height; ++row)
    for (int column = 0; column < p.width; ++column)
      different += covered(p, o, column, row) != covered(p, o, p.width - 1 - column, row) ? 1 : 0;
  EXPECT_LE(different, 8) << "round-off at the edge";
  EXPECT_TRUE(covered(p, o, p.width / 2, p.height / 2));
}

TEST(Render, LightComesFromTheUpperLeft) {
  const RenderOptions o = plain();
  const Rendering r = render(sphere(14), o);
  const int off = static_cast<int>(7 * r.scale);
  EXPECT_GT(r.picture.pixel(o.width / 2 - off, o.height / 2 - off)[1],
            r.picture.pixel(o.width / 2 + off, o.height / 2 + off)[1] + 40);
}

// The outline of a box is the sum of its three faces that are seen; a cut corner lets one look at the inside only.
TEST(Render, AFullBoxFillsItsOutline) {
  RenderOptions o = plain();
  const Index n{30, 20, 25};
  const Volume v = volume(n, [](double, double, double) { return 3.0; });
  const double a = o.azimuth * std::numbers::pi / 180, e = o.elevation * std::numbers::pi / 180;
  const double area = std::abs(std::cos(e) * std::cos(a)) * 20 * 25 + std::abs(std::cos(e) * std::sin(a)) * 30 * 25 +
                      std::sin(e) * 30 * 20;
  std::vector<std::uint8_t> whole;
  for (const bool cut : {false, true}) {
    o.cut_corner = cut;
    const Rendering r = render(v, o);
    EXPECT_NEAR(covered_pixels(r.picture, o) / (area * r.scale * r.scale), 1, 0.015) << cut;
    if (cut) {
      EXPECT_NE(r.picture.values, whole);
    } else {
      whole = r.picture.values;
    }
  }
}

TEST(Render, NothingIsBackgroundAndTheBox) {
  RenderOptions o = plain();
  const Volume v = volume({8, 8, 8}, [](double, double, double) { return -3.0; });
  EXPECT_EQ(covered_pixels(render(v, o).picture, o), 0);
  o.edges = true;
  EXPECT_GT(covered_pixels(render(v, o).picture, o), 1000);
}

TEST(Render, ABodyHidesTheEdgesBehindIt) {
  RenderOptions o = plain();
  const Volume full = volume({8, 8, 8}, [](double, double, double) { return 3.0; });
  const Volume none = volume({8, 8, 8}, [](double, double, double) { return -3.0; });
  const auto line_pixels = [&](const Volume& v) {
    o.edges = false;
    const Picture without = render(v, o).picture;
    o.edges = true;
    const Picture with = render(v, o).picture;
    int n = 0;
    for (int i = 0; i < o.width * o.height; ++i)
      n += std::equal(with.pixel(i % o.width, i / o.width), with.pixel(i % o.width, i / o.width) + 3,
                      without.pixel(i % o.width, i / o.width))
               ? 0
               : 1;
    return n;
  };
  const int seen = line_pixels(full), all = line_pixels(none);
  EXPECT_NEAR(static_cast<double>(seen) / all, 0.75, 0.06) << "nine of twelve edges";
}

TEST(Render, NamesOfAxesAreOutsideOfTheBox) {
  const RenderOptions o = plain();
  const Rendering r = render(volume({30, 20, 25}, [](double, double, double) { return 3.0; }), o);
  for (const Rendering::Edge& e : r.edges) {
    const auto beside = [&](double by) {
      return covered(r.picture, o, static_cast<int>(e.middle.column + by * e.out.column),
                     static_cast<int>(e.middle.row + by * e.out.row));
    };
    EXPECT_TRUE(beside(-6));
    EXPECT_FALSE(beside(6));
  }
  EXPECT_GT(r.edges[0].end.column, r.edges[0].begin.column) << "x to the right";
  EXPECT_LT(r.edges[2].end.row, r.edges[2].begin.row) << "z up";
}

TEST(Render, ThreadsDoNotMatter) {
  RenderOptions o;
  o.width = 200;
  o.height = 160;
  const Volume v = sphere(22);
  const int before = n_threads();
  set_n_threads(1);
  const Picture one = render(v, o).picture;
  set_n_threads(3);
  EXPECT_EQ(render(v, o).picture.values, one.values);
  set_n_threads(before);
}

TEST(Render, RanksDoNotMatterMpi) {
  RenderOptions o;
  o.width = 200;
  o.height = 161;
  const Volume v = sphere(22);
  const Picture together = render(Comm::world(), v, o).picture, alone = render(v, o).picture;
  EXPECT_EQ(together.height, 161);
  EXPECT_EQ(together.values, alone.values);
}

// The values are distances, so rays may go as far as they say.
TEST(Render, LongStepsFindTheSameBody) {
  RenderOptions o = plain();
  const Volume v = sphere(9);
  o.longest_step = 0.5;
  const Picture careful = render(v, o).picture;
  o.steepest = 1.0;
  o.longest_step = 20.0;
  const Picture fast = render(v, o).picture;
  double different = 0;
  for (std::size_t i = 0; i < fast.values.size(); ++i) different += std::abs(fast.values[i] - careful.values[i]) > 3;
  EXPECT_LT(different / static_cast<double>(fast.values.size()), 0.003) << "rays that graze the outline";
}

TEST(Render, OneCubeIsEnough) {
  const RenderOptions o = plain();
  EXPECT_GT(covered_pixels(render({{1, 1, 1}, {2}}, o).picture, o), 100);
}

}  // namespace
}  // namespace karst::render_test
