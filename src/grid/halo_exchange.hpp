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

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "grid/field.hpp"
#include "grid/peer_exchange.hpp"

namespace karst {

namespace detail {
template <class F>
void call_box(void* f, int box) {
  (*static_cast<F*>(f))(box);
}
}  // namespace detail

/// @tparam T  type of the numbers, one of those at the end of halo_exchange.cpp
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
    run(fields, detail::address_of(f), &detail::call_box<std::remove_reference_t<F>>);
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
  using BoxCall = void (*)(void* f, int box);
  void run(std::span<BasicField<T>* const> fields, void* f, BoxCall call);
  void list_components(std::span<BasicField<T>* const> fields);
  void send();
  void fetch(std::size_t box) const;

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
