// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_options.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::grid_options_test {
namespace {

GridOptions read_deck(const std::string& toml) {
  Reader in = Reader::from_text(toml);
  GridOptions grid;
  read(in, grid);
  in.finish();
  return grid;
}

/// The text of the error a deck gives; empty when it is accepted.
std::string mistakes(const std::string& toml) {
  return test::error_of([&] { read_deck(toml); });
}

void expect_mistake(const std::string& toml, const std::vector<std::string>& parts) {
  const std::string text = mistakes(toml);
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << toml << "\n-> " << text;
}

TEST(GridOptions, ReadsTheKeysOfTheDeck) {
  const GridOptions grid = read_deck(R"(
[grid]
cells = [128, 64, 1]
size = [2e-3, 1e-3, 1.5625e-5]
periodic = [false, true, true]
box = 32
levels = 3
[[grid.refine]]
level = 2
where = "wall"
[[grid.refine]]
level = 1
where = "region"
lo = [0, 0, 0]
hi = [1e-3, 1e-3, 1]
buffer = 0
)");
  EXPECT_EQ(grid.domain().cells, (Index{128, 64, 1}));
  EXPECT_EQ(grid.domain().periodic, (std::array{false, true, true}));
  EXPECT_EQ(grid.box, 32);
  EXPECT_DOUBLE_EQ(grid.cell_width(), 1.5625e-5);
  ASSERT_EQ(grid.refine.size(), 2U);
  EXPECT_EQ(grid.refine[0].where, Refinement::Where::wall);
  EXPECT_EQ(grid.refine[0].level, 2);
  EXPECT_EQ(grid.refine[1].where, Refinement::Where::region);
  EXPECT_EQ(grid.refine[1].buffer, 0);
  EXPECT_DOUBLE_EQ(grid.refine[1].hi[0], 1e-3);
}

TEST(GridOptions, DefaultsLeaveCellsAndSizeToTheImage) {
  const GridOptions grid = read_deck("");
  EXPECT_EQ(grid.cells, Index{});
  EXPECT_EQ(grid.box, 16);
  EXPECT_EQ(grid.levels, 1);
}

TEST(GridOptions, MistakesAreNamed) {
  expect_mistake("[grid]\nbox = 12", {"grid.box", "12", "8, 16 or 32"});
  expect_mistake("[grid]\nbox = 64", {"grid.box", "64"});
  expect_mistake("[grid]\ncells = [4, -4, 4]", {"grid.cells", "-4"});
  expect_mistake("[grid]\ncells = [10, 10, 10]\nsize = [1.0, 1.0, 2.0]", {"grid.size", "cubes", "0.1", "0.2"});
  expect_mistake("[grid]\nlevels = 2", {"grid.levels", "refine"});
  expect_mistake("[grid]\nlevels = 2\n[[grid.refine]]\nlevel = 2", {"level", "2", "grid.levels"});
  expect_mistake("[grid]\nlevels = 4\n[[grid.refine]]\nlevel = 1", {"grid.levels", "levels = 2"});
  expect_mistake("[grid]\ncells = [16777216, 16, 16]\nlevels = 2\n[[grid.refine]]\nlevel = 1",
                 {"33554432", "16777216"});
  expect_mistake("[grid]\nlevels = 2\n[[grid.refine]]\nwhere = \"region\"\nlo = [0, 0, 1]\nhi = [1, 1, 1]",
                 {"lo", "below"});
  expect_mistake("[grid]\nlevels = 2\n[[grid.refine]]\nwhere = \"region\"\nlo = [0, 0, 1]", {"hi", "both corners"});
  expect_mistake("[grid]\nlevels = 2\n[[grid.refine]]\nhi = [0, 0, 1]", {"hi", "region"});
  expect_mistake("[grid]\nlevels = 2\n[[grid.refine]]\nwhere = \"walls\"", {"wall", "region"});
}

// Counts of cells have 63 bits: 10^6 cells per direction are counted, 2^21 are not.
TEST(GridOptions, AsManyCellsAsCanBeCounted) {
  EXPECT_EQ(read_deck("[grid]\ncells = [1000000, 1000000, 1000000]").domain().box().count(),
            std::int64_t{1000000000000000000});
  expect_mistake("[grid]\ncells = [2097152, 2097152, 2097152]", {"grid.cells", "9.22e+18"});
}

// Widths equal to 1e-6 relative are cubes; more is not.
TEST(GridOptions, CubesToOneInAMillion) {
  GridOptions grid;
  grid.cells = {10, 20, 30};
  grid.size = {1.0, 2.0, 3.0 * (1 + 5e-7)};
  EXPECT_EQ(not_cubes(grid), "");
  grid.size[2] = 3.0 * (1 + 2e-6);
  EXPECT_NE(not_cubes(grid), "");
}

TEST(GridOptions, KeysAreDocumented) {
  Reader in = Reader::declarations_only();
  GridOptions grid;
  read(in, grid);
  std::vector<std::string> names;
  for (const KeyInfo& k : in.keys()) names.push_back(k.key);
  for (const char* key : {"grid.cells", "grid.size", "grid.periodic", "grid.box", "grid.levels", "grid.refine[].level",
                          "grid.refine[].where", "grid.refine[].lo", "grid.refine[].hi", "grid.refine[].buffer"})
    EXPECT_NE(std::find(names.begin(), names.end(), key), names.end()) << key;
}

}  // namespace
}  // namespace karst::grid_options_test
