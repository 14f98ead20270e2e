// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_edges.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "ins/operator/edge_table.hpp"

namespace karst {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double least_turn = pi / 3.0;  ///< of the wall, from one side of an edge to the other: less is a bend
constexpr double same_wall = pi / 6.0;   ///< between the normal of a VoF and a chord of the wall
constexpr double fades = pi / 18.0;      ///< what walls may be turned from the grid lines for the tables of friction
constexpr double on_wall = 1e-6;         ///< an apex this far beyond what a grid line meets counts as there

/// Of the friction on the components at right angles to an edge: around it the flow goes as a lower power of r, 0.545
/// instead of 2/3 where ω = 3π/2, and pressure with r^-0.455. Found by trial: docs/measurements/015.
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
    const double met_a = at_a.theta[side_[1]], met_b = at_b.theta[side_[0]];
    if (met_a > 1.0 || met_b > 1.0) return {};
    const Wall wall_a = along_wall(a, at_a, side_[0], side_[1]), wall_b = along_wall(b, at_b, side_[1], side_[0]);
    // A smooth body seen in a plane that grazes it turns fast in that plane, but is flat.
    const bool known = norm(wall_a.normal) > 0.0 && norm(wall_b.normal) > 0.0;
    if (known && dot(wall_a.normal, wall_b.normal) > std::cos(least_turn)) return {};
    const Point p{1.0, met_a}, q{met_b, 1.0}, s = wall_a.to, t{wall_b.to.across, wall_b.to.along};
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
  /// A wall from where a grid line meets it, away from the edge.
  struct Wall {
    Point to;     ///< direction: (towards `away`, towards `met`)
    Vec3 normal;  ///< 0 when it is not known
  };

  /// The wall that a cell meets towards `met`: from its own normal or, better, from the next place where a grid line
  /// meets it.
  Wall along_wall(VofName v, const Walls& walls, int away, int met) const {
    const double here = walls.theta[met];
    std::optional<Point> chord;
    Vec3 beyond;  // normal at the end of the chord
    if (const VofName next = lookup_.across(v, away); next != no_face) {
      const Walls there = walls_of_(next);
      if (there.theta[met] <= 1.0) {
        chord = Point{1.0, there.theta[met] - here};
        beyond = there.normal;
      }
    } else if (walls.theta[away] <= 1.0) {
      chord = Point{walls.theta[away], -here};
    }
    const std::optional<Point> plane = plane_of(walls.normal, away, met);
    if (!plane) return {chord.value_or(Point{1.0, 0.0}), walls.normal};
    if (!chord) return {*plane, walls.normal};
    if (turn(*chord, *plane) < same_wall) return {*chord, walls.normal};
    // Where the edge lies in the cell of v its normal is that of the chord that cuts the edge off.
    if (const auto far = plane_of(beyond, away, met); far && turn(*chord, *far) < same_wall) return {*chord, beyond};
    return {*plane, walls.normal};
  }

  static std::optional<Point> plane_of(const Vec3& normal, int away, int met) {
    const auto towards = [&](int side) {
      return is_high(side) ? normal[direction_of(side)] : -normal[direction_of(side)];
    };
    return towards(met) < 0.0 ? std::optional(Point{-towards(met), towards(away)}) : std::nullopt;
  }
  static double turn(const Point& a, const Point& b) {
    return std::abs(std::atan2(a.across, a.along) - std::atan2(b.across, b.along));
  }

  const FlowLookup& lookup_;
  const WallsOf& walls_of_;
  VofName front_;
  std::array<int, 2> side_;
};

/// What edge_friction() takes from tables: they hold for right angles along the grid lines.
EdgeFriction remaining_friction(const FlowEdge& e) {
  if (e.apex[0] <= 0.0 || e.apex[1] <= 0.0) return {};
  const auto fading = [](double turned) { return std::max(1.0 - turned * turned / (fades * fades), 0.0); };
  double share = fading(e.begin) * fading(e.angle - e.begin - 1.5 * pi);
  std::array<double, 2> at = e.apex;  // from the cell in front
  if (at[0] > 1.0 + on_wall) {
    // Near the edge the cell in front hardly moves, whatever holds it: the two behind it take their parts.
    at[0] -= 1.0;
    share *= std::max(1.0 - 2.0 * at[0], 0.0) * std::max(1.0 - 2.0 * at[1], 0.0);
  }
  if (share == 0.0) return {};
  const EdgeFriction table = tabulated_edge_friction(at);
  return {share * table.along, {share * table.around[0], share * table.around[1]}};
}

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
      if (walls.theta[to] <= 1.0) met[side] |= 1U << to;
  }
  unsigned bits = 0;
  for (int first = 0; first < 6; ++first)
    for (int second = first + 1; second < 6; ++second)
      if (direction_of(first) != direction_of(second) && (met[first] >> second & 1U) != 0 &&
          (met[second] >> first & 1U) != 0)
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
  const auto meets = [&](VofName u, int side) { return walls_of(u).theta[side] <= 1.0; };
  for (int first = 0; first < 6; ++first)
    for (int second = 0; second < 6; ++second) {
      if (direction_of(first) == direction_of(second)) continue;
      const std::size_t ahead = first, behind = opposite(first);
      const auto has = [&](unsigned quadrants) { return (quadrants >> bit_of(first, second) & 1U) != 0; };
      const bool wall = walls.theta[second] <= 1.0;
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
        theta[i] = std::clamp(walls.theta[to], least_theta, 1.0);
        Vec3 x;
        x[d] = i == 1 ? theta[i] : -theta[i];
        there[i] = e.value(x);
      }
      minus += 2.0 / (theta[0] + theta[1]) * ((here - there[0]) / theta[0] + (here - there[1]) / theta[1]);
    }
    const double friction = -minus / here;
    const EdgeFriction more = remaining_friction(e);
    for (int c = 0; c < 3; ++c) {
      const bool along = c != direction_of(e.side[0]) && c != direction_of(e.side[1]);
      sum[c] += along || friction < 0.0 ? friction : around_edge * friction;
      sum[c] += along ? more.along : more.around[c == direction_of(e.side[0]) ? 0 : 1];
    }
  }
  return sum;
}

}  // namespace karst
