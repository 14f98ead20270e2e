// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/merged_ranks.hpp"

#include <algorithm>
#include <cstring>

#include "base/core/items_of.hpp"

namespace karst {

namespace {

std::vector<std::int64_t> sizes_of_all(const Comm& comm, std::int64_t n_own) {
  return comm.all_gather(std::span<const std::int64_t>(std::array{n_own}));
}

int leader_of(int rank, int group) { return rank / group * group; }

/// A list behind what a message holds already: its length and its items.
template <class T>
void append(std::vector<std::byte>& message, const std::vector<T>& items) {
  const auto n = static_cast<std::int64_t>(items.size());
  const std::size_t at = message.size();
  message.resize(at + sizeof n + items.size() * sizeof(T));
  std::memcpy(message.data() + at, &n, sizeof n);
  if (n > 0) std::memcpy(message.data() + at + sizeof n, items.data(), items.size() * sizeof(T));
}
/// Takes the list at the front of a message off it.
template <class T>
std::vector<T> take(std::span<const std::byte>& message) {
  std::int64_t n = 0;
  std::memcpy(&n, message.data(), sizeof n);
  std::vector<T> items(n);
  if (n > 0) std::memcpy(items.data(), message.data() + sizeof n, items.size() * sizeof(T));
  message = message.subspan(sizeof n + items.size() * sizeof(T));
  return items;
}

template <class T>
void add(std::vector<T>& to, const std::vector<T>& items) {
  to.insert(to.end(), items.begin(), items.end());
}

/// What a rank gives: connections name the group and the number in it of their other end.
std::vector<std::byte> packed(const NodeGraph& mine, const std::vector<std::int32_t>& first, int rank, int group) {
  std::vector<std::int64_t> length;
  for (std::size_t v = 0; v + 1 < mine.begin.size(); ++v) length.push_back(mine.begin[v + 1] - mine.begin[v]);
  std::vector<RemoteItem> ends;
  for (const std::int32_t c : mine.column) {
    const RemoteItem end = c < mine.size() ? RemoteItem{rank, c} : mine.remote[c - mine.size()];
    ends.push_back({end.rank / group, first[end.rank] + end.number});
  }
  std::vector<ComponentShift> component_shift(mine.component_shift);
  for (ComponentShift& s : component_shift) s.node += first[rank];
  std::vector<std::byte> message;
  append(message, mine.key);
  append(message, length);
  append(message, ends);
  append(message, mine.weight);
  append(message, mine.inflow);
  append(message, mine.shift);
  append(message, mine.entering);
  append(message, component_shift);
  return message;
}

}  // namespace

NodeGraph merge(const Comm& comm, const NodeGraph& mine, int group) {
  const std::vector<std::int64_t> sizes = sizes_of_all(comm, mine.size());
  std::vector<std::int32_t> first(sizes.size());  // of each rank's nodes in its group
  for (std::size_t r = 1; r < sizes.size(); ++r)
    first[r] = r % group == 0 ? 0 : first[r - 1] + static_cast<std::int32_t>(sizes[r - 1]);
  std::vector<Message> out;
  out.push_back({leader_of(comm.rank(), group), packed(mine, first, comm.rank(), group)});
  NodeGraph graph;
  std::vector<RemoteItem> ends;
  for (const Message& message : comm.sparse_exchange(out)) {
    std::span<const std::byte> rest(message.bytes);
    add(graph.key, take<std::uint64_t>(rest));
    for (const std::int64_t n : take<std::int64_t>(rest)) graph.begin.push_back(graph.begin.back() + n);
    add(ends, take<RemoteItem>(rest));
    add(graph.weight, take<float>(rest));
    add(graph.inflow, take<float>(rest));
    add(graph.shift, take<float>(rest));
    add(graph.entering, take<float>(rest));
    add(graph.component_shift, take<ComponentShift>(rest));
  }
  const int here = comm.rank() / group;
  for (const RemoteItem& end : ends)
    if (end.rank != here) graph.remote.push_back(end);
  std::ranges::sort(graph.remote);
  erase_repeated(graph.remote);
  for (const RemoteItem& end : ends) {
    const auto at = std::ranges::lower_bound(graph.remote, end) - graph.remote.begin();
    graph.column.push_back(end.rank == here ? end.number : static_cast<std::int32_t>(graph.size() + at));
  }
  return graph;
}

template <int C>
BasicMergedRanks<C>::BasicMergedRanks(const Comm& comm, int group, std::int64_t n_own)
    : leads_(comm.rank() % group == 0), b_(n_own), x_(n_own) {
  const std::vector<std::int64_t> sizes = sizes_of_all(comm, n_own);
  std::vector<ExchangePeer> up, down;
  if (leads_) {
    n_all_ = b_.size();
    std::size_t sent = 0;
    for (int r = comm.rank() + 1; r < std::min(comm.rank() + group, comm.size()); ++r) {
      const std::size_t n = sizes[r];
      up.push_back({r, 0, 0, sent, sent + n});
      down.push_back({r, sent, sent + n, 0, 0});
      sent += n;
    }
    n_all_ += sent;
  } else {
    const int leader = leader_of(comm.rank(), group);
    up.push_back({leader, 0, b_.size(), 0, 0});
    down.push_back({leader, 0, 0, 0, b_.size()});
  }
  up_ = PeerExchange(comm, std::move(up));
  down_ = PeerExchange(comm, std::move(down));
}

template <int C>
template <class T>
void BasicMergedRanks<C>::collect(std::span<const T> own, std::span<T> all) {
  const auto others = leads_ ? all.subspan(own.size()) : std::span<T>();
  up_.begin(1, others, [&](std::size_t, T* message) { std::ranges::copy(own, message); });
  if (leads_) std::ranges::copy(own, all.begin());
  while (up_.wait_any() >= 0) {
  }
}

template <int C>
void BasicMergedRanks<C>::hand_out(std::span<const Value> all) {
  down_.begin(1, leads_ ? std::span<Value>() : std::span(x_), [&](std::size_t p, Value* message) {
    const ExchangePeer& peer = down_.peers()[p];
    std::ranges::copy(all.subspan(x_.size() + peer.send_begin, peer.n_send()), message);
  });
  if (leads_) std::ranges::copy(all.first(x_.size()), x_.begin());
  while (down_.wait_any() >= 0) {
  }
}

template <int C>
std::vector<float> BasicMergedRanks<C>::collect(const std::vector<float>& own) {
  std::vector<float> all(n_all_);
  collect(std::span<const float>(own), std::span<float>(all));
  return all;
}

template class BasicMergedRanks<1>;
template class BasicMergedRanks<2>;
template class BasicMergedRanks<3>;
template class BasicMergedRanks<4>;

}  // namespace karst
