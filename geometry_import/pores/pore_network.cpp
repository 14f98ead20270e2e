// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/pores/pore_network.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <span>
#include <tuple>
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

/// Union-find; a set is named by one of its members.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t of(std::int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::int32_t from, std::int32_t into) { parent_[of(from)] = of(into); }

 private:
  std::vector<std::int32_t> parent_;
};

struct Edge {
  std::int32_t low, high;
  int radius;
  bool neck = true;
};

/// Widest first, of equals in the order of the basins.
std::vector<Edge> edges_by_width(const BasinGraph& graph) {
  const auto number = [&](std::int64_t root) {
    const auto found = std::lower_bound(graph.basins.begin(), graph.basins.end(), root,
                                        [](const Basin& b, std::int64_t r) { return b.root < r; });
    assert(found != graph.basins.end() && found->root == root);
    return static_cast<std::int32_t>(found - graph.basins.begin());
  };
  std::vector<Edge> edges;
  for (const Saddle& s : graph.saddles) edges.push_back({number(s.low), number(s.high), s.radius, s.neck});
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.radius > b.radius; });
  return edges;
}

/// Widest way between two ends: the basins' graph and two nodes more, the ends of the axis.
int widest_way(const BasinGraph& graph, const std::vector<Edge>& edges, int axis) {
  const auto n = static_cast<std::int32_t>(graph.basins.size());
  std::vector<Edge> all = edges;
  for (std::int32_t b = 0; b < n; ++b)
    for (const int end : {0, 1})
      if (const int touch = graph.basins[b].touch[2 * axis + end]; touch > 0) all.push_back({b, n + end, touch});
  std::stable_sort(all.begin(), all.end(), [](const Edge& a, const Edge& b) { return a.radius > b.radius; });
  Sets sets(n + 2);
  for (const Edge& e : all) {
    sets.join(e.low, e.high);
    if (sets.of(n) == sets.of(n + 1)) return e.radius;
  }
  return 0;
}

}  // namespace

PoreNetwork pore_network(const BasinGraph& graph) {
  const std::vector<Edge> edges = edges_by_width(graph);
  Sets sets(graph.basins.size());
  const auto peak = [&](std::int32_t basin) { return graph.basins[basin].peak; };
  for (const Edge& e : edges) {
    std::int32_t a = sets.of(e.low), b = sets.of(e.high);
    if (a == b) continue;
    if (std::pair(-peak(a), a) > std::pair(-peak(b), b)) std::swap(a, b);  // a is the larger one, or the first
    if (e.radius >= same_pore * peak(b)) sets.join(b, a);
  }
  PoreNetwork network;
  std::vector<std::int32_t> number(graph.basins.size(), -1);
  for (std::size_t b = 0; b < graph.basins.size(); ++b) {
    const auto basin = static_cast<std::int32_t>(b);
    if (sets.of(basin) != basin) continue;
    number[b] = static_cast<std::int32_t>(network.pore_radius.size());
    network.pore_radius.push_back(peak(basin));
  }
  for (const Edge& e : edges) {
    const std::int32_t a = number[sets.of(e.low)], b = number[sets.of(e.high)];
    if (a != b && e.neck) network.throats.push_back({std::min(a, b), std::max(a, b), e.radius});
  }
  const auto key = [](const Throat& t) { return std::tuple(t.low, t.high, -t.radius); };
  std::sort(network.throats.begin(), network.throats.end(),
            [&](const Throat& a, const Throat& b) { return key(a) < key(b); });
  const auto same = [](const Throat& a, const Throat& b) { return a.low == b.low && a.high == b.high; };
  network.throats.erase(std::unique(network.throats.begin(), network.throats.end(), same), network.throats.end());
  return network;
}

std::array<int, 3> critical_radius(const BasinGraph& graph) {
  const std::vector<Edge> edges = edges_by_width(graph);
  return {widest_way(graph, edges, 0), widest_way(graph, edges, 1), widest_way(graph, edges, 2)};
}

NetworkFigures network_figures(const Comm& comm, const Slabs<std::uint16_t>& distance) {
  const BasinGraph graph = basin_graph(comm, distance);
  NetworkFigures figures;
  std::array<std::int64_t, 6> numbers{};
  if (comm.rank() == 0) {
    const PoreNetwork network = pore_network(graph);
    figures.critical = critical_radius(graph);
    for (const Throat& t : network.throats) {
      if (t.radius >= std::ssize(figures.throat_radius)) figures.throat_radius.resize(t.radius + 1, 0);
      ++figures.throat_radius[t.radius];
    }
    numbers = {std::int64_t(network.pore_radius.size()),
               std::int64_t(network.throats.size()),
               std::int64_t(figures.throat_radius.size()),
               figures.critical[0],
               figures.critical[1],
               figures.critical[2]};
  }
  comm.broadcast(std::span<std::int64_t>(numbers));
  figures.pores = numbers[0];
  figures.throats = numbers[1];
  figures.throat_radius.resize(numbers[2], 0);
  comm.broadcast(std::span(figures.throat_radius));
  for (std::size_t d = 0; d < 3; ++d) figures.critical[d] = static_cast<int>(numbers[d + 3]);
  return figures;
}

}  // namespace karst
