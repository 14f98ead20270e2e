// SPDX-License-Identifier: BSD-3-Clause
// Repeated messages between ranks: partners and numbers of values are constant, the type is any trivially copyable one
// and may change from round to round. HaloExchange (halos of fields) and ListExchange (listed values) are based on it.
//
// All exchanges use one tag: ranks create and use them in the same order, and messages between two ranks arrive in the
// order in which they were sent (MPI standard 4.0, section 3.5), so each matches the receive of its own exchange, also
// if several are active.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"

namespace karst {

/// One partner, with its range of the values that this rank sends and receives in a round.
struct ExchangePeer {
  int rank;
  std::size_t send_begin = 0, send_end = 0, receive_begin = 0, receive_end = 0;
  std::size_t n_send() const { return send_end - send_begin; }
  std::size_t n_receive() const { return receive_end - receive_begin; }
};

class PeerExchange {
 public:
  PeerExchange() = default;
  /// @param peers  by increasing rank, each once; the values that one rank sends to another are those that the other
  /// receives from it
  PeerExchange(const Comm& comm, std::vector<ExchangePeer> peers);

  const std::vector<ExchangePeer>& peers() const { return peers_; }

  /// Posts the receives, then packs and sends one message after the other. Allocates only if a round has more bytes
  /// than all previous ones. Throws Error if a round is active. Collective.
  /// @param width     numbers of type T per value
  /// @param received  width times all values received; complete for a peer after wait_any() has returned it
  /// @param pack      (number of a peer, T* message): writes width * n_send() numbers
  template <class T, class Pack>
  void begin(std::size_t width, std::span<T> received, Pack&& pack) {
    static_assert(std::is_trivially_copyable_v<T>);
    start(width * sizeof(T), std::as_writable_bytes(received));
    for (std::size_t p = 0; p < peers_.size(); ++p) {
      if (peers_[p].n_send() == 0) continue;
      pack(p, reinterpret_cast<T*>(sent_.data() + peers_[p].send_begin * width * sizeof(T)));
      send(peers_[p], width * sizeof(T));
    }
  }
  /// Number of a peer whose message has arrived; -1 after all have been returned, which ends the round. Throws Error if
  /// no round is active. Collective.
  int wait_any();

  std::int64_t messages_sent() const { return messages_sent_; }  ///< by this rank, since it was made
  std::int64_t bytes_sent() const { return bytes_sent_; }
  std::int64_t bytes() const;

 private:
  void start(std::size_t value_bytes, std::span<std::byte> received);
  void send(const ExchangePeer& peer, std::size_t value_bytes);

  std::vector<ExchangePeer> peers_;
  std::vector<int> receivers_;  // peer of each receive, in posting order
  std::size_t n_sent_ = 0;
  std::unique_ptr<Exchange> round_;
  Array<std::byte> sent_;
  bool under_way_ = false;
  std::int64_t messages_sent_ = 0, bytes_sent_ = 0;
};

}  // namespace karst
