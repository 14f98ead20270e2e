// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/home_cells.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "base/comm/parallel.hpp"

namespace karst {

namespace {

constexpr double as_large = 1e-8;  ///< apertures that differ by less are equal: cutting is as accurate as that

/// A neighbour that holds its cell centre.
struct Candidate {
  int side;
  std::uint16_t id;
  double aperture;
  double away;  ///< from the wall
};

std::vector<Candidate> candidates(const PieceBoxes& boxes, int slot, int piece_number) {
  const PieceBox& box = boxes.box(slot);
  const Piece& piece = box.cut.pieces[piece_number];
  const Index cell = box.cell_of_piece(piece_number);
  std::vector<Candidate> found;
  for (std::uint32_t f = piece.first_face; f < piece.first_face + piece.n_faces; ++f) {
    const FacePiece& face = box.cut.faces[f];
    if (face.aperture == 0.0 || !boxes.same_region(slot, cell, face.side)) continue;
    const Across to = boxes.across(slot, cell, face.side, face.ordinal);
    if (to.what != Across::What::piece) continue;
    if (to.piece >= 0 && !boxes.box(to.slot).cut.pieces[to.piece].holds_center) continue;
    const double wall = piece.wall[direction_of(face.side)];
    found.push_back({face.side, static_cast<std::uint16_t>(to.id), face.aperture, is_high(face.side) ? wall : -wall});
  }
  return found;
}

/// A face of the piece leads across a coarse-fine boundary.
bool at_level_boundary(const PieceBoxes& boxes, int slot, int piece_number) {
  const PieceBox& box = boxes.box(slot);
  const Piece& piece = box.cut.pieces[piece_number];
  const Index cell = box.cell_of_piece(piece_number);
  return std::ranges::any_of(
      std::span(box.cut.faces).subspan(piece.first_face, piece.n_faces), [&](const FacePiece& face) {
        return face.aperture > 0.0 && (!boxes.same_region(slot, cell, face.side) ||
                                       boxes.across(slot, cell, face.side, face.ordinal).what == Across::What::coarse);
      });
}

/// The neighbour across the largest aperture among those that hold their cell centre. Of equal ones, whole faces above
/// all, the one further away from the wall; of those that are equal in this too, all: a turned or mirrored sample is
/// joined alike.
PieceHomes homes_of(const PieceBoxes& boxes, int slot, int piece_number) {
  const PieceBox& box = boxes.box(slot);
  PieceHomes homes;
  homes.id[0] = static_cast<std::uint16_t>(box.id_of_piece(piece_number));
  if (box.cut.pieces[piece_number].holds_center) return homes;
  const std::vector<Candidate> found = candidates(boxes, slot, piece_number);
  double largest = 0.0, furthest = -std::numeric_limits<double>::infinity();
  for (const Candidate& c : found) largest = std::max(largest, c.aperture);
  const auto is_large = [&](const Candidate& c) { return c.aperture >= largest - as_large; };
  for (const Candidate& c : found)
    if (is_large(c)) furthest = std::max(furthest, c.away);
  for (const Candidate& c : found) {
    if (!is_large(c) || c.away < furthest - as_large || homes.towards(c.side)) continue;
    homes.sides |= static_cast<std::uint8_t>(1U << c.side);
    homes.id[c.side] = c.id;
    // Its fluxes between levels belong to one cell, or they are of lower order.
    if (at_level_boundary(boxes, slot, piece_number)) break;
  }
  return homes;
}

}  // namespace

Homes find_homes(const PieceBoxes& boxes, ControlVolumes control_volumes, const KnownHomes& known) {
  Homes homes;
  const std::size_t n = boxes.n_own();
  homes.of.resize(n);
  std::vector<std::vector<double>> orphans(n);  // volumes
  std::vector<std::int64_t> joined(n);
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t s) {
    const int slot = static_cast<int>(s);
    const PieceBox& box = boxes.box(slot);
    const bool is_known = !known.empty() && known[s] != nullptr;
    homes.of[s] = is_known ? *known[s] : std::vector<PieceHomes>(box.n_pieces());
    for (int p = 0; p < box.n_pieces(); ++p) {
      PieceHomes& of = homes.of[s][p];
      if (!is_known && control_volumes == ControlVolumes::home_cells)
        of = homes_of(boxes, slot, p);
      else if (!is_known)
        of.id[0] = static_cast<std::uint16_t>(box.id_of_piece(p));
      const Piece& piece = box.cut.pieces[p];
      if (!of.own())
        ++joined[s];
      else if (!piece.holds_center)
        orphans[s].push_back(piece.kappa);
    }
  });
  for (std::size_t s = 0; s < n; ++s) {
    homes.joined += joined[s];
    homes.orphans += std::ssize(orphans[s]);
    for (const double kappa : orphans[s]) homes.orphan_volume += kappa;
  }
  boxes.fetch(homes.of);
  return homes;
}

}  // namespace karst
