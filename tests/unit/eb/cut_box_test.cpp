// SPDX-License-Identifier: BSD-3-Clause
// Boxes of cut cells: order on curved walls, closure, agreement at faces, invariance.
#include "eb/cut/cut_box.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

#include "base/core/error.hpp"
#include "tests/support/cut_cases.hpp"

namespace karst::cut_box_test {
namespace {
using namespace karst::testing;

/// Fluid volume and wall area outside a sphere in n^3 cells, cut in boxes of 16^3.
BoxSums sphere_sums(int n, const Vec3& center, double radius) {
  const FunctionPhi phi = sphere(center, radius);
  BoxSums total;
  for_each_cell({{}, Index::all(n / 16)}, [&](const Index& b) {
    const BoxSums s = sums(cut_box(phi, distance_like, {16 * b, 16 * (b + Index::all(1))}, 0));
    total.volume += s.volume, total.wall_area += s.wall_area;
  });
  return total;
}

// E1 of the verification list: off-centre sphere, R/h = 8, 16, 32.
TEST(CutBox, SphereVolumeAndAreaAreSecondOrder) {
  std::array<double, 3> volume_error{}, area_error{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double radius = 8 << i, pi = std::numbers::pi;
    const int n = 32 << i;
    const Vec3 center = Vec3{0.5 * n, 0.5 * n, 0.5 * n} + Vec3{0.31, -0.17, 0.23};
    const BoxSums s = sphere_sums(n, center, radius);
    const double solid = 4.0 / 3 * pi * radius * radius * radius, wall = 4 * pi * radius * radius;
    volume_error[i] = std::abs(1.0 * n * n * n - s.volume - solid) / solid;
    area_error[i] = std::abs(s.wall_area - wall) / wall;
  }
  RecordProperty("volume_error_16", fmt::format("{:.2e}", volume_error[1]));
  RecordProperty("area_error_16", fmt::format("{:.2e}", area_error[1]));
  EXPECT_LT(volume_error[1], 1e-3);  // asked for: 2e-3
  EXPECT_LT(area_error[1], 1e-3);    // asked for: 5e-3
  EXPECT_GT(std::log2(volume_error[1] / volume_error[2]), 1.9);
  EXPECT_GT(std::log2(area_error[1] / area_error[2]), 1.9);
}

FunctionPhi waves(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::array<Vec3, 4> k;
  std::array<double, 4> phase;
  for (std::size_t i = 0; i < 4; ++i)
    k[i] = 0.9 * Vec3{uniform(random), uniform(random), uniform(random)}, phase[i] = 3 * uniform(random);
  return FunctionPhi([=](const Vec3& x) {
    double f = 0;
    for (std::size_t i = 0; i < 4; ++i) f += 0.25 * std::sin(dot(k[i], x) + phase[i]);
    return f;
  });
}
constexpr Smoothness wave_smoothness{1.56, 0.0};  // |k| <= 0.9 sqrt 3

TEST(CutBox, EveryPieceOfASmoothGeometryIsClosed) {
  CutCounts counts;
  for (int seed = 0; seed < 10; ++seed) {
    const BoxPieces box = cut_box(waves(seed), wave_smoothness, {{0, 0, 0}, {16, 16, 16}}, 0);
    EXPECT_LT(closure_error(box), 1e-13);
    for (const Piece& p : box.pieces) {
      ASSERT_TRUE(std::isfinite(p.kappa + dot(p.centroid, p.centroid) + dot(p.wall_centroid, p.wall_centroid)));
      ASSERT_GE(p.wall_area, norm(p.wall) - 1e-14);
    }
    counts += box.counts;
  }
  EXPECT_GT(counts.cells_cut, 3000);
  EXPECT_EQ(counts.cells_covered + counts.cells_regular + counts.cells_cut, 10 * 4096);
}

TEST(CutBox, FluidAndSolidFillTheCells) {
  double fluid = 0, solid = 0;
  for (int seed = 0; seed < 4; ++seed) {
    const FunctionPhi phi = waves(seed);
    const FunctionPhi minus([&](const Vec3& x) { return -phi(x); });
    fluid += sums(cut_box(phi, wave_smoothness, {{0, 0, 0}, {16, 16, 16}}, 0)).volume;
    solid += sums(cut_box(minus, wave_smoothness, {{0, 0, 0}, {16, 16, 16}}, 0)).volume;
  }
  EXPECT_NEAR((fluid + solid) / (4 * 4096), 1, 1e-4);  // ambiguous and subdivided cells differ a little
}

/// Same bits in every number of a cell.
void expect_same_cell(const BoxPieces& a, const Index& cell_a, const BoxPieces& b, const Index& cell_b) {
  const auto at_a = static_cast<std::size_t>(a.cells.offset(cell_a)),
             at_b = static_cast<std::size_t>(b.cells.offset(cell_b));
  ASSERT_EQ(a.kind[at_a], b.kind[at_b]);
  const auto pa = std::find_if(a.pieces.begin(), a.pieces.end(), [&](const Piece& p) { return p.cell == at_a; });
  const auto pb = std::find_if(b.pieces.begin(), b.pieces.end(), [&](const Piece& p) { return p.cell == at_b; });
  for (auto i = pa, j = pb; i != a.pieces.end() && i->cell == at_a; ++i, ++j) {
    ASSERT_TRUE(j != b.pieces.end() && j->cell == at_b);
    ASSERT_EQ(i->kappa, j->kappa);
    ASSERT_EQ(i->centroid, j->centroid);
    ASSERT_EQ(i->wall, j->wall);
    ASSERT_EQ(i->wall_area, j->wall_area);
    ASSERT_EQ(i->holds_center, j->holds_center);
    ASSERT_EQ(i->n_faces, j->n_faces);
    for (std::uint32_t f = 0; f < i->n_faces; ++f) {
      const FacePiece &fa = a.faces[i->first_face + f], &fb = b.faces[j->first_face + f];
      ASSERT_EQ(fa.side, fb.side);
      ASSERT_EQ(fa.ordinal, fb.ordinal);
      ASSERT_EQ(fa.aperture, fb.aperture);
      ASSERT_EQ(fa.centroid, fb.centroid);
    }
  }
}

/// Two thin-walled shells and a crevice: many special cells.
FunctionPhi shells() {
  return FunctionPhi([](const Vec3& x) {
    const double a = std::abs(norm(x - Vec3{15.3, 15.8, 16.1}) - 9.0) - 0.2;
    const double b = std::abs(norm(x - Vec3{24.1, 17.0, 15.2}) - 7.0) - 0.3;
    return std::min(a, b);
  });
}

TEST(CutBox, OneBoxOf32AndEightOf16AreTheSameBits) {
  const FunctionPhi phi = shells();
  const BoxPieces whole = cut_box(phi, distance_like, {{0, 0, 0}, {32, 32, 32}}, 0);
  EXPECT_GT(whole.counts.cells_subdivided, 1000);
  EXPECT_GT(whole.counts.cells_multivalued, 500);
  for_each_cell({{}, Index::all(2)}, [&](const Index& b) {
    const BoxPieces part = cut_box(phi, distance_like, {16 * b, 16 * (b + Index::all(1))}, 0);
    for_each_cell(part.cells, [&](const Index& c) { expect_same_cell(whole, c, part, c); });
  });
}

/// The pieces on each side of each cell (6 cell + side), in the order of ordinals.
std::vector<std::vector<FacePiece>> face_pieces(const BoxPieces& box) {
  std::vector<std::vector<FacePiece>> faces(6 * box.kind.size());
  for (std::size_t i = 0; i < faces.size(); ++i)
    if (box.kind[i / 6] == CellKind::regular) faces[i].push_back({0, 0, 1, {0, 0}});
  for (const Piece& p : box.pieces)
    for (std::uint32_t f = p.first_face; f < p.first_face + p.n_faces; ++f)
      faces[6 * std::size_t{p.cell} + box.faces[f].side].push_back(box.faces[f]);
  for (auto& side : faces) std::sort(side.begin(), side.end(), [](auto& a, auto& b) { return a.ordinal < b.ordinal; });
  return faces;
}

TEST(CutBox, TheTwoCellsAtAFaceHoldTheSameFacePieces) {
  const BoxPieces box = cut_box(shells(), distance_like, {{0, 0, 0}, {32, 32, 32}}, 0);
  const auto faces = face_pieces(box);
  const auto at = [&](const Index& c, int side) { return faces[6 * box.cells.offset(c) + side]; };
  for_each_cell({{0, 0, 0}, {31, 31, 31}}, [&](const Index& c) {
    for (int d = 0; d < 3; ++d) {
      const auto low = at(c, high_side(d)), high = at(c + unit(d), low_side(d));
      ASSERT_EQ(low.size(), high.size());
      for (std::size_t i = 0; i < low.size(); ++i) {
        ASSERT_EQ(low[i].ordinal, i);
        ASSERT_EQ(low[i].ordinal, high[i].ordinal);
        ASSERT_EQ(low[i].aperture, high[i].aperture);
        ASSERT_EQ(low[i].centroid, high[i].centroid);
      }
    }
  });
}

TEST(CutBox, WholeCellTranslationAndLevelScaleChangeNothing) {
  const FunctionPhi phi = shells();
  const Index by{64, -32, 128};
  const FunctionPhi moved([&](const Vec3& x) { return phi(x - Vec3{64, -32, 128}); });
  const FunctionPhi wide([&](const Vec3& x) { return 2 * phi(0.5 * x); });
  const Box cells{{4, 4, 4}, {20, 20, 20}}, fine{{16, 16, 16}, {32, 32, 32}};
  const BoxPieces a = cut_box(phi, distance_like, cells, 0), b = cut_box(moved, distance_like, cells.shifted(by), 0);
  ASSERT_EQ(a.pieces.size(), b.pieces.size());
  for (std::size_t i = 0; i < a.pieces.size(); ++i) {
    ASSERT_NEAR(a.pieces[i].kappa, b.pieces[i].kappa, 1e-12);
    ASSERT_LT(norm(a.pieces[i].wall - b.pieces[i].wall), 1e-12);
  }
  const BoxPieces c = cut_box(phi, distance_like, fine, 1), d = cut_box(wide, distance_like, fine, 0);
  for_each_cell(fine, [&](const Index& cell) { expect_same_cell(c, cell, d, cell); });
}

TEST(CutBox, AxesMayBePermuted) {
  const FunctionPhi phi = shells();
  const FunctionPhi turned([&](const Vec3& x) { return phi({x[2], x[0], x[1]}); });
  const Box cells{{0, 0, 0}, {16, 16, 16}};
  const BoxPieces a = cut_box(phi, distance_like, cells, 0), b = cut_box(turned, distance_like, cells, 0);
  EXPECT_EQ(a.counts.pieces, b.counts.pieces);
  EXPECT_EQ(a.counts.cells_subdivided, b.counts.cells_subdivided);
  std::vector<double> total_a(4096), total_b(4096);
  for (const Piece& p : a.pieces) total_a[p.cell] += p.kappa;
  for (const Piece& p : b.pieces) total_b[p.cell] += p.kappa;
  for_each_cell(cells, [&](const Index& c) {
    const Index t{c[1], c[2], c[0]};  // phi at x is asked at turned (y, z, x)
    ASSERT_NEAR(total_a[cells.offset(c)], total_b[cells.offset(t)], 1e-12);
  });
}

TEST(CutBox, WallAlongCellFacesLeavesNoSliver) {
  for (const double noise : {0.0, 1e-15, -1e-15, 4e-11}) {
    for (int d = 0; d < 3; ++d) {
      Vec3 point, n;
      point[d] = 5 + noise, n[d] = 1;
      const BoxPieces box = cut_box(plane(point, n), distance_like, {{0, 0, 0}, {16, 16, 16}}, 0);
      EXPECT_EQ(box.counts.cells_covered, 5 * 256) << noise;
      EXPECT_EQ(box.counts.cells_cut, 256);  // whole, with a wall on one side
      for (const Piece& p : box.pieces) {
        ASSERT_EQ(p.kappa, 1);
        ASSERT_EQ(p.wall, n);
        ASSERT_EQ(p.wall_area, 1);
        ASSERT_EQ(p.n_faces, 5);
      }
    }
  }
}

TEST(CutBox, PlaneTouchingNodesAndTinyOffsetsStayFinite) {
  for (const double offset : {0.0, 1e-13, 1e-11, 2e-10, 1e-9, 1e-8, 1e-6}) {
    const Vec3 n = (1 / std::sqrt(3.0)) * Vec3{1, 1, 1};
    const BoxPieces box = cut_box(plane(Vec3{2, 2, 2} - offset * n, n), distance_like, {{0, 0, 0}, {4, 4, 4}}, 0);
    EXPECT_LT(closure_error(box), 1e-13);
    for (const Piece& p : box.pieces) ASSERT_TRUE(std::isfinite(p.kappa + norm(p.centroid) + norm(p.wall_centroid)));
    EXPECT_NEAR(sums(box).volume, 32 + 3.0 * 4 * std::sqrt(3.0) * offset, 1e-7);  // half the cube; cut area 12 sqrt 3
  }
}

TEST(CutBox, RejectsBoxesItCannotNumber) {
  EXPECT_THROW(cut_box(sphere({}, 1), distance_like, {{0, 0, 0}, {33, 1, 1}}, 0), Error);
  EXPECT_THROW(cut_box(sphere({}, 1), distance_like, {{0, 0, 0}, {4, 0, 4}}, 0), Error);
}

TEST(Classify, IsCertainAndEstimatesCutAndFluidCells) {
  const FunctionPhi phi = sphere({20, 20, 20}, 12);
  const std::array<Smoothness, 4> kinds{distance_like, Smoothness{0, 0.5}, Smoothness{}, Smoothness{2.0, 0.5}};
  std::array<double, 4> cut_estimate{}, fluid_estimate{};
  std::int64_t cut = 0;
  for_each_cell({{}, Index::all(5)}, [&](const Index& b) {
    const Box cells{8 * b, 8 * (b + Index::all(1))};
    const BoxPieces box = cut_box(phi, distance_like, cells, 0);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const BoxContent content = classify(phi, kinds[k], cells, 0);
      if (content.kind == BoxContent::Kind::no_fluid) {
        EXPECT_EQ(box.counts.cells_covered, 512);
      }
      if (content.kind == BoxContent::Kind::all_fluid) {
        EXPECT_EQ(box.counts.cells_regular, 512);
      }
      cut_estimate[k] += content.cut_cells;
      fluid_estimate[k] += content.fluid_cells;
    }
    cut += box.counts.cells_cut;
  });
  const double fluid = 64000 - 4.0 / 3.0 * std::numbers::pi * 1728;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    EXPECT_NEAR(cut_estimate[k] / static_cast<double>(cut), 1, 0.2) << k;
    EXPECT_NEAR(fluid_estimate[k] / fluid, 1, 0.05) << k;
  }
}

// A box next to a wall that does not reach it holds no fluid, and is known to: no box is kept for nothing.
TEST(Classify, SolidNextToTheWallHoldsNoFluid) {
  for (const double distance : {0.9, 1.5, 3.0}) {
    const FunctionPhi phi = plane({8 + distance, 0, 0}, {1, 0, 0});
    for (const Smoothness& s : {distance_like, Smoothness{2.0, 0.5}, Smoothness{0, 0.5}})
      EXPECT_EQ(classify(phi, s, {{}, Index::all(8)}, 0).kind, BoxContent::Kind::no_fluid) << distance;
  }
}

}  // namespace
}  // namespace karst::cut_box_test
