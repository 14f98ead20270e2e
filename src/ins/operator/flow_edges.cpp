// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_edges.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

namespace karst {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double least_turn = pi / 3.0;  ///< of the wall, from one side of an edge to the other: less is a bend
constexpr double same_wall = pi / 6.0;   ///< between the normal of a VoF and a chord of the wall
constexpr double on_wall = 1e-6;         ///< an apex this far beyond what a grid line meets counts as there

/// Of the friction on the components at right angles to an edge: around it the flow goes as a lower power of r, 0.545
/// instead of 2/3 where ω = 3π/2, and pressure with r^-0.455. Found by the measurements of docs/decisions/015.
constexpr double around_edge = 2.0;

/// A place or direction in the plane of two sides.
struct Point {
  double along, across;
};

/// Finds the edge in one quadrant of a cell, if there is one.
class Quadrant {
 public:
  Quadrant(const FlowLookup& lookup, const WallsOf& walls_of, VofName front, int first, int second)
      : lookup_(lookup), walls_of_(walls_of), front_(front), side_{first, second} {}

  std::optional<FlowEdge> edge() const {
    const VofName a = lookup_.across(front_, side_[0]), b = lookup_.across(front_, side_[1]);
    if (a == no_face || b == no_face) return {};
    const Walls at_a = walls_of_(a), at_b = walls_of_(b);
    const double met_a = at_a.theta[place(side_[1])], met_b = at_b.theta[place(side_[0])];
    if (met_a > 1.0 || met_b > 1.0) return {};
    // A smooth body seen in a plane that grazes it turns fast in that plane, but is flat.
    const bool known = norm(at_a.normal) > 0.0 && norm(at_b.normal) > 0.0;
    if (known && dot(at_a.normal, at_b.normal) > std::cos(least_turn)) return {};
    const Point wall_a = along_wall(a, at_a, side_[0], side_[1]), wall_b = along_wall(b, at_b, side_[1], side_[0]);
    const Point p{1.0, met_a}, q{met_b, 1.0}, s = wall_a, t{wall_b.across, wall_b.along};
    const double begin = std::atan2(s.across, s.along), end = std::atan2(t.across, t.along);
    if (end - begin <= 0.0 || end - begin > pi - least_turn) return {};
    // p - i s = q - j t
    const double det = s.along * t.across - s.across * t.along;
    const Point d{p.along - q.along, p.across - q.across};
    const double i = (d.along * t.across - d.across * t.along) / det;
    const double j = (d.along * s.across - d.across * s.along) / det;
    if (i < -on_wall || j < -on_wall) return {};
    FlowEdge e{side_, {p.along - i * s.along, p.across - i * s.across}, begin, 2.0 * pi - (end - begin)};
    for (double& x : e.apex) x = std::max(x, least_theta);
    return e.value({}) > 0.0 ? std::optional(e) : std::nullopt;
  }

 private:
  static std::size_t place(int side) { return static_cast<std::size_t>(side); }

  /// Direction of the wall that a cell meets towards `met`, away from the edge: (towards `away`, towards `met`), from
  /// the next place where a grid line meets it.
  Point along_wall(VofName v, const Walls& walls, int away, int met) const {
    const double here = walls.theta[place(met)];
    std::optional<Point> chord, plane;
    if (const VofName next = lookup_.across(v, away); next != no_face) {
      if (const double there = walls_of_(next).theta[place(met)]; there <= 1.0) chord = Point{1.0, there - here};
    } else if (walls.theta[place(away)] <= 1.0) {
      chord = Point{walls.theta[place(away)], -here};
    }
    const auto towards = [&](int side) {
      return is_high(side) ? walls.normal[direction_of(side)] : -walls.normal[direction_of(side)];
    };
    if (towards(met) < 0.0) plane = Point{-towards(met), towards(away)};
    if (!plane) return chord.value_or(Point{1.0, 0.0});
    const auto angle = [](const Point& x) { return std::atan2(x.across, x.along); };
    return chord && std::abs(angle(*chord) - angle(*plane)) < same_wall ? *chord : *plane;
  }

  const FlowLookup& lookup_;
  const WallsOf& walls_of_;
  VofName front_;
  std::array<int, 2> side_;
};

/// Place of a quadrant among the twelve bits.
int bit_of(int first, int second) {
  if (first > second) std::swap(first, second);
  const int pair = direction_of(first) + direction_of(second) - 1;  // xy, xz, yz
  return 4 * pair + 2 * is_high(first) + is_high(second);
}

}  // namespace

