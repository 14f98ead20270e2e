// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/cut_cell.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace karst {

void append_piece(Piece piece, std::size_t n_faces, std::span<const double> areas, BoxPieces& box) {
  if (n_faces == 0 && piece.kappa < min_kappa) return;
  const Vec3 middle{0.5, 0.5, 0.5};
  const auto center = [&](const Vec3& moment, double weight, const Vec3& fallback) {
    if (!(weight > 0)) return fallback;
    Vec3 c = (1 / weight) * moment - middle;
    for (int d = 0; d < 3; ++d) c[d] = std::clamp(c[d], -0.5, 0.5);
    return c;
  };
  piece.first_face = static_cast<std::uint32_t>(box.faces.size() - n_faces);
  piece.n_faces = static_cast<std::uint16_t>(n_faces);
  Vec3 on_face;  // for a piece without volume: on its first face
  if (n_faces > 0) {
    const FacePiece& face = box.faces[piece.first_face];
    const int d = direction_of(face.side);
    const auto [u, v] = face_directions(d);
    on_face[d] = is_high(face.side) ? 0.5 : -0.5, on_face[u] = face.centroid[0], on_face[v] = face.centroid[1];
  }
  piece.centroid = center(piece.centroid, piece.kappa, on_face);
  piece.wall_centroid = center(piece.wall_centroid, piece.wall_area, piece.centroid);
  piece.kappa = std::clamp(piece.kappa, 0.0, 1.0);
  if (1 - piece.kappa < 1e-14) piece.kappa = 1;
  piece.wall_area = std::max(piece.wall_area, norm(piece.wall));
  piece.first_mineral = static_cast<std::uint32_t>(box.minerals.size());
  if (const double sum = std::accumulate(areas.begin(), areas.end(), 0.0); sum > 0 && piece.wall_area > 0)
    for (std::size_t m = 0; m < areas.size(); ++m)
      if (areas[m] > 0) box.minerals.push_back({piece.wall_area * (areas[m] / sum), static_cast<MineralNumber>(m)});
  piece.n_minerals = static_cast<std::uint16_t>(box.minerals.size() - piece.first_mineral);
  box.pieces.push_back(piece);
}

int CellCutter::fill_lattice(const LatticePhi& phi, const Index& cell, int depth) {
  for (;; ++depth) {
    const LatticePhi sub = phi.sub_lattice(depth);
    const int n = 1 << depth;
    lattice_.reset(n * cell, Index::all(n));
    lattice_.evaluate_nodes(sub, Index{}, Index::all(n));
    lattice_.cut_edges(sub, Index{}, Index::all(n));
    if (!lattice_.any_split()) return depth;
  }
}

/// Notes the minerals on the wall of a piece of cube_cut_ for the piece of the cell that holds a node.
void CellCutter::note_minerals(const LatticePhi& phi, const Vec3& low, int piece, std::size_t node, double scale) {
  if (phi.n_minerals() == 1) return;
  areas_.assign(phi.n_minerals(), 0.0);
  add_minerals(phi, low, cube_cut_, piece, scale, areas_);
  for (std::size_t m = 0; m < areas_.size(); ++m)
    if (areas_[m] > 0) minerals_.push_back({static_cast<int>(node), {areas_[m], static_cast<MineralNumber>(m)}});
}

/// Fills areas_ for the piece that holds a node. Its wall may be all in sub-cubes that were lost: then that of the
/// solid next to the cell centre.
void CellCutter::minerals_of(const LatticePhi& phi, const Index& cell, int node) {
  areas_.clear();
  if (phi.n_minerals() == 1) return;
  areas_.assign(phi.n_minerals(), 0.0);
  bool any = false;
  for (const NodeMineral& part : minerals_) {
    if (find_root(parent_, part.node) != node) continue;
    areas_[part.wall.mineral] += part.wall.area;
    any = true;
  }
  if (!any) phi.add_wall(Vec3{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5}, 1.0, areas_);
}

void CellCutter::cut_cubes(const LatticePhi& phi, int n) {
  parent_.resize(lattice_.n_nodes());
  std::iota(parent_.begin(), parent_.end(), 0);
  sums_.assign(lattice_.n_nodes(), Sum{});
  minerals_.clear();
  const double volume_scale = std::ldexp(1.0, -3 * std::countr_zero(static_cast<unsigned>(n)));
  const double h = 1.0 / n;
  for_each_cell({Index{}, Index::all(n + 1)}, [&](const Index& at) {
    const std::size_t node = lattice_.node(at);
    for (int d = 0; d < 3; ++d)
      if (at[d] < n && lattice_.fluid(node) && lattice_.fluid(node + lattice_.stride(d)))
        unite(parent_, static_cast<int>(node), static_cast<int>(node + lattice_.stride(d)));
  });
  for_each_cell({Index{}, Index::all(n)}, [&](const Index& at) {
    const std::size_t base = lattice_.node(at);
    const unsigned fluid = lattice_.signs(base);
    if (fluid == 0) return;
    const Vec3 origin{static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])};
    if (fluid == 255) {
      sums_[base].volume += volume_scale;
      sums_[base].moment += (volume_scale * h) * (origin + Vec3{0.5, 0.5, 0.5});
      return;
    }
    Cube cube;
    const Vec3 low = lattice_.position(at);
    gather_cube(lattice_, phi, at, low, cube);
    cut_cube(phi, low, cube, cube_cut_);
    for (int p = 0; p < cube_cut_.n_pieces; ++p) {
      const CubePiece& piece = cube_cut_.piece[p];
      const std::size_t first = lattice_.corner(base, static_cast<unsigned>(std::countr_zero(piece.corners)));
      for (unsigned c = 0; cube.joined != 0 && c < 8; ++c)
        if (piece.corners >> c & 1) unite(parent_, static_cast<int>(first), static_cast<int>(lattice_.corner(base, c)));
      Sum& sum = sums_[first];
      sum.volume += volume_scale * piece.volume;
      sum.moment += (volume_scale * h) * (piece.moment + piece.volume * origin);
      sum.wall_area += h * h * piece.wall_area;
      sum.wall_moment += (h * h * h) * (piece.wall_moment + piece.wall_area * origin);
      note_minerals(phi, low, static_cast<int>(p), first, h * h);
    }
  });
}

