// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/cut_cube.hpp"

#include <algorithm>
#include <bit>

namespace karst {

namespace {

/// Cube edge at ring edge r of a side.
constexpr int side_edge(int side, int r) {
  const int d = direction_of(side);
  const auto [u, v] = face_directions(d);
  const int along = r % 2 == 0 ? u : v, across = r % 2 == 0 ? v : u;
  const bool far = r == 1 || r == 2;  // at the high end of the direction across
  const auto [first, second] = face_directions(along);
  const int bit_d = is_high(side), bit_a = far;
  return 4 * along + (first == d ? bit_d : bit_a) + 2 * (second == across ? bit_a : bit_d);
}

struct Tables {
  std::array<std::array<int, 4>, 6> corner{}, edge{};
  std::array<std::array<int, 2>, 12> ends{};  ///< low and high corner of each edge
};

constexpr Tables make_tables() {
  Tables t;
  for (std::size_t s = 0; s < 6; ++s)
    for (std::size_t r = 0; r < 4; ++r) {
      t.corner[s][r] = side_corner(static_cast<int>(s), static_cast<int>(r));
      t.edge[s][r] = side_edge(static_cast<int>(s), static_cast<int>(r));
    }
  for (int e = 0; e < 12; ++e) {
    const int d = e / 4;
    const auto [a, b] = face_directions(d);
    const int low = ((e & 1) << a) + ((e >> 1 & 1) << b);
    t.ends[e] = {low, low + (1 << d)};
  }
  return t;
}

constexpr Tables tables = make_tables();

constexpr Vec3 corner_point(int c) {
  return {static_cast<double>(c & 1), static_cast<double>(c >> 1 & 1), static_cast<double>(c >> 2 & 1)};
}

Vec3 edge_point(const Cube& cube, int e) {
  Vec3 x = corner_point(tables.ends[e][0]);
  x[e / 4] = cube.t[e];
  return x;
}

/// Cuts the six faces and links the wall segments: next[e] is the crossing that follows e, fluid seen from outside.
void cut_faces(const Cube& cube, CubeCut& cut, std::array<int, 12>& next) {
  next.fill(-1);
  for (int side = 0; side < 6; ++side) {
    unsigned fluid = 0;
    std::array<double, 4> t;
    for (std::size_t r = 0; r < 4; ++r) {
      fluid |= (cube.fluid >> tables.corner[side][r] & 1) << r;
      t[r] = cube.t[tables.edge[side][r]];
    }
    cut_unit_face(fluid, t, cube.joined >> side & 1, cut.face[side]);
    // The ring turns right-handed round +x, -y, +z.
    const bool outward = is_high(side) != (direction_of(side) == 1);
    for (int i = 0; i < cut.face[side].n_segments; ++i) {
      const int exit = tables.edge[side][cut.face[side].exit[i]], entry = tables.edge[side][cut.face[side].entry[i]];
      next[outward ? entry : exit] = outward ? exit : entry;
    }
  }
}

/// Connected sets of fluid corners, by the lowest corner.
struct Components {
  std::uint8_t n = 0;
  std::array<std::uint8_t, 4> corners{};
  std::array<std::uint8_t, 8> piece_of{};
};

/// Fluid corners joined along edges and across the joined sides.
constexpr Components find_components(unsigned fluid, unsigned joined) {
  std::array<unsigned, 8> near{};
  for (unsigned c = 0; c < 8; ++c)
    for (unsigned d = 0; d < 3; ++d) near[c] |= 1u << (c ^ 1u << d);
  for (std::size_t s = 0; s < 6; ++s)
    for (std::size_t r = 0; (joined >> s & 1) && r < 4; ++r)
      near[tables.corner[s][r]] |= 1u << tables.corner[s][(r + 2) % 4];
  Components found;
  for (unsigned left = fluid; left != 0;) {
    unsigned piece = left & (~left + 1), before = 0;
    while (piece != before) {
      before = piece;
      for (unsigned c = 0; c < 8; ++c)
        if (before >> c & 1) piece |= near[c] & fluid;
    }
    for (unsigned c = 0; c < 8; ++c)
      if (piece >> c & 1) found.piece_of[c] = found.n;
    found.corners[found.n++] = static_cast<std::uint8_t>(piece);
    left &= ~piece;
  }
  return found;
}

constexpr std::array<Components, 256> make_components() {
  std::array<Components, 256> all;
  for (unsigned fluid = 0; fluid < 256; ++fluid) all[fluid] = find_components(fluid, 0);
  return all;
}

constexpr std::array<Components, 256> components = make_components();

/// Cones over the face polygons, from a corner of the piece.
void add_faces(CubeCut& cut, const std::array<std::uint8_t, 8>& piece_of) {
  for (int side = 0; side < 6; ++side) {
    const int d = direction_of(side);
    const auto [u, v] = face_directions(d);
    const UnitFace& face = cut.face[side];
    for (int i = 0; i < face.n_polygons; ++i) {
      const int corner = tables.corner[side][std::countr_zero(unsigned{face.corners[i]})];
      const std::uint8_t owner = piece_of[corner];
      cut.owner[side][i] = owner;
      CubePiece& piece = cut.piece[owner];
      const Vec3 apex = corner_point(std::countr_zero(piece.corners));
      if (apex[d] == is_high(side)) continue;
      Vec3 c;
      c[d] = is_high(side), c[u] = face.centroid[i][0], c[v] = face.centroid[i][1];
      const double volume = face.area[i] / 3;
      piece.volume += volume;
      piece.moment += volume * (0.25 * apex + 0.75 * c);
    }
  }
}

/// φ of the trilinear interpolant of the corners: gradient at x.
Vec3 corner_gradient(const Cube& cube, const Vec3& x) {
  Vec3 g;
  for (int c = 0; c < 8; ++c) {
    const double f = cube.phi[c];
    double w[3];
    for (int d = 0; d < 3; ++d) w[d] = (c >> d & 1) ? x[d] : 1 - x[d];
    const double sx = (c & 1) ? f : -f, sy = (c & 2) ? f : -f, sz = (c & 4) ? f : -f;
    g += Vec3{sx * w[1] * w[2], sy * w[0] * w[2], sz * w[0] * w[1]};
  }
  return g;
}

/// Moves c onto the wall along the unit normal n by one secant step; stays at c where that leads out of the cube.
Vec3 project(const LatticePhi& phi, const Vec3& low, const Cube& cube, const Vec3& c, const Vec3& n) {
  const double slope = dot(corner_gradient(cube, c), n);
  const double f = phi.at(low + c);
  if (std::abs(f) <= node_tolerance || !(slope > std::abs(f))) return c;
  const Vec3 moved = c - (f / slope) * n;
  for (int d = 0; d < 3; ++d)
    if (!(moved[d] >= 0 && moved[d] <= 1)) return c;
  return moved;
}

void add_loop(const LatticePhi& phi, const Vec3& low, const Cube& cube, int n, const std::array<Vec3, 12>& p,
              int number, CubeCut& cut) {
  CubePiece& piece = cut.piece[number];
  Vec3 center;
  for (int i = 0; i < n; ++i) center += p[i];
  center *= 1.0 / n;
  const auto twice_area = [&](int i) { return cross(p[i] - center, p[(i + 1) % n] - center); };
  Vec3 outward;
  for (int i = 0; i < n; ++i) outward += twice_area(i);
  piece.wall -= 0.5 * outward;
  const double size = norm(outward);
  if (size > 1e-12) center = project(phi, low, cube, center, (-1 / size) * outward);
  const Vec3 apex = corner_point(std::countr_zero(piece.corners));
  for (int i = 0; i < n; ++i) {
    const Vec3 w = twice_area(i);
    const Vec3 sum = center + p[i] + p[(i + 1) % n];
    const double volume = dot(w, center - apex) / 6, area = 0.5 * norm(w);
    piece.volume += volume;
    piece.moment += (0.25 * volume) * (apex + sum);
    piece.wall_area += area;
    piece.wall_moment += (area / 3) * sum;
    if (phi.n_minerals() > 1) cut.triangle[cut.n_triangles++] = {{center, p[i], p[(i + 1) % n]}, area, number};
  }
}

}  // namespace

void gather_cube(const Lattice& lattice, const LatticePhi& phi, const Index& node, Vec3 low, Cube& cube) {
  const std::size_t base = lattice.node(node);
  cube.joined = 0;
  cube.fluid = lattice.signs(base);
  for (unsigned c = 0; c < 8; ++c) cube.phi[c] = lattice.phi(lattice.corner(base, c));
  for (std::size_t e = 0; e < 12; ++e) {
    const int d = static_cast<int>(e / 4);
    const auto [a, b] = face_directions(d);
    cube.t[e] = lattice.t(d, base + (e & 1) * lattice.stride(a) + (e >> 1 & 1) * lattice.stride(b));
  }
  for (std::size_t s = 0; s < 6; ++s) {
    const auto& corner = tables.corner[s];
    const bool c0 = cube.fluid >> corner[0] & 1, c1 = cube.fluid >> corner[1] & 1;
    const bool c2 = cube.fluid >> corner[2] & 1, c3 = cube.fluid >> corner[3] & 1;
    if (c0 != c2 || c1 != c3 || c0 == c1) continue;
    Vec3 center = low + Vec3{0.5, 0.5, 0.5};
    center[direction_of(static_cast<int>(s))] = low[direction_of(static_cast<int>(s))] + (s % 2 ? 1 : 0);
    cube.joined |= static_cast<unsigned>(is_fluid(phi.at(center))) << s;
  }
}

void cut_cube(const LatticePhi& phi, const Vec3& low, const Cube& cube, CubeCut& cut) {
  std::array<int, 12> next;
  cut_faces(cube, cut, next);
  const Components found = cube.joined ? find_components(cube.fluid, cube.joined) : components[cube.fluid];
  const auto& piece_of = found.piece_of;
  cut.n_pieces = found.n;
  cut.n_triangles = 0;
  for (std::size_t p = 0; p < found.n; ++p) {
    cut.piece[p] = CubePiece{};
    cut.piece[p].corners = found.corners[p];
  }
  add_faces(cut, piece_of);
  for (int start = 0; start < 12; ++start) {
    if (next[start] < 0) continue;
    std::array<Vec3, 12> points;
    int n = 0;
    for (int e = start; next[e] >= 0;) {
      points[n++] = edge_point(cube, e);
      const int following = next[e];
      next[e] = -1;
      e = following;
    }
    const auto [a, b] = tables.ends[start];
    const int corner = cube.fluid >> a & 1 ? a : b;
    add_loop(phi, low, cube, n, points, piece_of[corner], cut);
  }
}

}  // namespace karst
