// SPDX-License-Identifier: BSD-3-Clause
// Where the fluid of control volumes goes when walls move.
#include "eb/moving/piece_map.hpp"

#include <gtest/gtest.h>

#include <map>

#include "eb/moving/matching_pieces.hpp"
#include "support/errors.hpp"
#include "support/moving_cases.hpp"

namespace karst::piece_map_test {
namespace {

using test::grid_of;
using test::MovingWall;
using test::random_speed;

const VolumeOptions with_pieces{ControlVolumes::home_cells, true};

/// Volumes of the own VoFs of a level / h³, and their centroids.
struct VofFacts {
  double volume;
  Vec3 at;
};
std::map<VofName, VofFacts> facts_of(const LevelGeometry& level) {
  std::map<VofName, VofFacts> all;
  for (int b = 0; b < level.graph.n_local(); ++b) {
    const BoxGraph graph = level.graph.box(b);
    for_each_vof(graph, [&](int vof, int cell) {
      const Index at = graph.cells.cell(cell);
      all[vof_name(graph.box, vof)] = {1.0, {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5}};
    });
    for (int r = 0; r < graph.n_irregular; ++r) {
      VofFacts& vof = all[vof_name(graph.box, graph.row_vof[r])];
      vof.volume = level.box(b).moments[r].kappa;
      vof.at += level.box(b).moments[r].centroid;
    }
  }
  return all;
}

std::unique_ptr<LevelSet> cuboid_between(const Vec3& lo, const Vec3& hi) {
  return make_level_set(Cuboid{{0.5 * (lo + hi)}, 0.5 * (hi - lo)});
}

/// Every volume is told where all of its fluid is, before and after.
void expect_whole_balance(const Comm& comm, const LevelGeometry& before, const LevelGeometry& after,
                          const PieceMap& map) {
  std::map<VofName, VofFacts> old_facts = facts_of(before), new_facts = facts_of(after);
  for (const auto& [to, from] : map.whole) new_facts.at(to).volume -= 1.0;
  std::array<double, 3> sums{};  // kept and not cut off, by the later ones and by the earlier ones; opened beside
  for (const SharedFluid& s : map.shared) {
    new_facts.at(s.after).volume -= s.taken;
    EXPECT_LE(s.kept, s.taken * (1.0 + 1e-14));
    if (s.before == no_face) continue;
    sums[0] += s.kept;
    sums[2] += s.taken - s.kept;
  }
  for (const OpenedFluid& o : map.opened) new_facts.at(o.after).volume -= o.volume;
  for (const OldFluid& o : map.old) {
    EXPECT_NEAR(o.kept + o.closed, old_facts.at(o.before).volume, 1e-13);
    EXPECT_GE(o.closed, 0.0);
    EXPECT_GE(o.opened, 0.0);
    sums[1] += o.kept - o.cut_off;
    sums[2] -= o.opened;
  }
  for (const auto& [vof, left] : new_facts) EXPECT_NEAR(left.volume, 0.0, 1e-13);
  comm.sum(std::span(sums));
  EXPECT_NEAR(sums[0], sums[1], 1e-11);  // of thousands of cells
  EXPECT_NEAR(sums[2], 0.0, 1e-11);
}

TEST(PieceMap, EveryPieceIsItselfWhereNothingMovesMpi) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(40, 3.1, 32, true);
  const Geometry a = build_geometry(comm, grid_of(32, 1, true), *phi, KeepPores::connected, with_pieces);
  const Geometry b = build_geometry(comm, grid_of(32, 1, true), *phi, KeepPores::connected, with_pieces);
  const PieceMap map = map_pieces(comm, a.levels[0], b.levels[0]);
  EXPECT_EQ(map.events, VolumeEvents{});
  EXPECT_TRUE(map.opened.empty());
  for (const auto& [to, from] : map.whole) EXPECT_EQ(to, from);
  for (const SharedFluid& s : map.shared) {
    EXPECT_EQ(s.before, s.after);
    EXPECT_EQ(s.kept, s.taken);
  }
  for (const OldFluid& o : map.old) EXPECT_EQ(o.closed + o.opened + o.cut_off, 0.0);
  EXPECT_GT(comm.sum(std::ssize(map.shared)), 1000);
  expect_whole_balance(comm, a.levels[0], b.levels[0], map);
}

// Pieces that two or three homes share stay in each of them: nothing is mixed where nothing moves.
TEST(PieceMap, SharedPiecesStayInEachHomeMpi) {
  const Comm comm = Comm::world();
  MovingWall wall(comm, grid_of(16, 1), make_level_set(Sphere{Vec3::all(8.0), 5.3}));
  const Geometry a = wall.with_pieces();
  std::int64_t shared = 0;
  const std::span<const KeptPiece> pieces = a.levels[0].pieces.span();
  for (std::size_t i = 1; i < pieces.size(); ++i)
    shared += pieces[i].cell == pieces[i - 1].cell && pieces[i].ordinal == pieces[i - 1].ordinal ? 1 : 0;
  EXPECT_GT(comm.sum(shared), 10);
  for (const SharedFluid& s : map_pieces(comm, a.levels[0], a.levels[0]).shared) EXPECT_EQ(s.before, s.after);
  wall.move(test::uniform_speed(0.2), 1.0);
  const Geometry b = wall.with_pieces();
  expect_whole_balance(comm, a.levels[0], b.levels[0], map_pieces(comm, a.levels[0], b.levels[0]));
}

TEST(MatchingPieces, OneAndOneJoinsAndSplits) {
  const CellPiece low{0.2, {-0.4, 0.0, 0.0}}, high{0.3, {0.35, 0.0, 0.0}}, both{0.7, {0.05, 0.0, 0.0}};
  const std::vector<CellPiece> parts{low, high}, one{both};
  const auto is = [](const MatchedPieces& m, int before, int after, double kept, double taken) {
    EXPECT_EQ(std::pair(m.before, m.after), std::pair(before, after));
    EXPECT_NEAR(m.kept, kept, 1e-15);
    EXPECT_NEAR(m.taken, taken, 1e-15);
  };
  const std::vector<MatchedPieces> grown = match_pieces(std::span(parts).first(1), one);
  ASSERT_EQ(grown.size(), 1U);
  is(grown[0], 0, 0, 0.2, 0.7);
  const std::vector<MatchedPieces> joined = match_pieces(parts, one);  // the wall between them took 0.2
  ASSERT_EQ(joined.size(), 2U);
  is(joined[0], 0, 0, 0.2, 0.7 * 0.2 / 0.5);
  is(joined[1], 1, 0, 0.3, 0.7 * 0.3 / 0.5);
  const std::vector<MatchedPieces> split = match_pieces(one, parts);
  ASSERT_EQ(split.size(), 2U);
  is(split[0], 0, 0, 0.2, 0.2);
  is(split[1], 0, 1, 0.3, 0.3);
  // One of two closes, the other hardly moves: nothing of it is in what is left.
  const std::vector<CellPiece> left{{0.31, {0.345, 0.0, 0.0}}};
  const std::vector<MatchedPieces> alone = match_pieces(parts, left);
  ASSERT_EQ(alone.size(), 1U);
  is(alone[0], 1, 0, 0.3, 0.31);
}

// Both sides of a plate: at opposite walls, with room for both in a cell, there are two pieces.
TEST(MatchingPieces, OppositeWallsAreTwoPieces) {
  const std::vector<CellPiece> low{{0.45, {-0.275, 0.0, 0.0}, {-1.0, 0.0, 0.0}}},
      high{{0.5, {0.25, 0.0, 0.0}, {1.0, 0.0, 0.0}}}, more{{0.6, {-0.2, 0.0, 0.0}, {-1.0, 0.0, 0.0}}};
  EXPECT_TRUE(match_pieces(low, high).empty());
  EXPECT_EQ(match_pieces(low, more).size(), 1U);
  EXPECT_EQ(match_pieces(high, more).size(), 1U);  // they must overlap
  EXPECT_TRUE(match_pieces({}, low).empty());
}

class PieceMapOfPackings : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, PieceMapOfPackings, ::testing::Range(1, 4));
INSTANTIATE_TEST_SUITE_P(SeedsAtNight, PieceMapOfPackings, ::testing::Range(4, 7));

