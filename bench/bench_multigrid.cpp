// SPDX-License-Identifier: BSD-3-Clause
// Graph multigrid on the two-point operator: set-up, one cycle, whole solves with conjugate gradients, memory.
//   bench_multigrid [cells per direction = 128] [porosity = 0.35] [box = 16] [threads = 1] [radius = 10] [levels = 1]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/file/run_guarded.hpp"
#include "bench/clock.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/ground_cases.hpp"
#include "tests/support/multigrid_cases.hpp"
#include "tests/unit/solvers/two_point_amg.hpp"

namespace {

using namespace karst;

double seconds_of(auto&& f) {
  const double start = now();
  f();
  return now() - start;
}

void report(const Comm& comm, const Geometry& geometry, const std::string& name, const EllipticProblem& problem) {
  const std::vector<TwoPointLevel> levels = make_two_point_levels(*test::composite_on(comm, geometry), problem);
  double set_up = 1e30;
  for (int i = 0; i < 3; ++i) set_up = std::min(set_up, seconds_of([&] { const GraphMultigrid once(comm, levels); }));
  GraphMultigrid multigrid(comm, levels);
  const auto cells = static_cast<double>(multigrid.nodes()[0]);
  const auto per_cell = [&](double seconds) { return seconds / cells * 1e9; };
  const std::vector<double> b = test::solvable_values(multigrid, levels);
  std::vector<double> x(b.size());
  double cycle = 1e30, solve = 1e30;
  for (int i = 0; i < 10; ++i) cycle = std::min(cycle, seconds_of([&] { multigrid.apply(b, x); }));
  const std::int64_t bytes = comm.sum(multigrid.bytes());
  test::CgResult result;
  for (int i = 0; i < 3; ++i) {
    std::ranges::fill(x, 0.0);
    solve = std::min(solve, seconds_of([&] { result = test::solve_cg(comm, multigrid, b, x, 1e-8, 200); }));
  }
  std::string others;
  if (levels.size() == 1)
    for (const std::string amg : {"gamg", "hypre"}) {
      const std::int64_t before = arena::peak_resident_set();
      const test::AmgResult r = test::solve_two_point_with_amg(comm, levels[0], amg, b, x, 1e-8);
      others += fmt::format(
          "          {:6} {} iterations, ns of processor time per unknown: set-up {:.1f}, solve {:.1f}; peak of the "
          "process + {:.0f} bytes per unknown\n",
          amg, r.iterations, 1e9 * comm.max(r.set_up_seconds) / cells, 1e9 * comm.max(r.solve_seconds) / cells,
          static_cast<double>(arena::peak_resident_set() - before) * comm.size() / cells);
    }
  if (comm.rank() != 0) return;
  fmt::print("{:9} {} unknowns, {} iterations; ns per unknown: set-up {:.1f}, cycle {:.2f}, solve {:.1f}", name, cells,
             result.iterations, per_cell(set_up), per_cell(cycle), per_cell(solve));
  fmt::print(" ({:.2f} per iteration); {:.1f} bytes per unknown\n          {}\n", per_cell(solve) / result.iterations,
             static_cast<double>(bytes) / cells, multigrid.summary());
  fmt::print("{}", others);
}

struct Case {
  int n = 128;
  double porosity = 0.35;
  int box = 16;
  double radius = 10.0;
  int levels = 1;
};

void run(const Comm& comm, const Case& c) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * c.radius * c.radius * c.radius;
  const int spheres = static_cast<int>(-std::log(c.porosity) * std::pow(c.n, 3) / volume);
  GridOptions grid;
  grid.cells = Index::all(c.n);
  grid.size = Vec3::all(1.0);
  grid.periodic = {false, true, true};
  grid.box = c.box;
  grid.levels = c.levels;
  for (int l = 1; l < c.levels; ++l) grid.refine.push_back({l, Refinement::Where::wall, {}, {}, 1});
  const Geometry geometry =
      build_geometry(comm, grid, *test::packing(spheres, c.radius, c.n, true), KeepPores::connected);
  report(comm, geometry, "pressure", test::problem_with(test::Walls::neumann));
  report(comm, geometry, "velocity", test::problem_with(test::Walls::dirichlet));
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
  return run_guarded(argc, argv, [&](const Comm& comm) {
    set_n_threads(static_cast<int>(number(4, 1)));
    const PetscSession petsc;
    run(comm, {static_cast<int>(number(1, 128)), number(2, 0.35), static_cast<int>(number(3, 16)), number(5, 10),
               static_cast<int>(number(6, 1))});
    const std::string table = timer_table(collect_timers(comm));
    if (comm.rank() == 0) fmt::print("\n{}", table);
  });
}
