// SPDX-License-Identifier: BSD-3-Clause
#include "grid/list_exchange.hpp"

#include <map>

#include "grid/bytes.hpp"

namespace karst {

ListExchange::ListExchange(const Comm& comm, std::span<const RemoteItem> wanted) : n_received_(std::ssize(wanted)) {
  std::map<int, ExchangePeer> peers;
  const auto peer_of = [&](int rank) -> ExchangePeer& {
    return peers.try_emplace(rank, ExchangePeer{rank}).first->second;
  };
  std::vector<Message> questions;
  for (std::size_t first = 0, end = 0; first < wanted.size(); first = end) {
    const int rank = wanted[first].rank;
    ByteWriter numbers;
    for (end = first; end < wanted.size() && wanted[end].rank == rank; ++end) numbers.put(wanted[end].number);
    questions.push_back({rank, numbers.take()});
    peer_of(rank).receive_begin = first;
    peer_of(rank).receive_end = end;
  }
  for (const Message& m : comm.sparse_exchange(questions)) {
    ExchangePeer& peer = peer_of(m.rank);
    peer.send_begin = sent_.size();
    for (ByteReader in(m.bytes); !in.at_end();) sent_.push_back(in.get<std::int32_t>());
    peer.send_end = sent_.size();
  }
  std::vector<ExchangePeer> sorted;
  for (const auto& [rank, peer] : peers) sorted.push_back(peer);
  messages_ = PeerExchange(comm, std::move(sorted));
}

std::int64_t ListExchange::bytes() const {
  return messages_.bytes() + static_cast<std::int64_t>(sent_.capacity() * sizeof(std::int32_t));
}

}  // namespace karst
