// SPDX-License-Identifier: BSD-3-Clause
#include "eb/home_cells.hpp"

#include <cmath>
#include <limits>

#include "base/parallel.hpp"

namespace karst {

namespace {

struct Home {
  std::uint8_t side = own_home;
  std::uint16_t id = 0;
};

constexpr double as_large = 1e-12;  ///< apertures that differ by less are equal

/// The neighbour across the largest aperture among those that hold their cell centre. Of equal ones, whole faces above
/// all, the one further away from the wall, so that a turned sample is joined alike; then the first side.
Home home_of(const PieceBoxes& boxes, int slot, int piece_number) {
  const PieceBox& box = boxes.box(slot);
  const Piece& piece = box.cut.pieces[static_cast<std::size_t>(piece_number)];
  Home home{own_home, static_cast<std::uint16_t>(box.id_of_piece(piece_number))};
  if (piece.holds_center) return home;
  const Index cell = box.cell_of_piece(piece_number);
  double largest = 0.0, furthest = -std::numeric_limits<double>::infinity();
  for (std::uint32_t f = piece.first_face; f < piece.first_face + piece.n_faces; ++f) {
    const FacePiece& face = box.cut.faces[f];
    const double wall = piece.wall[direction_of(face.side)], away = is_high(face.side) ? wall : -wall;
    const bool tie = std::abs(face.aperture - largest) <= as_large;
    if (tie ? away <= furthest + as_large : face.aperture < largest) continue;
    if (face.aperture == 0.0 || !boxes.same_region(slot, cell, face.side)) continue;
    const Across to = boxes.across(slot, cell, face.side, face.ordinal);
    if (to.what != Across::What::piece) continue;
    if (to.piece >= 0 && !boxes.box(to.slot).cut.pieces[static_cast<std::size_t>(to.piece)].holds_center) continue;
    largest = face.aperture;
    furthest = away;
    home = {face.side, static_cast<std::uint16_t>(to.id)};
  }
  return home;
}

}  // namespace

Homes find_homes(const PieceBoxes& boxes, ControlVolumes control_volumes) {
  Homes homes;
  const auto n = static_cast<std::size_t>(boxes.n_own());
  homes.side.resize(n);
  homes.id.resize(n);
  parallel_for_dynamic(boxes.n_own(), [&](std::int64_t s) {
    const int slot = static_cast<int>(s);
    const PieceBox& box = boxes.box(slot);
    auto& side = homes.side[static_cast<std::size_t>(s)];
    auto& id = homes.id[static_cast<std::size_t>(s)];
    for (int p = 0; p < box.n_pieces(); ++p) {
      const Home home = control_volumes == ControlVolumes::home_cells
                            ? home_of(boxes, slot, p)
                            : Home{own_home, static_cast<std::uint16_t>(box.id_of_piece(p))};
      side.push_back(home.side);
      id.push_back(home.id);
    }
  });
  for (int s = 0; s < boxes.n_own(); ++s)
    for (int p = 0; p < boxes.box(s).n_pieces(); ++p) {
      const Piece& piece = boxes.box(s).cut.pieces[static_cast<std::size_t>(p)];
      if (homes.side[static_cast<std::size_t>(s)][static_cast<std::size_t>(p)] != own_home) {
        ++homes.joined;
      } else if (!piece.holds_center) {
        ++homes.orphans;
        homes.orphan_volume += piece.kappa;
      }
    }
  boxes.fetch(homes.side);
  boxes.fetch(homes.id);
  return homes;
}

}  // namespace karst
