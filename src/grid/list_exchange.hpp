// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/parallel.hpp"
#include "grid/peer_exchange.hpp"

namespace karst {

/// A value that another rank owns: its number there.
struct RemoteItem {
  std::int32_t rank, number;
  friend auto operator<=>(const RemoteItem&, const RemoteItem&) = default;
};

/// Fetches listed values of other ranks without blocking:
///   list.begin(received, value_of); ...work on own data...; list.finish(); ...received[i]...
class ListExchange {
 public:
  ListExchange() = default;
  /// @param wanted  sorted, each once; received values are in this order. All ranks must create and use their exchanges
  /// in the same order. Collective.
  ListExchange(const Comm& comm, std::span<const RemoteItem> wanted);

  std::int64_t n_received() const { return n_received_; }
  /// Own numbers that other ranks read.
  std::span<const std::int32_t> sent() const { return sent_; }

  /// Both collective; they allocate only if a round has more bytes than all previous ones.
  /// @param received  n_received() values; in use until finish()
  /// @param value_of  (i) -> the value of the own number sent()[i]
  template <class T, class F>
  void begin(std::span<T> received, F&& value_of) {
    messages_.begin(1, received, [&](std::size_t p, T* message) {
      const ExchangePeer& peer = messages_.peers()[p];
      const auto pack = [&](std::int64_t i) { message[i] = value_of(peer.send_begin + i); };
      const auto n = static_cast<std::int64_t>(peer.n_send());
      if (n < worth_threads)
        for (std::int64_t i = 0; i < n; ++i) pack(i);
      else
        parallel_for(n, pack);
    });
  }
  void finish() {
    while (messages_.wait_any() >= 0) {
    }
  }
  /// begin() and finish().
  /// @param x  own values, behind them n_received() that are filled
  template <class T>
  void exchange(std::span<T> x) {
    begin(x.last(n_received_), [&](std::size_t i) { return x[sent_[i]]; });
    finish();
  }
  std::int64_t bytes() const;

 private:
  static constexpr std::int64_t worth_threads = 4096;  // values

  PeerExchange messages_;
  std::vector<std::int32_t> sent_;
  std::int64_t n_received_ = 0;
};

}  // namespace karst
