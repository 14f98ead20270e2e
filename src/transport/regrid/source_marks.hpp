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
  explicit SourceMarks(GridChange& change) : change_(change) {
    marked_.resize(change.n_sources + change.exchange.n_received(), 0);
  }
  void add(const RemoteItem& source) {
    if (source.rank == change_.to.composite->comm().rank())
      marked_[source.number] = 1;
    else if (source.rank >= 0)
      of_others_[source.rank].push_back(source.number);
  }
  /// Ends the marking. Collective.
  void finish();
  /// As GridChange::source numbers them, finish() before.
  bool has(std::int32_t source) const { return marked_[source] != 0; }
  /// Of volumes of the old grid: whether the source of each is marked, those of other ranks and 1 behind domain faces
  /// included. Collective.
  /// @param sources  of the own volumes
  std::vector<std::uint8_t> of_volumes(std::span<const RemoteItem> sources) const;

 private:
  GridChange& change_;
  std::vector<std::uint8_t> marked_;
  std::map<int, std::vector<std::int32_t>> of_others_;
};

}  // namespace karst
