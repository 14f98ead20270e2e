// SPDX-License-Identifier: BSD-3-Clause
// Nodes and edges of a block of lattice cells: φ and crossings, each computed once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "eb/cut/cut_edge.hpp"
#include "grid/box.hpp"

namespace karst {

/// State of an edge in a Lattice; `unknown` counts as `plain` after the edges have been cut.
enum class EdgeState : std::uint8_t { unknown, plain, crossing, split };

/// Memory is retained between uses; only requested nodes and edges are evaluated.
class Lattice {
 public:
  /// Resets the lattice; the block has `cells` cells per direction (0: one layer of nodes), the first at `low`.
  void reset(const Index& low, const Index& cells);
  /// Evaluates the nodes in the block [lo, hi] (nodes relative to the low one) that are not known yet.
  void evaluate_nodes(const LatticePhi& phi, const Index& lo, const Index& hi);
  /// Evaluates the corners of these cells that are not known yet.
  void evaluate_corners(const LatticePhi& phi, std::span<const Index> cells);
  /// No wall is in a cell or on its faces: its edges need not be cut.
  void exclude_wall(const Index& cell);
  /// Cuts the edges in the block of nodes [lo, hi] that are not known yet. Their nodes are.
  void cut_edges(const LatticePhi& phi, const Index& lo, const Index& hi);

  std::size_t node(const Index& n) const { return (n[2] * nodes_[1] + n[1]) * nodes_[0] + n[0]; }
  std::size_t stride(int d) const { return stride_[d]; }
  std::size_t n_nodes() const { return known_.size(); }
  Index cells() const { return nodes_ - Index::all(1); }
  Vec3 position(const Index& n) const {
    return {static_cast<double>(low_[0] + n[0]), static_cast<double>(low_[1] + n[1]),
            static_cast<double>(low_[2] + n[2])};
  }
  /// Fluid corners of the cell at a node, one bit each (corner x + 2 y + 4 z).
  unsigned signs(std::size_t node) const {
    unsigned fluid = 0;
    for (unsigned c = 0; c < 8; ++c) fluid |= static_cast<unsigned>(is_fluid(phi_[corner(node, c)])) << c;
    return fluid;
  }
  std::size_t corner(std::size_t node, unsigned c) const {
    return node + (c & 1) * stride_[0] + (c >> 1 & 1) * stride_[1] + (c >> 2 & 1) * stride_[2];
  }
  double phi(std::size_t node) const { return phi_[node]; }
  bool fluid(std::size_t node) const { return is_fluid(phi_[node]); }
  /// Edge from a node in direction d.
  EdgeState state(int d, std::size_t node) const { return state_[d][node]; }
  double t(int d, std::size_t node) const { return t_[d][node]; }
  bool any_split() const { return any_split_; }
  std::int64_t walls_lost() const { return walls_lost_; }
  std::int64_t gaps_closed() const { return gaps_closed_; }

 private:
  void want(const Index& n);
  void evaluate_wanted(const LatticePhi& phi);

  Index low_, nodes_;
  std::array<std::size_t, 3> stride_{};
  bool any_split_ = false;
  std::int64_t walls_lost_ = 0, gaps_closed_ = 0;
  std::vector<std::uint8_t> known_;
  std::vector<double> phi_;
  std::array<std::vector<EdgeState>, 3> state_;
  std::array<std::vector<double>, 3> t_;
  EdgeCutter edge_cutter_;
  std::vector<std::pair<int, std::size_t>> edges_;  ///< direction and node of the edges in edge_cutter_
  std::vector<Vec3> points_;
  std::vector<double> values_;
  std::vector<std::size_t> wanted_;
};

}  // namespace karst
