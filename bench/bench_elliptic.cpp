// SPDX-License-Identifier: BSD-3-Clause
// Complete solves of the accurate elliptic operator: iterations to 1e-8, time of set-up and solve, memory, with the
// multigrid of Karst and with PETSc's AMG on the assembled matrix. The right-hand sides are nearly white noise. Shapes:
// packing (spheres of radius 10, porosity 0.35, open in x, periodic in y and z), fractures (two slits 1.5 cells wide
// that cross), empty.
//   bench_elliptic [cells per direction = 128] [threads = 1] [preconditioners = graph,gamg,hypre] [box = 16]
//                  [shape = packing]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numbers>
#include <optional>
#include <span>

#include "base/comm/parallel.hpp"
#include "base/core/text.hpp"
#include "base/file/run_guarded.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/multigrid_cases.hpp"

namespace {

using namespace karst;

/// Wall-clock time and processor time of all threads; the latter does not grow when others use the machine.
struct Times {
  double wall = 0.0, processor = 0.0;
};
double read(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
Times times_of(auto&& f) {
  const double wall = read(CLOCK_MONOTONIC), processor = read(CLOCK_PROCESS_CPUTIME_ID);
  f();
  return {read(CLOCK_MONOTONIC) - wall, read(CLOCK_PROCESS_CPUTIME_ID) - processor};
}
/// "wall / processor" in ns per unknown, the slowest rank.
std::string show(const Comm& comm, const Times& t, double cells) {
  return fmt::format("{:.0f} / {:.0f}", 1e9 * comm.max(t.wall) / cells, 1e9 * comm.max(t.processor) / cells);
}

/// Bytes per unknown of all ranks by purpose, what the arena counts now.
std::string memory_now(const Comm& comm, double cells) {
  std::string text;
  for (int p = 0; p < n_purposes; ++p)
    text += fmt::format("{} {:.1f}, ", name_of(static_cast<Purpose>(p)),
                        static_cast<double>(comm.sum(arena::bytes_now(static_cast<Purpose>(p)))) / cells);
  return text;
}
double peak(const Comm& comm) { return static_cast<double>(comm.sum(arena::peak_resident_set())); }
double start = 0.0;  ///< peak before the geometry

void solve_with(EllipticOperator& op, const std::string& way, std::span<const double> b, double cells) {
  const Comm& comm = op.comm();
  const std::string prefix = way + "_";
  if (way != "graph") set_petsc_option("-" + prefix + "pc_type", way);
  const double before = peak(comm);
  std::vector<double> x(b.size());
  std::optional<KrylovSolver> solver;
  const Times set_up = times_of([&] { solver.emplace(op, KrylovOptions{way, prefix, 1e-8, 200, 1e-8}); });
  SolveReport report;
  const Times solve = times_of([&] { report = solver->solve(b, x); });
  const std::string first = show(comm, set_up, cells), second = show(comm, solve, cells),
                    memory = memory_now(comm, cells);
  const double all = peak(comm);
  if (comm.rank() == 0)
    fmt::print(
        "  {}: {} iterations of {}, true residual {:.1e}; ns per cell, wall / processor: set-up {}, solve {}; peak + "
        "{:.0f}, in all {:.0f} bytes per cell\n    bytes per cell: {}\n",
        way, report.iterations, report.method, report.true_residual, first, second, (all - before) / cells,
        (all - start) / cells, memory);
}

void report(const Comm& comm, const Geometry& geometry, test::Walls walls, const std::vector<std::string>& ways) {
  const EllipticProblem problem = test::problem_with(walls);
  std::optional<EllipticOperator> op;
  const Times build = times_of([&] { op.emplace(test::composite_on(comm, geometry), problem); });
  const std::size_t n = op->numbering().n_own();
  const double cells = static_cast<double>(comm.sum(static_cast<std::int64_t>(n)));
  const double wide = static_cast<double>(op->counts().wide_rows);
  std::vector<double> b(n);
  op->right_side(test::random_values(make_two_point_levels(*test::composite_on(comm, geometry), problem)), b);
  const std::string shown = show(comm, build, cells);
  const double bytes = static_cast<double>(comm.sum(op->bytes()));
  if (comm.rank() == 0)
    fmt::print("{} walls: {:.0f} cells, {:.1f} % irregular; operator {} ns per cell, {:.1f} bytes per cell\n",
               walls == test::Walls::neumann ? "Neumann" : "Dirichlet", cells, 100.0 * wide / cells, shown,
               bytes / cells);
  for (const std::string& way : ways) solve_with(*op, way, b, cells);
}

struct Case {
  int n = 128, box = 16;
  std::string shape = "packing";
  std::vector<std::string> ways;
};

std::unique_ptr<LevelSet> level_set_of(const Case& c) {
  constexpr double porosity = 0.35, radius = 10.0;
  if (c.shape == "fractures") return test::crossing_slits(c.n);
  if (c.shape == "empty") return make_level_set(Sphere{Vec3::all(-1e6), 1.0});
  require(c.shape == "packing", "shape '{}'; packing, fractures or empty are known", c.shape);
  const double volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  return test::packing(static_cast<int>(-std::log(porosity) * std::pow(c.n, 3) / volume), radius, c.n, true);
}

void run(const Comm& comm, const Case& c) {
  GridOptions grid = test::grid_of(c.n, 1, c.shape != "fractures");
  grid.periodic[0] = false;
  grid.box = c.box;
  start = peak(comm);
  const Geometry geometry = build_geometry(comm, grid, *level_set_of(c), KeepPores::connected);
  if (comm.rank() == 0)
    fmt::print("{} {}^3 cells, {} rank(s) of {} thread(s)\n", c.shape, c.n, comm.size(), n_threads());
  report(comm, geometry, test::Walls::neumann, c.ways);
  if (c.shape != "empty") report(comm, geometry, test::Walls::dirichlet, c.ways);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  return run_guarded(argc, argv, [&](const Comm& comm) {
    set_n_threads(number(2, 1));
    const PetscSession petsc;
    run(comm, {number(1, 128), number(4, 16), argc > 5 ? argv[5] : "packing",
               split(argc > 3 ? argv[3] : "graph,gamg,hypre", ',')});
  });
}