// Walls that dissolve, grow and do both, less and more than a cell. The way back has the same fluid in the same two
// volumes, and what opened closes.
TEST_P(PieceMapOfPackings, VolumesOfAllFluidThereAndBack) {
  const Comm comm = Comm::world();
  const int seed = GetParam();
  for (const double most : {0.25, 0.9, 1.9}) {
    MovingWall wall(comm, grid_of(24, 1, true), test::packing(25, 2.9, 24, true, seed));
    const Geometry a = wall.with_pieces();
    wall.move(random_speed(seed, most), 1.0);
    const Geometry b = wall.with_pieces();
    const PieceMap there = map_pieces(comm, a.levels[0], b.levels[0]),
                   back = map_pieces(comm, b.levels[0], a.levels[0]);
    expect_whole_balance(comm, a.levels[0], b.levels[0], there);
    expect_whole_balance(comm, b.levels[0], a.levels[0], back);
    std::map<std::pair<VofName, VofName>, double> kept;
    for (const SharedFluid& s : there.shared) kept[{s.before, s.after}] = s.kept;
    for (const SharedFluid& s : back.shared) {
      ASSERT_TRUE(kept.contains({s.after, s.before}));
      EXPECT_NEAR((kept[{s.after, s.before}]), s.kept, 1e-14);
    }
    EXPECT_EQ(there.shared.size(), back.shared.size());
    double opened = 0.0, closed = 0.0;
    for (const OldFluid& o : there.old) opened += o.opened;
    for (const OpenedFluid& o : there.opened) opened += o.volume;
    for (const OldFluid& o : back.old) closed += o.closed;
    EXPECT_NEAR(opened, closed, 1e-11);
    const VolumeEvents& e = there.events;
    EXPECT_EQ(back.events, (VolumeEvents{e.gone, e.born, e.split, e.joined}));
    EXPECT_GT(e.born + e.gone + e.joined + e.split, 100);
    // Where a cell has several pieces compare_volumes() takes all for the same.
    const VolumeEvents count = compare_volumes(comm, a.levels[0], b.levels[0]);
    const std::int64_t several = a.report.levels[0].cut.cells_multivalued + b.report.levels[0].cut.cells_multivalued;
    EXPECT_LE(std::abs(e.born - count.born), several);
    EXPECT_LE(std::abs(e.gone - count.gone), several);
    EXPECT_LE(std::abs(e.joined - count.joined), several);
    EXPECT_LE(std::abs(e.split - count.split), several);
    EXPECT_LT(several, 60);  // of 2000 cut cells and more
  }
}

