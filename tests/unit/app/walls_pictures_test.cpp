// SPDX-License-Identifier: BSD-3-Clause
// What the page shows of walls that move between steady states.
#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/walls_runs.hpp"

namespace karst::walls_pictures_test {
namespace {

// Walls and concentration at the beginning, at the end and between, without being asked for; on rank 0, which writes.
TEST(WallsPicturesMpi, AreOfThreeTimes) {
  const PetscSession petsc;
  const std::string deck = std::string(test::slab).insert(std::string(test::slab).find("axis"), "mode = \"steady\"\n");
  const test::WallsRun ran = test::run_walls(deck + "[[walls.mineral]]\nmolar_volume = 0.1\n[time]\nend = 800\n");
  const Figures& figures = ran.result.figures;
  if (Comm::world().rank() > 0) {
    EXPECT_EQ(figures.count("walls still 1"), 0U);
    return;
  }
  for (const char* of : {"walls", "walls acid"}) {
    ASSERT_EQ(figures.count(fmt::format("{} still 3", of)), 1U);
    EXPECT_EQ(figures.count(fmt::format("{} still 4", of)), 0U);
    EXPECT_TRUE(test::has(figures.at(fmt::format("{} still 1", of)), ">0 s<"));
    EXPECT_TRUE(test::has(figures.at(fmt::format("{} still 3", of)), ">800 s<"));
  }
}

}  // namespace
}  // namespace karst::walls_pictures_test
