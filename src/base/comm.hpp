// SPDX-License-Identifier: BSD-3-Clause
// The only home of MPI: a communicator and the few patterns Karst uses.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace karst {

/// Bytes for or from one rank.
struct Message {
  int rank;
  std::vector<std::byte> bytes;
};

class Comm {
 public:
  explicit Comm(MPI_Comm handle);
  static Comm world();
  static Comm self();
  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return handle_; }

  // Collective.
  double sum(double x) const;
  std::int64_t sum(std::int64_t x) const;
  double max(double x) const;
  double min(double x) const;
  std::int64_t max(std::int64_t x) const;
  std::int64_t min(std::int64_t x) const;
  bool any(bool x) const;  ///< true when true on any rank
  void sum(std::span<double> x) const;        ///< in place, element by element
  void sum(std::span<std::int64_t> x) const;
  std::int64_t exclusive_sum(std::int64_t x) const;  ///< Σ over lower ranks
  /// Values of all ranks one after the other, in rank order.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) const;
  template <class T>
  void broadcast(std::span<T> x, int root = 0) const;
  void broadcast(std::string& x, int root = 0) const;
  /// Sends each message to its rank and returns those that came here, sorted by rank; nobody needs to know what
  /// comes (non-blocking consensus, Hoefler, Siebert & Lumsdaine, PPoPP 2010). Collective. For set-up only.
  std::vector<Message> sparse_exchange(const std::vector<Message>& out) const;

 private:
  MPI_Comm handle_;
  int rank_ = 0, size_ = 1;
};

/// One round of messages whose partners and sizes are known: receives are posted first, sends follow, and messages are
/// handled in the order of their arrival. Buffers must live until all have arrived and wait_sends() has returned.
class Exchange {
 public:
  Exchange(const Comm& comm, int tag);
  Exchange(Exchange&&) = default;
  ~Exchange();
  void receive(int rank, std::span<std::byte> into);  ///< receives are numbered 0, 1, ... in posting order
  void send(int rank, std::span<const std::byte> from);
  int wait_any();  ///< number of a receive that has arrived; -1 when all have been handed out
  void wait_sends();

 private:
  MPI_Comm handle_;
  int tag_;
  std::vector<MPI_Request> receives_, sends_;
};

}  // namespace karst
