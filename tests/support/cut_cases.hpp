// SPDX-License-Identifier: BSD-3-Clause
// Small level sets for tests of the cutter, and exact moments of a half space in a cube.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "eb/cut/cut_box.hpp"

namespace karst::testing {

/// φ from a function.
class FunctionPhi : public LocalLevelSet {
 public:
  explicit FunctionPhi(std::function<double(const Vec3&)> f) : f_(std::move(f)) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    for (std::size_t i = 0; i < x.size(); ++i) phi[i] = f_(x[i]);
  }

 private:
  std::function<double(const Vec3&)> f_;
};

constexpr Smoothness distance_like{1.0, 0.0};

inline FunctionPhi plane(const Vec3& point, const Vec3& unit_normal) {
  return FunctionPhi([=](const Vec3& x) { return dot(x - point, unit_normal); });
}
/// Fluid outside.
inline FunctionPhi sphere(const Vec3& center, double radius) {
  return FunctionPhi([=](const Vec3& x) { return norm(x - center) - radius; });
}
/// A solid plate, fluid on both sides.
inline FunctionPhi plate(const Vec3& point, const Vec3& unit_normal, double thickness) {
  return FunctionPhi([=](const Vec3& x) { return std::abs(dot(x - point, unit_normal)) - 0.5 * thickness; });
}

inline Vec3 random_unit(std::mt19937& random) {
  std::normal_distribution<double> normal;
  const Vec3 n{normal(random), normal(random), normal(random)};
  return (1 / norm(n)) * n;
}

/// The part of the cube [0, 1]^3 with m·x < a: volume, first moments, cut area; all m_d != 0. By inclusion and
/// exclusion of the corner simplices, e.g. volume = Σ_v (-1)^|v| (a - m·v)_+^3 / (6 m_0 m_1 m_2).
struct HalfSpaceInCube {
  double volume = 0, area = 0;
  Vec3 moment;
};
inline HalfSpaceInCube half_space_in_cube(Vec3 m, double a) {
  std::array<bool, 3> flipped{};
  for (int d = 0; d < 3; ++d)
    if (m[d] < 0) m[d] = -m[d], a += m[d], flipped[d] = true;
  HalfSpaceInCube r;
  const double product = m[0] * m[1] * m[2];
  for (int v = 0; v < 8; ++v) {
    const Vec3 corner{static_cast<double>(v & 1), static_cast<double>(v >> 1 & 1), static_cast<double>(v >> 2 & 1)};
    const double b = std::max(a - dot(m, corner), 0.0), sign = (v ^ v >> 1 ^ v >> 2) & 1 ? -1 : 1;
    r.volume += sign * b * b * b / (6 * product);
    r.area += sign * b * b / (2 * product) * norm(m);
    for (int d = 0; d < 3; ++d)
      r.moment[d] += sign * (corner[d] * b * b * b / (6 * product) + b * b * b * b / (24 * product * m[d]));
  }
  for (int d = 0; d < 3; ++d)
    if (flipped[d]) r.moment[d] = r.volume - r.moment[d];
  return r;
}
/// Same in the square: area with m·x < a.
inline double half_plane_in_square(std::array<double, 2> m, double a) {
  double area = 0;
  for (double& c : m)
    if (c < 0) c = -c, a += c;
  for (int v = 0; v < 4; ++v) {
    const double b = std::max(a - m[0] * (v & 1) - m[1] * (v >> 1), 0.0);
    area += ((v ^ v >> 1) & 1 ? -1 : 1) * b * b / (2 * m[0] * m[1]);
  }
  return area;
}

/// Sums over a box: fluid volume, wall area.
struct BoxSums {
  double volume = 0, wall_area = 0;
};
inline BoxSums sums(const BoxPieces& box) {
  BoxSums s;
  s.volume = static_cast<double>(box.counts.cells_regular);
  for (const Piece& p : box.pieces) s.volume += p.kappa, s.wall_area += p.wall_area;
  return s;
}

/// Largest violation of wall = Σ_high α e - Σ_low α e over the pieces.
inline double closure_error(const BoxPieces& box) {
  double worst = 0;
  for (const Piece& p : box.pieces) {
    Vec3 sum = p.wall;
    for (std::uint32_t f = p.first_face; f < p.first_face + p.n_faces; ++f)
      sum[direction_of(box.faces[f].side)] -= (is_high(box.faces[f].side) ? 1 : -1) * box.faces[f].aperture;
    worst = std::max(worst, norm(sum));
  }
  return worst;
}

/// Connected fluid of a box: a number per piece and per regular cell, equal where fluid is connected through faces.
struct Fluid {
  std::vector<int> piece;  ///< parallel to box.pieces
  std::vector<int> cell;   ///< per cell; of regular cells only
};
inline Fluid connected_fluid(const BoxPieces& box) {
  const int n_pieces = static_cast<int>(box.pieces.size());
  std::vector<int> parent(box.pieces.size() + box.kind.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int a) {
    while (parent[a] != a) a = parent[a];
    return a;
  };
  std::map<std::array<int, 3>, int> at;  // cell, side, ordinal -> node
  for (std::size_t p = 0; p < box.pieces.size(); ++p)
    for (std::uint32_t f = box.pieces[p].first_face; f < box.pieces[p].first_face + box.pieces[p].n_faces; ++f)
      at[{box.pieces[p].cell, box.faces[f].side, box.faces[f].ordinal}] = static_cast<int>(p);
  for (std::size_t c = 0; c < box.kind.size(); ++c)
    for (int side = 0; box.kind[c] == CellKind::regular && side < 6; ++side)
      at[{static_cast<int>(c), side, 0}] = n_pieces + static_cast<int>(c);
  for (const auto& [key, node] : at) {
    const Index there = box.cells.cell(key[0]) + side_offset(key[1]);
    if (!box.cells.contains(there)) continue;
    const auto other = at.find({static_cast<int>(box.cells.offset(there)), opposite(key[1]), key[2]});
    parent[root(node)] = root(other == at.end() ? node : other->second);
  }
  Fluid fluid;
  for (int p = 0; p < n_pieces; ++p) fluid.piece.push_back(root(p));
  for (std::size_t c = 0; c < box.kind.size(); ++c) fluid.cell.push_back(root(n_pieces + static_cast<int>(c)));
  return fluid;
}
inline Vec3 cell_center(const BoxPieces& box, std::int64_t offset) {
  const Index c = box.cells.cell(offset);
  return {c[0] + 0.5, c[1] + 0.5, c[2] + 0.5};
}

/// Open area on a side of a cell.
inline double open_area(const BoxPieces& box, const Index& cell, int side) {
  const std::size_t at = box.cells.offset(cell);
  if (box.kind[at] != CellKind::cut) return box.kind[at] == CellKind::regular ? 1 : 0;
  double area = 0;
  for (const Piece& p : box.pieces)
    if (p.cell == at)
      for (std::uint32_t f = p.first_face; f < p.first_face + p.n_faces; ++f)
        if (box.faces[f].side == side) area += box.faces[f].aperture;
  return area;
}

}  // namespace karst::testing
