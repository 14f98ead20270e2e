// SPDX-License-Identifier: BSD-3-Clause
#include "grid/peer_exchange.hpp"

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr int tag = 1;  // of all exchanges

}  // namespace

PeerExchange::PeerExchange(const Comm& comm, std::vector<ExchangePeer> peers)
    : peers_(std::move(peers)), round_(std::make_unique<Exchange>(comm, tag)) {
  for (std::size_t p = 0; p < peers_.size(); ++p) {
    n_sent_ += peers_[p].n_send();
    if (peers_[p].n_receive() > 0) receivers_.push_back(static_cast<int>(p));
  }
}

void PeerExchange::start(std::size_t value_bytes, std::span<std::byte> received) {
  require(!under_way_, "exchange: a round was begun before the last one ended");
  under_way_ = true;
  if (sent_.size() < n_sent_ * value_bytes) sent_ = Array<std::byte>(n_sent_ * value_bytes, Purpose::buffers);
  for (const int p : receivers_) {
    const ExchangePeer& peer = peers_[p];
    round_->receive(peer.rank, received.subspan(peer.receive_begin * value_bytes, peer.n_receive() * value_bytes));
  }
}

void PeerExchange::send(const ExchangePeer& peer, std::size_t value_bytes) {
  const std::size_t bytes = peer.n_send() * value_bytes;
  round_->send(peer.rank, std::as_bytes(sent_.span().subspan(peer.send_begin * value_bytes, bytes)));
  ++messages_sent_;
  bytes_sent_ += static_cast<std::int64_t>(bytes);
}

int PeerExchange::wait_any() {
  require(under_way_, "exchange: waiting for messages without a round");
  if (!peers_.empty()) {
    if (const int i = round_->wait_any(); i >= 0) return receivers_[i];
    round_->wait_sends();
  }
  under_way_ = false;
  return -1;
}

std::int64_t PeerExchange::bytes() const {
  return static_cast<std::int64_t>(peers_.capacity() * sizeof(ExchangePeer) + receivers_.capacity() * sizeof(int) +
                                   sent_.bytes());
}

}  // namespace karst
