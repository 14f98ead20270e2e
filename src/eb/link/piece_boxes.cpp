// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/piece_boxes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/bytes.hpp"

namespace karst {

namespace {

/// The part of a piece that other boxes need for linking.
struct LightPiece {
  std::uint16_t cell;
  std::uint8_t holds_center;
  std::uint16_t n_faces;
};
struct LightFace {
  std::uint8_t side, ordinal;
};

std::vector<std::byte> pack(const PieceBox& box) {
  std::vector<LightPiece> pieces;
  std::vector<LightFace> faces;
  for (const Piece& p : box.cut.pieces)
    pieces.push_back({p.cell, static_cast<std::uint8_t>(p.holds_center), p.n_faces});
  for (const FacePiece& f : box.cut.faces) faces.push_back({f.side, f.ordinal});
  ByteWriter out;
  out.put_vector(box.cut.kind);
  out.put_vector(pieces);
  out.put_vector(faces);
  return out.take();
}

PieceBox unpack(std::span<const std::byte> bytes, std::int64_t layout_box, const Box& cells) {
  ByteReader in(bytes);
  PieceBox box;
  box.box = layout_box;
  box.cut.cells = cells;
  box.cut.kind = in.get_vector<CellKind>();
  std::uint32_t first_face = 0;
  for (const LightPiece& p : in.get_vector<LightPiece>()) {
    box.cut.pieces.push_back({.cell = p.cell,
                              .holds_center = p.holds_center != 0,
                              .kappa = 0.0,
                              .centroid = {},
                              .wall = {},
                              .wall_area = 0.0,
                              .wall_centroid = {},
                              .first_face = first_face,
                              .n_faces = p.n_faces});
    first_face += p.n_faces;
  }
  for (const LightFace& f : in.get_vector<LightFace>()) box.cut.faces.push_back({f.side, f.ordinal, 0.0, {}});
  number_pieces(box);
  return box;
}

}  // namespace

void number_pieces(PieceBox& box) {
  const std::size_t n = box.cut.kind.size();
  box.first_id.resize(n + 1);
  box.first_piece.resize(n + 1);
  std::size_t piece = 0, id = 0;
  for (std::size_t c = 0; c < n; ++c) {
    box.first_id[c] = static_cast<std::uint16_t>(id);
    box.first_piece[c] = static_cast<std::uint16_t>(piece);
    if (box.cut.kind[c] == CellKind::regular) ++id;
    while (piece < box.cut.pieces.size() && box.cut.pieces[piece].cell == c) ++piece, ++id;
  }
  require(id <= 0xfff0, "box {} contains {} fluid fragments, more than the possible 65520; use a smaller box", box.box,
          id);
  box.first_id[n] = static_cast<std::uint16_t>(id);
  box.first_piece[n] = static_cast<std::uint16_t>(piece);
  std::array<std::uint16_t, 6> none;
  none.fill(PieceBox::no_piece);
  box.at_face.assign(piece, none);
  for (std::size_t p = 0; p < piece; ++p) {
    const Piece& of = box.cut.pieces[p];
    for (std::uint32_t f = of.first_face; f < of.first_face + of.n_faces; ++f)
      if (const FacePiece& face = box.cut.faces[f]; face.ordinal == 0)
        box.at_face[box.first_piece[of.cell]][face.side] = static_cast<std::uint16_t>(p);
  }
}

int PieceBox::piece_at(int cell, int side, int ordinal) const {
  const int first = first_piece[cell], end = first_piece[cell + 1];
  if (ordinal == 0) {
    const std::uint16_t p = first < end ? at_face[first][side] : no_piece;
    return p == no_piece ? -1 : p;
  }
  for (int p = first; p < end; ++p) {
    const Piece& piece = cut.pieces[p];
    for (std::uint32_t f = piece.first_face; f < piece.first_face + piece.n_faces; ++f)
      if (cut.faces[f].side == side && cut.faces[f].ordinal == ordinal) return p;
  }
  return -1;
}

PieceBoxes::PieceBoxes(const Comm& comm, const Layout& layout, int level, std::vector<BoxPieces> own,
                       const RefinedOf& refined)
    : comm_(comm), layout_(layout), level_(level), n_own_(static_cast<int>(own.size())), boxes_(own.size()) {
  const std::int64_t first = layout.owned(comm.rank()).first;
  parallel_for(n_own_, [&](std::int64_t i) {
    PieceBox& box = boxes_[i];
    box.box = first + i;
    box.cut = std::move(own[i]);
    box.refined = refined(box.box);
    number_pieces(box);
  });

  std::map<int, std::set<int>> wanted;  // rank -> own slots
  for (int s = 0; s < n_own_; ++s)
    for (int side = 0; side < 6; ++side) {
      const std::int64_t b = layout_.find(layout_.lattice_position(first + s) + side_offset(side));
      if (b < 0) continue;
      if (const int rank = layout_.owner(b); rank != comm.rank()) wanted[rank].insert(s);
    }
  for (const auto& [rank, slots] : wanted) send_.emplace_back(rank, std::vector<int>(slots.begin(), slots.end()));

  std::vector<Message> out;
  for (const auto& [rank, slots] : send_) {
    ByteWriter w;
    for (const int s : slots) {
      w.put(box(s).box);
      w.put_vector(pack(box(s)));
    }
    out.push_back({rank, w.take()});
  }
  for (const Message& m : comm.sparse_exchange(out)) {
    ByteReader in(m.bytes);
    while (!in.at_end()) {
      const auto b = in.get<std::int64_t>();
      copies_[b] = n_slots();
      boxes_.push_back(unpack(in.get_vector<std::byte>(), b, layout.box(b)));
    }
  }
  find_neighbours();
}

void PieceBoxes::find_neighbours() {
  for (int s = 0; s < n_own_; ++s) {
    PieceBox& box = boxes_[s];
    const Index at = layout_.lattice_position(box.box);
    for (int side = 0; side < 6; ++side) {
      const Index n = at + side_offset(side);
      const int d = direction_of(side);
      auto& slot = box.neighbour[side];
      if (!layout_.domain().periodic[d] && (n[d] < 0 || n[d] >= layout_.lattice_size()[d])) {
        slot = outside;
      } else {
        const std::int64_t b = layout_.find(n);
        slot = b < 0 ? no_box : slot_of(b);
      }
    }
  }
}

int PieceBoxes::slot_of(std::int64_t layout_box) const {
  const auto [first, last] = layout_.owned(comm_.rank());
  if (layout_box >= first && layout_box < last) return static_cast<int>(layout_box - first);
  const auto it = copies_.find(layout_box);
  return it == copies_.end() ? -1 : it->second;
}

Across PieceBoxes::across(int own_slot, const Index& cell, int side, int ordinal) const {
  const PieceBox& from = box(own_slot);
  const int d = direction_of(side);
  Index at = cell;
  at[d] += is_high(side) ? 1 : -1;
  int slot = own_slot;
  if (at[d] < from.cut.cells.lo[d] || at[d] >= from.cut.cells.hi[d]) {
    slot = from.neighbour[side];
    if (slot == outside) return {.what = Across::What::domain_end};
    if (slot == no_box) return {.what = level_ > 0 ? Across::What::coarse : Across::What::nothing};
    const int n = layout_.domain().cells[d];
    at[d] = (at[d] + n) % n;
  }
  const PieceBox& to = box(slot);
  const int c = static_cast<int>(to.cut.cells.offset(at));
  if (to.kind(c) == CellKind::regular) return {Across::What::piece, slot, c, to.id_of_cell(c), -1};
  const int p = to.piece_at(c, opposite(side), ordinal);
  if (p < 0) return {};
  return {Across::What::piece, slot, c, to.id_of_cell(c) + p - to.first_piece[c], p};
}

std::vector<PieceBoxes::CopyBytes> PieceBoxes::fetch_bytes(const std::vector<std::vector<std::byte>>& own) const {
  std::vector<Message> out;
  std::vector<CopyBytes> result;
  for (const auto& [rank, slots] : send_) {
    ByteWriter w;
    for (const int s : slots) {
      w.put(box(s).box);
      w.put_vector(own[s]);
    }
    out.push_back({rank, w.take()});
  }
  for (const Message& m : comm_.sparse_exchange(out)) {
    ByteReader in(m.bytes);
    while (!in.at_end()) {
      const auto b = in.get<std::int64_t>();
      result.push_back({slot_of(b), in.get_vector<std::byte>()});
    }
  }
  return result;
}

}  // namespace karst
