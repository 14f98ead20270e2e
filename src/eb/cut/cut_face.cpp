// SPDX-License-Identifier: BSD-3-Clause
#include "eb/cut/cut_face.hpp"

#include <algorithm>
#include <numeric>

namespace karst {

namespace {

struct Polygon {
  int n = 0;
  std::array<Point2, 8> p;
  void add(const Point2& q) { p[n++] = q; }
};

/// Area and centroid by a fan round the first point; exact.
void moments(const Polygon& polygon, double& area, Point2& centroid) {
  const Point2& o = polygon.p[0];
  double twice = 0, mx = 0, my = 0;
  for (int i = 1; i + 1 < polygon.n; ++i) {
    const Point2 &a = polygon.p[i], &b = polygon.p[i + 1];
    const double ax = a[0] - o[0], ay = a[1] - o[1], bx = b[0] - o[0], by = b[1] - o[1];
    const double w = ax * by - ay * bx;
    twice += w;
    mx += w * (ax + bx);
    my += w * (ay + by);
  }
  area = std::clamp(0.5 * twice, 0.0, 1.0);
  centroid = o;
  if (twice > 0) centroid = {o[0] + mx / (3 * twice), o[1] + my / (3 * twice)};
}

constexpr std::array<Point2, 4> ring_corner{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}};

void add_polygon(const Polygon& polygon, unsigned corners, UnitFace& face) {
  const std::size_t i = face.n_polygons++;
  face.corners[i] = static_cast<std::uint8_t>(corners);
  moments(polygon, face.area[i], face.centroid[i]);
}

void add_segment(int exit, int entry, UnitFace& face) {
  const std::size_t i = face.n_segments++;
  face.exit[i] = static_cast<std::uint8_t>(exit);
  face.entry[i] = static_cast<std::uint8_t>(entry);
}

}  // namespace

void cut_unit_face(unsigned fluid, const std::array<double, 4>& t, bool joined, UnitFace& face) {
  face.n_polygons = face.n_segments = 0;
  if (fluid == 0) return;
  if (fluid == 15) {
    face.n_polygons = 1;
    face.corners[0] = 15;
    face.area[0] = 1;
    face.centroid[0] = {0.5, 0.5};
    return;
  }
  const auto crossing = [&](int r) { return ring_point(r, t[r]); };
  const bool diagonal = fluid == 5 || fluid == 10;
  if (diagonal && !joined) {
    for (int r = 0; r < 4; ++r) {
      if (!(fluid >> r & 1)) continue;
      Polygon triangle;
      triangle.add(ring_corner[r]);
      triangle.add(crossing(r));
      triangle.add(crossing((r + 3) % 4));
      add_polygon(triangle, 1u << r, face);
      add_segment(r, (r + 3) % 4, face);
    }
    return;
  }
  Polygon polygon;
  int exit = -1, first_entry = -1;
  for (int r = 0; r < 4; ++r) {
    const bool here = fluid >> r & 1, next = fluid >> ((r + 1) % 4) & 1;
    if (here) polygon.add(ring_corner[r]);
    if (here == next) continue;
    polygon.add(crossing(r));
    if (here) {
      exit = r;
    } else if (exit < 0) {
      first_entry = r;
    } else {
      add_segment(exit, r, face);
      exit = -1;
    }
  }
  if (exit >= 0) add_segment(exit, first_entry, face);
  add_polygon(polygon, fluid, face);
}

int find_root(std::vector<int>& parent, int a) {
  const auto up = [&](int i) -> int& { return parent[i]; };
  while (up(a) != a) a = up(a) = up(up(a));
  return a;
}

void unite(std::vector<int>& parent, int a, int b) {
  a = find_root(parent, a);
  b = find_root(parent, b);
  parent[std::max(a, b)] = std::min(a, b);
}

bool face_center_differs(const Lattice& lattice, const FaceStencil& stencil, const LatticePhi& phi, const Vec3& low,
                         std::size_t node) {
  int fluid = 0;
  double most = 0;
  for (const std::size_t c : stencil.corner) {
    fluid += lattice.fluid(node + c);
    most = std::max(most, std::abs(lattice.phi(node + c)));
  }
  if (fluid % 4 != 0) return false;
  Vec3 center = low;
  for (std::size_t i = 0; i < 2; ++i) center[stencil.direction[i]] += 0.5;
  return center_differs(phi, center, most, std::sqrt(0.5), fluid == 4);
}

