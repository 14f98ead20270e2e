// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <vector>

#include "transport/regrid/grid_change.hpp"

namespace karst {

/// Marks on sources of a change of grid, set by any ranks and read by all that have volumes of them.
class SourceMarks {
 public:
  explicit SourceMarks(GridChange& change)
      : change_(change), place_(change.n_sources + change.exchange.n_received(), -1) {}
  void add(const RemoteItem& source) {
    if (source.rank == change_.to.composite->comm().rank())
      place_[source.number] = 0;
    else if (source.rank >= 0)
      of_others_[source.rank].push_back(source.number);
  }
  /// Ends the marking. Collective.
  void finish();
  // After finish(), for sources as GridChange::source numbers them:
  bool has(std::int32_t source) const { return place_[source] >= 0; }
  /// Among those that are marked; -1: it is not.
  std::int32_t place(std::int32_t source) const { return place_[source]; }
  std::int32_t size() const { return size_; }  ///< how many are marked
  /// Of volumes of the old grid: whether the source of each is marked, those of other ranks and 1 behind domain faces
  /// included. Collective.
  /// @param sources  of the own volumes
  std::vector<std::uint8_t> of_volumes(std::span<const RemoteItem> sources) const;

 private:
  GridChange& change_;
  std::vector<std::int32_t> place_;
  std::int32_t size_ = 0;
  std::map<int, std::vector<std::int32_t>> of_others_;
};

}  // namespace karst
