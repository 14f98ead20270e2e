// SPDX-License-Identifier: BSD-3-Clause
// Values and fluxes on another grid with the same walls.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/regrid/fluxes_on_other_grid.hpp"
#include "transport/regrid/values_on_other_grid.hpp"

namespace karst::regrid_test {
namespace {

using test::at_centroids;
using test::range_of;

const Vec3 lo{5, 0, 3}, hi{13, 11, 12};

GridOptions refined(const Vec3& low, const Vec3& high, std::array<bool, 3> periodic = {true, true, true}) {
  return test::refined_in(test::flow_grid(Index::all(16), periodic), 1, low, high);
}
/// One level, two in different places, three.
const std::array grids{test::flow_grid(Index::all(16)), refined(lo, hi), refined({1, 2, 0}, {8, 16, 7}),
                       test::refined_in(refined(lo, hi), 2, {6, 3, 4}, {10, 8, 9})};
constexpr std::array<std::pair<int, int>, 6> changes{{{0, 1}, {1, 0}, {1, 2}, {0, 3}, {3, 0}, {3, 2}}};

double smooth(const Vec3& x) {
  return 1.5 + std::sin(M_PI / 4 * x[0]) * std::cos(M_PI / 8 * x[1]) + 0.3 * std::sin(M_PI / 4 * x[2]);
}
double jump(const Vec3& x) { return x[0] < 7.0 ? 1.0 : 0.0; }

double content(const ScalarGrid& grid, std::span<const double> values) {
  double sum = 0.0;
  for (std::int64_t v = 0; v < grid.n_own; ++v) sum += grid.volume[v] * values[v];
  return grid.composite->comm().sum(sum);
}

/// On one rank: the volumes with a source have its value as their mean; but for sources that others have joined.
void expect_means_of_sources(const GridChange& change, std::span<const double> was, std::span<const double> is) {
  if (change.to.composite->comm().size() > 1) return;
  std::vector<double> volume(change.n_sources, 0.0), sum(volume);
  for (std::size_t v = 0; v < is.size(); ++v) {
    volume[change.source[v]] += change.to.volume[v];
    sum[change.source[v]] += change.to.volume[v] * is[v];
  }
  for (std::int32_t v = 0; v < change.from.n_own; ++v)
    if (change.heir[v].number != v) volume[change.heir[v].number] = 0.0;
  std::int64_t looked_at = 0;
  for (std::int32_t v = 0; v < change.from.n_own; ++v) {
    if (volume[v] == 0.0) continue;
    ++looked_at;
    EXPECT_NEAR(sum[v] / volume[v], was[v], 1e-12);
  }
  EXPECT_GT(looked_at, 1000);  // where the grid is coarsened the others lie below sources
}

class Regrid : public ::testing::Test {
 protected:
  std::shared_ptr<const Composite> in_packing(const GridOptions& grid) {
    return test::composite_of(comm_, grid, *test::packing(14, 3.3, 16, true, 3));
  }
  std::shared_ptr<const Composite> in_the_open(const GridOptions& grid) {
    return test::composite_of(comm_, grid, test::DistanceFunction([](const Vec3&) { return 100.0; }));
  }
  Comm comm_ = Comm::world();
};

// The same grid again: every bit of values, and of fluxes but for how much flows through which of several faces between
// the same two volumes.
TEST_F(Regrid, ToTheSameGridIsTheIdentityMpi) {
  for (const GridOptions& grid : grids) {
    GridChange change = compare_grids(in_packing(grid), in_packing(grid));
    const std::vector<double> values = at_centroids(change.from, smooth);
    EXPECT_EQ(values_on_other_grid(change, values), values);
    FaceField flow = test::stream_through(change.from, {0.3, -1.1, 2.0});
    std::vector<double> was(change.from.n_faces), is(change.to.n_faces);
    list_fluxes(change.from, flow, was);
    FaceField same = fluxes_on_other_grid(change, flow);
    list_fluxes(change.to, same, is);
    std::vector<double> out_was(change.from.n_own), out_is(change.to.n_own);
    add_up(change.from, was, out_was);
    add_up(change.to, is, out_is);
    std::int64_t other = 0;
    for (std::size_t v = 0; v < out_is.size(); ++v) EXPECT_NEAR(out_is[v], out_was[v], 1e-14);
    for (std::size_t f = 0; f < is.size(); ++f) other += is[f] != was[f] ? 1 : 0;
    EXPECT_LT(comm_.sum(other), comm_.sum(std::ssize(is)) / 50);
  }
}

// In whole cells the content of every component is kept to round-off, and so are bounds and constants.
TEST_F(Regrid, ContentsAndBoundsInTheOpenMpi) {
  for (const auto& [a, b] : changes) {
    GridChange change = compare_grids(in_the_open(grids[a]), in_the_open(grids[b]));
    for (const auto& f : {smooth, jump}) {
      const std::vector<double> was = at_centroids(change.from, f), is = values_on_other_grid(change, was);
      EXPECT_NEAR(content(change.to, is), content(change.from, was), 1e-12 * content(change.from, was))
          << a << " to " << b;
      const auto [low, high] = range_of(comm_, was);
      const auto [new_low, new_high] = range_of(comm_, is);
      EXPECT_GE(new_low, low);
      EXPECT_LE(new_high, high);
    }
    const std::vector<double> threes(change.from.n_own, 3.0);
    EXPECT_EQ(range_of(comm_, values_on_other_grid(change, threes)), std::pair(3.0, 3.0));
  }
}

// Between walls cells have other volumes of fluid on other levels. It comes and goes with the mean of its source, so
// bounds and constants stay, and c and c + 1000 are the same problem; amounts are kept to round-off.
TEST_F(Regrid, ContentsAndBoundsInAPackingMpi) {
  for (const auto& [a, b] : changes) {
    GridChange change = compare_grids(in_packing(grids[a]), in_packing(grids[b]));
    for (const auto& f : {smooth, jump}) {
      const std::vector<double> was = at_centroids(change.from, f), is = values_on_other_grid(change, was);
      const auto [low, high] = range_of(comm_, was);
      const auto [new_low, new_high] = range_of(comm_, is);
      EXPECT_GE(new_low, low);
      EXPECT_LE(new_high, high);
      expect_means_of_sources(change, was, is);
      std::vector<double> far = was;
      for (double& x : far) x += 1000.0;
      const std::vector<double> moved = values_on_other_grid(change, far);
      for (std::size_t v = 0; v < is.size(); ++v) ASSERT_NEAR(moved[v] - 1000.0, is[v], 1e-10);
    }
    const std::vector<double> threes(change.from.n_own, 3.0), sevens = at_centroids(change.from, smooth);
    EXPECT_EQ(range_of(comm_, values_on_other_grid(change, threes)), std::pair(3.0, 3.0));
    EXPECT_NEAR(content(change.to, amounts_on_other_grid(change, sevens)), content(change.from, sevens),
                1e-12 * content(change.from, sevens));
  }
}

// A grid that is refined and coarsened again has every value and flux of before, but for round-off: means of sources
// are kept.
TEST_F(Regrid, RefinedAndCoarsenedAgainMpi) {
  const auto coarse = in_packing(grids[0]), fine = in_packing(grids[1]);
  GridChange there = compare_grids(coarse, fine), back = compare_grids(fine, coarse);
  for (const auto& f : {smooth, jump}) {
    const std::vector<double> was = at_centroids(there.from, f),
                              is = values_on_other_grid(back, values_on_other_grid(there, was));
    std::int64_t other = 0;  // where pieces of fluid join other cells at the ends of the refined region
    for (std::size_t v = 0; v < was.size(); ++v) other += std::abs(is[v] - was[v]) > 1e-12 ? 1 : 0;
    EXPECT_LE(comm_.sum(other), comm_.sum(std::ssize(was)) / 50);
  }
  FaceField flow = test::stream_through(there.from, {0.3, -1.1, 2.0});
  std::vector<double> was(there.from.n_faces), is(back.to.n_faces);
  list_fluxes(there.from, flow, was);
  FaceField refined = fluxes_on_other_grid(there, flow), again = fluxes_on_other_grid(back, refined);
  list_fluxes(back.to, again, is);
  std::int64_t other = 0;
  for (std::size_t f = 0; f < was.size(); ++f) other += std::abs(is[f] - was[f]) > 1e-12 ? 1 : 0;
  EXPECT_LE(comm_.sum(other), comm_.sum(std::ssize(was)) / 40);
}

// Linear values arrive as such in whole cells, away from their extremes.
TEST_F(Regrid, LinearValuesAreExactMpi) {
  constexpr std::array<bool, 3> open{false, false, false};
  GridChange change =
      compare_grids(in_the_open(test::flow_grid(Index::all(16), open)), in_the_open(refined(lo, hi, open)));
  const auto linear = [](const Vec3& x) { return 0.3 * x[0] - 0.2 * x[1] + 0.45 * x[2]; };
  const std::vector<double> is = values_on_other_grid(change, at_centroids(change.from, linear));
  double worst = 0.0;
  for (std::size_t v = 0; v < is.size(); ++v) {
    const Vec3& x = change.to.centroid[v];
    const bool inside = std::ranges::all_of(x.v, [](double c) { return c > 1.0 && c < 15.0; });
    if (inside) worst = std::max(worst, std::abs(is[v] - linear(x)));
  }
  EXPECT_LT(comm_.max(worst), 1e-12);
}

/// Largest |F - u·A| of all faces, u linear and free of divergence: exact at the centroids of whole faces.
double linear_flow_error(GridChange& change, const std::function<Vec3(const Vec3&)>& u) {
  const auto fluxes_of = [&](const ScalarGrid& grid) {
    std::vector<double> flux(grid.n_faces, 0.0);
    for_all_faces(
        grid,
        [&](std::int32_t face, std::int32_t, std::int32_t right, int d, int level) {
          const double h = grid.width(level);
          Vec3 at = grid.centroid[right];
          at[d] -= 0.5 * h;
          flux[face] = h * h * u(at)[d];
        },
        [](const ScalarFace&, std::int64_t) {});
    return flux;
  };
  FaceField flow(change.from.composite);
  store_fluxes(change.from, fluxes_of(change.from), flow);
  FaceField moved = fluxes_on_other_grid(change, flow);
  std::vector<double> is(change.to.n_faces);
  list_fluxes(change.to, moved, is);
  const std::vector<double> right = fluxes_of(change.to);
  double worst = 0.0;
  for_all_faces(
      change.to,
      [&](std::int32_t face, std::int32_t, std::int32_t volume, int, int level) {
        const Vec3& x = change.to.centroid[volume];
        const bool inside = std::ranges::all_of(x.v, [](double c) { return c > 2.5 && c < 13.5; });
        if (inside) worst = std::max(worst, std::abs(is[face] - right[face]) / std::pow(change.to.width(level), 2));
      },
      [](const ScalarFace&, std::int64_t) {});
  return change.to.composite->comm().max(worst);
}

// Shear and strain in whole cells; the old grid has one level.
TEST_F(Regrid, LinearFlowsAreExactMpi) {
  constexpr std::array<bool, 3> open{false, false, false};
  GridChange change =
      compare_grids(in_the_open(test::flow_grid(Index::all(16), open)), in_the_open(refined(lo, hi, open)));
  EXPECT_LT(linear_flow_error(change, [](const Vec3& x) { return Vec3{0.3 * x[1], 0.2 * x[2], -0.1 * x[0]}; }), 1e-11);
  EXPECT_LT(linear_flow_error(change, [](const Vec3& x) { return Vec3{0.3 * x[0], -0.1 * x[1], -0.2 * x[2]}; }), 1e-11);
}

// Whole cells on any levels: a uniform flow stays one.
TEST_F(Regrid, UniformFlowsStayMpi) {
  for (const auto& [a, b] : changes) {
    GridChange change = compare_grids(in_the_open(grids[a]), in_the_open(grids[b]));
    FaceField flow(change.from.composite), uniform(change.to.composite);
    const Vec3 u{0.3, -1.1, 2.0};
    test::set_uniform(flow, u);
    test::set_uniform(uniform, u);
    FaceField moved = fluxes_on_other_grid(change, flow);
    std::vector<double> is(change.to.n_faces), right(change.to.n_faces);
    list_fluxes(change.to, uniform, right);
    list_fluxes(change.to, moved, is);
    double worst = 0.0;
    for (std::size_t f = 0; f < is.size(); ++f) worst = std::max(worst, std::abs(is[f] - right[f]));
    EXPECT_LT(comm_.max(worst), 1e-12) << a << " to " << b;
  }
}

/// What flows through a periodic domain on one rank, in each direction: Σ F (x_right - x_left) over its length, exact
/// where nothing gathers anywhere.
Vec3 through_flow(const ScalarGrid& grid, std::span<const double> flux) {
  const Domain& domain = grid.composite->graph(0).layout().domain();
  Vec3 sum;
  const int n = grid.n_all;
  for (const PlainVolumes& p : grid.plain)
    for (int d = 0; d < 3; ++d)
      for (std::int32_t t = 0; t < p.count; ++t) {
        const Vec3& left = grid.centroid[p.beyond[2 * d] + t];
        sum += flux[d * n + p.first + t] * way_between(domain, left, grid.centroid[p.first + t]);
      }
  for (std::size_t i = 0; i < grid.listed.size(); ++i)
    sum += flux[grid.listed[i].face] * (grid.offsets[i].from_left - grid.offsets[i].from_right);
  for (int d = 0; d < 3; ++d) sum[d] /= domain.cells[d];
  return sum;
}

/// Σ V |u - v|² / Σ V |v|² over all ranks, of the mean velocities of two flows.
double square_of_difference(const ScalarGrid& grid, std::span<const double> flux, std::span<const double> other) {
  const Velocities u = velocities(grid, flux), v = velocities(grid, other);
  std::array<double, 2> sums{};
  for (std::size_t d = 0; d < 3; ++d)
    for (std::int64_t i = 0; i < grid.n_own; ++i) {
      sums[0] += grid.volume[i] * std::pow(u[d][i] - v[d][i], 2);
      sums[1] += grid.volume[i] * v[d][i] * v[d][i];
    }
  grid.composite->comm().sum(std::span<double>(sums));
  return sums[0] / sums[1];
}

// A potential flow through a packing, by the projection of a uniform one, is made continuous again around the places
// where it is not, with as much flowing through the domain as before; half of the cells are cut here. Its distance from
// the potential flow of the new grid (0.09 to 0.12, root mean squares) is that of a projection to a hundredth.
TEST_F(Regrid, FlowsAreMadeContinuousMpi) {
  TransportOptions any;
  any.allowed_divergence = std::numeric_limits<double>::infinity();
  TransportOptions from_other_grid = any;
  from_other_grid.from_other_grid = true;
  const auto stepper_on = [&](const std::shared_ptr<const Composite>& grid, const TransportOptions& options) {
    return TransportStepper(grid, {ScalarComponent{}}, options);
  };
  for (const auto& [a, b] : {std::pair{0, 1}, {1, 0}, {3, 2}}) {
    const auto from = in_packing(grids[a]), to = in_packing(grids[b]);
    GridChange change = compare_grids(from, to);
    TransportStepper before = stepper_on(from, any), after = stepper_on(to, from_other_grid),
                     projected = stepper_on(to, any);
    FaceField flow = test::stream_through(before.grid(), {1.0, 0.0, 0.0});
    before.set_flow(flow);
    store_fluxes(before.grid(), before.flow(), flow);
    FaceField moved = fluxes_on_other_grid(change, flow);
    const FlowContinuity continuity = after.set_flow(moved);
    EXPECT_LE(continuity.after, 2e-15) << a << " to " << b;
    EXPECT_EQ(continuity.iterations, 0);
    projected.set_flow(moved);
    TransportStepper right = stepper_on(to, any);
    FaceField stream = test::stream_through(right.grid(), {1.0, 0.0, 0.0});
    right.set_flow(stream);
    EXPECT_LT(square_of_difference(right.grid(), after.flow(), right.flow()),
              1.02 * square_of_difference(right.grid(), projected.flow(), right.flow()))
        << a << " to " << b;
    if (comm_.size() > 1) continue;
    const Vec3 was = through_flow(before.grid(), before.flow()), is = through_flow(after.grid(), after.flow());
    EXPECT_NEAR(is[0] / was[0], 1.0, 0.01) << a << " to " << b;
  }
}

/// Sums over values and fluxes of a change in a packing, squares among them.
std::vector<double> sums_of_change(const Comm& comm, const GridOptions& a, const GridOptions& b) {
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  GridChange change = compare_grids(test::composite_of(comm, a, *walls), test::composite_of(comm, b, *walls));
  std::vector<double> sums;
  for (const auto& f : {smooth, jump}) {
    const std::vector<double> was = at_centroids(change.from, f);
    for (const auto& is : {values_on_other_grid(change, was), amounts_on_other_grid(change, was)}) {
      std::vector<double> squares = is;
      for (double& x : squares) x *= x;
      sums.push_back(content(change.to, is));
      sums.push_back(content(change.to, squares));
    }
  }
  FaceField flow = test::stream_through(change.from, {0.3, -1.1, 2.0});
  FaceField moved = fluxes_on_other_grid(change, flow);
  std::vector<double> flux(change.to.n_faces), out(change.to.n_own);
  list_fluxes(change.to, moved, flux);
  add_up(change.to, flux, out);
  double squares = 0.0;
  for (const double x : out) squares += x * x;
  sums.push_back(comm.sum(squares));
  return sums;
}

// Whoever owns the boxes.
TEST_F(Regrid, TheSameOnAnyRanksMpi) {
  for (const auto& [a, b] : changes) {
    const std::vector<double> all = sums_of_change(comm_, grids[a], grids[b]),
                              alone = sums_of_change(Comm::self(), grids[a], grids[b]);
    ASSERT_EQ(all.size(), alone.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_NEAR(all[i], alone[i], 1e-12 * std::abs(alone[i])) << a << " to " << b << ", sum " << i;
  }
}

/// Values and fluxes of a change in a packing, one after the other.
std::vector<double> numbers_of_change(const Comm& comm, const GridOptions& a, const GridOptions& b, int threads) {
  const int before = n_threads();
  set_n_threads(threads);
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  GridChange change = compare_grids(test::composite_of(comm, a, *walls), test::composite_of(comm, b, *walls));
  std::vector<double> numbers = change.shares;
  for (const Vec3& offset : change.offset)
    for (int d = 0; d < 3; ++d) numbers.push_back(offset[d]);
  const std::vector<double> was = at_centroids(change.from, smooth);
  for (const auto& is : {values_on_other_grid(change, was), amounts_on_other_grid(change, was)})
    numbers.insert(numbers.end(), is.begin(), is.end());
  FaceField flow = test::stream_through(change.from, {0.3, -1.1, 2.0});
  FaceField moved = fluxes_on_other_grid(change, flow);
  std::vector<double> flux(change.to.n_faces);
  list_fluxes(change.to, moved, flux);
  numbers.insert(numbers.end(), flux.begin(), flux.end());
  set_n_threads(before);
  return numbers;
}

// To the last bit: threads add up what is of their own volumes, in one order.
TEST_F(Regrid, TheSameOnAnyThreadsMpi) {
  for (const auto& [a, b] : changes) {
    const std::vector<double> one = numbers_of_change(comm_, grids[a], grids[b], 1);
    for (const int threads : {2, 3})
      EXPECT_EQ(numbers_of_change(comm_, grids[a], grids[b], threads), one) << a << " to " << b << ", " << threads;
  }
}

/// Contents as a state moves them, which leaves alone what stays, are those looked at everywhere.
void expect_values_of_all(GridChange& change) {
  const Composite& was = *change.from.composite;
  const std::vector<double> values = at_centroids(change.from, smooth);
  State state;
  add_set(state, unknowns_of(was.geometry(), was.numbering()));
  Array<double> own(values.size(), Purpose::fields);
  std::ranges::copy(values, own.begin());
  add_owned(state, {"c", "", ItemKind::content, 1, state.sets[0].name}, std::move(own));
  std::vector<ItemChange> contents;
  const State moved = state_on_other_grid(change, state, contents);
  std::vector<double> now(change.to.n_own);
  take_item(moved, "c", 1, now);
  EXPECT_EQ(now, values_on_other_grid(change, values));
}

// From one grid, of one level or of three, to others in turn, refined at random: what a transfer copies from the one
// before has the bits of one made anew, and so do sources, who takes what, and values. The copy is used: more than a
// third as many fluxes as there are listed faces, on one rank.
TEST_F(Regrid, FluxesThatStayAreThoseTransferredAnewMpi) {
  const auto walls = test::packing(30, 4.1, 48, false, 7);
  test::Random random(5);
  const auto at = [&](double from, double to) { return from + (to - from) * random(); };
  for (const bool periodic : {true, false}) {
    const GridOptions base = test::flow_grid({48, 16, 16}, {false, periodic, periodic}),
                      near = test::refined_in(base, 1, {14.0, 0.0, 0.0}, {30.0, 16.0, 16.0}),
                      solved = periodic ? base : test::refined_in(near, 2, {18.0, 2.0, 2.0}, {24.0, 12.0, 12.0});
    const auto from = test::composite_of(comm_, solved, *walls);
    const std::shared_ptr<ScalarGrid> volumes = scalar_grid_of(from, {});
    FaceField flow = test::stream_through(*volumes, {0.3, -1.1, 2.0});
    std::shared_ptr<const Composite> last;
    std::optional<FaceField> faces;
    std::shared_ptr<GridPlaces> places;
    std::vector<RemoteItem> sources, coarsest;
    for (int i = 0; i < 4; ++i) {
      const double width = i == 3 ? 6.0 : 26.0, x = at(0.0, 48.0 - width), y = at(0.0, 8.0);
      const GridOptions grid = test::refined_in(i % 2 == 0 ? base : near, i == 3 ? 2 : 1, {x, y, 0.0},
                                                {x + at(0.3, 1.0) * width, y + at(2.0, 8.0), at(4.0, 16.0)});
      const auto to = test::composite_of(comm_, grid, *walls);
      GridChange anew = compare_grids(from, to);
      FaceField moved = fluxes_on_other_grid(anew, flow);
      if (last) {
        GridChange step = compare_grids(last, to);
        expect_values_of_all(step);
        GridChange joined = compare_grids(last, to);  // the fluid of one volume joins another one, which stays
        const auto stays = std::ranges::find_if(joined.itself, [](std::int32_t was) { return was > 0; });
        if (stays != joined.itself.end() && joined.ancestors_of(0).empty()) joined.heir[0] = {comm_.rank(), *stays};
        expect_values_of_all(joined);
        GridChange since = compare_grids(from, to, {places, &step, sources});
        EXPECT_EQ(since.id, anew.id);
        EXPECT_EQ(since.heir, anew.heir);
        EXPECT_EQ(since.ancestors, anew.ancestors);
        EXPECT_EQ(since.shares, anew.shares);
        EXPECT_EQ(since.offset, anew.offset);
        const FluxesBefore before{step, *faces, sources, coarsest};
        std::vector<double> flux(since.to.n_faces), others(flux);
        const std::ptrdiff_t n =
            std::ranges::count(copy_fluxes(since, coarsest_sources(since), before, flux), std::uint8_t{1});
        EXPECT_TRUE(comm_.size() > 1 || 3 * n > std::ssize(since.to.listed)) << i << ": " << n;
        FaceField kept = fluxes_on_other_grid(since, flow, &before);
        list_fluxes(since.to, kept, flux);
        list_fluxes(since.to, moved, others);
        EXPECT_EQ(std::memcmp(flux.data(), others.data(), flux.size() * sizeof(double)), 0) << i;
      }
      if (!places) places = anew.places;
      sources = anew.id;
      coarsest = coarsest_sources(anew);
      faces.emplace(std::move(moved));
      last = to;
    }
  }
}

TEST_F(Regrid, GridsThatDifferAreRefused) {
  EXPECT_THROW(compare_grids(in_the_open(test::flow_grid(Index::all(8))), in_the_open(grids[0])), Error);
}

}  // namespace
}  // namespace karst::regrid_test
