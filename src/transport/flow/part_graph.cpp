// SPDX-License-Identifier: BSD-3-Clause
#include "transport/flow/part_graph.hpp"

#include <algorithm>
#include <cmath>

namespace karst {
namespace {

constexpr double left_of_sums = 1e-3;  ///< by potentials
constexpr int most_steps_of_parts = 1000;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

PartGraph::PartGraph(const Comm& comm, std::span<const VolumeKey> parts, std::span<const PartLink> links)
    : comm_(comm), parts_(comm.all_gather(parts)) {
  const std::vector<VolumeKey> gathered = parts_;
  parts_.push_back(outside);
  std::ranges::sort(parts_);
  for (const VolumeKey part : gathered) places_.push_back(node(part));
  struct Way {
    std::int32_t from;
    Neighbour to;
  };
  std::vector<Way> ways;
  for (const PartLink& link : comm.all_gather(links)) {
    const std::int32_t low = node(link.low), high = node(link.high);
    ways.push_back({low, {high, link.conductance}});
    ways.push_back({high, {low, link.conductance}});
  }
  std::ranges::sort(ways, {}, [](const Way& w) { return std::pair(w.from, w.to.node); });
  begin_.assign(parts_.size() + 1, 0);
  for (const Way& way : ways) {
    ++begin_[way.from + 1];
    neighbours_.push_back(way.to);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) begin_[i + 1] += begin_[i];
  grow_trees();
}

std::int32_t PartGraph::node(VolumeKey part) const {
  return static_cast<std::int32_t>(std::ranges::lower_bound(parts_, part) - parts_.begin());
}

std::vector<double> PartGraph::gather(std::span<const double> of_parts) const {
  const std::vector<double> gathered = comm_.all_gather(of_parts);
  std::vector<double> all(parts_.size(), 0.0);
  for (std::size_t i = 0; i < gathered.size(); ++i) all[places_[i]] = gathered[i];
  return all;
}

void PartGraph::grow_trees() {
  const auto n = static_cast<std::int32_t>(parts_.size());
  parent_.assign(n, -1);
  root_.assign(n, -1);
  for (std::int32_t first = 0; first < n; ++first) {
    if (root_[first] >= 0) continue;
    root_[first] = first;
    order_.push_back(first);
    for (std::size_t i = order_.size() - 1; i < order_.size(); ++i) {
      const std::int32_t from = order_[i];
      for_neighbours(from, [&](const Neighbour& to) {
        if (root_[to.node] >= 0) return;
        root_[to.node] = first;
        parent_[to.node] = from;
        order_.push_back(to.node);
      });
    }
  }
}

std::vector<double> PartGraph::take_rest(std::span<const double> weights, std::span<double> sums) const {
  std::vector<double> rest(parts_.size(), 0.0), weight(rest);
  for (std::size_t i = 1; i < rest.size(); ++i) {
    rest[root_[i]] += sums[i];
    weight[root_[i]] += weights[i];
  }
  for (std::size_t i = rest.size(); i-- > 0;) {
    const std::int32_t root = root_[i];
    if (root == static_cast<std::int32_t>(i)) rest[i] = i > 0 && weight[i] > 0.0 ? rest[i] / weight[i] : 0.0;
  }
  for (std::size_t i = 1; i < rest.size(); ++i) {
    rest[i] = rest[root_[i]];
    sums[i] -= rest[i] * weights[i];
  }
  return rest;
}

std::vector<double> PartGraph::potentials(std::span<const double> sums) const {
  const std::size_t n = parts_.size();
  std::vector<double> y(n, 0.0), r(n, 0.0), z(n, 0.0), p(n, 0.0), q(n, 0.0), inverse(n, 0.0);
  for (std::size_t i = 1; i < n; ++i) {
    double sum = 0.0;
    for_neighbours(static_cast<std::int32_t>(i), [&](const Neighbour& to) { sum += to.conductance; });
    if (sum > 0.0) inverse[i] = 1.0 / sum;
    r[i] = inverse[i] > 0.0 ? -sums[i] : 0.0;
  }
  const double least = left_of_sums * left_of_sums * dot(r, r);
  double before = 0.0;
  for (int k = 0; k < most_steps_of_parts && dot(r, r) > least; ++k) {
    for (std::size_t i = 0; i < n; ++i) z[i] = inverse[i] * r[i];
    const double now = dot(r, z), factor = k == 0 ? 0.0 : now / before;
    before = now;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + factor * p[i];
    for (std::size_t i = 1; i < n; ++i) {
      double sum = 0.0;
      for_neighbours(static_cast<std::int32_t>(i),
                     [&](const Neighbour& to) { sum += to.conductance * (p[i] - p[to.node]); });
      q[i] = sum;
    }
    const double curvature = dot(p, q);
    if (!(curvature > 0.0)) break;
    for (std::size_t i = 0; i < n; ++i) {
      y[i] += now / curvature * p[i];
      r[i] -= now / curvature * q[i];
    }
  }
  return y;
}

std::vector<PartGraph::Lead> PartGraph::leads(std::vector<double> sums) const {
  std::vector<Lead> all(parts_.size());
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::int32_t part = order_[i], to = parent_[part];
    if (to < 0) continue;
    all[part] = {to, -sums[part]};
    sums[to] += sums[part];
  }
  return all;
}

}  // namespace karst
