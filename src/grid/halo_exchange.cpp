// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_exchange.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace karst {
namespace {

constexpr std::int64_t worth_threads = 16384;  // values

}  // namespace

template <class T>
BasicHaloExchange<T>::BasicHaloExchange(const Comm& comm, const LevelGraph& graph, int max_components, int tag)
    : graph_(&graph), round_(comm, tag), max_components_(max_components) {
  require(max_components >= 1, "halo exchange: {} components; at least 1 is needed", max_components);
  const HaloPlan& plan = graph.halo_plan();
  std::size_t n_send = 0, n_receive = 0;
  for (std::size_t p = 0; p < plan.peers.size(); ++p) {
    const HaloPlan::Peer& peer = plan.peers[p];
    send_place_.push_back(n_send);
    receive_place_.push_back(n_receive);
    n_send += static_cast<std::size_t>(peer.n_send);
    n_receive += static_cast<std::size_t>(peer.n_receive);
    if (peer.n_receive > 0) receivers_.push_back(p);
    peer_of_send_.insert(peer_of_send_.end(), peer.send_end - peer.send_begin, p);
  }
  sent_ = Array<T>(n_send * static_cast<std::size_t>(max_components), Purpose::buffers);
  received_ = Array<T>(n_receive * static_cast<std::size_t>(max_components), Purpose::buffers);
  components_.reserve(static_cast<std::size_t>(max_components));
}

template <class T>
void BasicHaloExchange<T>::begin(std::span<BasicField<T>* const> fields) {
  require(!under_way_, "halo exchange: begin() was called twice without finish()");
  components_.clear();
  for (BasicField<T>* f : fields) {
    require(f->slots() == graph_->slots(), "halo exchange: a field was made for another graph");
    for (int c = 0; c < f->n_components(); ++c) {
      require(std::ssize(components_) < max_components_,
              "halo exchange: the fields have more than {} components; ask for more when making the exchange",
              max_components_);
      components_.push_back(f->data(c));
    }
  }
  under_way_ = true;
  const HaloPlan& plan = graph_->halo_plan();
  const std::size_t n = components_.size();
  for (const std::size_t p : receivers_) {
    const auto count = static_cast<std::size_t>(plan.peers[p].n_receive);
    round_.receive(plan.peers[p].rank,
                   std::as_writable_bytes(received_.span().subspan(n * receive_place_[p], n * count)));
  }
  pack();
  for (std::size_t p = 0; p < plan.peers.size(); ++p) {
    const auto count = static_cast<std::size_t>(plan.peers[p].n_send);
    if (count == 0) continue;
    const auto message = std::as_bytes(sent_.span().subspan(n * send_place_[p], n * count));
    round_.send(plan.peers[p].rank, message);
    bytes_sent_ += std::ssize(message);
  }
  copy_local();
}

template <class T>
void BasicHaloExchange<T>::finish() {
  require(under_way_, "halo exchange: finish() was called without begin()");
  for (int i = round_.wait_any(); i >= 0; i = round_.wait_any()) {
    const std::size_t p = receivers_[static_cast<std::size_t>(i)];
    unpack(graph_->halo_plan().peers[p], receive_place_[p]);
  }
  round_.wait_sends();
  under_way_ = false;
}

/// A message holds its values component after component.
template <class T>
void BasicHaloExchange<T>::pack() {
  const HaloPlan& plan = graph_->halo_plan();
  const std::size_t n = components_.size();
  parallel_for(std::ssize(plan.sends), [&](std::int64_t part) {
    const HaloPlan::Copy& s = plan.sends[static_cast<std::size_t>(part)];
    const std::size_t p = peer_of_send_[static_cast<std::size_t>(part)];
    const std::uint16_t* vof = plan.send_vofs.data() + s.list;
    for (std::size_t c = 0; c < n; ++c) {
      const T* from = components_[c] + s.from;
      T* to = sent_.data() + n * send_place_[p] + c * static_cast<std::size_t>(plan.peers[p].n_send) + s.to;
      for (std::int32_t t = 0; t < s.count; ++t) to[t] = from[vof[t]];
    }
  });
}

template <class T>
void BasicHaloExchange<T>::copy_local() {
  const HaloPlan& plan = graph_->halo_plan();
  const std::uint16_t* vofs = graph_->halo_vofs().data();
  parallel_for(graph_->n_local(), [&](std::int64_t b) {
    const auto i = static_cast<std::size_t>(b);
    for (std::size_t k = plan.local_begin[i]; k < plan.local_begin[i + 1]; ++k) {
      const HaloPlan::Copy& copy = plan.local[k];
      const std::uint16_t* vof = vofs + copy.list;
      for (T* x : components_)
        for (std::int32_t t = 0; t < copy.count; ++t) x[copy.to + t] = x[copy.from + vof[t]];
    }
  });
}

template <class T>
void BasicHaloExchange<T>::unpack(const HaloPlan::Peer& peer, std::size_t place) {
  const HaloPlan& plan = graph_->halo_plan();
  const std::size_t n = components_.size();
  const auto one = [&](std::int64_t part) {
    const HaloPlan::Copy& r = plan.receives[peer.receive_begin + static_cast<std::size_t>(part)];
    for (std::size_t c = 0; c < n; ++c) {
      const T* from = received_.data() + n * place + c * static_cast<std::size_t>(peer.n_receive) + r.from;
      std::copy(from, from + r.count, components_[c] + r.to);
    }
  };
  const auto n_parts = static_cast<std::int64_t>(peer.receive_end - peer.receive_begin);
  if (peer.n_receive * std::ssize(components_) < worth_threads)
    for (std::int64_t part = 0; part < n_parts; ++part) one(part);
  else
    parallel_for(n_parts, one);
}

template class BasicHaloExchange<double>;
template class BasicHaloExchange<float>;

}  // namespace karst