FaceStencil face_stencil(const Lattice& lattice, int d) {
  const auto [u, v] = face_directions(d);
  const std::size_t su = lattice.stride(u), sv = lattice.stride(v);
  return {{0, su, su + sv, sv}, {0, su, sv, 0}, {u, v, u, v}};
}

namespace {

/// One face of a lattice: signs, crossings and the question of diagonal corners.
UnitFace cut_lattice_face(const Lattice& lattice, const FaceStencil& stencil, const LatticePhi& phi, const Vec3& low,
                          std::size_t node) {
  unsigned fluid = 0;
  std::array<double, 4> t{};
  for (std::size_t r = 0; r < 4; ++r) {
    fluid |= static_cast<unsigned>(lattice.fluid(node + stencil.corner[r])) << r;
    t[r] = lattice.t(stencil.direction[r], node + stencil.edge[r]);
  }
  bool joined = false;
  if (fluid == 5 || fluid == 10) {
    Vec3 center = low;
    for (std::size_t i = 0; i < 2; ++i) center[stencil.direction[i]] += 0.5;
    joined = is_fluid(phi.at(center));
  }
  UnitFace face;
  cut_unit_face(fluid, t, joined, face);
  return face;
}

/// A face that needs no sub-lattice; the same numbers as the cube kernel takes from the unit face.
void take_whole(const UnitFace& unit, FaceSet& face) {
  constexpr std::array<std::size_t, 4> node_of_ring{0, 1, 3, 2};
  face.parts.clear();
  face.label.assign(4, FaceSet::none);
  for (int p = 0; p < unit.n_polygons; ++p) {
    if (unit.area[p] <= min_aperture) continue;
    for (std::size_t r = 0; r < 4; ++r)
      if (unit.corners[p] >> r & 1) face.label[node_of_ring[r]] = static_cast<std::uint8_t>(face.parts.size());
    face.parts.push_back({unit.area[p], {unit.centroid[p][0] - 0.5, unit.centroid[p][1] - 0.5}});
  }
}

Index flat(int d, int n) {
  Index cells = Index::all(n);
  cells[d] = 0;
  return cells;
}

}  // namespace

bool FaceCutter::cut_at_depth(const LatticePhi& coarse, const Index& node, int d, int depth, FaceSet& face) {
  const LatticePhi phi = coarse.sub_lattice(depth);
  const int n = 1 << depth;
  const Index size = flat(d, n);
  lattice_.reset(n * node, size);
  lattice_.evaluate_nodes(phi, Index{}, size);
  lattice_.cut_edges(phi, Index{}, size);
  if (lattice_.any_split()) return false;
  const FaceStencil stencil = face_stencil(lattice_, d);
  face.depth = depth;
  if (depth == 0) {
    const Vec3 low = lattice_.position(Index{});
    if (face_center_differs(lattice_, stencil, phi, low, 0)) return false;
    take_whole(cut_lattice_face(lattice_, stencil, phi, low, 0), face);
    return true;
  }
  join_faces(phi, d, stencil, face);
  return true;
}

void FaceCutter::join_faces(const LatticePhi& phi, int d, const FaceStencil& stencil, FaceSet& face) {
  const int n = 1 << face.depth;
  const auto [u, v] = face_directions(d);
  parent_.resize(lattice_.n_nodes());
  std::iota(parent_.begin(), parent_.end(), 0);
  sums_.assign(lattice_.n_nodes(), Sum{});
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      Index at;
      at[u] = i, at[v] = j;
      const std::size_t base = lattice_.node(at);
      const UnitFace unit = cut_lattice_face(lattice_, stencil, phi, lattice_.position(at), base);
      for (int p = 0; p < unit.n_polygons; ++p) {
        int first = -1;
        for (unsigned r = 0; r < 4; ++r) {
          if (!(unit.corners[p] >> r & 1)) continue;
          const int corner = static_cast<int>(base + stencil.corner[r]);
          if (first < 0) first = corner;
          unite(parent_, first, corner);
        }
        Sum& sum = sums_[first];
        sum.area += unit.area[p];
        sum.mx += unit.area[p] * (unit.centroid[p][0] + i);
        sum.my += unit.area[p] * (unit.centroid[p][1] + j);
      }
    }
  number_parts(n, face);
}

