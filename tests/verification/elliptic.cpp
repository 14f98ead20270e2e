// SPDX-License-Identifier: BSD-3-Clause
// Measures the elliptic cases (L1 one level, L2 refined levels, L3 readers of the stencils and conservation, L4 Robin
// walls, L5 effective diffusivity) and the maximum principle, and prints them as JSON. Ends with status 1 if a figure
// does not meet the requirement in missed_by().
//
// Orders are those between the two finest of three grids; errors on refined levels are also compared with those on one
// level. Errors of Robin walls change sign with the position of the centre; they are the largest over four positions.
#include <fmt/core.h>

#include <numbers>
#include <string>
#include <vector>

#include "base/core/error.hpp"
#include "solvers/krylov/petsc_matrix.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

const char* name_of(BoundaryKind kind) {
  return kind == BoundaryKind::dirichlet ? "Dirichlet" : kind == BoundaryKind::neumann ? "Neumann" : "Robin";
}

std::vector<double> solve(EllipticOperator& op, double tolerance = 1e-10) {
  std::vector<double> b(op.numbering().n_own()), x(b.size());
  op.right_side({}, b);
  KrylovSolver(op, {"verification", "verification_", tolerance, 1000, 1e-8}).solve(b, x);
  return x;
}

/// What leaves each balance through the boundaries where A has a rate or value and B is sealed: (A - B) x.
std::vector<double> leaving(EllipticOperator& a, EllipticOperator& b, std::span<const double> x) {
  std::vector<double> flux(x.size()), bx(x.size());
  a.apply(x, flux);
  b.apply(x, bx);
  const std::vector<double> volume = a.volumes();
  for (std::size_t i = 0; i < x.size(); ++i) flux[i] = volume[i] > 0.0 ? flux[i] - bx[i] : 0.0;
  return flux;
}

double total(const Comm& comm, std::span<const double> x) {
  double sum = 0.0;
  for (const double v : x) sum += v;
  return comm.sum(sum);
}

struct ReactiveErrors {
  double flux = 0.0, surface = 0.0, surface_largest = 0.0;
};

ReactiveErrors reactive_errors(const Comm& comm, bool sphere, double damkoehler, double r, const Vec3& shift) {
  const double outer = 2.5 * r, rate = damkoehler / r;
  const int n = 2 * static_cast<int>(std::ceil(outer)) + 4;
  const Vec3 center = Vec3{0.5 * n, 0.5 * n, sphere ? 0.5 * n : 0.5} + (sphere ? shift : Vec3{shift[0], shift[1], 0});
  GridOptions grid = test::grid_of(n, 1);
  if (!sphere) {
    grid.cells = {n, n, 1};
    grid.size = {1.0, 1.0, 1.0 / n};
    grid.periodic = {false, false, true};
  }
  const auto body = [&](double radius) {
    return sphere ? make_level_set(Sphere{center, radius})
                  : make_level_set(Cylinder{frame_along(center, {0, 0, 1}), radius});
  };
  LevelSetParts parts;
  parts.push_back(body(r));
  parts.push_back(complement(body(outer)));
  const Geometry geometry = build_geometry(comm, grid, *union_of_solids(std::move(parts)), KeepPores::all);
  const auto is_inner = [=](const Vec3& x) {
    Vec3 d = x - center;
    if (!sphere) d[2] = 0.0;
    return norm(d) < 1.7 * r;
  };
  EllipticProblem problem, sealed, areas;
  problem.wall = [=](const Vec3& x) { return is_inner(x) ? robin(rate, 0.0) : dirichlet(1.0); };
  sealed.wall = [=](const Vec3& x) { return is_inner(x) ? neumann(0.0) : dirichlet(1.0); };
  areas.wall = [=](const Vec3& x) { return is_inner(x) ? neumann(1.0) : dirichlet(0.0); };
  EllipticOperator op(test::composite_on(comm, geometry), problem), without(test::composite_on(comm, geometry), sealed);
  const std::vector<double> flux = leaving(op, without, solve(op));
  std::vector<double> area(flux.size());  // of the reactive wall in each balance
  without.right_side({}, areas, area);
  const double resistance = sphere ? 1.0 - r / outer : std::log(outer / r);
  const double exact = 1.0 / (1.0 + damkoehler * resistance);  // concentration at the wall
  const double exact_area = sphere ? 4 * std::numbers::pi * r * r : 2 * std::numbers::pi * r;
  ReactiveErrors e;
  e.flux = total(comm, flux) / (rate * exact_area) / exact - 1.0;
  e.surface = total(comm, flux) / (rate * total(comm, area)) / exact - 1.0;
  for (std::size_t i = 0; i < area.size(); ++i)
    if (area[i] > 0.1)
      e.surface_largest = std::max(e.surface_largest, std::abs(flux[i] / (rate * area[i]) / exact - 1));
  e.surface_largest = comm.max(e.surface_largest);
  return e;
}

