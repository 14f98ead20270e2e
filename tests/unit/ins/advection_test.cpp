// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/advection.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "grid/vof_loops.hpp"
#include "ins/operator/advection_kernels.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::advection_test {
namespace {

/// n by n cells without walls, one thick, periodic unless the ends across x are pressures.
Geometry open_box(int n, bool periodic_x) {
  return build_geometry(Comm::self(), test::flow_grid({n, n, 1}, {periodic_x, true, true}),
                        test::DistanceFunction([](const Vec3&) { return 100.0; }), KeepPores::all);
}

/// f(values of the cell, centre of the cell [cells]) for all own VoFs.
template <class F>
void set_values(const Geometry& geometry, QuadField& values, F&& f) {
  const LevelGraph& graph = geometry.levels[0].graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) {
      const Index at = box.cells.cell(cell);
      values.box(b)[vof] = f(Vec3{at[0] + 0.5, at[1] + 0.5, at[2] + 0.5});
    });
  }
}

std::vector<Quad> applied(const StokesOperator& op, LevelValues& u, const StokesDrive& drive) {
  std::vector<Quad> y(op.n_own());
  op.apply(u, y, drive);
  return y;
}

/// Largest difference of (u·∇)u from exact values at the cell centres, for vortices u = (sin x cos y, -cos x sin y, 0)
/// on 2π: (u·∇)u = (sin 2x, sin 2y, 0) / 2, balanced by p = (cos 2x + cos 2y) / 4.
double vortex_error(int n) {
  const Geometry geometry = open_box(n, true);
  StokesLevels levels(test::composite_on(Comm::self(), geometry), {});
  const StokesOperator& op = levels.level(0);
  LevelValues values(op);
  const double k = 2.0 * std::numbers::pi / n;
  set_values(geometry, values.x, [&](const Vec3& x) {
    const double a = k * x[0], b = k * x[1];
    return Quad{{std::sin(a) * std::cos(b), -std::cos(a) * std::sin(b), 0.0, (std::cos(2 * a) + std::cos(2 * b)) / 4}};
  });
  applied(op, values, {});
  std::vector<Quad> y(op.n_own());
  Advection(op).add(1.0 / k, values, {}, y);
  QuadField exact(geometry.levels[0].graph);
  set_values(geometry, exact, [&](const Vec3& x) {
    return Quad{{0.5 * std::sin(2 * k * x[0]), 0.5 * std::sin(2 * k * x[1]), 0.0, 0.0}};
  });
  double worst = 0.0;
  const LevelGraph& graph = geometry.levels[0].graph;
  for (int b = 0; b < graph.n_local(); ++b)
    for (std::size_t v = 0; v < exact.own(b).size(); ++v)
      for (std::size_t d = 0; d < 4; ++d)
        worst = std::max(worst, std::abs(y[graph.vof_begin(b) + v].v[d] - exact.own(b)[v].v[d]));
  return worst;
}

// Faces of fourth order; the fluxes of continuity are of third, by their coupling to the pressure.
TEST(Advection, VorticesAreThirdOrder) {
  const double coarse = vortex_error(32), fine = vortex_error(64);
  EXPECT_LT(fine, 7e-5);  // 1.9e-3 with means of two cells
  EXPECT_GT(std::log2(coarse / fine), 2.9);
}

/// Largest residual of (u·∇)u - Δu / Re + ∇p, two cells and more away from the ends, for the flow behind a grid at
/// Re = 40 (Kovasznay, Proc. Camb. Phil. Soc. 44 (1948) 58) on 1 by 1, n cells.
double kovasznay_residual(int n) {
  constexpr double re = 40.0;
  const double two_pi = 2.0 * std::numbers::pi, lambda = 0.5 * re - std::sqrt(0.25 * re * re + two_pi * two_pi);
  const Geometry geometry = open_box(n, false);
  StokesLevels levels(test::composite_on(Comm::self(), geometry), {FlowSide::pressure, FlowSide::pressure});
  const StokesOperator& op = levels.level(0);
  LevelValues values(op);
  const double h = 1.0 / n;
  // Units of the operator: viscosity 1, lengths h: u in units of 1 / (Re h), p of 1 / (Re h)².
  set_values(geometry, values.x, [&](const Vec3& x) {
    const double e = std::exp(lambda * h * x[0]), y = two_pi * h * x[1], u = re * h;
    return Quad{{u * (1.0 - e * std::cos(y)), u * lambda / two_pi * e * std::sin(y), 0.0, u * u * 0.5 * (1.0 - e * e)}};
  });
  std::vector<Quad> y = applied(op, values, {});
  Advection(op).add(1.0, values, {}, y);
  double worst = 0.0;
  const LevelGraph& graph = geometry.levels[0].graph;
  for (int b = 0; b < graph.n_local(); ++b)
    for_each_vof(graph.box(b), [&](int vof, int cell) {
      const int i = graph.box(b).cells.cell(cell)[0];
      if (i < 2 || i >= n - 2) return;
      const Quad& r = y[graph.vof_begin(b) + vof];
      for (std::size_t d = 0; d < 3; ++d) worst = std::max(worst, std::abs(r.v[d]) / (re * re * h * h * h));
    });
  return worst;
}