void FaceCutter::number_parts(int n, FaceSet& face) {
  face.parts.clear();
  face.label.assign(sums_.size(), FaceSet::none);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const std::size_t r = find_root(parent_, static_cast<int>(i));
    if (r == i) continue;
    sums_[r].area += sums_[i].area, sums_[r].mx += sums_[i].mx, sums_[r].my += sums_[i].my;
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const std::size_t r = find_root(parent_, static_cast<int>(i));
    if (r < i) {
      face.label[i] = face.label[r];
    } else if (const double scale = 1.0 / (n * n); sums_[i].area * scale > min_aperture && face.parts.size() < 254) {
      face.label[i] = static_cast<std::uint8_t>(face.parts.size());
      const double area = std::min(sums_[i].area * scale, 1.0);
      face.parts.push_back({area, {sums_[i].mx / (sums_[i].area * n) - 0.5, sums_[i].my / (sums_[i].area * n) - 0.5}});
    }
  }
}

void FaceCutter::cut(const LatticePhi& phi, const Index& node, int d, FaceSet& face) {
  for (int depth = 0; !cut_at_depth(phi, node, d, depth, face); ++depth) {
  }
}

void FaceCutter::cut_refined(const LatticePhi& phi, const Index& node, int d, FaceSet& face) {
  const LatticePhi finer = phi.next_level();
  const auto [u, v] = face_directions(d);
  for (int q = 0; q < 4; ++q) {
    Index corner = 2 * node;
    corner[u] += q % 2, corner[v] += q / 2;
    cut(finer, corner, d, quarter_[q]);
  }
  join_quarters(face);
}

void FaceCutter::join_quarters(FaceSet& face) {
  int depth = 0, n_parts = 0;
  std::array<int, 4> first{};
  for (std::size_t q = 0; q < 4; ++q) {
    depth = std::max(depth, quarter_[q].depth);
    first[q] = n_parts;
    n_parts += static_cast<int>(quarter_[q].parts.size());
  }
  face.depth = depth + 1;
  const int n = (2 << depth) + 1;
  std::vector<int> owner(n * n, -1);  // part of a quarter round each node
  parent_.resize(n_parts);
  std::iota(parent_.begin(), parent_.end(), 0);
  for (int q = 0; q < 4; ++q) {
    const FaceSet& quarter = quarter_[q];
    const int m = (1 << quarter.depth) + 1, step = 1 << (depth - quarter.depth);
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) {
        const std::uint8_t label = quarter.label[j * m + i];
        if (label == FaceSet::none) continue;
        const int part = first[q] + label;
        int& here = owner[((q / 2 << depth) + j * step) * n + (q % 2 << depth) + i * step];
        if (here >= 0) unite(parent_, here, part);
        here = part;
      }
  }
  face.parts.clear();
  face.label.assign(owner.size(), FaceSet::none);
  ordinal_.assign(n_parts, -1);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] < 0) continue;
    int& o = ordinal_[find_root(parent_, owner[i])];
    if (o < 0) o = static_cast<int>(face.parts.size()), face.parts.push_back({0, {0, 0}});
    face.label[i] = static_cast<std::uint8_t>(o);
  }
  for (int q = 0; q < 4; ++q)
    for (std::size_t p = 0; p < quarter_[q].parts.size(); ++p) {
      const auto& part = quarter_[q].parts[p];
      const int global = find_root(parent_, first[q] + static_cast<int>(p));
      auto& sum = face.parts[ordinal_[global]];
      const Point2 at{0.5 * part.centroid[0] + (q % 2 ? 0.25 : -0.25), 0.5 * part.centroid[1] + (q / 2 ? 0.25 : -0.25)};
      const double area = 0.25 * part.aperture;
      for (std::size_t i = 0; i < 2; ++i)
        sum.centroid[i] = (sum.centroid[i] * sum.aperture + at[i] * area) / (sum.aperture + area);
      sum.aperture += area;
    }
}

}  // namespace karst
