// SPDX-License-Identifier: BSD-3-Clause
// Fills the halo VoFs of fields from their owners, without blocking, so that work overlaps (decision D11):
//
//   exchange.begin(x);
//   for (int b : exchange.interior()) ...;   // boxes whose halo needs no other rank: complete after begin()
//   exchange.finish();
//   for (int b : exchange.boundary()) ...;
//
// Periodic sides need no care: images of VoFs are halo slots like all others. Ghosts and closed slots are not touched.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/comm.hpp"
#include "base/memory.hpp"
#include "grid/field.hpp"

namespace karst {

template <class T>
class BasicHaloExchange {
 public:
  /// The graph must outlive the exchange and stay in place. All ranks must make and use their exchanges alike.
  /// @param max_components  values per VoF that one message may carry, over all fields of one begin()
  /// @param tag  two exchanges between begin and finish at the same time need different tags
  BasicHaloExchange(const Comm& comm, const LevelGraph& graph, int max_components = 1, int tag = 1);

  /// Sends own values of all components of the fields and copies between own boxes. Allocates nothing after the first
  /// call. Throws Error when the fields have more than max_components or a round is under way. Collective.
  void begin(std::span<BasicField<T>* const> fields);
  void begin(std::initializer_list<BasicField<T>*> fields) { begin(std::span(fields.begin(), fields.size())); }
  void begin(BasicField<T>& field) { begin({&field}); }
  /// Unpacks each message as it arrives, into the fields given to begin(). Collective.
  void finish();
  /// Both at once.
  void operator()(BasicField<T>& field) {
    begin(field);
    finish();
  }

  const std::vector<int>& interior() const { return graph_->halo_plan().interior; }
  const std::vector<int>& boundary() const { return graph_->halo_plan().boundary; }
  std::int64_t bytes_sent() const { return bytes_sent_; }  ///< by this rank since it was made

 private:
  void pack();
  void copy_local();
  void unpack(const HaloPlan::Peer& peer, std::size_t place);

  const LevelGraph* graph_;
  Exchange round_;
  int max_components_;
  std::vector<T*> components_;                           // of the fields under way
  std::vector<std::size_t> send_place_, receive_place_;  // per peer, in values per component
  std::vector<std::size_t> receivers_;                   // peer of each receive, in posting order
  std::vector<std::size_t> peer_of_send_;                // per part
  Array<T> sent_, received_;
  bool under_way_ = false;
  std::int64_t bytes_sent_ = 0;
};

using HaloExchange = BasicHaloExchange<double>;
using FloatHaloExchange = BasicHaloExchange<float>;

extern template class BasicHaloExchange<double>;
extern template class BasicHaloExchange<float>;

}  // namespace karst
