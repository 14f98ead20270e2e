// SPDX-License-Identifier: BSD-3-Clause
// Measures the calcite disc of Molins et al. (Comput. Geosci. 25 (2021) 1285, part I): a channel of 0.1 x 0.05 cm with
// a disc of radius 0.01 cm in its middle, uniform inlet of 0.12 cm/s with 1e-5 mol/cm³ of acid, D = 1e-5 cm²/s, which
// the disc consumes at first order, k = 10^-4.05 x 1000 cm/s. Creeping flow (Re 0.6), steady transport. Prints the
// figures as JSON; ends with status 1 if the mean rate deviates too much from 4.3356e-8 mol/(cm² s) (body-fitted finite
// elements computed for this test, four grids).
//   karst-verify-reactive
#include <fmt/core.h>

#include <numbers>
#include <vector>

#include "base/core/error.hpp"
#include "eb/geometry.hpp"
#include "eb/shapes/shapes.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "solvers/elliptic/elliptic_fluxes.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/wall_fluxes.hpp"
#include "transport/steady/steady_transport.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

constexpr double height = 0.05, radius = 0.01, inflow = 0.12, diffusivity = 1e-5, acid = 1e-5;  // cm, s, mol
constexpr double rate_constant = 0.0891251, rate = 4.3356e-8, fastest = 0.29279;

/// n x 2n cells, one cell thick.
Json disc(const Comm& comm, int n) {
  const double h = height / n;
  const Geometry geometry =
      build_geometry(comm, test::diffusion_grid({2 * n, n, 1}, {false, false, true}, 16),
                     *make_level_set(Cylinder{frame_along({1.0 * n, 0.5 * n, 0.0}, {0.0, 0.0, 1.0}), radius / h}),
                     KeepPores::connected);
  FlowSides sides{};
  sides[0] = FlowSide::velocity;
  sides[1] = FlowSide::pressure;
  StokesSolver solver(test::composite_on(comm, geometry), sides, {});
  StokesDrive drive;
  drive.at_end[0] = 1.0;
  solver.solve(drive);
  FaceField flow = solver.face_fluxes();
  double speed = 0.0;
  for (const Quad& q : solver.solution()) speed = std::max(speed, std::hypot(q.v[0], q.v[1]));

  EllipticProblem problem;
  problem.sides[0] = [](const Vec3&) { return dirichlet(1.0); };
  problem.wall = [&](const WallPiece&) { return robin(rate_constant * h / diffusivity, 0.0); };
  EllipticOperator op(flow.composite(), problem, Faces::keep);
  SteadyTransport transport(op, flow, inflow * h / diffusivity);
  std::vector<double> c(op.numbering().n_own(), 1.0);
  const SolveReport solve = transport.solve({}, c);

  const WallField wall = test::wall_fluxes(op, c);
  double taken = 0.0;
  for (const double f : wall.level(0)) taken += f;
  const double found = comm.sum(taken) * diffusivity * acid / (2.0 * std::numbers::pi * radius);
  double least = 0.0, largest = 0.0;
  for (const double value : c) {
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  return {{"cells", n},
          {"rate_mol_cm2_s", found},
          {"error", found / rate - 1.0},
          {"largest_speed_error", comm.max(speed) * inflow / fastest - 1.0},
          {"below", comm.max(-least)},
          {"above", comm.max(largest) - 1.0},
          {"iterations", solve.iterations}};
}

Json measure(const Comm& comm, bool) {
  Json all;
  for (const int n : {64, 128, 256}) all.push_back(disc(comm, n));
  return all;
}

Asked missed_by(const Json& all, bool) {
  Asked ask;
  for (const auto& [i, most] : {std::pair{0U, 0.05}, {1U, 0.02}, {2U, 0.007}})
    ask(std::abs(all[i]["error"].get<double>()) < most, all[i]);
  return ask;
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) { return karst::run_verification(argc, argv, karst::measure, karst::missed_by); }
