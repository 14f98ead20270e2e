// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/remote_values.hpp"

#include <algorithm>
#include <cassert>

#include "grid/bytes.hpp"

namespace karst {

template <class T>
RemoteOf<T>::RemoteOf(const Comm& comm, const CompositeNumbering& numbering, std::vector<GlobalNumber> wanted, int tag)
    : numbers_(std::move(wanted)) {
  std::sort(numbers_.begin(), numbers_.end());
  numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  std::vector<Message> questions;
  for (std::size_t i = 0; i < numbers_.size();) {
    const int rank = numbering.owner(numbers_[i]);
    std::size_t end = i;
    ByteWriter w;
    for (; end < numbers_.size() && numbering.owner(numbers_[end]) == rank; ++end) w.put(numbers_[end]);
    from_.push_back({rank, i, end});
    questions.push_back({rank, w.take()});
    i = end;
  }
  for (const Message& m : comm.sparse_exchange(questions)) {
    const std::size_t begin = send_.size();
    for (ByteReader in(m.bytes); !in.at_end();)
      send_.push_back(static_cast<std::int32_t>(in.get<GlobalNumber>() - numbering.first()));
    to_.push_back({m.rank, begin, send_.size()});
  }
  received_ = Array<T>(numbers_.size(), Purpose::buffers, T{});
  sent_ = Array<T>(send_.size(), Purpose::buffers, T{});
  round_.emplace_back(comm, tag);
}

template <class T>
std::int32_t RemoteOf<T>::place(GlobalNumber g) const {
  const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), g);
  assert(at != numbers_.end() && *at == g);
  return static_cast<std::int32_t>(at - numbers_.begin());
}

template <class T>
void RemoteOf<T>::send() {
  Exchange& round = round_.front();
  for (const Peer& p : from_)
    round.receive(p.rank, std::as_writable_bytes(received_.span().subspan(p.begin, p.end - p.begin)));
  for (const Peer& p : to_) round.send(p.rank, std::as_bytes(sent_.span().subspan(p.begin, p.end - p.begin)));
}

template <class T>
void RemoteOf<T>::finish() {
  Exchange& round = round_.front();
  while (round.wait_any() >= 0) {
  }
  round.wait_sends();
}

template <class T>
std::int64_t RemoteOf<T>::bytes() const {
  return static_cast<std::int64_t>(8 * numbers_.size() + 4 * send_.size() + received_.bytes() + sent_.bytes());
}

template class RemoteOf<double>;
template class RemoteOf<Quad>;

}  // namespace karst
