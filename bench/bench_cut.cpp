// SPDX-License-Identifier: BSD-3-Clause
// Time of cutting: µs per cut cell on one thread, for a packing of spheres (10 cells per radius) and one sphere.
//   bench_cut [cells per direction = 128] [box width = 16]
#include <fmt/core.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "eb/cut/cut_box.hpp"
#include "eb/shapes/sphere_list.hpp"

namespace {

using namespace karst;

/// Processor time of this thread.
double seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Randomly placed spheres that barely overlap, added until many attempts in a row fail.
std::vector<Sphere> random_packing(int n, double radius) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(0, n);
  std::vector<Sphere> spheres;
  for (int failed = 0; failed < 20000;) {
    const Vec3 c{place(random), place(random), place(random)};
    bool free = true;
    for (const Sphere& s : spheres) free = free && norm(s.center - c) > 1.98 * radius;
    failed = free ? 0 : failed + 1;
    if (free) spheres.push_back({c, radius});
  }
  return spheres;
}

void measure(const char* name, const std::vector<Sphere>& spheres, int n, int width) {
  const auto phi = make_sphere_list(spheres, {{1.0 * n, 1.0 * n, 1.0 * n}, {true, true, true}});
  const Smoothness smoothness = phi->smoothness();
  CutCounts counts;
  double classifying = 0, localising = 0, cutting = 0, estimate = 0;
  std::int64_t boxes = 0, mixed = 0;
  for_each_cell({{0, 0, 0}, Index::all((n + width - 1) / width)}, [&](const Index& b) {
    const Box cells{width * b, intersect({width * b, width * (b + Index::all(1))}, {{}, Index::all(n)}).hi};
    Vec3 lo, hi;
    for (int d = 0; d < 3; ++d) lo[d] = cells.lo[d], hi[d] = cells.hi[d];
    const double t0 = seconds();
    const auto local = phi->local(lo, hi);
    const double t1 = seconds();
    const BoxContent content = classify(*local, smoothness, cells, 0);
    const double t2 = seconds();
    counts += cut_box(*local, smoothness, cells, 0).counts;
    cutting += seconds() - t2;
    classifying += t2 - t1;
    localising += t1 - t0;
    estimate += content.cut_cells;
    mixed += content.kind == BoxContent::Kind::mixed;
    ++boxes;
  });
  const double cut = static_cast<double>(counts.cells_cut);
  const double us = 1e6 / cut;
  fmt::print("{}: {} spheres, {}^3 cells, boxes of {}^3: {} ({} mixed)\n", name, spheres.size(), n, width, boxes,
             mixed);
  fmt::print(
      "  cells: {} covered, {} regular, {} cut (estimate {:.0f}), {} multi-valued, {} on a sub-lattice; {} gaps "
      "closed\n",
      counts.cells_covered, counts.cells_regular, counts.cells_cut, estimate, counts.cells_multivalued,
      counts.cells_subdivided, counts.gaps_closed);
  fmt::print("  µs per cut cell: local φ {:.3f}, classify {:.3f}, cut {:.3f}; together {:.3f}; ns per cell {:.2f}\n",
             us * localising, us * classifying, us * cutting, us * (localising + classifying + cutting),
             1e9 * cutting / (1.0 * n * n * n));
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 128, width = argc > 2 ? std::atoi(argv[2]) : 16;
  measure("packing", random_packing(n, 10.0), n, width);
  measure("one sphere", {{{0.503 * n, 0.497 * n, 0.49 * n}, 0.37 * n}}, n, width);
}
