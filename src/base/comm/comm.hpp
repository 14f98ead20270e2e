// SPDX-License-Identifier: BSD-3-Clause
// The only home of MPI: a communicator and the few patterns Karst uses. Messages may be larger than 2 GiB.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// A group of ranks. Copies share the MPI communicator, which this class never frees: the caller of MPI owns it.
class Comm {
 public:
  /// Throws Error when MPI does not run or the handle is MPI_COMM_NULL. Not collective.
  explicit Comm(MPI_Comm handle);
  static Comm world();
  static Comm self();
  /// The ranks 0, n, 2n, ... of this one, numbered 0, 1, 2, ...; nothing on the others. Made at the first call for a
  /// number, kept with the communicator. Collective.
  std::optional<Comm> every(int n) const;
  /// The ranks of this one that name the same of n parts, in their order. Made at the first call for a number of parts,
  /// kept with the communicator; later calls must name the same. Collective.
  Comm part(int n, int mine) const;
  /// For each rank the lowest rank that shares its memory: that of its machine. Collective.
  std::vector<int> machines() const;
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
  bool any(bool x) const;               ///< true when true on any rank
  void sum(std::span<double> x) const;  ///< in place, element by element; same length on every rank
  void sum(std::span<std::int64_t> x) const;
  void max(std::span<double> x) const;
  std::int64_t exclusive_sum(std::int64_t x) const;  ///< Σ over lower ranks; 0 on rank 0
  /// Values of all ranks one after the other, in rank order; the number per rank may differ.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) const;
  /// Same length on every rank.
  template <class T>
  void broadcast(std::span<T> x, int root = 0) const;
  void broadcast(std::string& x, int root = 0) const;
  /// Sends each message to its rank and returns those received, sorted by rank (several from one rank in the order in
  /// which it listed them); receivers need not know the senders (non-blocking consensus, Hoefler, Siebert & Lumsdaine,
  /// PPoPP 2010). Those for this rank are not sent. Throws Error before sending when a rank does not exist. Collective.
  /// For set-up only.
  std::vector<Message> sparse_exchange(const std::vector<Message>& out) const;
  /// Messages for this rank are moved.
  std::vector<Message> sparse_exchange(std::vector<Message>&& out) const;

 private:
  void exchange_with_others(const std::vector<Message>& out, std::vector<Message>& in) const;
  std::vector<std::int64_t> gather_sizes(std::int64_t bytes) const;
  /// @param sizes  bytes of each rank
  /// @param[out] all  Σ sizes bytes
  void gather_bytes(std::span<const std::byte> mine, const std::vector<std::int64_t>& sizes,
                    std::span<std::byte> all) const;
  void broadcast_bytes(std::span<std::byte> x, int root) const;

  MPI_Comm handle_;
  int rank_ = 0, size_ = 1;
};

/// A round of messages whose partners and sizes are known: receives are posted first, sends follow, and messages are
/// handled in the order of their arrival. Buffers must live until all have arrived and wait_sends() has returned.
/// After wait_any() has returned -1 and wait_sends() has returned, the next round may begin; it allocates nothing.
/// A round that is left early (an exception) is cancelled, not waited for.
class Exchange {
 public:
  static constexpr int largest_tag = 32000;  ///< tags above it are used inside Comm

  /// Throws Error unless 0 <= tag <= largest_tag.
  Exchange(const Comm& comm, int tag);
  Exchange(Exchange&&) = default;
  ~Exchange();
  void receive(int rank, std::span<std::byte> into);  ///< receives are numbered 0, 1, ... in posting order
  void send(int rank, std::span<const std::byte> from);
  int wait_any();  ///< number of a receive that has arrived; -1 when all have been handed out
  void wait_sends();

 private:
  /// A receive, for a trace.
  struct Traced {
    int from;
    std::uint64_t message;
    std::int64_t bytes;
  };
  MPI_Comm handle_;
  int tag_;
  std::vector<MPI_Request> receives_, sends_;
  std::vector<Traced> traced_;  // parallel to the receives of a round; empty where no trace is taken
};

template <class T>
std::vector<T> Comm::all_gather(std::span<const T> mine) const {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  const std::vector<std::int64_t> sizes = gather_sizes(static_cast<std::int64_t>(mine.size_bytes()));
  std::size_t bytes = 0;
  for (const std::int64_t s : sizes) bytes += s;
  std::vector<T> all(bytes / sizeof(T));
  gather_bytes(std::as_bytes(mine), sizes, std::as_writable_bytes(std::span(all)));
  return all;
}

template <class T>
void Comm::broadcast(std::span<T> x, int root) const {
  static_assert(std::is_trivially_copyable_v<T>);
  broadcast_bytes(std::as_writable_bytes(x), root);
}

}  // namespace karst
