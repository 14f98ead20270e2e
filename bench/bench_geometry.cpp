// SPDX-License-Identifier: BSD-3-Clause
// Time and memory of the whole geometry of a packing of overlapping spheres: layout, cutting, linking, graph.
//   bench_geometry [cells per direction = 128] [cells per radius = 10] [porosity = 0.35] [box = 16] [threads = 1]
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <numbers>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/format.hpp"
#include "base/file/run_guarded.hpp"
#include "eb/geometry.hpp"
#include "tests/support/level_cases.hpp"

namespace karst {

namespace {

/// Processor time of all threads of this process; unlike wall-clock time it does not grow when others use the machine.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Bytes of moments and of their share of the tables per irregular VoF, and of tables per other VoF.
void print_memory(const LevelReport& r, const LevelGeometry& level) {
  const GraphCounts& n = level.graph.counts();
  const double row = sizeof(std::uint16_t) * 2 + sizeof(std::array<std::uint16_t, 6>);
  const auto irregular = static_cast<double>(n.irregular);
  const auto regular = static_cast<double>(n.vofs - n.irregular);
  std::int64_t runs = 0;
  for (int b = 0; b < level.graph.n_local(); ++b) runs += static_cast<std::int64_t>(level.graph.box(b).runs.size());
  const double irregular_bytes =
      static_cast<double>(r.bytes_moments) + row * irregular + static_cast<double>(n.extra_faces) * sizeof(ExtraFace);
  const double rest = static_cast<double>(r.bytes_connectivity) - row * irregular;
  fmt::print("memory      {:8.1f} B per irregular VoF (moments, extra faces, table row)\n",
             irregular_bytes / irregular);
  fmt::print(
      "            {:8.2f} B per regular VoF (runs {:.2f}, table rows {:.2f}), {:.2f} with halo lists and plans\n",
      (static_cast<double>(runs) * sizeof(Run) + row * static_cast<double>(n.in_rows - n.irregular)) / regular,
      static_cast<double>(runs) * sizeof(Run) / regular, row * static_cast<double>(n.in_rows - n.irregular) / regular,
      rest / regular);
  fmt::print("            {:8.3f} slots per fluid cell in a field\n",
             static_cast<double>(n.slots) / static_cast<double>(n.vofs));
  fmt::print("            {:8.1f} B per fluid cell in all, peak resident set {}\n",
             static_cast<double>(r.bytes_connectivity + r.bytes_moments) / static_cast<double>(r.vofs),
             format_bytes(static_cast<double>(arena::peak_resident_set())));
}

void run(const Comm& comm, int n, double radius, double porosity, int box) {
  const double volume = 4.0 / 3.0 * std::numbers::pi * radius * radius * radius;
  const int spheres = static_cast<int>(-std::log(porosity) * std::pow(n, 3) / volume);  // overlapping: φ = exp(-n V)
  const auto phi = test::packing(spheres, radius, n, true);
  GridOptions grid;
  grid.cells = Index::all(n);
  grid.size = Vec3::all(1.0);
  grid.periodic = {true, true, true};
  grid.box = box;
  const Timer all("all");
  const double before = processor_seconds();
  const Geometry geometry = build_geometry(comm, grid, *phi, KeepPores::connected);
  const double seconds = all.seconds(), processor = processor_seconds() - before;
  const LevelReport& r = geometry.report.levels[0];
  const auto cells = static_cast<double>(r.cut.cells_covered + r.cut.cells_regular + r.cut.cells_cut);
  fmt::print("packing     {}^3 cells, {} spheres of {} cells, box {}, {} threads, {} ranks\n", n, spheres, radius, box,
             n_threads(), comm.size());
  fmt::print(
      "cells       porosity {:.4f}, {} VoFs, {} irregular ({:.1f} %), {} cut cells, {} joined, {} orphans, {} extra "
      "faces, {} multi-valued, {} subdivided\n",
      geometry.report.porosity, r.vofs, r.irregular,
      100.0 * static_cast<double>(r.irregular) / static_cast<double>(r.vofs), r.cut.cells_cut, r.joined, r.orphans,
      r.extra_faces, r.multivalued_vofs, r.cut.cells_subdivided);
  fmt::print("pores       {} found, {} removed with {:.1f} cells; gaps closed {}, walls lost {}\n", r.pores,
             r.pores_removed, r.removed_volume, r.cut.gaps_closed, r.cut.walls_lost);
  fmt::print("pruned      {} of {} boxes, {:.1f} % of the cells take no memory\n", r.boxes_asked - r.boxes,
             r.boxes_asked, 100.0 * (1.0 - static_cast<double>(r.vofs) / std::pow(n, 3)));
  fmt::print("time        {:.3f} s, processor {:.3f} s: {:.2f} µs per cut cell, {:.3f} µs per cell\n", seconds,
             processor, 1e6 * processor / static_cast<double>(r.cut.cells_cut), 1e6 * processor / cells);
  print_memory(r, geometry.levels[0]);
}

}  // namespace

}  // namespace karst

int main(int argc, char** argv) {
  const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) {
    karst::set_n_threads(static_cast<int>(number(5, 1)));
    karst::run(comm, static_cast<int>(number(1, 128)), number(2, 10), number(3, 0.35), static_cast<int>(number(4, 16)));
    fmt::print("\n{}", karst::timer_table(karst::collect_timers(comm)));
  });
}
