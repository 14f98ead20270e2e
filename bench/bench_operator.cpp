// SPDX-License-Identifier: BSD-3-Clause
// One application of the accurate elliptic operator, compared with the triad of bench_triad: time per fluid cell for
// increasing numbers of irregular cells (spheres of radius 10 in a periodic cube), for a sealed and a Dirichlet wall.
//   bench_operator [cells per direction = 128] [box = 16] [threads = 1]
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/comm/parallel.hpp"
#include "base/file/run_guarded.hpp"
#include "eb/shapes/shapes.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace {

using namespace karst;

double seconds_of(auto&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// y = a + 3 b over n values each [GB/s], 24 bytes per value.
double triad(std::int64_t n) {
  constexpr std::int64_t block = 1 << 14;
  const auto blocks = (n + block - 1) / block;
  const std::size_t size = blocks * block;
  Array<double> a(size, Purpose::fields, 1.0), b(size, Purpose::fields, 2.0), y(size, Purpose::fields, 0.0);
  double best = 1e30;
  for (int round = 0; round < 20; ++round)
    best = std::min(best, seconds_of([&] {
                      parallel_for(blocks, [&](std::int64_t i) {
                        double* __restrict to = y.data() + i * block;
                        const double *p = a.data() + i * block, *q = b.data() + i * block;
                        for (std::int64_t k = 0; k < block; ++k) to[k] = p[k] + 3.0 * q[k];
                      });
                    }));
  return 24.0 * static_cast<double>(size) / best * 1e-9;
}

/// Nanoseconds per value, best of many: one vector again and again; three by C at a time.
template <int C>
double time_of(EllipticOperator& op, int vectors) {
  const auto n = static_cast<std::size_t>(op.numbering().n_own()), all = n * static_cast<std::size_t>(vectors);
  std::vector<double> x(all, 1.0), y(all);
  double best = 1e30;
  const int rounds = std::max(10, static_cast<int>(4e7 / static_cast<double>(all)));
  for (int i = 0; i < rounds; ++i)
    best = std::min(best, seconds_of([&] {
                      for (std::size_t first = 0; first < all; first += C * n)
                        op.apply<C>(std::span(x).subspan(first, C * n), std::span(y).subspan(first, C * n));
                    }));
  return best / static_cast<double>(all) * 1e9;
}

void report(const Comm& comm, int n, int box) {
  const double bandwidth = triad(static_cast<std::int64_t>(n) * n * n);
  fmt::print("{} thread(s), triad {:.1f} GB/s\n", n_threads(), bandwidth);
  double first[2] = {0.0, 0.0};
  for (const int percent_solid : {0, 2, 17, 45}) {
    const double volume = 4.0 / 3.0 * 3.14159265 * 1000.0;
    const int spheres = std::max(1, static_cast<int>(-std::log(1.0 - 0.01 * percent_solid) * std::pow(n, 3) / volume));
    GridOptions grid = test::grid_of(n, 1, true);
    grid.box = box;
    const auto phi =
        percent_solid == 0 ? make_level_set(Sphere{Vec3::all(-1e6), 1.0}) : test::packing(spheres, 10.0, n, true);
    const Geometry geometry = build_geometry(comm, grid, *phi, KeepPores::connected);
    EllipticProblem sealed, no_slip;
    no_slip.wall = [](const Vec3&) { return dirichlet(0.0); };
    int i = 0;
    for (const EllipticProblem& problem : {sealed, no_slip}) {
      EllipticOperator op(test::composite_on(comm, geometry), problem);
      const double t = time_of<1>(op, 1), in_turn = time_of<1>(op, 3), together = time_of<3>(op, 3),
                   cells = static_cast<double>(op.numbering().n_own());
      if (first[i] == 0.0) first[i] = t;
      fmt::print(
          "{:5.2f} % irregular, {:9}: {:.2f} ns per cell ({:.2f} x; three vectors in turn {:.2f}, side by side "
          "{:.2f}), "
          "{:4.1f} GB/s read and written ({:3.0f} % of the "
          "triad), {:.1f} "
          "entries per wide row, {:.0f} bytes per cell\n",
          100.0 * static_cast<double>(op.counts().wide_rows) / cells, i == 0 ? "sealed" : "Dirichlet", t, t / first[i],
          in_turn, together, 16.0 / t, 1600.0 / t / bandwidth,
          static_cast<double>(op.counts().entries) / std::max(1.0, static_cast<double>(op.counts().wide_rows)),
          static_cast<double>(op.bytes()) / cells);
      ++i;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  return run_guarded(argc, argv, [&](const Comm& comm) {
    set_n_threads(number(3, 1));
    report(comm, number(1, 128), number(2, 16));
  });
}
