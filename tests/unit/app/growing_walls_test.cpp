// SPDX-License-Identifier: BSD-3-Clause
// Frank's disc and sphere: solids that grow out of a supersaturated fluid at rest, transport in time. With D = 1, c = 0
// on the wall, c = 1 far away and a molar volume St,
//
//   R = S √t,   c = 1 - F(r / √t) / F(S)
//   disc    F(s) = E1(s²/4),   St = S²/4 exp(S²/4) E1(S²/4)
//   sphere  F(s) = exp(-s²/4) / s - √π/2 erfc(s/2),   St = S²/2 (1 - √π/2 S exp(S²/4) erfc(S/2))
//
// (F. C. Frank, Proc. R. Soc. A 201 (1950) 586). Such growth is unstable (Mullins & Sekerka): what is noise of single
// pieces becomes fingers of a few cells. Runs begin with this profile where R is a number of cells, and end at 2 R.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/errors.hpp"
#include "support/walls_runs.hpp"

namespace karst::growing_walls_test {
namespace {

/// E1 of a formula to 2e-7: Abramowitz & Stegun 5.1.53 and 5.1.56.
std::string e1_of(const std::string& x) {
  return fmt::format(
      "({0} < 1 ? -log({0}) - .57721566 + .99999193*{0} - .24991055*{0}^2 + .05519968*{0}^3 - .00976004*{0}^4 + "
      ".00107857*{0}^5 : exp(-{0})/{0} * ({0}^4 + 8.5733287401*{0}^3 + 18.059016973*{0}^2 + 8.6347608925*{0} + "
      ".2677737343) / ({0}^4 + 9.5733223454*{0}^3 + 25.6329561486*{0}^2 + 21.0996530827*{0} + 3.9584969228))",
      x);
}
/// erfc of a positive formula to 3e-7: 7.1.28.
std::string erfc_of(const std::string& x) {
  return fmt::format(
      "(1 + .0705230784*{0} + .0422820123*{0}^2 + .0092705272*{0}^3 + .0001520143*{0}^4 + .0002765672*{0}^5 + "
      ".0000430638*{0}^6)^(-16)",
      x);
}

struct Grown {
  double radius = 0.0;  ///< by the moles, over that of the closed form
  double area = 0.0;    ///< of the wall, over that of a smooth one of the closed form
};

/// A quarter of the disc (dimensions 2) or an eighth of the sphere (3), from R = `radius` to twice that.
Grown grow(int dimensions, double s, double radius, int cells, double dt) {
  const bool disc = dimensions == 2;
  const double begin = std::pow(radius / s, 2), x = 0.25 * s * s, root_pi = std::sqrt(std::numbers::pi);
  const double f = disc ? -std::expint(-x) : std::exp(-x) / s - 0.5 * root_pi * std::erfc(0.5 * s);
  const double stefan = disc ? x * std::exp(x) * f : 0.5 * s * s * s * std::exp(x) * f;
  const std::string r = fmt::format("max({}, sqrt(x^2 + y^2{}))", radius, disc ? "" : " + z^2"),
                    to = fmt::format("({} / {})", r, std::sqrt(begin)),
                    of_r = disc ? e1_of(fmt::format("({}^2 / 4)", to))
                                : fmt::format("(exp(-{0}^2 / 4) / {0} - {1} * {2})", to, 0.5 * root_pi,
                                              erfc_of(fmt::format("({} / 2)", to)));
  const test::WallsRun ran = test::run_walls(fmt::format(R"deck(
[grid]
cells = [{0}, {0}, {1}]
size = [{0}, {0}, {1}]
[[geometry.solid]]
shape = "{2}"
center = [0, 0, 0]
radius = {3}
[transport]
axis = "x"
[[transport.component]]
name = "salt"
diffusivity = 1
initial = "min(1, max(0, 1 - {4} / {5}))"
[[transport.wall]]
rate = 1e6
[walls]
standstill = 0
[[walls.mineral]]
molar_volume = {6}
moles = -1
[time]
end = {7}
dt = {8}
)deck",
                                                         cells, disc ? 1 : cells, disc ? "cylinder" : "sphere", radius,
                                                         of_r, f, stefan, 3.0 * begin, dt));
  test::expect_balance(ran, 0.6);
  test::expect_conserved_and_bounded(ran.transport, "salt");
  const double part = disc ? 0.25 * std::numbers::pi : std::numbers::pi / 6.0,
               volume = part * std::pow(radius, dimensions) - ran.last("dissolved_m3");
  return {std::pow(volume / part, 1.0 / dimensions) / (2.0 * radius),
          ran.last("solid_area_m2") / (dimensions * part * std::pow(2.0 * radius, dimensions - 1))};
}

// Without smoothing: area 1.7 times as large, for R = 16 cells 4.1 times and the radius 8 % too large.
TEST(GrowingWalls, AFastDiscStaysSmooth) {
  const PetscSession petsc;
  const Grown disc = grow(2, 2.0, 8.0, 40, 0.5);
  EXPECT_NEAR(disc.radius, 1.0, 7e-3);
  EXPECT_NEAR(disc.area, 1.0, 0.04);  // the wall is up to a quarter of a cell behind or ahead
}
TEST(GrowingWalls, DiscsAndSpheresAtNight) {
  const PetscSession petsc;
  for (const auto& [s, cells, dt] :
       {std::tuple(0.5, 96, 1.0), std::tuple(1.0, 80, 0.25), std::tuple(1.56, 64, 0.25), std::tuple(2.0, 48, 0.25)}) {
    const Grown disc = grow(2, s, 8.0, cells, dt);
    EXPECT_NEAR(disc.radius, 1.0, 5e-3) << s;
    EXPECT_NEAR(disc.area, 1.0, 0.04) << s;
  }
  const Grown finer = grow(2, 2.0, 16.0, 96, 0.5), sphere = grow(3, 2.0, 12.0, 56, 0.375);
  EXPECT_NEAR(finer.radius, 1.0, 2.5e-3);
  EXPECT_NEAR(finer.area, 1.0, 0.02);
  EXPECT_NEAR(sphere.radius, 1.0, 5e-3);
  EXPECT_NEAR(sphere.area, 1.0, 0.04);
}

}  // namespace
}  // namespace karst::growing_walls_test
