// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/dynamic_permeability.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/permeability.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::dynamic_permeability_test {
namespace {

using test::flow_grid;
using Complex = std::complex<double>;

StokesOptions options(double tolerance) {
  StokesOptions o;
  o.krylov.tolerance = tolerance;
  return o;
}

/// Largest error of K(iω) over its size between plates 7.7 n cells apart, over Womersley numbers (width / 2 √(ω / ν)).
/// K(s) = width / height / s (1 - tanh z / z), z = √s width / 2, s = iω.
double plates_error(int n, std::initializer_list<double> womersley_numbers) {
  const double width = 7.7 * n;
  const int height = 8 * n;
  const test::Channel c{4, 0, 4, [=](double a, double) { return 0.5 * width - std::abs(a); }, 0.137 * n, height};
  const Geometry geometry = build_geometry(Comm::self(), flow_grid(c.cells()), *c.level_set(), KeepPores::all);
  StokesSolver stokes(test::composite_on(Comm::self(), geometry), {}, options(1e-8));
  const DynamicPermeability k = dynamic_permeability(stokes, geometry, {{1, 0, 0}, {}}, 0, resolved_frequency);
  double error = 0.0;
  for (const double womersley : womersley_numbers) {
    const double omega = 4.0 * womersley * womersley / (width * width);
    const Complex s(0.0, omega), z = std::sqrt(s) * width / 2.0;
    const Complex exact = width / height / s * (1.0 - std::tanh(z) / z);
    error = std::max(error, std::abs(k.at(omega) - exact) / std::abs(exact));
    EXPECT_LT(k.change_without_a_shift(omega), 2e-4) << omega;
  }
  EXPECT_NEAR(k.relaxation_time(), 0.1 * width * width, 0.005 * width * width);  // ∫ u² / ∫ u of the parabola
  return error;
}

// Womersley numbers 1 and 3; 10 where the skin is two cells and one cell thick.
TEST(DynamicPermeability, BetweenPlatesOfSecondOrder) {
  const double coarse = plates_error(1, {1.0, 3.0}), fine = plates_error(4, {1.0, 3.0});
  EXPECT_LT(fine, 1e-3);
  EXPECT_GT(0.5 * std::log2(coarse / fine), 1.7);
  EXPECT_LT(plates_error(4, {10.0}), 2e-3);
  EXPECT_LT(plates_error(2, {10.0}), 5e-3);
}

Geometry packing(const Comm& comm, int box, bool periodic = true) {
  return build_geometry(comm, flow_grid(Index::all(16), std::array{periodic, periodic, periodic}, box),
                        *test::packing(40, 3.2, 16, periodic), KeepPores::connected);
}

// Another way to the same: steps in time from rest, until the flow repeats itself.
TEST(DynamicPermeability, IsTheAnswerToAnOscillatingDriveInTimeAtNight) {
  const Comm comm = Comm::self();
  const Geometry geometry = packing(comm, 8);
  StokesSolver stokes(test::composite_on(comm, geometry), {}, options(1e-6));
  const DynamicPermeability k = dynamic_permeability(stokes, geometry, {{1, 0, 0}, {}}, 0, resolved_frequency);
  const double omega = 1.0 / k.relaxation_time();
  const int steps = 60, periods = 3;
  const double dt = 2.0 * std::numbers::pi / omega / steps;
  UnsteadySolver flow(
      stokes, geometry,
      [&](double t) {
        return StokesDrive{{std::cos(omega * t), 0, 0}, {}};
      },
      {{1, 0, 0}, {}}, TimeScheme::sdirk2);
  Complex sum = 0.0;
  for (int i = 1; i <= steps * periods; ++i) {
    const double u = flow.step(dt).velocity[0];
    if (i > steps * (periods - 1)) sum += 2.0 / steps * u * std::polar(1.0, -omega * i * dt);
  }
  const Complex found = k.at(omega);
  EXPECT_GT(-std::arg(found), 0.5);  // neither slow nor fast
  EXPECT_LT(std::abs(sum - found), 1e-3 * std::abs(found));
}

// Boxes, ranks, and a drive between pressures.
TEST(DynamicPermeability, SameForBoxesRanksAndDrivesMpi) {
  const Comm comm = Comm::world();
  const auto at = [&](const Geometry& geometry, const FlowSides& sides, const StokesDrive& drive) {
    StokesSolver stokes(test::composite_on(comm, geometry), sides, options(1e-9));
    return dynamic_permeability(stokes, geometry, drive, 0, resolved_frequency).at(0.2);
  };
  const StokesDrive force{{1, 0, 0}, {}};
  const Complex whole = at(packing(comm, 16), {}, force), parts = at(packing(comm, 8), {}, force);
  EXPECT_LT(std::abs(parts - whole), 1e-7 * std::abs(whole));
  // Pressures on the ends of plates, which the flow does not feel.
  const test::Channel c{8, 0, 4, [](double a, double) { return 3.85 - std::abs(a); }, 0.137, 8};
  GridOptions open = flow_grid(c.cells());
  const Geometry closed = build_geometry(comm, open, *c.level_set(), KeepPores::all);
  open.periodic[0] = false;
  const Geometry ends = build_geometry(comm, open, *c.level_set(), KeepPores::all);
  FlowSides sides{};
  sides[0] = sides[1] = FlowSide::pressure;
  const Complex by_force = at(closed, {}, force);
  const Complex by_pressure = at(ends, sides, unit_drive(ends.grid.levels[0].layout.domain(), 0));
  EXPECT_LT(std::abs(by_pressure - by_force), 1e-6 * std::abs(by_force));
}

TEST(DynamicPermeability, RefusesAFrequencyOfNothing) {
  const Geometry geometry = packing(Comm::self(), 16);
  StokesSolver stokes(test::composite_on(Comm::self(), geometry), {}, options(1e-8));
  EXPECT_THROW(dynamic_permeability(stokes, geometry, {{1, 0, 0}, {}}, 0, 0.0), Error);
}

}  // namespace
}  // namespace karst::dynamic_permeability_test
