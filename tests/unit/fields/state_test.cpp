// SPDX-License-Identifier: BSD-3-Clause
#include "fields/state.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/errors.hpp"
#include "support/flow_cases.hpp"

namespace karst::state_test {
namespace {

Geometry refined_sphere(const Comm& comm) {
  const GridOptions plain = test::flow_grid(Index::all(16), {true, true, true}, 8);
  return build_geometry(comm, test::refined_in(plain, 1, {4, 0, 0}, {8, 8, 8}), *test::one_sphere(0.3, 16),
                        KeepPores::all);
}

// The unknowns are the VoFs that have a number, in that order; some of them are found by their rows.
TEST(StateMpi, SetsNameVofsByTheirPlaces) {
  const Comm comm = Comm::world();
  const Geometry geometry = refined_sphere(comm);
  const CompositeNumbering numbering(comm, geometry);
  const VofSet all = all_vofs(geometry), unknowns = unknowns_of(geometry, numbering);
  EXPECT_TRUE(all.all);
  EXPECT_EQ(unknowns.size, numbering.n_own());
  EXPECT_GT(comm.sum(all.size), comm.sum(unknowns.size));
  std::int64_t place = 0, row = 0;
  for (int l = 0; l < numbering.n_levels(); ++l)
    for (int b = 0; b < geometry.levels[l].graph.n_local(); ++b)
      for (int v = 0; v < geometry.levels[l].graph.slots()->n_own(b); ++v, ++place)
        if (numbering.number(l, b, v) >= 0) {
          EXPECT_EQ(numbering.number(l, b, v), row);
          EXPECT_EQ(unknowns.all ? row : unknowns.vofs[row], place);
          ++row;
        }
  EXPECT_EQ(place, all.size);
  std::vector<std::int32_t> every_other;
  for (std::int32_t i = 0; i < unknowns.size; i += 2) every_other.push_back(i);
  const VofSet some = some_of(unknowns, "some", every_other);
  for (std::size_t i = 0; i < every_other.size() && !some.all; ++i)
    EXPECT_EQ(some.vofs[i], unknowns.all ? every_other[i] : unknowns.vofs[every_other[i]]);
  std::vector<std::int32_t> each(unknowns.size);
  std::iota(each.begin(), each.end(), 0);
  EXPECT_EQ(some_of(unknowns, "each", each).vofs, unknowns.vofs);
}

// A copy does not see what becomes of the values; what is asked for otherwise than it is there is refused.
TEST(State, ACopyOwnsItsValues) {
  std::vector<double> values{1.0, 2.0, 3.0, 4.0};
  State state;
  add_set(state, {.name = "four", .size = 4});
  add_set(state, {.name = "four", .size = 5});
  ASSERT_EQ(state.sets.size(), 1U);
  EXPECT_EQ(set_of(state, "four").size, 4);
  state.items.push_back({"c", "mol/kgw", ItemKind::content, 2, "four", std::span<const double>(values)});
  Array<float> single(2, Purpose::buffers, 0.5F);
  add_owned(state, {"s", "", ItemKind::memory, 1, "four"}, std::move(single));
  state.numbers["time"] = 7.0;
  const State copy = owned(state);
  values[2] = 9.0;
  std::vector<double> read(4), few(3);
  std::vector<float> floats(2);
  take_item(copy, "c", 2, std::span(read));
  EXPECT_EQ(read, (std::vector<double>{1.0, 2.0, 3.0, 4.0}));
  take_item(state, "c", 2, std::span(read));
  EXPECT_EQ(read[2], 9.0);
  take_item(copy, "s", 1, std::span(floats));
  EXPECT_EQ(floats, (std::vector<float>{0.5F, 0.5F}));
  EXPECT_EQ(copy.numbers.at("time").get<double>(), 7.0);
  EXPECT_EQ(copy.items[0].unit, "mol/kgw");
  const auto error = [&](const std::string& name, int components, auto to) {
    return test::error_of([&] { take_item(copy, name, components, to); });
  };
  EXPECT_PRED2(test::has, error("d", 2, std::span(read)), "no item \"d\"");
  EXPECT_PRED2(test::has, error("c", 2, std::span(floats)), "another precision");
  EXPECT_PRED2(test::has, error("c", 1, std::span(read)), "in 4 numbers, 2 of them in a row, instead of 4, 1 in a row");
  EXPECT_PRED2(test::has, error("c", 2, std::span(few)), "instead of 3");
  EXPECT_PRED2(test::has, test::error_of([&] { set_of(copy, "five"); }), "no set of volumes \"five\"");
}

}  // namespace
}  // namespace karst::state_test
