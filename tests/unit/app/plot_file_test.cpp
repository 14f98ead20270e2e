// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/plot_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/deck/plot_words.hpp"
#include "app/job/run_services.hpp"
#include "app/output/vof_values.hpp"
#include "support/errors.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::plot_file_test {
namespace {

/// A ball in n^3 cells.
struct Ball {
  explicit Ball(const Comm& on, int n) : comm(on), grid(test::grid_of(n, 1)) {}
  const Comm& comm;
  Config config{};
  GridOptions grid;
  RunServices services{};
  JobContext context{
      comm, config, grid,
      test::ground_on(comm, build_geometry(comm, grid, *make_level_set(Sphere{{8.1, 7.9, 8.2}, 4.3}), KeepPores::all)),
      services};
  JobComponent ones() const {
    return concentration_field(context, "a", std::vector<double>(context.ground->numbering()->n_own(), 1.0));
  }
};

// Results outlive the run that made them, with all that they need to be drawn.
TEST(PlotFileMpi, ResultsKeepTheirGround) {
  const Comm comm = Comm::world();
  std::optional<Ball> ball(std::in_place, comm, 16);
  const std::weak_ptr<const Ground> ground = ball->context.ground;
  {
    const JobComponent field = ball->ones();
    const FieldView view = view_of(ball->context, {field});
    ball.reset();
    EXPECT_FALSE(ground.expired());
    for (std::size_t b = 0; b < view.boxes.at(0).size(); ++b) {
      std::vector<float> cells(view.boxes[0][b].count());
      view.fill(0, b, 0, cells);
      for (const float c : cells) EXPECT_TRUE(std::isnan(c) || c == 1.0F);
      EXPECT_TRUE(std::ranges::count(cells, 1.0F) > 0);
    }
  }
  EXPECT_TRUE(ground.expired());
}

TEST(PlotFileMpi, RefusesResultsOfAnotherGround) {
  const Comm comm = Comm::world();
  const Ball small(comm, 16), large(comm, 24), same(comm, 16);
  for (const Ball* other : {&large, &same}) {
    const std::string expected = concentration_name("a") + " is on ground " +
                                 std::to_string(other->context.ground->id()) + ", not on ground " +
                                 std::to_string(small.context.ground->id());
    EXPECT_EQ(test::error_of([&] { view_of(small.context, {small.ones(), other->ones()}); }), expected);
    EXPECT_EQ(test::error_of([&] { write_plot(small.context, Source{}, "plot", {other->ones()}); }), expected);
  }
  EXPECT_NO_THROW(view_of(small.context, {small.ones()}));
}

}  // namespace
}  // namespace karst::plot_file_test