int CellCutter::nearest_fluid_node(int side, const Point2& at, int n) const {
  const int d = direction_of(side);
  const int u = face_directions(d)[0], v = face_directions(d)[1];
  int best = -1;
  double least = std::numeric_limits<double>::max();
  for_each_cell({Index{}, Index::all(n + 1)}, [&](const Index& i) {
    const std::size_t node = lattice_.node(i);
    if (!lattice_.fluid(node)) return;
    const double du = i[u] - (at[0] + 0.5) * n, dv = i[v] - (at[1] + 0.5) * n, dd = i[d] - is_high(side) * n;
    const double distance = du * du + dv * dv + dd * dd;
    if (distance < least) least = distance, best = static_cast<int>(node);
  });
  return best;
}

void CellCutter::attach_faces(const std::array<const FaceSet*, 6>& faces, int depth) {
  const int n = 1 << depth;
  owners_.clear();
  for (int side = 0; side < 6; ++side) {
    const FaceSet& face = *faces[side];
    const std::size_t first = owners_.size();
    for (std::size_t o = 0; o < face.parts.size(); ++o) owners_.push_back({side, static_cast<int>(o), -1});
    const int m = 1 << face.depth;
    const auto [u, v] = face_directions(direction_of(side));
    for (int j = 0; j <= m; ++j)
      for (int i = 0; i <= m; ++i) {
        const std::uint8_t label = face.label[j * (m + 1) + i];
        if (label == FaceSet::none || i * n % m != 0 || j * n % m != 0) continue;
        Index at;
        at[direction_of(side)] = is_high(side) * n, at[u] = i * n / m, at[v] = j * n / m;
        const int node = static_cast<int>(lattice_.node(at));
        int& owner = owners_[first + label].node;
        if (owner < 0)
          owner = node;
        else
          unite(parent_, owner, node);
      }
    for (std::size_t o = 0; o < face.parts.size(); ++o)
      if (owners_[first + o].node < 0) owners_[first + o].node = nearest_fluid_node(side, face.parts[o].centroid, n);
  }
}

void CellCutter::append(const LatticePhi& phi, const Index& cell, const std::array<const FaceSet*, 6>& faces, int depth,
                        std::uint16_t offset, BoxPieces& box) {
  const auto root = [&](int node) { return find_root(parent_, node); };
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const int r = root(static_cast<int>(i));
    if (r == static_cast<int>(i)) continue;
    Sum& to = sums_[r];
    to.volume += sums_[i].volume, to.wall_area += sums_[i].wall_area;
    to.moment += sums_[i].moment, to.wall_moment += sums_[i].wall_moment;
  }
  const std::size_t center = lattice_.node(Index::all(1 << (depth - 1)));
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (!lattice_.fluid(i) || root(static_cast<int>(i)) != static_cast<int>(i)) continue;
    Piece piece{};
    piece.cell = offset;
    piece.holds_center = lattice_.fluid(center) && root(static_cast<int>(center)) == static_cast<int>(i);
    std::size_t n_faces = 0;
    for (const FaceOwner& owner : owners_) {
      if (owner.node < 0 || root(owner.node) != static_cast<int>(i)) continue;
      const auto& part = faces[owner.side]->parts[owner.ordinal];
      box.faces.push_back({static_cast<std::uint8_t>(owner.side), static_cast<std::uint8_t>(owner.ordinal),
                           part.aperture, part.centroid});
      piece.wall[direction_of(owner.side)] += is_high(owner.side) ? part.aperture : -part.aperture;
      ++n_faces;
    }
    const Sum& sum = sums_[i];
    piece.kappa = sum.volume, piece.centroid = sum.moment;
    piece.wall_area = sum.wall_area, piece.wall_centroid = sum.wall_moment;
    minerals_of(phi, cell, static_cast<int>(i));
    append_piece(piece, n_faces, areas_, box);
  }
}

void CellCutter::cut(const LatticePhi& phi, const Index& cell, const std::array<const FaceSet*, 6>& faces,
                     int min_depth, std::uint16_t offset, BoxPieces& box) {
  int depth = min_depth;
  for (const FaceSet* face : faces) depth = std::max(depth, face->depth);
  depth = fill_lattice(phi, cell, std::min(depth, max_depth));
  cut_cubes(phi.sub_lattice(depth), 1 << depth);
  attach_faces(faces, depth);
  append(phi, cell, faces, depth, offset, box);
  box.counts.cells_subdivided += 1;
  box.counts.walls_lost += lattice_.walls_lost();
  box.counts.gaps_closed += lattice_.gaps_closed();
}

}  // namespace karst