std::uint16_t possible_edges(const FlowLookup& lookup, const WallsOf& walls_of, VofName v) {
  std::array<unsigned, 6> met{};  // by the cell across each side: bits of its sides
  for (int side = 0; side < 6; ++side) {
    const VofName next = lookup.across(v, side);
    if (next == no_face) continue;
    const Walls walls = walls_of(next);
    for (int to = 0; to < 6; ++to)
      if (walls.theta[static_cast<std::size_t>(to)] <= 1.0) met[static_cast<std::size_t>(side)] |= 1U << to;
  }
  unsigned bits = 0;
  for (int first = 0; first < 6; ++first)
    for (int second = first + 1; second < 6; ++second)
      if (direction_of(first) != direction_of(second) && (met[static_cast<std::size_t>(first)] >> second & 1U) != 0 &&
          (met[static_cast<std::size_t>(second)] >> first & 1U) != 0)
        bits |= 1U << bit_of(first, second);
  return static_cast<std::uint16_t>(bits);
}

double FlowEdge::value(const Vec3& x) const {
  std::array<double, 2> r;
  for (std::size_t i = 0; i < 2; ++i) {
    const double to = x[direction_of(side[i])];
    r[i] = (is_high(side[i]) ? to : -to) - apex[i];
  }
  double phi = begin - std::atan2(r[1], r[0]);
  phi -= 2.0 * pi * std::floor(phi / (2.0 * pi));
  return phi < angle ? std::pow(std::hypot(r[0], r[1]), pi / angle) * std::sin(pi * phi / angle) : 0.0;
}

std::vector<FlowEdge> edges_near(const FlowLookup& lookup, const WallsOf& walls_of, const PossibleEdges& possible,
                                 VofName v) {
  std::vector<FlowEdge> edges;
  std::array<VofName, 6> across;
  std::array<unsigned, 6> bits{};
  unsigned any = possible(v);
  const unsigned own = any;
  for (std::size_t side = 0; side < 6; ++side) {
    across[side] = lookup.across(v, static_cast<int>(side));
    if (across[side] != no_face) any |= bits[side] = possible(across[side]);
  }
  if (any == 0) return edges;
  const Walls walls = walls_of(v);
  // `steps` from the cell in front of the edge to v, towards `first`
  const auto add = [&](VofName front, int first, int second, int steps) {
    std::optional<FlowEdge> e = Quadrant(lookup, walls_of, front, first, second).edge();
    if (!e) return;
    e->apex[0] -= steps;
    if (e->value({}) > 0.0) edges.push_back(*e);
  };
  const auto meets = [&](VofName u, int side) { return walls_of(u).theta[static_cast<std::size_t>(side)] <= 1.0; };
  for (int first = 0; first < 6; ++first)
    for (int second = 0; second < 6; ++second) {
      if (direction_of(first) == direction_of(second)) continue;
      const auto ahead = static_cast<std::size_t>(first), behind = static_cast<std::size_t>(opposite(first));
      const auto has = [&](unsigned quadrants) { return (quadrants >> bit_of(first, second) & 1U) != 0; };
      const bool wall = walls.theta[static_cast<std::size_t>(second)] <= 1.0;
      if (first < second && has(own)) add(v, first, second, 0);
      if (wall && has(bits[behind]) && !meets(across[behind], second)) add(across[behind], first, second, 1);
      if (!wall && has(bits[ahead]) && !meets(across[ahead], second)) add(across[ahead], first, second, -1);
    }
  return edges;
}

Vec3 edge_friction(std::span<const FlowEdge> edges, const Walls& walls) {
  Vec3 sum;
  for (const FlowEdge& e : edges) {
    const double here = e.value({});
    double minus = 0.0;
    for (const int side : e.side) {
      const int d = direction_of(side);
      std::array<double, 2> theta, there;
      for (std::size_t i = 0; i < 2; ++i) {
        const int to = side_of(d, i == 1);
        theta[i] = std::clamp(walls.theta[static_cast<std::size_t>(to)], least_theta, 1.0);
        Vec3 x;
        x[d] = i == 1 ? theta[i] : -theta[i];
        there[i] = e.value(x);
      }
      minus += 2.0 / (theta[0] + theta[1]) * ((here - there[0]) / theta[0] + (here - there[1]) / theta[1]);
    }
    const double friction = -minus / here;
    for (int c = 0; c < 3; ++c) {
      const bool along = c != direction_of(e.side[0]) && c != direction_of(e.side[1]);
      sum[c] += along || friction < 0.0 ? friction : around_edge * friction;
    }
  }
  return sum;
}

}  // namespace karst
