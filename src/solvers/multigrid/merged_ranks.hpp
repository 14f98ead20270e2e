// SPDX-License-Identifier: BSD-3-Clause
// Fewer ranks for a coarse level: groups of neighbouring ranks pass their nodes to the first of them, and wait while it
// works. With few nodes per rank the time is that of the messages, and fewer ranks send fewer and larger ones.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "solvers/elliptic/values.hpp"
#include "solvers/multigrid/node_graph.hpp"

namespace karst {

/// The graph of groups of this number of ranks on the first of each, nodes in rank order; an empty one on the others.
/// Ranks are numbered as in comm.every(group). Data of SideShift are left out. Collective.
NodeGraph merge(const Comm& comm, const NodeGraph& mine, int group);

/// C numbers per node on their way there and back.
template <int C>
class BasicMergedRanks {
 public:
  using Value = NodeValue<C>;
  /// @param n_own  nodes of this rank. Collective.
  BasicMergedRanks(const Comm& comm, int group, std::int64_t n_own);

  bool leads() const { return leads_; }
  std::span<Value> rhs() { return b_; }     ///< of the own nodes
  std::span<Value> result() { return x_; }  ///< likewise

  /// rhs() of the group, to the first of it. `all` is empty on the others. Collective, as all of them.
  void collect(std::span<Value> all) { collect(std::span<const Value>(b_), all); }
  /// To result() of the group. Allocates nothing.
  void hand_out(std::span<const Value> all);
  /// One number per node of the group; empty on others than the first.
  std::vector<float> collect(const std::vector<float>& own);

  std::int64_t bytes() const {
    return up_.bytes() + down_.bytes() + static_cast<std::int64_t>((b_.capacity() + x_.capacity()) * sizeof(Value));
  }

 private:
  template <class T>
  void collect(std::span<const T> own, std::span<T> all);

  bool leads_;
  std::size_t n_all_ = 0;  // nodes of the group, where this rank leads
  PeerExchange up_, down_;
  std::vector<Value> b_, x_;
};

extern template class BasicMergedRanks<1>;
extern template class BasicMergedRanks<2>;
extern template class BasicMergedRanks<3>;
extern template class BasicMergedRanks<4>;

}  // namespace karst
