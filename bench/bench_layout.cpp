// SPDX-License-Identifier: BSD-3-Clause
// Cost of the metadata: layouts of 10^4, 10^5 and 10^6 boxes, cut into 1000 parts, and a VoF graph with its halo plan
// on one rank: one VoF per box, connected to the six boxes around it, so that only the cost of boxes is measured. Each
// time is the best of several. The cost should grow as n log n: the columns ns/nlog2n, time / (n log2 n), should be
// constant.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "base/comm/memory.hpp"
#include "base/file/run_guarded.hpp"
#include "grid/layout_builder.hpp"
#include "grid/level_graph.hpp"
#include "grid/partition.hpp"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

/// Shortest time of a number of calls [s].
template <class F>
double best_time(int repeats, F&& f) {
  double best = 1e30;
  for (int r = 0; r < repeats; ++r) {
    const auto start = Clock::now();
    f();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

constexpr int box_size = 16;

/// Every third box holds no fluid, so the list is as ragged as that of a rock.
double cost(const Box& box) {
  const int mix = box.lo[0] / box_size * 7 + box.lo[1] / box_size * 13 + box.lo[2] / box_size * 29;
  return mix % 3 == 0 ? 0.0 : 1.0 + mix % 5;
}

/// One VoF, joined to those of the boxes around.
BoxAdjacency single_vof(const Layout& layout, std::int64_t box) {
  BoxAdjacency a;
  a.cell = {0};
  a.irregular = {1};
  a.primary.resize(1);
  for (int side = 0; side < 6; ++side) {
    const std::int64_t there = layout.find(layout.lattice_position(box) + side_offset(side));
    a.primary[0][side] = there < 0 ? no_face : vof_name(there, 0);
  }
  return a;
}

void measure(const Comm& comm, int lattice, int repeats) {
  constexpr int n_ranks = 1000;
  const Domain domain{Index::all(lattice * box_size), {true, true, true}};
  BuiltLayout built;
  const double t_layout = best_time(repeats, [&] { built = build_layout(comm, domain, box_size, cost); });

  Layout layout;
  double imbalance = 0;
  const double t_partition = best_time(repeats, [&] {
    std::vector<double> weights;
    for (std::int64_t b = 0; b < built.layout.n_boxes(); ++b) weights.push_back(cost(built.layout.box(b)));
    Partition cut = partition(weights, n_ranks);
    imbalance = cut.imbalance;
    layout = Layout(domain, box_size, built.layout.keys(), std::move(cut.begin));
  });

  std::int64_t found = 0;
  const double t_find = best_time(repeats, [&] {
    for (std::int64_t b = 0; b < layout.n_boxes(); ++b)
      found += layout.find(layout.lattice_position(b) + Index{1, 0, 0}) >= 0;
  });

  std::int64_t graph_bytes = 0;
  const double t_graph = best_time(repeats, [&] {
    const Layout& one_rank = built.layout;
    graph_bytes = build_level_graph(comm, one_rank, [&](std::int64_t b) { return single_vof(one_rank, b); }).bytes();
  });

  const auto n = static_cast<double>(layout.n_boxes());
  const auto per_n_log_n = [&](double t) { return t / (n * std::log2(n)) * 1e9; };
  fmt::print("{:>9} {:>9} {:>9.4f} {:>11.4f} {:>9.3f} {:>9.1f} {:>9.2f} {:>9.4f} {:>8.1f} {:>9.2f}\n", built.candidates,
             layout.n_boxes(), t_layout, t_partition, imbalance, 8 * n / 1024, per_n_log_n(t_layout + t_find), t_graph,
             static_cast<double>(graph_bytes) / n, per_n_log_n(t_graph));
  if (found == 0) fmt::print("no neighbours were found\n");
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [](const Comm& comm) {
    fmt::print("{:>9} {:>9} {:>9} {:>11} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9}\n", "lattice", "boxes", "layout s",
               "partition s", "imbalance", "keys KiB", "ns/nlog2n", "graph s", "B/box", "ns/nlog2n");
    measure(comm, 25, 50);
    measure(comm, 53, 10);
    measure(comm, 115, 3);
    fmt::print("peak resident set {:.1f} MiB\n", static_cast<double>(arena::peak_resident_set()) / (1 << 20));
  });
}
