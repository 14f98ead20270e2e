// SPDX-License-Identifier: BSD-3-Clause
// Stefan's problem: a wall where c = 0 recedes before diffusion, transport in time. With D = 1, c = 1 far away and a
// molar volume St,
//
//   s = 2 λ √t,   √π λ exp(λ²) erfc(λ) = -St,   c = (erf η - erf λ) / (1 - erf λ),   η = x / (2 √t)   (λ < 0)
//
// (verified by substitution); with St in place of -St λ > 0, and the wall grows out of a supersaturated fluid. Runs
// begin with this profile where √t is a number of cells, and end where it is a factor larger: what is singular at the
// beginning plays no part.
#include <gtest/gtest.h>

#include <cmath>

#include "app/job/moving_walls.hpp"
#include "support/errors.hpp"
#include "support/walls_runs.hpp"

namespace karst::stefan_wall_test {
namespace {

struct Stefan {
  double number, lambda;  ///< St, -λ: < 0 of a wall that grows
};

/// erf of a formula to 3e-7: Abramowitz & Stegun 7.1.28.
std::string erf_of(const std::string& eta) {
  return fmt::format(
      "sign({0}) * (1 - 1 / (1 + .0705230784*abs({0}) + .0422820123*abs({0})^2 + .0092705272*abs({0})^3 + "
      ".0001520143*abs({0})^4 + .0002765672*abs({0})^5 + .0000430638*abs({0})^6)^16)",
      eta);
}

/// The deck behind geometry, grid and the axis of transport.
/// @param distance  formula of the distance from where the wall was at t = 0
/// @param cells     √t at the beginning
/// @param factor    by which it grows
std::string rest_of_deck(const Stefan& of, const std::string& distance, double cells, double factor, double dt) {
  const double erf = std::erf(of.lambda);
  return fmt::format(R"deck(
[[transport.component]]
name = "acid"
diffusivity = 1
initial = "max(0, ({} + {}) / {})"
[[transport.wall]]
rate = 1e6
[walls]
standstill = 0
[[walls.mineral]]
molar_volume = {}
moles = {}
[time]
end = {}
dt = {}
)deck",
                     erf_of(fmt::format("(({}) / {})", distance, 2.0 * cells)), erf, 1.0 + erf, of.number,
                     of.lambda > 0.0 ? 1 : -1, cells * cells * (factor * factor - 1.0), dt);
}

struct Errors {
  double largest = 0.0, mean = 0.0;  ///< of the way, over all of the way; the mean over the time
};

Errors errors_of(const test::WallsRun& ran, const Stefan& of, double cells, double factor, double area) {
  test::expect_balance(ran, 0.5);
  test::expect_conserved_and_bounded(ran.transport, "acid");
  Errors errors;
  const std::vector<double>&time = ran.columns.at("time_s"), &dissolved = ran.columns.at("dissolved_m3");
  for (std::size_t i = 1; i < time.size(); ++i) {
    const double way = 2.0 * of.lambda * (std::sqrt(cells * cells + time[i]) - cells);
    const double error = std::abs(dissolved[i] / area - way) / (2.0 * std::abs(of.lambda) * cells * (factor - 1.0));
    errors.largest = std::max(errors.largest, error);
    errors.mean += error * (time[i] - time[i - 1]) / time.back();
  }
  return errors;
}

/// Along the grid, √t from 4, 8, ... cells to twice as many, steps of h²/D.
Errors along_the_grid(const Stefan& of, double cells) {
  const double solid = std::ceil(std::max(0.0, 2.0 * of.lambda * cells)) + 8.0, wall = solid + 0.8;
  const int length = static_cast<int>(solid + 16.0 * cells);
  const test::WallsRun ran =
      test::run_walls(test::cells_along_x({length, 1, 1}) +
                      fmt::format("[[geometry.solid]]\nshape = \"plane\"\npoint = [{}, 0, 0]\nnormal = [1, 0, 0]\n"
                                  "[transport]\naxis = \"x\"\ntolerance = 1e-12\n",
                                  wall) +
                      rest_of_deck(of, fmt::format("x - {}", wall + 2.0 * of.lambda * cells), cells, 2.0, 1.0));
  return errors_of(ran, of, cells, 2.0, 1.0);
}

/// A strip of fluid between walls that both recede, at an angle to the grid with the tangent m / n. It is periodic: its
/// period along the normal is m cos of the angle, and so are the sides of the domain, m and n of them long.
/// @param reach  half of the width of the strip over 2 √t in the end
Errors at_an_angle(const Stefan& of, double cells, int m, int n, double reach) {
  constexpr double factor = 1.5, rim = 14.0;
  const double hypotenuse = std::hypot(m, n), cosine = n / hypotenuse, sine = m / hypotenuse;
  const double way = 2.0 * of.lambda * cells * (factor - 1.0);
  const int unit = static_cast<int>(std::ceil((4.0 * reach * factor * cells + 2.0 * way + rim) / (m * cosine)));
  const double period = unit * m * cosine, half = 0.5 * (period - rim) - way;
  const std::string along = fmt::format("({} * x + {} * y + 0.3)", cosine, sine),
                    from_middle = fmt::format("abs({0} - {1} * rint({0} / {1}))", along, period);
  const test::WallsRun ran = test::run_walls(
      fmt::format("[[geometry.solid]]\nshape = \"expression\"\nexpression = \"{0} - {1}\"\n"
                  "[grid]\ncells = [{2}, {3}, 1]\nsize = [{2}, {3}, 1]\nperiodic = [true, true, false]\n"
                  "[transport]\naxis = \"z\"\n",
                  half, from_middle, unit * m, unit * n) +
      rest_of_deck(of, fmt::format("{} - {}", half - 2.0 * of.lambda * cells, from_middle), cells, factor,
                   0.25 * cells));
  return errors_of(ran, of, cells, factor, 2.0 * unit * hypotenuse);
}

/// Largest errors, and of means the order from grid to grid.
/// @param first  grid from which orders count
void expect_second_order(const Stefan& of, std::span<const double> largest, std::size_t first = 0) {
  double before = 0.0;
  for (std::size_t k = 0; k < largest.size(); ++k) {
    const Errors errors = along_the_grid(of, std::ldexp(4.0, static_cast<int>(k)));
    EXPECT_LT(errors.largest, largest[k]) << of.number << ' ' << k;
    if (k > first) {
      EXPECT_GT(std::log2(before / errors.mean), 1.8) << of.number << ' ' << k;
    }
    before = errors.mean;
  }
}

// Before walls were taken to be where they ought to be, and what opens to have the concentration at the wall
// everywhere: 2.1 to 1.2 % on the first grid, of order 1.1 to 1.4. Before volumes that part kept their profile: four
// and two times as large. With St = 0.1 the wall goes 0.4 cells on the first grid, less than once.
TEST(StefanWall, IsOfSecondOrderAlongTheGrid) {
  const PetscSession petsc;
  expect_second_order({0.1, 0.053083565}, std::array{5e-4, 1.8e-4, 6e-5}, 1);
  expect_second_order({0.9, 0.333411787}, std::array{2.5e-3, 6e-4, 1.4e-4});
}
TEST(StefanWall, IsOfSecondOrderAlongTheGridAtNight) {
  const PetscSession petsc;
  EXPECT_LT(along_the_grid({0.01, 0.005606254}, 16.0).largest, 5e-5);  // it does not move yet: a fifth of a cell
  expect_second_order({0.3, 0.142936286}, std::array{1e-3, 3e-4, 9e-5});
  expect_second_order({0.5, 0.216878872}, std::array{1.5e-3, 4e-4, 1e-4});
}

// A wall that grows: what closes is water at the wall, so that nothing is lost with it (before: 2.6, 1.1, 0.4 %).
TEST(StefanWall, GrowsToSecondOrder) {
  const PetscSession petsc;
  const Stefan of{0.603844595, -0.6};
  const Errors coarse = along_the_grid(of, 4.0), fine = along_the_grid(of, 16.0);
  EXPECT_LT(coarse.largest, 5e-3);
  EXPECT_LT(fine.largest, 5e-4);
  EXPECT_GT(0.5 * std::log2(coarse.mean / fine.mean), 1.8);
}

// At 45° and 17°, √t from 2 cells to 3, of 4 to 6: 5.3 and 2.4 % (45°), 5.2 and 2.5 % (17°) before.
TEST(StefanWall, AtAnAngleAloneByDay) {
  const PetscSession petsc;
  EXPECT_LT(at_an_angle({0.9, 0.333411787}, 2.0, 1, 1, 2.0).largest, 1.5e-2);
}
TEST(StefanWallMpi, AtAnglesAtNight) {
  const PetscSession petsc;
  for (const auto& [m, n] : {std::pair(1, 1), std::pair(36, 11)}) {
    EXPECT_LT(at_an_angle({0.9, 0.333411787}, 2.0, m, n, 3.0).largest, 1.2e-2) << m;
    EXPECT_LT(at_an_angle({0.9, 0.333411787}, 4.0, m, n, 3.0).largest, 4.5e-3) << m;
  }
}
// At 17°, √t of 4 and 8 cells: before volumes that part had a profile 0.298 and 0.080 % (St 0.9) as means.
// Now St 0.5 0.159 and 0.0393 %, 0.9 0.212 and 0.0540 %: order 2.02 and 1.98.
TEST(StefanWallMpi, OrderAtAnAngleAtNight) {
  const PetscSession petsc;
  for (const Stefan& of : {Stefan{0.9, 0.333411787}, Stefan{0.5, 0.216878872}}) {
    const Errors coarse = at_an_angle(of, 4.0, 36, 11, 1.75), fine = at_an_angle(of, 8.0, 36, 11, 1.75);
    EXPECT_LT(coarse.mean, 2.3e-3) << of.number;
    EXPECT_LT(fine.mean, 6e-4) << of.number;
    EXPECT_GT(std::log2(coarse.mean / fine.mean), 1.8) << of.number;
  }
}

}  // namespace
}  // namespace karst::stefan_wall_test