/// A manufactured problem on grids of n³ cells: largest and mean error, orders between the two finest grids. The patch
/// of level l is half as wide as that of l - 1.
struct Manufacture {
  std::string name;
  test::Shape shape;
  BoundaryKind wall, sides;
  int levels = 1;
  bool flat_at_ends = false;  ///< the solution; else test::wavy()
};
Json manufactured(const Comm& comm, const Manufacture& c) {
  Json rows = Json::array();
  for (const int n : {16, 32, 64}) {
    GridOptions grid = test::grid_of(n, 1);
    grid.levels = c.levels;
    if (c.levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.5, 0.25, 0.25}, {1.0, 0.75, 0.75}, 0});
    if (c.levels > 2)
      grid.refine.push_back({2, Refinement::Where::region, {0.625, 0.375, 0.375}, {0.875, 0.625, 0.625}, 0});
    const Geometry geometry = build_geometry(comm, grid, *c.shape.level_set(n), KeepPores::all);
    const auto m =
        test::manufactured(c.flat_at_ends ? test::flat_at_ends() : test::wavy(), c.shape, n, c.wall, c.sides);
    EllipticOperator op(test::composite_on(comm, geometry), m.problem);
    const bool free = c.wall == BoundaryKind::neumann && c.sides == BoundaryKind::neumann;
    const test::Errors e = test::errors_of(op, test::solve(op, m), m, free);
    rows.push_back({{"n", n}, {"largest", e.largest}, {"mean", e.mean}});
  }
  return {{"case", c.name},
          {"wall", name_of(c.wall)},
          {"levels", c.levels},
          {"solution", c.flat_at_ends ? "flat at the ends" : "wavy"},
          {"grids", rows},
          {"order_largest", last_order(rows, "largest", "n")},
          {"order_mean", last_order(rows, "mean", "n")}};
}

/// L3: largest difference of apply() and the assembled matrix over the largest value, and what the balances lack in
/// conservation (relative to Σ |y|), on a periodic packing of sealed spheres.
Json readers(const Comm& comm, int levels) {
  GridOptions grid = test::grid_of(16, 1, true);
  grid.levels = levels;
  if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.0, 0.0, 0.0}, {0.5, 0.5, 1.0}, 0});
  if (levels > 2) grid.refine.push_back({2, Refinement::Where::region, {0.1, 0.1, 0.1}, {0.2, 0.2, 0.4}, 0});
  const Geometry geometry = build_geometry(comm, grid, *test::packing(8, 4.2, 16, true), KeepPores::all);
  EllipticProblem problem;
  problem.wall = [](const Vec3&) { return neumann(1.0); };
  EllipticOperator op(test::composite_on(comm, geometry), problem);
  const PetscMatrix matrix(op);
  std::vector<double> x;
  for (const Vec3& p : op.positions()) x.push_back(std::sin(12.9 * p[0] + 78.2 * p[1] - 37.7 * p[2]));
  std::vector<double> applied(x.size()), multiplied(x.size());
  op.apply(x, applied);
  matrix.multiply(x, multiplied);
  const std::vector<double> volume = op.volumes();
  double difference = 0.0, largest = 1.0;
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(applied[i] - multiplied[i]));
    largest = std::max(largest, std::abs(applied[i]));
    if (volume[i] <= 0.0) continue;
    sums[0] += applied[i];
    sums[1] += std::abs(applied[i]);
  }
  comm.sum(std::span(sums));
  return {{"levels", levels},
          {"difference", comm.max(difference) / comm.max(largest)},
          {"conservation", std::abs(sums[0]) / sums[1]}};
}

