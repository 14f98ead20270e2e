// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "fields/composite_numbering.hpp"
#include "grid/list_exchange.hpp"

namespace karst {

/// Unknowns of other ranks that this rank reads, by their global numbers.
class RemoteUnknowns {
 public:
  RemoteUnknowns() = default;
  /// @param wanted  global numbers of unknowns of other ranks, any order, repeated or not
  /// Collective.
  RemoteUnknowns(const Comm& comm, const CompositeNumbering& numbering, std::vector<GlobalNumber> wanted);

  /// Index of an unknown in numbers(); it must be among `wanted`. O(log n).
  std::int32_t place(GlobalNumber g) const;
  const std::vector<GlobalNumber>& numbers() const { return numbers_; }  ///< in the order of the values received
  ListExchange& exchange() { return exchange_; }
  const ListExchange& exchange() const { return exchange_; }
  std::int64_t bytes() const;

 private:
  std::vector<GlobalNumber> numbers_;  // sorted
  ListExchange exchange_;
};

/// The same with their values, fetched without blocking:
///   values.begin(x); ...work on own data...; values.finish(); ...values.values()[index]...
template <class T>
class RemoteValues : public RemoteUnknowns {
 public:
  RemoteValues() = default;
  RemoteValues(const Comm& comm, const CompositeNumbering& numbering, std::vector<GlobalNumber> wanted)
      : RemoteUnknowns(comm, numbering, std::move(wanted)), values_(numbers().size(), Purpose::buffers, T{}) {}

  /// Both collective.
  /// @param x  values of the own unknowns
  void begin(std::span<const T> x) {
    exchange().begin(values_.span(), [&](std::size_t i) { return x[exchange().sent()[i]]; });
  }
  /// @param value_of  (i) -> the value of the own unknown exchange().sent()[i]
  template <class F>
  void begin_each(F&& value_of) {
    exchange().begin(values_.span(), value_of);
  }
  void finish() { exchange().finish(); }
  std::span<const T> values() const { return values_.span(); }
  std::int64_t bytes() const { return RemoteUnknowns::bytes() + static_cast<std::int64_t>(values_.bytes()); }

 private:
  Array<T> values_;
};

}  // namespace karst
