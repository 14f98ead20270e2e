// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/same_pieces.hpp"

#include <algorithm>
#include <span>

namespace karst {

void SameParts::exclude(const Index& at, const Index& size) {
  Box steps{Index{}, Index::all(1)};
  for (int d = 0; d < 3; ++d) {
    if (at[d] < reach) steps.lo[d] = -1;
    if (at[d] >= size[d] - reach) steps.hi[d] = 2;
  }
  for_each_cell(steps, [&](const Index& step) { bits_ &= ~(1U << number(step)); });
}

std::vector<std::uint16_t> vof_numbers(const LinkedBox& of) {
  std::vector<std::uint16_t> vof(of.box.n_ids());
  for (int p = 0; p < of.box.n_pieces(); ++p)
    if (!of.homes[p].own()) vof[of.box.id_of_piece(p)] = no_vof;
  std::uint16_t next = 0;
  for (std::size_t id = 0; id < vof.size(); ++id) vof[id] = vof[id] != no_vof && of.kept[id] != 0 ? next++ : no_vof;
  return vof;
}

namespace {

bool same_face(const FacePiece& a, const FacePiece& b) {
  return a.side == b.side && a.ordinal == b.ordinal && a.aperture == b.aperture && a.centroid == b.centroid;
}
bool same_wall(const MineralArea& a, const MineralArea& b) { return a.area == b.area && a.mineral == b.mineral; }

bool same_piece(const BoxPieces& a, int i, const BoxPieces& b, int j) {
  const Piece &p = a.pieces[i], &q = b.pieces[j];
  const auto faces = [](const BoxPieces& of, const Piece& piece) {
    return std::span(of.faces).subspan(piece.first_face, piece.n_faces);
  };
  const auto walls = [](const BoxPieces& of, const Piece& piece) {
    return std::span(of.minerals).subspan(piece.first_mineral, piece.n_minerals);
  };
  return p.holds_center == q.holds_center && p.kappa == q.kappa && p.centroid == q.centroid && p.wall == q.wall &&
         p.wall_area == q.wall_area && p.wall_centroid == q.wall_centroid &&
         std::ranges::equal(faces(a, p), faces(b, q), same_face) &&
         std::ranges::equal(walls(a, p), walls(b, q), same_wall);
}

}  // namespace

SameParts same_parts(const LinkedBox& a, const LinkedBox& b) {
  const std::vector<std::uint16_t> vof_a = vof_numbers(a), vof_b = vof_numbers(b);
  const auto same_cell = [&](int c) {
    const int first = a.box.id_of_cell(c), end = a.box.id_of_cell(c + 1);
    if (a.box.kind(c) != b.box.kind(c) || b.box.id_of_cell(c) != first || b.box.id_of_cell(c + 1) != end) return false;
    for (int id = first; id < end; ++id)
      if (vof_a[id] != vof_b[id] || a.kept[id] != b.kept[id]) return false;
    const int p = a.box.first_piece[c], q = b.box.first_piece[c], n = a.box.first_piece[c + 1] - p;
    for (int i = 0; i < n; ++i)
      if (a.homes[p + i] != b.homes[q + i] || !same_piece(a.box.cut, p + i, b.box.cut, q + i)) return false;
    return true;
  };
  SameParts same = SameParts::all();
  const Index size = a.box.cut.cells.size();
  int c = 0;
  for_each_cell({Index{}, size}, [&](const Index& at) {
    if (!same_cell(c++)) same.exclude(at, size);
  });
  return same;
}

}  // namespace karst
