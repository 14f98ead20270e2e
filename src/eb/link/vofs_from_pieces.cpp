// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/vofs_from_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "base/comm/parallel.hpp"
#include "eb/link/same_pieces.hpp"
#include "eb/link/vof_assembly.hpp"
#include "grid/bytes.hpp"

namespace karst {

namespace {

/// Numbers and homes of all pieces, copies included.
struct Numbering {
  std::vector<std::vector<std::uint16_t>> vof;  ///< [slot][id]: VoF of a kept home; no_vof for the others
  /// [slot][piece][side]: name of the home's VoF there, own home: the first one; no_face for removed pieces
  std::vector<std::vector<std::array<VofName, 6>>> home;
};

/// A piece on its way to a home in another box.
struct Part {
  VofName home;
  VofMoments moments;  ///< relative to the home's cell centre
  std::uint32_t n_faces, n_minerals;
};

/// One of the homes of a piece.
struct HomeName {
  VofName vof;
  Index offset;  ///< from the piece's cell to that of the home
  int side;      ///< 0 for its own home
  double share;  ///< of the piece
};

/// A target of a face: a VoF, and whether the face is a primary one.
struct Target {
  VofName to = no_face;
  bool primary = false;
  Index offset;        ///< from the piece's cell to the cell of the target VoF
  double share = 1.0;  ///< of the face
};

/// A face of a cell.
struct FaceName {
  int side, ordinal;
  int from_side;  ///< of the home that asks
};

class Maker {
 public:
  Maker(const PieceBoxes& boxes, const Homes& homes, const Pores& pores, int n_minerals, const KeptVofs& kept)
      : boxes_(boxes), homes_(homes), pores_(pores), n_minerals_(n_minerals) {
    number();
    send_parts(kept);
  }
  VofAssembly make(int slot) const;
  /// What of the fluid in the cells of a made box belongs to VoFs of other cells, and what its VoFs hold of others.
  std::vector<JoinedPart> joined(int slot, const std::vector<std::uint16_t>& cell_of_vof) const;
  /// Of the cells of an own box: LevelGeometry::pieces.
  std::vector<KeptPiece> pieces(int slot) const;
  std::int64_t closed_faces() const { return closed_faces_; }  ///< of what was made so far

 private:
  void number();
  void send_parts(const KeptVofs& kept);
  void take_parts(int slot, VofAssembly& out, std::vector<std::uint8_t>& receives) const;
  template <class F>
  void for_each_target(int slot, const Index& cell, FaceName face, const PieceHomes* from, F&& f) const;
  void add_piece(int slot, int piece, std::uint16_t vof, VofAssembly& out) const;
  VofMoments moments_at_home(int slot, int piece, const HomeName& home) const;
  void faces_at_home(int slot, int piece, const HomeName& home, std::vector<VofFace>& faces, VofMoments& moments) const;
  void add_minerals(int slot, int piece, const HomeName& home, std::vector<VofMineral>& walls) const;
  std::array<VofName, 6> whole_cell(int slot, const Index& cell, bool& regular, std::vector<VofFace>& faces,
                                    std::uint16_t vof, VofMoments& moments) const;
  /// Minerals on the wall of a piece.
  std::span<const MineralArea> minerals(int slot, int piece) const {
    const BoxPieces& cut = boxes_.box(slot).cut;
    const Piece& of = cut.pieces[piece];
    return std::span(cut.minerals).subspan(of.first_mineral, of.n_minerals);
  }
  void close(int side, double aperture, const Vec3& at, VofMoments& moments) const;

  bool plain_neighbours(int slot, int cell, const Index& at, std::array<VofName, 6>& names) const;
  const PieceHomes& homes(int slot, int piece) const { return homes_.of[slot][piece]; }
  /// f(HomeName) for each home of a piece.
  template <class F>
  void for_each_home(int slot, int piece, F&& f) const {
    const PieceHomes& all = homes(slot, piece);
    const auto& names = numbering_.home[slot][piece];
    if (all.own()) return f(HomeName{names[0], {}, 0, 1.0});
    for (int side = 0; side < 6; ++side)
      if (all.towards(side)) f(HomeName{names[side], side_offset(side), side, all.share()});
  }
  bool kept(int slot, int id) const { return pores_.kept[slot][id] != 0; }