TEST(PieceMap, EventsAreThoseCountedByCellsMpi) {
  const Comm comm = Comm::world();
  for (const double speed : {-0.8, -0.4, 0.3, 0.7}) {
    MovingWall wall(comm, grid_of(24, 1), make_level_set(Sphere{{12.1, 11.7, 12.4}, 6.2}));
    const Geometry a = wall.with_pieces();
    wall.move(test::uniform_speed(speed), 1.0);
    const Geometry b = wall.with_pieces();
    ASSERT_EQ(a.report.levels[0].cut.cells_multivalued + b.report.levels[0].cut.cells_multivalued, 0) << speed;
    EXPECT_EQ(map_pieces(comm, a.levels[0], b.levels[0]).events, compare_volumes(comm, a.levels[0], b.levels[0]));
  }
}

// A plate thinner than a cell moves by less than its thickness, through cell centres and from cell to cell: no volume
// on one side of it has fluid from the other side.
TEST(PieceMap, WaterStaysOnItsSideOfAThinPlate) {
  const Comm comm = Comm::self();
  std::int64_t seen = 0;
  for (const Vec3& direction : {Vec3{1.0, 0.0, 0.0}, {1.0, 2.0, 0.0}, {1.0, -2.0, 3.0}, {1.0, 1.0, 1.0}})
    for (const double step : {0.2, 0.55}) {
      const Vec3 normal = (1.0 / norm(direction)) * direction;
      const auto at = [&](int k) { return Vec3::all(8.02) + k * step * normal; };
      const auto geometry_at = [&](int k) {
        return build_geometry(comm, grid_of(16, 1), *test::plate(at(k), normal, 0.6), KeepPores::all, with_pieces);
      };
      Geometry before = geometry_at(0);
      for (int k = 1; k < 8; ++k) {
        Geometry after = geometry_at(k);
        std::map<VofName, VofFacts> was = facts_of(before.levels[0]), is = facts_of(after.levels[0]);
        for (const SharedFluid& s : map_pieces(comm, before.levels[0], after.levels[0]).shared) {
          const bool above = dot(was.at(s.before).at - at(k - 1), normal) > 0.0;
          EXPECT_EQ(dot(is.at(s.after).at - at(k), normal) > 0.0, above)
              << step << ' ' << k << ": " << s.kept << " of " << was.at(s.before).volume;
          ++seen;
        }
        before = std::move(after);
      }
    }
  EXPECT_GT(seen, 10000);
}

