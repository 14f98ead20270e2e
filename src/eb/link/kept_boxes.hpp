// SPDX-License-Identifier: BSD-3-Clause
// What of a geometry serves the next one, made of the same level set with other boxes or owners: how its own boxes were
// cut, merged and selected, and what boxes weigh. A box is cut anew where it was not there, had another owner, or had
// other finer octants in it and beyond its faces (decision 064). Used by build_geometry() alone.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "eb/cut/cut_box.hpp"
#include "eb/link/home_cells.hpp"
#include "grid/layout_builder.hpp"

namespace karst {

/// An own box as a level was made of it.
struct KeptBox {
  RefinedOctants refined;
  BoxPieces cut;
  std::vector<PieceHomes> homes;   ///< of the pieces
  std::vector<std::uint8_t> kept;  ///< of the ids of PieceBox: whether their pore stays
  std::uint8_t beside = 0;         ///< bits of the sides beyond which there was a box
};

/// Of one level set, and of all levels.
class KeptBoxes {
 public:
  /// What is here now is that of the geometry before. Not collective.
  void begin();
  /// The box as it was, which is no longer kept then; nothing where it was not there. Its cut serves where the same
  /// octants are refined. Not collective.
  std::optional<KeptBox> take(int level, const Box& cells);
  void put(int level, KeptBox box);
  /// Drops what the new geometry does not have. Not collective.
  void finish() { before_.clear(); }
  /// Of a box: as classified earlier, or by classify(cells). Threaded; not collective.
  double weight(int level, const Box& cells, const Classify& classify);
  std::int64_t bytes() const;

 private:
  using Name = std::pair<int, std::uint64_t>;  // level, Morton key of the low cell
  std::map<Name, KeptBox> before_, now_;
  std::map<Name, double> weights_;
  std::mutex mutex_;  // of the weights
};

}  // namespace karst