  const PieceBoxes& boxes_;
  const Homes& homes_;
  const Pores& pores_;
  int n_minerals_;
  Numbering numbering_;
  std::vector<std::vector<std::byte>> inbox_;  ///< [own slot]: parts from other boxes
  mutable std::atomic<std::int64_t> closed_faces_ = 0;
};

void Maker::number() {
  const std::size_t n = boxes_.n_own();
  numbering_.vof.resize(n);
  numbering_.home.resize(n);
  parallel_for(boxes_.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    numbering_.vof[i] = vof_numbers({boxes_.box(slot), homes_.of[i], pores_.kept[i]});
  });
  boxes_.fetch(numbering_.vof);
  parallel_for(boxes_.n_own(), [&](std::int64_t i) {
    const int slot = static_cast<int>(i);
    const PieceBox& box = boxes_.box(slot);
    numbering_.home[i].reserve(box.n_pieces());
    for (int p = 0; p < box.n_pieces(); ++p) {
      const PieceHomes& all = homes(slot, p);
      std::array<VofName, 6> names;
      names.fill(no_face);
      for (int side = 0; side < (all.own() ? 1 : 6); ++side) {
        if (!all.own() && !all.towards(side)) continue;
        const bool inside = all.own() || boxes_.stays_inside(slot, box.cell_of_piece(p), side);
        const int home_slot = inside ? slot : box.neighbour[side];
        const std::uint16_t vof = numbering_.vof[home_slot][all.id[side]];
        if (vof != no_vof) names[side] = vof_name(boxes_.box(home_slot).box, vof);
      }
      numbering_.home[i].push_back(names);
    }
  });
  boxes_.fetch(numbering_.home);
}

/// Where a face leads: f(Target) for each home of the piece behind it. Pieces that are shared among homes on the same
/// sides meet home by home.
/// @param from  homes of the piece whose face it is; nullptr: a whole cell
template <class F>
void Maker::for_each_target(int slot, const Index& cell, FaceName face, const PieceHomes* from, F&& f) const {
  const auto [side, ordinal, from_side] = face;
  const Across across = boxes_.across(slot, cell, side, ordinal);
  const Index beside = side_offset(side);
  switch (across.what) {
    case Across::What::domain_end:
      return f(Target{domain_face, true, beside});
    case Across::What::coarse:
      return f(Target{coarse_face, true, beside});
    case Across::What::nothing:
      return f(Target{});
    case Across::What::piece:
      break;
  }
  const PieceBox& far = boxes_.box(across.slot);
  const std::size_t s = across.slot;
  if (across.piece < 0) return f(Target{vof_name(far.box, numbering_.vof[s][across.id]), true, beside});
  const PieceHomes& all = homes(across.slot, across.piece);
  const bool is_main = !all.own() || far.cut.pieces[across.piece].holds_center;
  const bool alike = from != nullptr && !from->own() && from->sides == all.sides;
  for_each_home(across.slot, across.piece, [&](const HomeName& home) {
    if (alike && home.side != from_side) return;
    f(Target{home.vof, is_main, beside + home.offset, alike ? 1.0 : home.share});
  });
}

VofMoments Maker::moments_at_home(int slot, int piece_number, const HomeName& home) const {
  const Piece& piece = boxes_.box(slot).cut.pieces[piece_number];
  const Vec3 shift{-double(home.offset[0]), -double(home.offset[1]), -double(home.offset[2])};
  return {home.share * piece.kappa,
          piece.centroid + shift,
          home.share * piece.wall,
          home.share * piece.wall_area,
          piece.wall_centroid + shift,
          {},
          {}};
}

void add_moments(const VofMoments& part, VofMoments& sum) {
  const double kappa = sum.kappa + part.kappa;
  if (kappa > 0.0) sum.centroid = (1.0 / kappa) * (sum.kappa * sum.centroid + part.kappa * part.centroid);
  sum.kappa = kappa;
  const double area = sum.wall_area + part.wall_area;
  if (area > 0.0)
    sum.wall_centroid = (1.0 / area) * (sum.wall_area * sum.wall_centroid + part.wall_area * part.wall_centroid);
  sum.wall_area = area;
  sum.wall += part.wall;
}

/// A face without fluid on its other side becomes wall, so that the VoF stays closed. φ of unknown smoothness alone
/// makes such faces: the two cells at a face, or the look at a box, did not see the same.
void Maker::close(int side, double aperture, const Vec3& at, VofMoments& moments) const {
  ++closed_faces_;
  VofMoments wall{};
  wall.wall[direction_of(side)] = is_high(side) ? -aperture : aperture;
  wall.wall_area = aperture;
  wall.wall_centroid = at;
  add_moments(wall, moments);
}

void Maker::faces_at_home(int slot, int piece_number, const HomeName& home, std::vector<VofFace>& faces,
                          VofMoments& moments) const {
  const PieceBox& box = boxes_.box(slot);
  const Piece& piece = box.cut.pieces[piece_number];
  const PieceHomes& all = homes(slot, piece_number);
  const Index cell = box.cell_of_piece(piece_number);
  const bool main = !all.own() || piece.holds_center;
  const auto vof = static_cast<std::uint16_t>(vof_of(home.vof));
  for (std::uint32_t i = piece.first_face; i < piece.first_face + piece.n_faces; ++i) {
    const FacePiece& face = box.cut.faces[i];
    Vec3 at;
    std::size_t axis = 0;
    const int d = direction_of(face.side);
    for (int e = 0; e < 3; ++e) at[e] = e == d ? 0.5 * side_offset(face.side)[d] : face.centroid[axis++];
    at -= Vec3{double(home.offset[0]), double(home.offset[1]), double(home.offset[2])};
    for_each_target(slot, cell, {face.side, face.ordinal, home.side}, &all, [&](const Target& far) {
      // A periodic domain one cell wide: a VoF may face itself; that is an inner face only when the offset is zero.
      const Index offset = far.offset - home.offset;
      if (far.to == home.vof && offset == Index{}) return;
      const bool primary =
          is_vof(far.to) ? main && far.primary && offset == side_offset(face.side) : home.offset == Index{};
      const double aperture = home.share * far.share * face.aperture;
      if (far.to == no_face)
        close(face.side, aperture, at, moments);
      else
        faces.push_back({vof, face.side, static_cast<std::uint8_t>(primary), far.to, aperture, at});
    });
  }
}

void Maker::add_minerals(int slot, int piece, const HomeName& home, std::vector<VofMineral>& walls) const {
  for (const MineralArea& wall : minerals(slot, piece))
    walls.push_back({static_cast<std::uint16_t>(vof_of(home.vof)), {home.share * wall.area, wall.mineral}});
}

/// Parts whose home lies in another box go there: through memory on this rank, by message to others.
void Maker::send_parts(const KeptVofs& kept) {
  const std::size_t n = boxes_.n_own();
  inbox_.resize(n);
  std::map<int, ByteWriter> to_rank;
  for (int slot = 0; slot < boxes_.n_own(); ++slot) {
    const PieceBox& box = boxes_.box(slot);
    for (int p = 0; p < box.n_pieces(); ++p) {
      if (homes(slot, p).own()) continue;
      for_each_home(slot, p, [&](const HomeName& home) {
        if (home.vof == no_face || box_of(home.vof) == box.box) return;
        const int own = boxes_.slot_of(box_of(home.vof));
        if (own < boxes_.n_own() && kept.of(own) >= 0) return;
        std::vector<VofFace> faces;
        VofMoments moments = moments_at_home(slot, p, home);
        faces_at_home(slot, p, home, faces, moments);
        std::vector<VofMineral> walls;
        add_minerals(slot, p, home, walls);
        ByteWriter w;
        w.put(Part{home.vof, moments, static_cast<std::uint32_t>(faces.size()),
                   static_cast<std::uint32_t>(walls.size())});
        w.put(std::span<const VofFace>(faces));
        w.put(std::span<const VofMineral>(walls));
        const std::vector<std::byte> bytes = w.take();
        if (own < boxes_.n_own()) {
          auto& in = inbox_[own];
          in.insert(in.end(), bytes.begin(), bytes.end());
        } else {
          to_rank[boxes_.layout().owner(box_of(home.vof))].put_vector(bytes);
        }
      });
    }
  }
  std::vector<Message> out;
  for (auto& [rank, w] : to_rank) out.push_back({rank, w.take()});
  for (const Message& m : boxes_.comm().sparse_exchange(out)) {
    ByteReader in(m.bytes);
    while (!in.at_end()) {
      const auto bytes = in.get_vector<std::byte>();
      const auto part = ByteReader(bytes).get<Part>();
      auto& box = inbox_[boxes_.slot_of(box_of(part.home))];
      box.insert(box.end(), bytes.begin(), bytes.end());
    }
  }
}

/// The six neighbours of a regular cell; regular becomes false when one of them is not a plain primary neighbour, and
/// the faces are noted instead.
std::array<VofName, 6> Maker::whole_cell(int slot, const Index& cell, bool& regular, std::vector<VofFace>& faces,
                                         std::uint16_t vof, VofMoments& moments) const {
  std::array<VofName, 6> names{};
  for (int side = 0; side < 6; ++side) {
    const Index beside = side_offset(side);
    int n = 0;
    for_each_target(slot, cell, {side, 0, 0}, nullptr, [&](const Target& far) {
      if (n++ == 0) names[side] = far.to;
      regular = regular && n == 1 && far.primary && far.offset == beside && far.to != no_face;
    });
  }
  if (regular) return names;
  const VofName self = vof_name(boxes_.box(slot).box, vof);
  for (int side = 0; side < 6; ++side)
    for_each_target(slot, cell, {side, 0, 0}, nullptr, [&](const Target& far) {
      if (far.to == self && far.offset == Index{}) return;
      const bool primary = !is_vof(far.to) || (far.primary && far.offset == side_offset(side));
      Vec3 at;
      at[direction_of(side)] = is_high(side) ? 0.5 : -0.5;
      if (far.to == no_face)
        close(side, far.share, at, moments);
      else
        faces.push_back(
            {vof, static_cast<std::uint8_t>(side), static_cast<std::uint8_t>(primary), far.to, far.share, at});
    });
  return names;
}

/// The neighbours of a regular cell inside the box whose six neighbours are regular: most of the cells of a wide pore.
/// Such cells are all of one pore, so all of them stay.
bool Maker::plain_neighbours(int slot, int cell, const Index& at, std::array<VofName, 6>& names) const {
  const PieceBox& box = boxes_.box(slot);
  const Box& cells = box.cut.cells;
  const auto& vof_of_id = numbering_.vof[slot];
  int stride = 1;
  for (int d = 0; d < 3; stride *= cells.size(d++)) {
    if (at[d] == cells.lo[d] || at[d] + 1 == cells.hi[d]) return false;
    for (const bool high : {false, true}) {
      const int n = high ? cell + stride : cell - stride;
      if (box.kind(n) != CellKind::regular) return false;
      names[side_of(d, high)] = vof_name(box.box, vof_of_id[box.id_of_cell(n)]);
    }
  }
  return true;
}

/// Adds the parts from other boxes to their VoFs.
void Maker::take_parts(int slot, VofAssembly& out, std::vector<std::uint8_t>& receives) const {
  for (ByteReader in(inbox_[slot]); !in.at_end();) {
    const auto part = in.get<Part>();
    for (std::uint32_t f = 0; f < part.n_faces; ++f) out.faces.push_back(in.get<VofFace>());
    for (std::uint32_t m = 0; m < part.n_minerals; ++m) out.minerals.push_back(in.get<VofMineral>());
    const std::size_t v = vof_of(part.home);
    add_moments(part.moments, out.moments[v]);
    receives[v] = 1;
  }
}

VofAssembly Maker::make(int slot) const {
  const PieceBox& box = boxes_.box(slot);
  const auto& vof_of_id = numbering_.vof[slot];
  VofAssembly out;
  const std::size_t n_vofs = std::ranges::count_if(vof_of_id, [](std::uint16_t v) { return v != no_vof; });
  out.cell.resize(n_vofs);
  out.moments.resize(n_vofs);
  out.regular.resize(n_vofs);
  out.holds_center.assign(n_vofs, 1);

  std::vector<std::uint8_t> receives(n_vofs);  // a part joins this VoF
  for (int p = 0; p < box.n_pieces(); ++p) {
    if (homes(slot, p).own()) continue;
    for_each_home(slot, p, [&](const HomeName& home) {
      if (home.vof != no_face && box_of(home.vof) == box.box) receives[vof_of(home.vof)] = 1;
    });
  }
  take_parts(slot, out, receives);

  int c = -1;
  for_each_cell(box.cut.cells, [&](const Index& cell) {
    if (box.kind(++c) != CellKind::regular) return;
    const std::uint16_t v = vof_of_id[box.id_of_cell(c)];
    if (v == no_vof) return;
    out.cell[v] = static_cast<std::uint16_t>(c);
    bool regular = receives[v] == 0;
    std::array<VofName, 6> names;
    if (!regular || !plain_neighbours(slot, c, cell, names))
      names = whole_cell(slot, cell, regular, out.faces, v, out.moments[v]);
    out.regular[v] = regular;
    if (regular)
      out.regular_neighbours.push_back(names);
    else
      add_moments({1.0, {}, {}, 0.0, {}, {}, {}}, out.moments[v]);
  });
  for (int p = 0; p < box.n_pieces(); ++p) {
    for_each_home(slot, p, [&](const HomeName& home) {
      if (home.vof == no_face || box_of(home.vof) != box.box) return;
      const std::size_t v = vof_of(home.vof);
      if (homes(slot, p).own()) {
        const Piece& piece = box.cut.pieces[p];
        out.cell[v] = piece.cell;
        out.holds_center[v] = piece.holds_center;
      }
      add_moments(moments_at_home(slot, p, home), out.moments[v]);
      faces_at_home(slot, p, home, out.faces, out.moments[v]);
      add_minerals(slot, p, home, out.minerals);
    });
  }
  out.n_minerals = n_minerals_;
  out.joined = joined(slot, out.cell);
  return out;
}

std::vector<JoinedPart> Maker::joined(int slot, const std::vector<std::uint16_t>& cell_of_vof) const {
  const PieceBox& box = boxes_.box(slot);
  std::vector<JoinedPart> parts;
  const auto held = [&](VofName home, double kappa) {
    const std::size_t v = vof_of(home);
    parts.push_back({no_face, -static_cast<float>(kappa), cell_of_vof[v]});
  };
  for (int p = 0; p < box.n_pieces(); ++p) {
    if (homes(slot, p).own()) continue;
    const Piece& piece = box.cut.pieces[p];
    for_each_home(slot, p, [&](const HomeName& home) {
      if (home.vof == no_face) return;
      const double kappa = home.share * piece.kappa;
      parts.push_back({home.vof, static_cast<float>(kappa), piece.cell});
      if (box_of(home.vof) == box.box) held(home.vof, kappa);
    });
  }
  for (ByteReader in(inbox_[slot]); !in.at_end();) {
    const auto part = in.get<Part>();
    for (std::uint32_t f = 0; f < part.n_faces; ++f) in.get<VofFace>();
    for (std::uint32_t m = 0; m < part.n_minerals; ++m) in.get<VofMineral>();
    held(part.home, part.moments.kappa);
  }
  return parts;
}

std::vector<KeptPiece> Maker::pieces(int slot) const {
  const PieceBox& box = boxes_.box(slot);
  std::vector<KeptPiece> all;
  for (int c = 0; c < box.n_cells(); ++c) {
    const auto cell = static_cast<std::uint16_t>(c);
    if (box.kind(c) == CellKind::regular) {
      if (!kept(slot, box.id_of_cell(c))) all.push_back({.kappa = 1.0, .cell = cell});
      continue;
    }
    for (int p = box.first_piece[c]; p < box.first_piece[c + 1]; ++p) {
      const Piece& piece = box.cut.pieces[p];
      for_each_home(slot, p, [&](const HomeName& home) {
        KeptPiece part{home.vof, home.share * piece.kappa};
        const double to_wall = piece.wall_area > 0.0 ? KeptPiece::full_wall / piece.wall_area : 0.0;
        for (int d = 0; d < 3; ++d) {
          part.centroid[d] = static_cast<float>(piece.centroid[d]);
          part.wall[d] = static_cast<std::int8_t>(std::lround(to_wall * piece.wall[d]));
        }
        part.cell = cell;
        part.ordinal = static_cast<std::uint8_t>(p - box.first_piece[c]);
        if (!homes(slot, p).own()) part.side = static_cast<std::uint8_t>(home.side);
        all.push_back(part);
      });
    }
  }
  return all;
}

void store_pieces(const Maker& maker, LevelGeometry& level) {
  const int n = level.graph.n_local();
  std::vector<std::vector<KeptPiece>> of_box(n);
  parallel_for_dynamic(n, [&](std::int64_t b) { of_box[b] = maker.pieces(static_cast<int>(b)); });
  level.pieces_begin.assign(1, 0);
  for (const auto& list : of_box) level.pieces_begin.push_back(level.pieces_begin.back() + std::ssize(list));
  level.pieces = Array<KeptPiece>(level.pieces_begin.back(), Purpose::geometry);
  parallel_for(n, [&](std::int64_t b) { std::ranges::copy(of_box[b], level.pieces.begin() + level.pieces_begin[b]); });
}

}  // namespace

LevelGeometry vofs_from_pieces(const PieceBoxes& boxes, const Homes& homes, const Pores& pores, int n_minerals,
                               bool keep_pieces, const KeptVofs& kept) {
  const Maker maker(boxes, homes, pores, n_minerals, kept);
  LevelGeometry geometry = build_level_geometry(
      boxes.comm(), boxes.layout(), boxes.level(), [&](int slot) { return maker.make(slot); }, kept);
  geometry.closed_faces = maker.closed_faces();
  if (keep_pieces) store_pieces(maker, geometry);
  return geometry;
}

}  // namespace karst