/// L4: a reactive wall at radius r inside a wall at 2.5 r that holds 1; cylinders (one cell thick) or spheres. Largest
/// relative errors over four places of the centre: flux, mean concentration at the wall, that in any VoF.
Json reactive(const Comm& comm, bool sphere, double damkoehler, const std::vector<double>& radii) {
  Json rows = Json::array();
  for (const double r : radii) {
    ReactiveErrors worst;
    for (const Vec3& shift :
         {Vec3{0.13, -0.21, 0.07}, Vec3{0.38, 0.44, -0.31}, Vec3{-0.47, 0.02, 0.25}, Vec3{-0.05, -0.33, -0.42}}) {
      const ReactiveErrors e = reactive_errors(comm, sphere, damkoehler, r, shift);
      worst.flux = std::max(worst.flux, std::abs(e.flux));
      worst.surface = std::max(worst.surface, std::abs(e.surface));
      worst.surface_largest = std::max(worst.surface_largest, e.surface_largest);
    }
    rows.push_back(
        {{"radius", r}, {"flux", worst.flux}, {"surface", worst.surface}, {"surface_largest", worst.surface_largest}});
  }
  return {{"shape", sphere ? "spheres" : "cylinders"},
          {"damkoehler", damkoehler},
          {"grids", rows},
          {"order_flux", last_order(rows, "flux", "radius")},
          {"order_surface", last_order(rows, "surface", "radius")},
          {"order_surface_largest", last_order(rows, "surface_largest", "radius")}};
}

/// L5: effective diffusivity of a simple cubic array of spheres.
// Insulating spheres on a simple cubic lattice: multipoles up to order 21 with lattice sums over 40 periods
// (tests/verification/cubic_array.py); all digits given are the same with orders up to 13 and with sums over 30
// periods. Order 1 alone is Maxwell's 1 - 3f / (2 + f): 0.823529 and 0.560819.
Json cubic_array(const Comm& comm, double solid, int n) {
  const double exact = solid == 0.125 ? 0.8234499 : 0.5555672;
  const double radius = n * std::cbrt(0.75 * solid / std::numbers::pi);
  const Geometry geometry =
      build_geometry(comm, test::grid_of(n, 1), *make_level_set(Sphere{Vec3::all(0.5 * n), radius}), KeepPores::all);
  EllipticProblem problem, closed;
  problem.sides[1] = closed.sides[1] = [](const Vec3&) { return dirichlet(1.0); };
  problem.sides[0] = [](const Vec3&) { return dirichlet(0.0); };
  EllipticOperator op(test::composite_on(comm, geometry), problem), without(test::composite_on(comm, geometry), closed);
  const double value = total(comm, leaving(op, without, solve(op))) / n;
  return {{"solid", solid}, {"n", n}, {"diffusivity", value}, {"exact", exact}, {"error", value / exact - 1.0}};
}

/// Least and largest value of a solution between 0 and 1 in a packing of 48³ cells.
enum class Packing { regular, random };
Json bounds(const Comm& comm, Packing packing, bool dirichlet_walls) {
  const int n = 48;
  const bool random = packing == Packing::random;
  std::vector<Sphere> spheres;
  for (int i = 0; i < 27; ++i)
    spheres.push_back({n * Vec3{(i % 3 + 0.5) / 3, (i / 3 % 3 + 0.5) / 3, (i / 9 + 0.5) / 3}, 0.159 * n});
  const auto phi = random ? test::packing(128, 6.0, n, false) : make_sphere_list(spheres, {Vec3::all(n), {}});
  const Geometry geometry = build_geometry(comm, test::grid_of(n, 1), *phi, KeepPores::connected);
  EllipticProblem problem;
  problem.sides[0] = [](const Vec3&) { return dirichlet(0.0); };
  problem.sides[1] = [](const Vec3&) { return dirichlet(1.0); };
  if (dirichlet_walls) problem.wall = [](const Vec3& x) { return dirichlet(x[1] < 24.0 ? 0.0 : 1.0); };
  EllipticOperator op(test::composite_on(comm, geometry), problem);
  const std::vector<double> x = solve(op, 1e-12);
  const auto [lo, hi] = std::ranges::minmax(x);
  return {{"packing", random ? "random" : "27 spheres"},
          {"walls", dirichlet_walls ? "Dirichlet" : "sealed"},
          {"least", comm.min(lo)},
          {"beyond_1", comm.max(hi) - 1.0}};
}

