// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm.hpp"
#include "base/memory.hpp"
#include "solvers/composite_numbering.hpp"

namespace karst {

/// Values of unknowns of other ranks that this rank reads, fetched without blocking:
///   values.begin(x); ...work on what is own...; values.finish(); ...values.values()[place]...
class RemoteValues {
 public:
  RemoteValues() = default;
  /// @param wanted  global numbers of unknowns of other ranks, any order, repeated or not
  /// Collective.
  RemoteValues(const Comm& comm, const CompositeNumbering& numbering, std::vector<GlobalNumber> wanted, int tag);

  /// Place of an unknown among values(); it must have been wanted. O(log n).
  std::int32_t place(GlobalNumber g) const;
  const std::vector<GlobalNumber>& numbers() const { return numbers_; }  ///< in the order of values()

  /// @param x  values of the own unknowns; may change after finish() alone
  /// Both collective; they allocate nothing after the first round.
  void begin(std::span<const double> x);
  void finish();
  std::span<const double> values() const { return received_.span(); }
  std::int64_t bytes() const;

 private:
  struct Peer {
    int rank;
    std::size_t begin, end;  // in received_ or sent_
  };
  std::vector<GlobalNumber> numbers_;  // sorted
  std::vector<Peer> from_, to_;
  std::vector<std::int32_t> send_;  // own number per value sent
  Array<double> received_, sent_;
  std::vector<Exchange> round_;  // one or none: Exchange has no empty state
};

}  // namespace karst
