// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/cut_lattice.hpp"

namespace karst {

void Lattice::reset(const Index& low, const Index& cells) {
  low_ = low;
  nodes_ = cells + Index::all(1);
  stride_ = {1, static_cast<std::size_t>(nodes_[0]), static_cast<std::size_t>(nodes_[0] * nodes_[1])};
  any_split_ = false;
  walls_lost_ = gaps_closed_ = 0;
  const std::size_t n = stride_[2] * nodes_[2];
  known_.assign(n, 0);
  phi_.resize(n);
  for (int d = 0; d < 3; ++d) {
    state_[d].assign(n, EdgeState::unknown);
    t_[d].resize(n);
  }
}

void Lattice::want(const Index& n) {
  const std::size_t at = node(n);
  if (known_[at]) return;
  known_[at] = 1;
  wanted_.push_back(at);
  points_.push_back(position(n));
}

void Lattice::evaluate_wanted(const LatticePhi& phi) {
  values_.resize(points_.size());
  phi.at(points_, values_);
  for (std::size_t i = 0; i < wanted_.size(); ++i) phi_[wanted_[i]] = values_[i];
  points_.clear();
  wanted_.clear();
}

void Lattice::evaluate_nodes(const LatticePhi& phi, const Index& lo, const Index& hi) {
  for_each_cell({lo, hi + Index::all(1)}, [&](const Index& n) { want(n); });
  evaluate_wanted(phi);
}

void Lattice::evaluate_corners(const LatticePhi& phi, std::span<const Index> cells) {
  for (const Index& cell : cells) for_each_cell({cell, cell + Index::all(2)}, [&](const Index& n) { want(n); });
  evaluate_wanted(phi);
}

void Lattice::exclude_wall(const Index& cell) {
  const std::size_t at = node(cell);
  for (int d = 0; d < 3; ++d) {
    const std::size_t u = stride((d + 1) % 3), v = stride((d + 2) % 3);
    for (const std::size_t edge : {at, at + u, at + v, at + u + v}) state_[d][edge] = EdgeState::plain;
  }
}

void Lattice::cut_edges(const LatticePhi& phi, const Index& lo, const Index& hi) {
  edge_cutter_.clear();
  edges_.clear();
  for_each_cell({lo, hi + Index::all(1)}, [&](const Index& n) {
    const std::size_t at = node(n);
    if (!known_[at]) return;  // only cells without a wall around it
    if (phi.lipschitz() > 0 && std::abs(phi_[at]) > 1.001 * phi.lipschitz())
      return;  // no wall within reach: unknown is plain
    for (int d = 0; d < 3; ++d) {
      EdgeState& state = state_[d][at];
      if (n[d] == hi[d] || state != EdgeState::unknown) continue;
      const double f0 = phi_[at], f1 = phi_[at + stride(d)];
      state = EdgeState::plain;
      if (is_fluid(f0) == is_fluid(f1) && phi.excludes_wall(f0, f1, 1.0)) continue;
      edge_cutter_.add(position(n), d, f0, f1);
      edges_.emplace_back(d, at);
    }
  });
  edge_cutter_.run(phi);
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    const EdgeCut& cut = edge_cutter_.cut(i);
    const auto [d, at] = edges_[i];
    if (cut.crossing) state_[d][at] = EdgeState::crossing;
    if (cut.split) state_[d][at] = EdgeState::split;
    any_split_ |= cut.split;
    walls_lost_ += cut.wall_lost;
    gaps_closed_ += cut.gap_closed;
    t_[d][at] = cut.t;
  }
}

}  // namespace karst
