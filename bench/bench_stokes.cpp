// SPDX-License-Identifier: BSD-3-Clause
// Steady Stokes flow through a packing of porosity 0.35: set-up, solve, iterations, memory, and one Poisson solve on
// the same cells for comparison.
//   bench_stokes [cells per direction = 64] [radius = 10] [tolerance = 1e-6] [threads = 1] [box = 16]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "base/comm/parallel.hpp"
#include "base/file/run_guarded.hpp"
#include "bench/clock.hpp"
#include "support/ground_cases.hpp"
#include "tests/support/flow_cases.hpp"
#include "tests/support/multigrid_cases.hpp"

namespace {

using namespace karst;

struct Case {
  int n = 64;
  double radius = 10.0, tolerance = 1e-6;
  int threads = 1, box = 16;
};

void run(const Comm& comm, const Case& c) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * std::pow(c.radius, 3);
  const int spheres = static_cast<int>(-std::log(0.35) * std::pow(c.n, 3) / volume);
  const double start = now();
  const Geometry geometry = build_geometry(comm, test::flow_grid(Index::all(c.n), {false, true, true}, c.box),
                                           *test::packing(spheres, c.radius, c.n, true), KeepPores::connected);
  const double cut = now();
  StokesOptions options;
  options.krylov.tolerance = c.tolerance;
  FlowSides sides{};
  sides[0] = sides[1] = FlowSide::pressure;
  StokesSolver solver(test::composite_on(comm, geometry), sides, options);
  const double ready = now();
  StokesDrive drive;
  drive.at_end[0] = c.n;
  const StokesReport report = solver.solve(drive);
  const double solved = now();
  const std::vector<TwoPointLevel> levels =
      make_two_point_levels(*test::composite_on(comm, geometry), test::problem_with(test::Walls::neumann));
  GraphMultigrid multigrid(comm, levels);
  const std::vector<double> b = test::solvable_values(multigrid, levels);
  std::vector<double> x(b.size());
  const double poisson = now();
  const test::CgResult cg = test::solve_cg(comm, multigrid, b, x, c.tolerance, 200);
  const double end = now();
  const auto cells = static_cast<double>(solver.op().counts().flow_cells);
  const std::int64_t bytes = comm.sum(solver.bytes());
  if (comm.rank() != 0) return;
  const auto per_cell = [&](double seconds) { return 1e9 * seconds / cells; };
  fmt::print("{} flow cells of {}^3, permeability {:.6g} h²\n", cells, c.n, report.velocity[0]);
  fmt::print("ns per flow cell: geometry {:.0f}, set-up {:.0f}, solve {:.0f} ({} iterations to {:.0e}, {:.0f} each)\n",
             per_cell(cut - start), per_cell(ready - cut), per_cell(solved - ready), report.krylov.iterations,
             c.tolerance, per_cell(solved - ready) / report.krylov.iterations);
  fmt::print("one Poisson solve: {:.0f} ns ({} iterations); Stokes / Poisson {:.1f}\n", per_cell(end - poisson),
             cg.iterations, (solved - ready) / (end - poisson));
  fmt::print("{}\n", solver.summary());
  fmt::print("{:.0f} bytes per flow cell without the geometry\n", static_cast<double>(bytes) / cells);
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [&](const Comm& comm) {
    Case c;
    if (argc > 1) c.n = std::atoi(argv[1]);
    if (argc > 2) c.radius = std::atof(argv[2]);
    if (argc > 3) c.tolerance = std::atof(argv[3]);
    if (argc > 4) c.threads = std::atoi(argv[4]);
    if (argc > 5) c.box = std::atoi(argv[5]);
    set_n_threads(c.threads);
    run(comm, c);
  });
}