TEST(Advection, KovasznayFlowIsSteady) {
  const double coarse = kovasznay_residual(64), fine = kovasznay_residual(128);
  EXPECT_LT(fine, 0.01);
  EXPECT_GT(std::log2(coarse / fine), 1.9);
}

// The term is quadratic where no bound of what carries is reached, or all are: [A(u + v) - A(u - v)] / 2 is its
// derivative at u, in cells of all kinds and at the ends.
/// @param stream  through the outlet, forth on one half of it and back on the other
void expect_derivative(const FlowSides& sides, double value, double stream, double inertia) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(40, 3.2, 16, true);
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(Index::all(16), {false, true, true}), *phi, KeepPores::connected);
  StokesLevels levels(test::composite_on(comm, geometry), sides);
  const StokesOperator& op = levels.level(0);
  LevelValues values(op);
  Advection advection(op);
  StokesDrive drive;
  drive.force = {0, 0.7, 0};
  drive.at_end[0] = value;
  const auto u = [](const Vec3& x, std::size_t d) {
    return std::sin(0.7 * x[0] + 1.3 * x[1] * double(d) - x[2] + 0.033);
  };
  const auto v = [](const Vec3& x, std::size_t d) { return std::cos(1.1 * x[0] - 0.3 * x[1] + x[2] * double(d)); };
  const auto set = [&](double a, double b) {
    set_values(geometry, values.x, [&](const Vec3& x) {
      Quad q;
      for (std::size_t d = 0; d < 4; ++d) q.v[d] = a * u(x, d) + b * v(x, d);
      q.v[0] += a * (x[1] < 8.0 ? stream : -stream);
      return q;
    });
  };
  std::vector<Quad> difference(op.n_own()), linear = difference;
  for (const double sign : {1.0, -1.0}) {
    set(1.0, sign);
    applied(op, values, drive);
    advection.add(sign * inertia, values, drive, difference);
  }
  set(1.0, 0.0);
  applied(op, values, drive);
  BaseFlow base(op);
  advection.set_base(inertia, values, drive, base);
  set(0.0, 1.0);
  applied(op, values, {});
  advection.add_linearised(inertia, base, values, linear);
  const auto [worst, largest] = test::derivative_error(comm, linear, difference);
  EXPECT_LT(worst, 1e-6 * largest);  // fluxes are kept in single precision
  EXPECT_GT(largest, 0.1 * inertia);
}

TEST(Advection, LinearisedIsTheDerivativeMpi) {
  for (const double inertia : {0.1, 1e9}) {
    expect_derivative({FlowSide::pressure, FlowSide::pressure}, 11.0, 0.0, inertia);
    expect_derivative({FlowSide::velocity, FlowSide::outlet}, 0.8, 9.0, inertia);
  }
}

// What leaves a cell enters its neighbour: where no cell makes fluid, flow that is carried makes no momentum,
// Σ κ (u·∇)u = 0, in cells of all kinds (less than a quarter of a cell counts as that), and no energy, Σ κ u·(u·∇)u =
// 0, but for what ends of rows of cells at walls and the curvature of what carries make, here of 6 cells to a grain's
// diameter; these are bounded, so that next to nothing is left of them where inertia is large.
TEST(Advection, MakesNoMomentumAndLittleEnergyMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(Index::all(16)), *test::packing(40, 3.2, 16, true), KeepPores::connected);
  StokesSolver solver(test::composite_on(comm, geometry), {}, test::stokes_options(1e-11));
  const StokesDrive drive = test::driven_by({1.0, 0.5, 0.0});
  solver.solve(drive);
  const StokesOperator& op = solver.op().level(0);
  ASSERT_GT(comm.sum(static_cast<std::int64_t>(op.rows().extra.size())), 0);
  std::vector<Quad> y(op.n_own());
  for (const auto& [inertia, most] : {std::pair{1.0, 7e-3}, {1e9, 1e-8}}) {  // 5.4e-3 for the first one
    solver.residual(drive, y);
    std::ranges::fill(y, Quad{});
    Advection(op).add(inertia, solver.values().level(0), drive, y);
    std::array<double, 4> sum{}, size{};  // momentum, energy
    for (int b = 0; b < op.geometry().graph.n_local(); ++b) {
      const std::vector<double> volume = test::advected_volumes(op.geometry(), b);
      for (std::size_t v = 0; v < volume.size(); ++v) {
        const Quad& term = y[op.geometry().graph.vof_begin(b) + v];
        const Quad& u = solver.values().level(0).x.own(b)[v];
        for (std::size_t d = 0; d < 3; ++d)
          for (const auto& [i, part] : {std::pair{d, term.v[d]}, {std::size_t{3}, u.v[d] * term.v[d]}}) {
            sum[i] += volume[v] * part;
            size[i] += volume[v] * std::abs(part);
          }
      }
    }
    comm.sum(std::span(sum));
    comm.sum(std::span(size));
    for (std::size_t d = 0; d < 3; ++d) EXPECT_LT(std::abs(sum[d]), 1e-8 * size[d]) << inertia << d;
    EXPECT_LT(std::abs(sum[3]), most * size[3]) << inertia;
  }
}

}  // namespace
}  // namespace karst::advection_test
