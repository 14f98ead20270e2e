// SPDX-License-Identifier: BSD-3-Clause
// Graph multigrid on the two-point operator: set-up, one cycle, whole solves with conjugate gradients, memory.
//   bench_multigrid [cells per direction = 128] [porosity = 0.35] [box = 16] [threads = 1] [radius = 10]
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "base/main.hpp"
#include "base/parallel.hpp"
#include "base/timer.hpp"
#include "solvers/conjugate_gradients.hpp"
#include "tests/support/level_cases.hpp"

namespace {

using namespace karst;

double seconds_of(auto&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void report(const Comm& comm, const LevelGeometry& geometry, const std::string& name, const TwoPointProblem& problem) {
  const auto cells = static_cast<double>(comm.sum(geometry.graph.counts().vofs));
  const auto per_cell = [&](double seconds) { return seconds / cells * 1e9; };
  const TwoPointLevel level = make_two_point_level(geometry, problem);
  double set_up = 1e30;
  for (int i = 0; i < 3; ++i) set_up = std::min(set_up, seconds_of([&] { const GraphMultigrid once(comm, level); }));
  GraphMultigrid multigrid(comm, level);
  Field b(geometry.graph), x(geometry.graph);
  for (int box = 0; box < b.n_local(); ++box) {
    const std::int64_t first = (geometry.graph.first_box() + box) * 4096;
    for (std::size_t v = 0; v < b.own(box).size(); ++v)
      b.own(box)[v] = test::Random(static_cast<std::uint64_t>(first) + v)() - 0.5;
  }
  double cycle = 1e30, solve = 1e30;
  for (int i = 0; i < 10; ++i) cycle = std::min(cycle, seconds_of([&] { multigrid.apply(b, x); }));
  CgResult result;
  for (int i = 0; i < 3; ++i) {
    x.fill(0.0);
    solve = std::min(solve, seconds_of([&] { result = solve_cg(comm, multigrid, b, x, 1e-8, 200); }));
  }
  if (comm.rank() == 0)
    fmt::print(
        "{:9} {} cells, {} iterations; ns per fluid cell: set-up {:.1f}, cycle {:.2f}, solve {:.1f} ({:.2f} per "
        "iteration); {:.1f} bytes per fluid cell\n          {}\n",
        name, cells, result.iterations, per_cell(set_up), per_cell(cycle), per_cell(solve),
        per_cell(solve) / result.iterations, static_cast<double>(comm.sum(multigrid.bytes())) / cells,
        multigrid.summary());
}

void run(const Comm& comm, int n, double porosity, int box, double radius) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  const int spheres = static_cast<int>(-std::log(porosity) * std::pow(n, 3) / volume);
  const auto phi = test::packing(spheres, radius, n, true);
  const BuiltLevel built =
      test::single_level(comm, *phi, {Index::all(n), {false, true, true}}, box, KeepPores::connected);
  TwoPointProblem pressure;
  pressure.dirichlet_side[0] = pressure.dirichlet_side[1] = true;
  report(comm, built.geometry, "pressure", pressure);
  TwoPointProblem velocity;
  velocity.wall = [](int, int, const VofMoments& vof) { return 1.0 / wall_distance(vof); };
  report(comm, built.geometry, "velocity", velocity);
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
  return run_guarded(argc, argv, [&](const Comm& comm) {
    set_n_threads(static_cast<int>(number(4, 1)));
    run(comm, static_cast<int>(number(1, 128)), number(2, 0.35), static_cast<int>(number(3, 16)), number(5, 10));
    const std::string table = timer_table(collect_timers(comm));
    if (comm.rank() == 0) fmt::print("\n{}", table);
  });
}
