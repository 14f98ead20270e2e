// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/steady_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "solvers/elliptic/elliptic_fluxes.hpp"

namespace karst {
namespace {

/// Sides whose value is given.
GivenSides given_sides(const EllipticProblem& problem) {
  GivenSides given{};
  for (std::size_t s = 0; s < 6; ++s)
    given[s] = problem.sides[s] && problem.sides[s](Vec3{}).kind == BoundaryKind::dirichlet;
  return given;
}

std::shared_ptr<ScalarGrid> grid_for(const EllipticOperator& op, const FaceField& flow,
                                     std::shared_ptr<ScalarGrid> grid) {
  const std::int64_t ground = op.composite()->id();
  require(flow.grid().id() == ground, "steady transport: the flow is on ground {}, the operator on ground {}",
          flow.grid().id(), ground);
  const GivenSides given = given_sides(op.problem());
  if (!grid) return scalar_grid_of(op.composite(), {given});
  require(grid->composite->id() == ground, "steady transport: the volumes are on ground {}, the operator on ground {}",
          grid->composite->id(), ground);
  find_gradient_weights(*grid, given);
  return grid;
}

std::array<bool, 6> sides_of(const std::array<ConditionAt, 6>& given) {
  std::array<bool, 6> is{};
  for (std::size_t s = 0; s < 6; ++s) is[s] = bool{given[s]};
  return is;
}

/// Ends of the operator, but what a flow brings in where that is given by itself.
std::array<ConditionAt, 6> inlets(const EllipticProblem& problem, const SteadyTransportOptions& options) {
  std::array<ConditionAt, 6> sides = problem.sides;
  for (std::size_t s = 0; s < 6; ++s)
    if (options.carried[s]) sides[s] = options.carried[s];
  return sides;
}

KrylovOptions krylov_options(const SteadyTransportOptions& options, AdvectiveTerm& term) {
  KrylovOptions k;
  k.name = options.name;
  k.prefix = options.prefix;
  k.tolerance = options.tolerance;
  k.max_iterations = options.max_iterations;
  k.restart = options.restart;
  k.watch = options.watch;
  k.definite = std::ranges::any_of(options.carried, [](const ConditionAt& at) { return bool{at}; });
  k.added = [&term](std::span<const double> x, std::span<double> y) { term.add(x, y); };
  return k;
}

}  // namespace

SteadyTransport::SteadyTransport(EllipticOperator& op, FaceField& flow, double scale,
                                 const SteadyTransportOptions& options, std::shared_ptr<ScalarGrid> grid)
    : op_(op),
      grid_(grid_for(op, flow, std::move(grid))),
      term_(*grid_, flow, given_sides(op.problem())),
      precondition_(op, flow, term_, sides_of(options.carried)),
      krylov_(op, krylov_options(options, term_),
              [this](std::span<const double> r, std::span<double> z) { precondition_(r, z); }),
      version_(op.version()),
      right_(op.numbering().n_own(), Purpose::solver) {
  term_.set_ends(inlets(op.problem(), options));
  term_.set_scale(scale);
  precondition_.set_scale(scale);
}

SolveReport SteadyTransport::solve(std::span<const double> source, std::span<double> c) {
  const Timer timer("steady transport");
  if (version_ != op_.version()) {
    precondition_.follow_operator();
    version_ = op_.version();
  }
  op_.right_side(source, right_.span());
  term_.right_side(right_.span());
  return krylov_.solve(right_.span(), c);
}

namespace {

/// A concentration at a wall, and the tangent of the law there.
struct WallState {
  WallPiece piece;
  double concentration = 0.0;
};

/// Of the own pieces of wall that belong to unknowns; the start is the concentration in their VoFs.
std::vector<WallState> walls_of(const EllipticOperator& op, std::span<const double> c) {
  std::vector<WallState> walls;
  for (const LevelGeometry& level : op.geometry().levels)
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph box = level.graph.box(b);
      const auto moments = level.box(b).moments;
      for (std::size_t r = 0; r < moments.size(); ++r) {
        const std::int32_t v = op.numbering().number(level.level, b, box.row_vof[r]);
        if (v < 0 || !(moments[r].wall_area > 0.0)) continue;
        const Index cell = box.cells.cell(box.row_cell[r]);
        const Vec3 at = Composite::width(level.level) *
                        (Vec3{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5} + moments[r].wall_centroid);
        const std::int64_t row = level.moments_begin[b] + static_cast<std::int64_t>(r);
        walls.push_back({wall_piece(moments[r], level.level, row, wall_parts(level, row), at), c[v]});
      }
    }
  return walls;
}

}  // namespace

WallLawReport solve_wall_law(SteadyTransport& transport, EllipticOperator& op, const WallLaw& law, std::span<double> c,
                             double tolerance, int most_steps, std::span<const double> source, WallField* at_wall) {
  const Timer timer("wall law");
  constexpr double least_slope = 1e-6;  // of r / c: below it the flux does not tell the concentration at the wall
  EllipticFluxes fluxes(op);
  FaceField faces(op.composite());
  std::vector<WallState> walls = walls_of(op, c);
  WallField rates(op.composite()), values(op.composite()), flux(op.composite());
  const auto number = [](WallField& of, const WallPiece& p) -> double& { return of.level(p.level)[p.row]; };
  WallLawReport report;
  while (report.steps < most_steps) {
    for (const WallState& w : walls) {
      const WallRate r = law(w.concentration, w.piece);
      const double secant = w.concentration > 0.0 ? std::abs(r.rate) / w.concentration : 0.0;
      const double rate = std::max(r.slope, least_slope * std::max(secant, 1.0));
      number(rates, w.piece) = rate;
      number(values, w.piece) = rate * w.concentration - r.rate;
    }
    op.set_wall(rates, values);
    const SolveReport solve = transport.solve(source, c);
    report.iterations += solve.iterations;
    report.residual = solve.true_residual;
    report.seconds += solve.seconds;
    report.setup_seconds += solve.setup_seconds;
    ++report.steps;
    fluxes.find(c, faces, flux);
    double change = 0.0, largest = 0.0;
    for (WallState& w : walls) {
      const double now = (number(flux, w.piece) / w.piece.area + number(values, w.piece)) / number(rates, w.piece);
      change = std::max(change, std::abs(now - w.concentration));
      w.concentration = std::max(now, 0.0);
      largest = std::max(largest, w.concentration);
    }
    largest = op.comm().max(largest);
    report.change = op.comm().max(change) / (largest > 0.0 ? largest : 1.0);
    if (report.change > tolerance) continue;
    if (at_wall != nullptr)
      for (const WallState& w : walls) number(*at_wall, w.piece) = w.concentration;
    return report;
  }
  throw Error(fmt::format(
      "steady transport: Newton's method for the wall reaction has not converged after {} steps: concentrations at "
      "walls still change by {:.1e} of the largest, required: {:.1e}; start from a solution with a slower reaction",
      most_steps, report.change, tolerance));
}

}  // namespace karst
