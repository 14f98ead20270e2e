// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_exchange.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"

namespace karst {

template <class T>
void HaloExchange<T>::run(std::span<BasicField<T>* const> fields, void* f, BoxCall call) {
  list_components(fields);
  const HaloPlan& plan = graph_->halo_plan();
  const auto one = [&](int b) {
    fetch(b);
    call(f, b);
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

template <class T>
void HaloExchange<T>::list_components(std::span<BasicField<T>* const> fields) {
  components_.clear();
  for (BasicField<T>* field : fields) {
    require(field->slots() == graph_->slots(), "halo exchange: a field was made for another graph");
    for (int c = 0; c < field->n_components(); ++c) components_.push_back(field->data(c));
  }
}

/// A message holds its values component after component.
template <class T>
void HaloExchange<T>::send() {
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
template <class T>
void HaloExchange<T>::fetch(std::size_t box) const {
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

template class HaloExchange<double>;
template class HaloExchange<float>;
template class HaloExchange<Quad>;
template class HaloExchange<Values<2>>;
template class HaloExchange<Values<3>>;
template class HaloExchange<Values<4>>;
template class HaloExchange<std::int32_t>;
template class HaloExchange<std::int64_t>;
template class HaloExchange<std::uint8_t>;

}  // namespace karst
