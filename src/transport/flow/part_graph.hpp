// SPDX-License-Identifier: BSD-3-Clause
// The connected parts of the fluid in each box, of all ranks, as the nodes of a graph, with the outside of the domain
// as one node more. All ranks hold all of it, O(parts) numbers, and find the same bits in it, whoever owns the boxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"

namespace karst {

/// A volume by level, box and its number there. A part of the fluid has the key of its first volume.
using VolumeKey = std::int64_t;
inline constexpr VolumeKey outside = -1;  ///< of the domain

/// Two parts beside each other, the lower key first, and Σ area / distance of the faces between them [h0].
struct PartLink {
  VolumeKey low, high;
  double conductance;
};

class PartGraph {
 public:
  /// Collective.
  /// @param parts  of this rank
  /// @param links  of this rank, each on one rank
  PartGraph(const Comm& comm, std::span<const VolumeKey> parts, std::span<const PartLink> links);

  /// Of a part of any rank; nodes are in the order of the keys, so that of the outside is 0.
  std::int32_t node(VolumeKey part) const;
  /// Values of the parts of all ranks by node, 0 outside. Collective.
  /// @param of_parts  of this rank, in the order that was given
  std::vector<double> gather(std::span<const double> of_parts) const;

  /// Takes from sums over parts what no tree leads out of a connected pore, in proportion to the weights. Returns what
  /// is taken per weight, by node; 0 where the outside is beside the pore.
  std::vector<double> take_rest(std::span<const double> weights, std::span<double> sums) const;
  /// y: Σ conductance (y - y of the part beside it) = -sum, 0 outside, to few digits; for sums without a rest.
  std::vector<double> potentials(std::span<const double> sums) const;
  /// Where a part leads what comes together in it; -1: it is the root of its tree.
  struct Lead {
    std::int32_t to = -1;
    double out = 0.0;  ///< flux to there
  };
  /// By node, along trees that grow breadth first from the outside, or from the first part of a pore.
  std::vector<Lead> leads(std::vector<double> sums) const;

 private:
  struct Neighbour {
    std::int32_t node;
    double conductance;
  };
  template <class F>
  void for_neighbours(std::int32_t node, F&& f) const {
    for (std::int64_t k = begin_[node]; k < begin_[node + 1]; ++k) f(neighbours_[k]);
  }
  void grow_trees();

  Comm comm_;
  std::vector<VolumeKey> parts_;      // by node
  std::vector<std::int32_t> places_;  // nodes of the parts of all ranks, as they are gathered
  std::vector<std::int64_t> begin_;   // first neighbour of each node, and the end
  std::vector<Neighbour> neighbours_;
  std::vector<std::int32_t> order_, parent_, root_;  // of the trees: roots first
};

}  // namespace karst