// Each list on each rank is a part of that of one rank alone, to the last bit.
TEST(PieceMap, OnAnyRanksMpi) {
  const Comm comm = Comm::world(), alone = Comm::self();
  std::vector<PieceMap> maps;
  for (const Comm& ranks : {comm, alone}) {
    MovingWall wall(ranks, grid_of(24, 1, true), test::packing(25, 2.9, 24, true, 3));
    const Geometry a = wall.with_pieces(KeepPores::connected);
    wall.move(random_speed(4, 0.9), 1.0);
    const Geometry b = wall.with_pieces(KeepPores::connected);
    maps.push_back(map_pieces(ranks, a.levels[0], b.levels[0]));
  }
  EXPECT_EQ(maps[0].events, maps[1].events);
  const auto sizes = [](const PieceMap& map) {
    return std::array{std::ssize(map.whole), std::ssize(map.shared), std::ssize(map.opened), std::ssize(map.old)};
  };
  std::array sum = sizes(maps[0]);
  comm.sum(std::span(sum));
  EXPECT_EQ(sum, sizes(maps[1]));
  std::map<std::pair<VofName, VofName>, SharedFluid> shared;
  std::map<VofName, OldFluid> old;
  for (const SharedFluid& s : maps[1].shared) shared[{s.after, s.before}] = s;
  for (const OldFluid& o : maps[1].old) old[o.before] = o;
  for (const SharedFluid& s : maps[0].shared) {
    const SharedFluid& same = shared.at({s.after, s.before});
    EXPECT_EQ(std::pair(same.kept, same.taken), std::pair(s.kept, s.taken));
  }
  for (const OldFluid& o : maps[0].old) {
    const OldFluid& same = old.at(o.before);
    EXPECT_EQ(std::tuple(same.kept, same.closed, same.opened), std::tuple(o.kept, o.closed, o.opened));
  }
}

// A pore that no flow goes through is removed. Where its wall opens it comes back as fluid that was in no volume, and
// where it closes it is cut off, with what it has.
TEST(PieceMap, PoresThatComeAndGo) {
  const Comm comm = Comm::self();
  const auto chambers = [&](double hole) {
    LevelSetParts fluid;  // a duct along x, beside it a chamber, between them a hole
    fluid.push_back(cuboid_between({-1.0, 3.3, 3.3}, {33.0, 8.6, 8.6}));
    fluid.push_back(cuboid_between({10.4, 10.7, 3.3}, {20.6, 13.7, 8.6}));
    if (hole > 0.0) fluid.push_back(cuboid_between({15.0 - hole, 8.0, 4.2}, {15.0 + hole, 11.0, 7.7}));
    return build_geometry(comm, test::unit_cells({32, 16, 12}, {}, 8), *complement(union_of_solids(std::move(fluid))),
                          KeepPores::connected, with_pieces);
  };
  const Geometry closed = chambers(0.0), open = chambers(2.2);
  const double chamber = closed.report.levels[0].removed_volume;
  ASSERT_NEAR(chamber, 10.2 * 3.0 * 5.3, 7.0);  // edges are cut off
  const PieceMap opens = map_pieces(comm, closed.levels[0], open.levels[0]),
                 closes = map_pieces(comm, open.levels[0], closed.levels[0]);
  double entered = 0.0, cut_off = 0.0;
  for (const SharedFluid& s : opens.shared)
    if (s.before == no_face) entered += s.kept;
  for (const OldFluid& o : closes.old) cut_off += o.cut_off;
  EXPECT_NEAR(entered, chamber, 1e-12);
  EXPECT_NEAR(cut_off, chamber, 1e-12);
  expect_whole_balance(comm, closed.levels[0], open.levels[0], opens);
  expect_whole_balance(comm, open.levels[0], closed.levels[0], closes);
}

TEST(PieceMap, GeometriesWithoutPiecesAndOtherGridsAreErrors) {
  const Comm comm = Comm::self();
  const auto phi = make_level_set(Sphere{Vec3::all(8.1), 4.0});
  const Geometry a = build_geometry(comm, grid_of(16, 1), *phi, KeepPores::all, with_pieces);
  const Geometry b = build_geometry(comm, grid_of(16, 1), *phi, KeepPores::all);
  const Geometry c = build_geometry(comm, grid_of(24, 1), *phi, KeepPores::all, with_pieces);
  EXPECT_TRUE(test::has(test::error_of([&] { map_pieces(comm, a.levels[0], b.levels[0]); }), "without its pieces"));
  EXPECT_TRUE(test::has(test::error_of([&] { map_pieces(comm, a.levels[0], c.levels[0]); }), "must be the same"));
}

}  // namespace
}  // namespace karst::piece_map_test
