// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/cut_box.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "base/core/error.hpp"
#include "eb/cut/cut_cell.hpp"

namespace karst {

namespace {

constexpr int max_width = 32;

/// Scratch and state of one box; one per thread, kept between boxes.
class BoxCutter {
 public:
  BoxPieces cut(const LatticePhi& phi, const Box& cells, const RefinedOctants& refined);

 private:
  void find_blocks(const Index& lo, const Index& hi);
  void mark_regular(const Index& lo, const Index& hi);
  SignBounds signs_of(const Index& lo, const Index& hi) const;
  void find_open_cells(const Box& block);
  void cut_cell(const Index& n);
  int face_slot(int d, const Index& n);
  void emit_plain(const Index& n);
  void emit_on_sub_lattice(const Index& n, int min_depth);
  int piece_with_center(const Vec3& center) const;
  void count();

  const LatticePhi* phi_ = nullptr;
  RefinedOctants refined_;
  BoxPieces box_;
  Lattice lattice_;
  std::vector<Box> blocks_;
  std::vector<Index> open_cells_;         ///< of a block
  std::array<std::vector<int>, 3> slot_;  ///< per face: 0 unknown, -1 plain, k + 1: faces_[k]
  std::deque<FaceSet> faces_;             ///< faces on a sub-lattice; [0, n_faces_) in use
  std::size_t n_faces_ = 0;
  std::array<FaceSet, 6> plain_;
  FaceCutter face_cutter_;
  CellCutter cell_cutter_;
  Cube cube_;
  CubeCut cube_cut_;
  std::vector<double> areas_;  ///< of the wall of a piece, per mineral
};

void BoxCutter::mark_regular(const Index& lo, const Index& hi) {
  for_each_cell({lo, hi}, [&](const Index& n) { box_.kind[box_.cells.offset(box_.cells.lo + n)] = CellKind::regular; });
}

SignBounds BoxCutter::signs_of(const Index& lo, const Index& hi) const {
  Vec3 low, high;
  for (int d = 0; d < 3; ++d) low[d] = box_.cells.lo[d] + lo[d], high[d] = box_.cells.lo[d] + hi[d];
  return phi_->signs(low, high);
}

/// Splits the cells [lo, hi) until a bound of φ shows them to be of one kind, down to blocks of 4^3.
void BoxCutter::find_blocks(const Index& lo, const Index& hi) {
  const Index size = hi - lo;
  if (phi_->bounds_signs() || phi_->has_tight_signs()) {
    if (const SignBounds signs = signs_of(lo, hi); signs.one_kind()) {
      if (signs.may_be_fluid) mark_regular(lo, hi);
      return;
    }
  } else if (phi_->lipschitz() > 0) {
    Vec3 center, half;
    for (int d = 0; d < 3; ++d) half[d] = 0.5 * size[d], center[d] = box_.cells.lo[d] + lo[d] + half[d];
    const double f = phi_->at(center);
    if (std::abs(f) > phi_->lipschitz() * norm(half) + 2 * node_tolerance) {
      if (f > 0) mark_regular(lo, hi);
      return;
    }
  }
  for (int d = 2; d >= 0; --d) {
    if (size[d] <= block_width) continue;
    Index middle_hi = hi, middle_lo = lo;
    middle_hi[d] = middle_lo[d] = lo[d] + (size[d] + 2 * block_width - 1) / (2 * block_width) * block_width;
    find_blocks(lo, middle_hi);
    find_blocks(middle_lo, hi);
    return;
  }
  blocks_.push_back({lo, hi});
}

/// Cells of a block in which a wall may be; they are marked as cut.
void BoxCutter::find_open_cells(const Box& block) {
  open_cells_.clear();
  for_each_cell(block, [&](const Index& n) {
    CellKind& kind = box_.kind[box_.cells.offset(box_.cells.lo + n)];
    if (phi_->has_tight_signs()) {
      if (const SignBounds signs = signs_of(n, n + Index::all(1)); signs.one_kind()) {
        kind = signs.may_be_fluid ? CellKind::regular : CellKind::covered;
        return lattice_.exclude_wall(n);
      }
    }
    kind = CellKind::cut;
    open_cells_.push_back(n);
  });
}

int BoxCutter::face_slot(int d, const Index& n) {
  const std::size_t at = lattice_.node(n);
  int& slot = slot_[d][at];
  if (slot != 0) return slot;
  const FaceStencil stencil = face_stencil(lattice_, d);
  bool split = false;
  for (std::size_t r = 0; r < 4; ++r)
    split |= lattice_.state(stencil.direction[r], at + stencil.edge[r]) == EdgeState::split;
  const bool coarse_fine = refined_.mask != 0 && refined_.covers(n) != refined_.covers(n - unit(d));
  slot = -1;
  if (!split && !coarse_fine && !face_center_differs(lattice_, stencil, *phi_, lattice_.position(n), at)) return slot;
  if (n_faces_ == faces_.size()) faces_.emplace_back();
  FaceSet& face = faces_[n_faces_];
  if (coarse_fine) {
    face_cutter_.cut_refined(*phi_, box_.cells.lo + n, d, face);
    int fluid = 0;
    for (const std::size_t c : stencil.corner) fluid += lattice_.fluid(at + c);
    if (!split && ((fluid == 4 && face.whole()) || (fluid == 0 && face.parts.empty()))) return slot;
  } else {
    face_cutter_.cut(*phi_, box_.cells.lo + n, d, face);
  }
  return slot = static_cast<int>(++n_faces_);
}

int BoxCutter::piece_with_center(const Vec3& center) const {
  if (!is_fluid(phi_->at(center))) return -1;
  if (cube_cut_.n_pieces == 1) return 0;
  int best = -1;
  double most = -std::numeric_limits<double>::max();
  for (int p = 0; p < cube_cut_.n_pieces; ++p)
    for (int c = 0; c < 8; ++c) {
      if (!(cube_cut_.piece[p].corners >> c & 1)) continue;
      const Vec3 to{(c & 1) - 0.5, (c >> 1 & 1) - 0.5, (c >> 2 & 1) - 0.5};
      const double least =
          std::min({phi_->at(center + 0.25 * to), phi_->at(center + 0.5 * to), phi_->at(center + 0.75 * to)});
      if (least > most) most = least, best = p;
    }
  return best;
}

void BoxCutter::emit_plain(const Index& n) {
  const Vec3 low = lattice_.position(n);
  gather_cube(lattice_, *phi_, n, low, cube_);
  cut_cube(*phi_, low, cube_, cube_cut_);
  double open = 0;
  for (const UnitFace& face : cube_cut_.face)
    if (face.n_polygons == 1) open += face.area[0] == 1;
  if (open == 6) {
    box_.kind[box_.cells.offset(box_.cells.lo + n)] = CellKind::regular;
    return;
  }
  const int with_center = piece_with_center(low + Vec3{0.5, 0.5, 0.5});
  for (int p = 0; p < cube_cut_.n_pieces; ++p) {
    const CubePiece& from = cube_cut_.piece[p];
    Piece piece{};
    piece.cell = static_cast<std::uint16_t>(box_.cells.offset(box_.cells.lo + n));
    piece.holds_center = p == with_center;
    piece.kappa = from.volume, piece.centroid = from.moment;
    piece.wall = from.wall, piece.wall_area = from.wall_area, piece.wall_centroid = from.wall_moment;
    std::size_t n_faces = 0;
    for (std::size_t s = 0; s < 6; ++s) {
      const UnitFace& face = cube_cut_.face[s];
      std::uint8_t ordinal = 0;
      for (int i = 0; i < face.n_polygons; ++i) {
        if (face.area[i] <= min_aperture) continue;
        if (cube_cut_.owner[s][i] == p) {
          box_.faces.push_back({static_cast<std::uint8_t>(s),
                                ordinal,
                                face.area[i],
                                {face.centroid[i][0] - 0.5, face.centroid[i][1] - 0.5}});
          ++n_faces;
        }
        ++ordinal;
      }
    }
    areas_.assign(phi_->n_minerals() > 1 ? phi_->n_minerals() : 0, 0.0);
    if (!areas_.empty()) add_minerals(*phi_, low, cube_cut_, p, 1.0, areas_);
    append_piece(piece, n_faces, areas_, box_);
  }
}

void BoxCutter::emit_on_sub_lattice(const Index& n, int min_depth) {
  std::array<const FaceSet*, 6> faces;
  for (int side = 0; side < 6; ++side) {
    const int d = direction_of(side);
    const Index at = is_high(side) ? n + unit(d) : n;
    const int slot = face_slot(d, at);
    FaceSet& plain = plain_[side];
    if (slot < 0) face_cutter_.cut(*phi_, box_.cells.lo + at, d, plain);
    faces[side] = slot < 0 ? &plain : &faces_[slot - 1];
  }
  const auto offset = static_cast<std::uint16_t>(box_.cells.offset(box_.cells.lo + n));
  const std::size_t first = box_.pieces.size();
  cell_cutter_.cut(*phi_, box_.cells.lo + n, faces, min_depth, offset, box_);
  if (box_.pieces.size() != first + 1 || box_.pieces[first].kappa < 1 || box_.pieces[first].n_faces != 6) return;
  if (!std::all_of(faces.begin(), faces.end(), [](const FaceSet* f) { return f->whole(); })) return;
  box_.kind[offset] = CellKind::regular;
  box_.faces.resize(box_.pieces[first].first_face);
  box_.minerals.resize(box_.pieces[first].first_mineral);
  box_.pieces.pop_back();
}

/// Decides how a cell near the wall is cut; box_.kind is `cut` before, and after only if it has pieces.
void BoxCutter::cut_cell(const Index& n) {
  const std::size_t node = lattice_.node(n);
  const double bound = refined_.mask == 0 ? phi_->lipschitz() : 0;
  CellKind& kind = box_.kind[box_.cells.offset(box_.cells.lo + n)];
  if (bound > 0 && std::abs(lattice_.phi(node)) > 1.8 * bound) {  // farther than the diagonal
    kind = lattice_.fluid(node) ? CellKind::regular : CellKind::covered;
    return;
  }
  const unsigned fluid = lattice_.signs(node);
  const bool uniform = fluid == 0 || fluid == 255;
  double least = std::abs(lattice_.phi(node)), most = least;
  if (uniform) {
    kind = fluid == 0 ? CellKind::covered : CellKind::regular;
    for (unsigned c = 1; c < 8; ++c) {
      const double f = std::abs(lattice_.phi(lattice_.corner(node, c)));
      least = std::min(least, f), most = std::max(most, f);
    }
    // No wall within reach of the corners: neither on an edge nor at a face or cell centre.
    if (bound > 0 && 2 * least > bound && most > std::sqrt(0.75) * bound) return;
    if (phi_->bounds_signs() && signs_of(n, n + Index::all(1)).one_kind()) return;
  }
  bool special = false;
  for (int side = 0; side < 6; ++side) {
    const int d = direction_of(side);
    special |= face_slot(d, is_high(side) ? n + unit(d) : n) > 0;
  }
  if (uniform && !special) {
    const Vec3 center = lattice_.position(n) + Vec3{0.5, 0.5, 0.5};
    special = center_differs(*phi_, center, most, std::sqrt(0.75), fluid == 255);
    if (!special) return;
  }
  const std::size_t first = box_.pieces.size();
  kind = CellKind::cut;
  if (special)
    emit_on_sub_lattice(n, 1);
  else
    emit_plain(n);
  if (kind == CellKind::cut && box_.pieces.size() == first) kind = CellKind::covered;
}

void BoxCutter::count() {
  CutCounts& counts = box_.counts;
  for (const CellKind kind : box_.kind) {
    counts.cells_covered += kind == CellKind::covered;
    counts.cells_regular += kind == CellKind::regular;
    counts.cells_cut += kind == CellKind::cut;
  }
  counts.pieces = static_cast<std::int64_t>(box_.pieces.size());
  for (std::size_t i = 1; i < box_.pieces.size(); ++i)
    counts.cells_multivalued +=
        box_.pieces[i].cell == box_.pieces[i - 1].cell && (i < 2 || box_.pieces[i].cell != box_.pieces[i - 2].cell);
}

BoxPieces BoxCutter::cut(const LatticePhi& phi, const Box& cells, const RefinedOctants& refined) {
  phi_ = &phi;
  refined_ = refined;
  box_.counts = {};
  box_.pieces.clear();
  box_.faces.clear();
  box_.minerals.clear();
  box_.cells = cells;
  box_.kind.assign(cells.count(), CellKind::covered);
  blocks_.clear();
  n_faces_ = 0;
  find_blocks(Index{}, cells.size());
  if (!blocks_.empty()) {
    lattice_.reset(cells.lo, cells.size());
    for (auto& slot : slot_) slot.assign(lattice_.n_nodes(), 0);
    for (const Box& block : blocks_) {
      find_open_cells(block);
      lattice_.evaluate_corners(phi, open_cells_);
      lattice_.cut_edges(phi, block.lo, block.hi);
    }
    std::size_t at = 0;
    for_each_cell({Index{}, cells.size()}, [&](const Index& n) {
      if (box_.kind[at++] == CellKind::cut) cut_cell(n);
    });
  }
  count();
  return box_;  // a copy of exact size: the scratch keeps its memory
}

}  // namespace

BoxPieces cut_box(const LocalLevelSet& phi, const Smoothness& smoothness, const Box& cells, int level,
                  const RefinedOctants& refined, int n_minerals) {
  thread_local BoxCutter cutter;
  require(!cells.empty() && cells.size(0) <= max_width && cells.size(1) <= max_width && cells.size(2) <= max_width,
          "cut_box: a box of {} x {} x {} cells; allowed are 1 to {} per direction", cells.size(0), cells.size(1),
          cells.size(2), max_width);
  const LatticePhi lattice_phi(phi, phi.smoothness_here(smoothness), level, 0, n_minerals);
  return cutter.cut(lattice_phi, cells, refined);
}

}  // namespace karst