std::vector<Manufacture> all_manufactured() {
  const BoundaryKind d = BoundaryKind::dirichlet, n = BoundaryKind::neumann, r = BoundaryKind::robin;
  const test::Shape outside = test::outside_sphere();
  const test::Shape inside = test::inside_sphere();
  const test::Shape tube = test::inside_tube();
  const test::Shape slit = test::tilted_slit();
  std::vector<Manufacture> cases;
  for (const BoundaryKind wall : {d, n, r}) {
    // Dirichlet ends and walls on grid lines have errors h²/8 ∂²φ/∂n² whose largest value comes near its limit like h
    // (slit: order 1.85, 1.90, 1.93 on 32³, 64³, 128³): there the solution has none of it at the ends.
    const bool flat = wall == d;
    for (const int levels : {1, 2, 3}) {
      cases.push_back({"outside a sphere", outside, wall, d, levels});
      cases.push_back({"inside a sphere", inside, wall, wall == n ? n : d, levels, flat});
      if (levels == 1) cases.push_back({"inside a tilted tube", tube, wall, d, levels});
      if (levels < 3) cases.push_back({"tilted slit", slit, wall, d, levels, flat});
    }
  }
  return cases;
}

Asked missed_by(const Json& all) {
  Asked ask;
  for (const Json& c : all["L1_L2"]) {
    ask(c["order_largest"] >= 1.9 && c["order_mean"] >= 1.95, c);
    ask(c["grids"].back()["largest"] < 6e-4, c);
    // Finer cells in a part leave the largest error as it is on one level, 1.17 times it at most. Pieces of sealed
    // walls with several homes at the boundary between levels made it three times as large, at full order (decision
    // 015).
    for (const Json& one : all["L1_L2"]) {
      const auto same = [&](const char* key) { return one[key].get<std::string>() == c[key].get<std::string>(); };
      if (one["levels"] != 1 || !same("case") || !same("wall") || !same("solution")) continue;
      for (std::size_t g = 0; g < c["grids"].size(); ++g)
        ask(c["grids"][g]["largest"] <= 1.25 * one["grids"][g]["largest"].get<double>(), c);
    }
  }
  for (const Json& c : all["L3"]) ask(c["difference"] < 1e-13 && c["conservation"] < 1e-12, c);
  for (const Json& c : all["L4"]) {
    ask(c["order_flux"] >= 1.8 && c["order_surface"] >= 1.8, c);
    for (const Json& g : c["grids"])
      if (g["radius"] == 12.8) ask(g["flux"] < 0.005, c);
  }
  for (const Json& c : all["L5"])
    if (c["n"] == 32) ask(std::abs(c["error"].get<double>()) < 0.01, c);
  for (const Json& c : all["bounds"]) ask(c["least"] > -1e-9 && c["beyond_1"] < 1e-9, c);
  return ask;
}

void run(const Comm& comm) {
  const PetscSession petsc;
  Json all;
  for (const Manufacture& c : all_manufactured()) all["L1_L2"].push_back(manufactured(comm, c));
  for (const int levels : {1, 2, 3}) all["L3"].push_back(readers(comm, levels));
  for (const double damkoehler : {0.1, 1.0, 178.0}) {
    all["L4"].push_back(reactive(comm, false, damkoehler, {6.4, 12.8, 25.6}));
    all["L4"].push_back(reactive(comm, true, damkoehler, {6.4, 12.8}));
  }
  for (const double solid : {0.125, 0.343})
    for (const int n : {16, 32, 48}) all["L5"].push_back(cubic_array(comm, solid, n));
  for (const Packing packing : {Packing::regular, Packing::random})
    for (const bool dirichlet_walls : {true, false}) all["bounds"].push_back(bounds(comm, packing, dirichlet_walls));
  print_figures(comm, all, missed_by(all));
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [](const karst::Comm& comm) { karst::run(comm); });
}
