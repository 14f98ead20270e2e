// SPDX-License-Identifier: BSD-3-Clause
// Halo exchange fused into the loop that needs it: each box fetches its halo just before it is worked on, while the
// values are in cache and without a pass of its own. Boxes with halo VoFs of other ranks come last; their messages
// travel meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/comm.hpp"
#include "base/parallel.hpp"
#include "grid/field.hpp"
#include "solvers/values.hpp"

namespace karst {

template <class T>
class HaloPull {
 public:
  /// The graph must outlive it and stay in place. All ranks must make and use theirs alike.
  HaloPull(const Comm& comm, const LevelGraph& graph, int tag);

  /// Calls f(own box) for every own box, threaded, with the halo VoFs of x in that box filled. f must not write own
  /// values of x. Collective.
  template <class F>
  void for_boxes(BasicField<T>& x, F&& f) {
    T* values = x.data();
    const auto one = [&](std::int64_t b) {
      pull(static_cast<std::size_t>(b), values);
      f(static_cast<int>(b));
    };
    const HaloPlan& plan = graph_->halo_plan();
    if (plan.peers.empty()) {
      parallel_for_shares(x.slots()->begin, one);
      return;
    }
    begin(values);
    const auto over = [&](const std::vector<int>& boxes) {
      parallel_for(std::ssize(boxes), [&](std::int64_t i) { one(boxes[static_cast<std::size_t>(i)]); });
    };
    over(plan.interior);
    finish(values);
    over(plan.boundary);
  }

 private:
  void begin(const T* x);
  void finish(T* x);
  void pull(std::size_t box, T* x) const {
    const HaloPlan& plan = graph_->halo_plan();
    const std::uint16_t* vofs = graph_->halo_vofs().data();
    for (std::size_t k = plan.local_begin[box]; k < plan.local_begin[box + 1]; ++k) {
      const HaloPlan::Copy& copy = plan.local[k];
      const std::uint16_t* vof = vofs + copy.list;
      const T* from = x + copy.from;
      T* to = x + copy.to;
#pragma GCC ivdep
      for (std::int32_t t = 0; t < copy.count; ++t) to[t] = from[vof[t]];
    }
  }

  const LevelGraph* graph_;
  Exchange round_;
  std::vector<std::size_t> send_place_, receive_place_;  // per peer, in values
  std::vector<std::size_t> receivers_;                   // peer of each receive, in posting order
  Array<T> sent_, received_;
};

extern template class HaloPull<float>;
extern template class HaloPull<double>;
extern template class HaloPull<Quad>;
extern template class HaloPull<Values<3>>;

}  // namespace karst
