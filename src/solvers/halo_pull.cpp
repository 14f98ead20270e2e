// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/halo_pull.hpp"

#include <algorithm>

namespace karst {

template <class T>
HaloPull<T>::HaloPull(const Comm& comm, const LevelGraph& graph, int tag) : graph_(&graph), round_(comm, tag) {
  const HaloPlan& plan = graph.halo_plan();
  std::size_t n_send = 0, n_receive = 0;
  for (std::size_t p = 0; p < plan.peers.size(); ++p) {
    send_place_.push_back(n_send);
    receive_place_.push_back(n_receive);
    n_send += static_cast<std::size_t>(plan.peers[p].n_send);
    n_receive += static_cast<std::size_t>(plan.peers[p].n_receive);
    if (plan.peers[p].n_receive > 0) receivers_.push_back(p);
  }
  sent_ = Array<T>(n_send, Purpose::buffers);
  received_ = Array<T>(n_receive, Purpose::buffers);
}

template <class T>
void HaloPull<T>::begin(const T* x) {
  const HaloPlan& plan = graph_->halo_plan();
  for (const std::size_t p : receivers_)
    round_.receive(plan.peers[p].rank, std::as_writable_bytes(received_.span().subspan(
                                           receive_place_[p], static_cast<std::size_t>(plan.peers[p].n_receive))));
  for (std::size_t p = 0; p < plan.peers.size(); ++p) {
    const HaloPlan::Peer& peer = plan.peers[p];
    if (peer.n_send == 0) continue;
    T* message = sent_.data() + send_place_[p];
    parallel_for(static_cast<std::int64_t>(peer.send_end - peer.send_begin), [&](std::int64_t part) {
      const HaloPlan::Copy& s = plan.sends[peer.send_begin + static_cast<std::size_t>(part)];
      const std::uint16_t* vof = plan.send_vofs.data() + s.list;
      const T* from = x + s.from;
      for (std::int32_t t = 0; t < s.count; ++t) message[s.to + t] = from[vof[t]];
    });
    round_.send(peer.rank, std::as_bytes(sent_.span().subspan(send_place_[p], static_cast<std::size_t>(peer.n_send))));
  }
}

template <class T>
void HaloPull<T>::finish(T* x) {
  const HaloPlan& plan = graph_->halo_plan();
  for (int i = round_.wait_any(); i >= 0; i = round_.wait_any()) {
    const std::size_t p = receivers_[static_cast<std::size_t>(i)];
    const T* message = received_.data() + receive_place_[p];
    for (std::size_t k = plan.peers[p].receive_begin; k < plan.peers[p].receive_end; ++k) {
      const HaloPlan::Copy& r = plan.receives[k];
      std::copy(message + r.from, message + r.from + r.count, x + r.to);
    }
  }
  round_.wait_sends();
}

template class HaloPull<float>;
template class HaloPull<double>;
template class HaloPull<Quad>;
template class HaloPull<Values<3>>;

}  // namespace karst
