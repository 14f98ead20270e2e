// SPDX-License-Identifier: BSD-3-Clause
// Cost of the metadata: layouts of 10^4, 10^5 and 10^6 boxes, and the neighbour plan of one of 1000 pretended ranks.
// The cost should grow as n log n: the last column, time / (n log2 n), stays level.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "base/main.hpp"
#include "base/memory.hpp"
#include "grid/box_neighbours.hpp"
#include "grid/layout_builder.hpp"
#include "grid/partition.hpp"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Every third box holds no fluid, so the list is as ragged as that of a rock.
double cost(const Box& box, int box_size) {
  const int mix = box.lo[0] / box_size * 7 + box.lo[1] / box_size * 13 + box.lo[2] / box_size * 29;
  return mix % 3 == 0 ? 0.0 : 1.0 + mix % 5;
}

void measure(const Comm& comm, int lattice) {
  constexpr int box_size = 16, n_ranks = 1000, rank = 500;
  const Domain domain{Index::all(lattice * box_size), {true, true, true}};
  auto start = Clock::now();
  const BuiltLayout built = build_layout(comm, domain, box_size, [](const Box& b) { return cost(b, box_size); });
  const double t_layout = seconds_since(start);

  start = Clock::now();
  std::vector<double> weights;
  for (std::int64_t b = 0; b < built.layout.n_boxes(); ++b) weights.push_back(cost(built.layout.box(b), box_size));
  Partition cut = partition(weights, n_ranks);
  const double imbalance = cut.imbalance;
  const Layout layout(domain, box_size, built.layout.keys(), std::move(cut.begin));
  const double t_partition = seconds_since(start);

  start = Clock::now();
  const NeighbourPlan plan(layout, rank);
  const double t_plan = seconds_since(start);

  start = Clock::now();
  std::int64_t found = 0;
  for (std::int64_t b = 0; b < layout.n_boxes(); ++b)
    found += layout.find(layout.lattice_position(b) + Index{1, 0, 0}) >= 0;
  const double t_find = seconds_since(start);

  const auto n = static_cast<double>(layout.n_boxes());
  fmt::print("{:>9} {:>9} {:>9.4f} {:>11.4f} {:>9.3f} {:>8} {:>7} {:>10.6f} {:>9.1f} {:>9.1f} {:>9.3f}\n",
             built.candidates, layout.n_boxes(), t_layout, t_partition, imbalance, plan.n_local(), plan.ranks().size(),
             t_plan, static_cast<double>(plan.bytes()) / 1024, 8 * n / 1024,
             (t_layout + t_find) / (n * std::log2(n)) * 1e9);
  if (found == 0) fmt::print("no neighbours were found\n");
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [](const Comm& comm) {
    fmt::print("{:>9} {:>9} {:>9} {:>11} {:>9} {:>8} {:>7} {:>10} {:>9} {:>9} {:>9}\n", "lattice", "boxes", "layout s",
               "partition s", "imbalance", "own", "peers", "plan s", "plan KiB", "keys KiB", "ns/nlog2n");
    for (const int lattice : {25, 53, 115}) measure(comm, lattice);
    fmt::print("peak resident set {:.1f} MiB\n", static_cast<double>(arena::peak_resident_set()) / (1 << 20));
  });
}
