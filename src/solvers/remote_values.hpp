// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "grid/field.hpp"
#include "solvers/composite_numbering.hpp"

namespace karst {

/// Values of unknowns of other ranks that this rank reads, fetched without blocking:
///   values.begin(x); ...work on what is own...; values.finish(); ...values.values()[place]...
template <class T>
class RemoteOf {
 public:
  RemoteOf() = default;
  /// @param wanted  global numbers of unknowns of other ranks, any order, repeated or not
  /// Collective.
  RemoteOf(const Comm& comm, const CompositeNumbering& numbering, std::vector<GlobalNumber> wanted, int tag);

  /// Place of an unknown among values(); it must have been wanted. O(log n).
  std::int32_t place(GlobalNumber g) const;
  const std::vector<GlobalNumber>& numbers() const { return numbers_; }  ///< in the order of values()

  /// Own numbers of what other ranks read.
  std::span<const std::int32_t> sent() const { return send_; }
  /// @param value_of  i -> the value of the own unknown sent()[i]
  /// Both collective; they allocate nothing after the first round.
  template <class F>
  void begin_with(F&& value_of) {
    parallel_for(std::ssize(send_),
                 [&](std::int64_t i) { sent_[static_cast<std::size_t>(i)] = value_of(static_cast<std::size_t>(i)); });
    send();
  }
  /// @param x  values of the own unknowns; may change after finish() alone
  void begin(std::span<const T> x) {
    begin_with([&](std::size_t i) { return x[static_cast<std::size_t>(send_[i])]; });
  }
  void finish();
  std::span<const T> values() const { return received_.span(); }
  std::int64_t bytes() const;

 private:
  void send();
  struct Peer {
    int rank;
    std::size_t begin, end;  // in received_ or sent_
  };
  std::vector<GlobalNumber> numbers_;  // sorted
  std::vector<Peer> from_, to_;
  std::vector<std::int32_t> send_;  // own number per value sent
  Array<T> received_, sent_;
  std::vector<Exchange> round_;  // one or none: Exchange has no empty state
};

using RemoteValues = RemoteOf<double>;
extern template class RemoteOf<double>;
extern template class RemoteOf<Quad>;

}  // namespace karst
