// SPDX-License-Identifier: BSD-3-Clause
// The cut boxes of a rank with copies of the neighbouring boxes of other ranks, and the links of pieces across cell
// faces. Used inside eb/ only; its result is the VoF graph.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/comm/comm.hpp"
#include "eb/cut/cut_box.hpp"
#include "grid/layout.hpp"

namespace karst {

/// Octants in a box of the layout and beyond its faces that are covered by the next finer level.
using RefinedOf = std::function<RefinedOctants(std::int64_t box)>;

/// A cut box with its pieces numbered: every regular cell and every piece of a cut cell has an id, in the order of the
/// cells. Copies of boxes of other ranks have no moments.
struct PieceBox {
  std::int64_t box = -1;  ///< position in the layout
  BoxPieces cut;
  std::vector<std::uint16_t> first_id;     ///< per cell and one more: ids of a cell are [first_id[c], first_id[c + 1])
  std::vector<std::uint16_t> first_piece;  ///< same for positions in cut.pieces
  /// Per piece, filled for the first one of each cell: by side, the piece of the cell whose face there has ordinal 0;
  /// no_piece without one.
  std::vector<std::array<std::uint16_t, 6>> at_face;
  static constexpr std::uint16_t no_piece = 0xffff;
  RefinedOctants refined;          ///< own boxes only
  std::array<int, 6> neighbour{};  ///< slot of the box across each side, or no_box / outside

  int n_ids() const { return first_id.back(); }
  int n_pieces() const { return static_cast<int>(cut.pieces.size()); }
  int n_cells() const { return static_cast<int>(cut.kind.size()); }
  CellKind kind(int cell) const { return cut.kind[cell]; }
  int id_of_cell(int cell) const { return first_id[cell]; }
  /// Index in the domain of the cell of a piece, given its position in cut.pieces.
  Index cell_of_piece(int piece) const { return cut.cells.cell(cut.pieces[piece].cell); }
  /// The piece of a cell with this face, as position in cut.pieces; -1: none.
  int piece_at(int cell, int side, int ordinal) const;
  /// Id of a piece given its position in cut.pieces.
  int id_of_piece(int piece) const {
    const int cell = cut.pieces[piece].cell;
    return id_of_cell(cell) + piece - first_piece[cell];
  }
};

/// Neighbour across a face of a piece.
struct Across {
  enum class What : std::uint8_t { piece, domain_end, coarse, nothing } what = What::nothing;
  int slot = -1;   ///< of the box in PieceBoxes
  int cell = -1;   ///< offset in that box
  int id = -1;     ///< of the piece in that box
  int piece = -1;  ///< position in cut.pieces; -1 for a regular cell
};

class PieceBoxes {
 public:
  static constexpr int no_box = -1, outside = -2;

  /// Takes the cut own boxes (in layout order) and fetches the face neighbours that other ranks own. Collective.
  /// @param level  0: a missing neighbour contains no fluid; above: it may be on the next coarser level
  PieceBoxes(const Comm& comm, const Layout& layout, int level, std::vector<BoxPieces> own, const RefinedOf& refined);

  const Comm& comm() const { return comm_; }
  const Layout& layout() const { return layout_; }
  int level() const { return level_; }
  int n_own() const { return n_own_; }
  int n_slots() const { return static_cast<int>(boxes_.size()); }  ///< own boxes, then copies
  const PieceBox& box(int slot) const { return boxes_[slot]; }
  int slot_of(std::int64_t layout_box) const;  ///< -1 if neither own nor copied

  /// Neighbour across a side of a cell (its index in the domain) of an own box, through the face piece with this
  /// ordinal. Not collective.
  Across across(int own_slot, const Index& cell, int side, int ordinal) const;

  /// Whether the cell across this side of a cell of an own box is in the same box.
  bool stays_inside(int own_slot, const Index& cell, int side) const {
    const Box& cells = box(own_slot).cut.cells;
    const int d = direction_of(side);
    return is_high(side) ? cell[d] + 1 < cells.hi[d] : cell[d] > cells.lo[d];
  }

  /// Whether the finer level covers both this cell of an own box and the one across its side, or neither.
  bool same_region(int own_slot, const Index& cell, int side) const {
    const PieceBox& from = box(own_slot);
    const Index at = cell - from.cut.cells.lo;
    return from.refined.covers(at) == from.refined.covers(at + side_offset(side));
  }

  /// How an own box was cut; it is of no use any more.
  BoxPieces take_cut(int own_slot) { return std::move(boxes_[own_slot].cut); }

  /// Fills values[n_own ...] (copies) from the owners' values, slot by slot. Collective.
  template <class T>
  void fetch(std::vector<std::vector<T>>& values) const;

 private:
  struct CopyBytes {
    int slot;
    std::vector<std::byte> bytes;
  };
  std::vector<CopyBytes> fetch_bytes(const std::vector<std::vector<std::byte>>& own) const;
  void find_neighbours();

  const Comm& comm_;
  const Layout& layout_;
  int level_;
  int n_own_;
  std::vector<PieceBox> boxes_;
  std::unordered_map<std::int64_t, int> copies_;        ///< layout box -> slot
  std::vector<std::pair<int, std::vector<int>>> send_;  ///< rank, own slots it needs
};

/// Numbers the cells' pieces (first_id, first_piece, at_face).
void number_pieces(PieceBox& box);

template <class T>
void PieceBoxes::fetch(std::vector<std::vector<T>>& values) const {
  static_assert(std::is_trivially_copyable_v<T>);
  values.resize(n_slots());
  std::vector<std::vector<std::byte>> own(n_own_);
  for (const auto& [rank, slots] : send_)
    for (const int s : slots) {
      const auto bytes = std::as_bytes(std::span<const T>(values[s]));
      own[s].assign(bytes.begin(), bytes.end());
    }
  for (const CopyBytes& m : fetch_bytes(own)) {
    auto& v = values[m.slot];
    v.resize(m.bytes.size() / sizeof(T));
    if (!v.empty()) std::memcpy(v.data(), m.bytes.data(), m.bytes.size());
  }
}

}  // namespace karst
