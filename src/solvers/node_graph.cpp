// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/node_graph.hpp"

#include <algorithm>
#include <cstring>

namespace karst {

NodeHalo::NodeHalo(const Comm& comm, std::int64_t n_own, const std::vector<RemoteNode>& remote, int tag)
    : round_(comm, tag), n_own_(n_own), n_remote_(static_cast<std::int64_t>(remote.size())) {
  std::vector<Message> wanted;
  for (std::size_t first = 0; first < remote.size();) {
    std::size_t end = first;
    std::vector<std::int32_t> nodes;
    for (; end < remote.size() && remote[end].rank == remote[first].rank; ++end) nodes.push_back(remote[end].node);
    const auto bytes = std::as_bytes(std::span(nodes));
    wanted.push_back({remote[first].rank, {bytes.begin(), bytes.end()}});
    peers_.push_back({remote[first].rank, 0, 0, first, end});
    first = end;
  }
  for (const Message& m : comm.sparse_exchange(wanted)) {
    const std::size_t begin = send_nodes_.size(), n = m.bytes.size() / sizeof(std::int32_t);
    send_nodes_.resize(begin + n);
    std::memcpy(send_nodes_.data() + begin, m.bytes.data(), m.bytes.size());
    auto peer = std::ranges::find(peers_, m.rank, &Peer::rank);
    if (peer == peers_.end()) peer = peers_.insert(peer, {m.rank, 0, 0, 0, 0});
    peer->send_begin = begin;
    peer->send_end = begin + n;
  }
  sent_.resize(send_nodes_.size() * largest_value);
}

void NodeHalo::exchange_bytes(std::span<std::byte> x, std::size_t width) {
  if (peers_.empty()) return;
  const std::span<std::byte> halo = x.subspan(static_cast<std::size_t>(n_own_) * width);
  for (const Peer& p : peers_)
    if (p.receive_end > p.receive_begin)
      round_.receive(p.rank, halo.subspan(p.receive_begin * width, (p.receive_end - p.receive_begin) * width));
  for (std::size_t i = 0; i < send_nodes_.size(); ++i)
    std::memcpy(sent_.data() + i * width, x.data() + static_cast<std::size_t>(send_nodes_[i]) * width, width);
  for (const Peer& p : peers_)
    if (p.send_end > p.send_begin)
      round_.send(p.rank, std::span(sent_).subspan(p.send_begin * width, (p.send_end - p.send_begin) * width));
  while (round_.wait_any() >= 0) {
  }
  round_.wait_sends();
}

std::int64_t NodeHalo::bytes() const {
  return static_cast<std::int64_t>(peers_.capacity() * sizeof(Peer) + send_nodes_.capacity() * sizeof(std::int32_t) +
                                   sent_.capacity());
}

NodeGraph gather(const Comm& comm, const NodeGraph& mine) {
  const std::vector<std::int64_t> sizes = comm.all_gather(std::span<const std::int64_t>(std::array{mine.size()}));
  std::vector<std::int64_t> first(sizes.size() + 1);
  for (std::size_t r = 0; r < sizes.size(); ++r) first[r + 1] = first[r] + sizes[r];
  std::vector<std::int32_t> column(mine.column);
  for (std::int32_t& c : column) {
    if (c < mine.size()) {
      c += static_cast<std::int32_t>(first[static_cast<std::size_t>(comm.rank())]);
    } else {
      const RemoteNode& node = mine.remote[static_cast<std::size_t>(c - mine.size())];
      c = node.node + static_cast<std::int32_t>(first[static_cast<std::size_t>(node.rank)]);
    }
  }
  std::vector<std::int64_t> length(mine.shift.size());
  for (std::size_t v = 0; v < length.size(); ++v) length[v] = mine.begin[v + 1] - mine.begin[v];
  const auto all = [&](const auto& x) { return comm.all_gather(std::span(x.data(), x.size())); };
  const auto& const_length = length;
  const auto& const_column = column;
  NodeGraph graph;
  graph.key = all(mine.key);
  graph.column = all(const_column);
  graph.weight = all(mine.weight);
  graph.inflow = all(mine.inflow);
  graph.shift = all(mine.shift);
  std::vector<ComponentShift> component_shift(mine.component_shift);
  for (ComponentShift& s : component_shift)
    s.node += static_cast<std::int32_t>(first[static_cast<std::size_t>(comm.rank())]);
  graph.component_shift = all(std::as_const(component_shift));
  for (const std::int64_t n : all(const_length)) graph.begin.push_back(graph.begin.back() + n);
  return graph;
}

}  // namespace karst
