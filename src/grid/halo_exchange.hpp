// SPDX-License-Identifier: BSD-3-Clause
// Fills the halo VoFs of fields from their owners inside the loop that needs them: each box fetches its halo just
// before it is processed, while the values are in cache and without a separate pass. Messages travel while boxes that
// need none are processed; every other box follows as soon as the last message that it reads has arrived
// (docs/decisions/022-halo-exchange.md).
//
//   HaloExchange<double> halo(comm, graph);
//   halo.for_boxes(x, [&](int b) { ...reads x.box(b), halo included... });
//
// Periodic sides need no special treatment: images of VoFs are halo slots like all others. Ghosts and closed slots are
// not touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/field.hpp"
#include "grid/peer_exchange.hpp"

namespace karst {

/// @tparam T  type of the numbers, any trivially copyable one
template <class T>
class HaloExchange {
 public:
  /// The graph must outlive the exchange and must not move. All ranks must create and use their exchanges in the same
  /// order.
  HaloExchange(const Comm& comm, const LevelGraph& graph) : graph_(&graph), messages_(comm, graph.halo_plan().peers) {}

  /// Calls f(own box) once for every own box, threaded, with the halo VoFs of all components of the fields filled in
  /// that box. f must not write own values of the fields. One message per peer carries all fields. Allocates only if a
  /// call has more components than all previous ones. Throws Error if a field belongs to another graph. Collective.
  template <class F>
  void for_boxes(std::span<BasicField<T>* const> fields, F&& f) {
    list_components(fields);
    const HaloPlan& plan = graph_->halo_plan();
    const auto one = [&](int b) {
      fetch(b);
      f(b);
    };
    if (plan.peers.empty()) {
      parallel_for_shares(graph_->slots()->begin, [&](std::int64_t b) { one(static_cast<int>(b)); });
      return;
    }
    const auto over = [&](const std::vector<int>& boxes) {
      parallel_for(std::ssize(boxes), [&](std::int64_t i) { one(boxes[i]); });
    };
    send();
    over(plan.interior);
    awaited_ = plan.n_messages;
    ready_.clear();
    for (int p = messages_.wait_any(); p >= 0; p = messages_.wait_any()) {
      for (const int b : plan.readers_of(p))
        if (--awaited_[b] == 0) ready_.push_back(b);
      if (std::ssize(ready_) < n_threads())
        continue;  // number of boxes that suffices for all threads before the next message is awaited
      over(ready_);
      ready_.clear();
    }
    over(ready_);
  }
  template <class F>
  void for_boxes(std::initializer_list<BasicField<T>*> fields, F&& f) {
    for_boxes(std::span(fields.begin(), fields.size()), f);
  }
  template <class F>
  void for_boxes(BasicField<T>& field, F&& f) {
    for_boxes({&field}, f);
  }
  /// Fills all halos and nothing else.
  void operator()(BasicField<T>& field) {
    for_boxes(field, [](int) {});
  }

  std::int64_t messages_sent() const { return messages_.messages_sent(); }  ///< by this rank, since it was made
  std::int64_t bytes_sent() const { return messages_.bytes_sent(); }

 private:
  void list_components(std::span<BasicField<T>* const> fields) {
    components_.clear();
    for (BasicField<T>* field : fields) {
      require(field->slots() == graph_->slots(), "halo exchange: a field was made for another graph");
      for (int c = 0; c < field->n_components(); ++c) components_.push_back(field->data(c));
    }
  }

  /// A message holds its values component after component.
  void send() {
    const HaloPlan& plan = graph_->halo_plan();
    const std::size_t n = components_.size(), n_received = n * plan.peers.back().receive_end;
    if (received_.size() < n_received) received_ = Array<T>(n_received, Purpose::buffers);
    messages_.begin(n, received_.span(), [&](std::size_t p, T* message) {
      const std::size_t n_values = plan.peers[p].n_send();
      const auto sends = plan.sends_to(p);
      parallel_for(std::ssize(sends), [&](std::int64_t part) {
        const HaloPlan::Copy& s = sends[part];
        const std::uint16_t* vof = plan.send_vofs.data() + s.list;
        for (std::size_t c = 0; c < n; ++c) {
          const T* from = components_[c] + s.from;
          T* to = message + c * n_values + s.to;
          for (std::int32_t t = 0; t < s.count; ++t) to[t] = from[vof[t]];
        }
      });
    });
  }

  /// The halo of one box, from own boxes and from messages.
  void fetch(std::size_t box) const {
    const HaloPlan& plan = graph_->halo_plan();
    const std::uint16_t* vofs = graph_->halo_vofs().data();
    for (std::size_t c = 0; c < components_.size(); ++c) {
      T* const x = components_[c];
      for (std::size_t k = plan.local_begin[box]; k < plan.local_begin[box + 1]; ++k) {
        const HaloPlan::Copy& copy = plan.local[k];
        const std::uint16_t* vof = vofs + copy.list;
        const T* from = x + copy.from;
        T* to = x + copy.to;
#pragma GCC ivdep
        for (std::int32_t t = 0; t < copy.count; ++t) to[t] = from[vof[t]];
      }
      for (std::size_t k = plan.receives_begin[box]; k < plan.receives_begin[box + 1]; ++k) {
        const HaloPlan::Received& r = plan.receives[k];
        const ExchangePeer& peer = plan.peers[r.peer];
        const T* message = received_.data() + components_.size() * peer.receive_begin;
        std::copy_n(message + c * peer.n_receive() + r.from, r.count, x + r.to);
      }
    }
  }

  const LevelGraph* graph_;
  PeerExchange messages_;
  std::vector<T*> components_;  // of the fields in the current call
  std::vector<int> awaited_;    // per own box: messages that it still waits for
  std::vector<int> ready_;      // boxes whose messages have arrived
  Array<T> received_;
};

/// Fills the halo VoFs of a field once. Collective.
template <class T>
void fill_halo(const Comm& comm, const LevelGraph& graph, BasicField<T>& field) {
  HaloExchange<T>(comm, graph)(field);
}

}  // namespace karst
