// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_edges.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "base/comm/parallel.hpp"
#include "grid/vof_loops.hpp"
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

/// Of the sum of w over three edges, which varies as r^(2/3), for the degree 0.454 of a harmonic function outside of a
/// vertex of right angles (Schmitz, Volk & Wendland, Numer. Methods Partial Differ. Equ. 9 (1993) 323).
constexpr double vertex_power = 0.454 / (2.0 / 3.0);

/// A place or direction in the plane of two sides.
struct Point {
  double along, across;
};

/// Finds the edge in one quadrant of a cell, if there is one.
class Quadrant {
 public:
  Quadrant(const FlowLookup& lookup, const CellWalls& walls, VofName front, int first, int second)
      : lookup_(lookup), walls_(walls), front_(front), side_{first, second} {}

  std::optional<FlowEdge> edge() const {
    const VofName a = lookup_.across(front_, side_[0]), b = lookup_.across(front_, side_[1]);
    if (a == no_face || b == no_face) return {};
    std::array<Walls, 2> scratch;
    const Walls &at_a = walls_.of(a, scratch[0]), &at_b = walls_.of(b, scratch[1]);
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
    std::array<double, 2> apex{p.along - i * s.along, p.across - i * s.across};
    for (double& x : apex) x = std::max(x, least_theta);
    const FlowEdge e(side_, apex, begin, 2.0 * pi - (end - begin));
    return e.here > 0.0 ? std::optional(e) : std::nullopt;
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
      Walls scratch;
      const Walls& there = walls_.of(next, scratch);
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
  const CellWalls& walls_;
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

/// @param met  Walls::met() of the flow cells across the sides, 0 without one
std::uint16_t possible_edges(const std::array<std::uint8_t, 6>& met) {
  unsigned bits = 0;
  for (int first = 0; first < 6; ++first)
    for (int second = first + 1; met[first] != 0 && second < 6; ++second)
      if (direction_of(first) != direction_of(second) && (met[first] >> second & 1U) != 0 &&
          (met[second] >> first & 1U) != 0)
        bits |= 1U << bit_of(first, second);
  return static_cast<std::uint16_t>(bits);
}

}  // namespace

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

FlowEdges::FlowEdges(const FlowLookup& lookup, const CellWalls& walls, std::span<const std::uint8_t> has_row)
    : lookup_(lookup), walls_(walls), possible_(has_row.size(), 0) {
  const int n = lookup.graph().n_local();
  fronts_.resize(n);
  near_.resize(n);
  parallel_for_dynamic(n, [&](std::int64_t b) { find_possible_in(static_cast<int>(b)); });
  parallel_for_dynamic(n, [&](std::int64_t b) { find_fronts_in(static_cast<int>(b)); });
  parallel_for_dynamic(n, [&](std::int64_t b) { find_in(static_cast<int>(b), has_row); });
}

std::uint16_t FlowEdges::possible(VofName v) const {
  const int b = lookup_.graph().local(box_of(v));
  if (b >= 0) return possible_[lookup_.graph().vof_begin(b) + vof_of(v)];
  if (lookup_.is_covered(v)) return 0;  // as those of own boxes
  std::array<std::uint8_t, 6> met{};
  for (int side = 0; side < 6; ++side)
    if (const VofName next = lookup_.across(v, side); next != no_face) met[side] = walls_.met(next);
  return possible_edges(met);
}

void FlowEdges::find_possible_in(int b) {
  const BoxGraph box = lookup_.graph().box(b);
  const std::span<const std::uint8_t> across = lookup_.across_in(b), met_here = walls_.met_in(b);
  std::uint16_t* const possible = possible_.data() + lookup_.graph().vof_begin(b);
  for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
    if (lookup_.vofs().is_covered(b, vof)) return;
    std::array<std::uint8_t, 6> met{};
    for (int side = 0; side < 6; ++side)
      if ((across[vof] >> side & 1U) != 0)
        met[side] = slots[side] < box.n_own ? met_here[slots[side]] : walls_.met(box.name(slots[side]));
    possible[vof] = possible_edges(met);
  });
}

void FlowEdges::find_in(int b, std::span<const std::uint8_t> has_row) {
  const BoxGraph box = lookup_.graph().box(b);
  const std::int64_t begin = lookup_.graph().vof_begin(b);
  const std::span<const std::uint8_t> across = lookup_.across_in(b);
  const std::uint16_t* const possible_here = possible_.data() + begin;
  OfBox& found = near_[b];
  for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
    if (has_row[begin + vof] == 0) return;
    unsigned any = possible_here[vof];
    for (int side = 0; any == 0 && side < 6; ++side)
      if ((across[vof] >> side & 1U) != 0)
        any = slots[side] < box.n_own ? possible_here[slots[side]] : possible(box.name(slots[side]));
    if (any == 0) return;
    add_near(vof_name(box.box, vof), found.edges);
    found.close(vof);
  });
}

std::span<const FlowEdge> FlowEdges::of(VofName v, std::vector<FlowEdge>& scratch) const {
  const int b = lookup_.graph().local(box_of(v));
  if (b < 0) {
    scratch.clear();
    add_near(v, scratch);
    return scratch;
  }
  return near_[b].of(vof_of(v));
}

std::span<const FlowEdge> FlowEdges::OfBox::of(int v) const {
  const auto at = std::ranges::lower_bound(vof, v);
  if (at == vof.end() || *at != v) return {};
  const std::uint32_t* const first = begin.data() + (at - vof.begin());
  return std::span(edges).subspan(first[0], first[1] - first[0]);
}

void FlowEdges::OfBox::close(int v) {
  if (edges.size() == begin.back()) return;
  vof.push_back(static_cast<std::uint16_t>(v));
  begin.push_back(static_cast<std::uint32_t>(edges.size()));
}

void FlowEdges::find_fronts_in(int b) {
  const BoxGraph box = lookup_.graph().box(b);
  const std::uint16_t* const possible = possible_.data() + lookup_.graph().vof_begin(b);
  for (int vof = 0; vof < box.n_own; ++vof) {
    if (possible[vof] == 0) continue;
    for (int first = 0; first < 6; ++first)
      for (int second = 0; second < 6; ++second) {
        if (direction_of(first) == direction_of(second) || (possible[vof] >> bit_of(first, second) & 1U) == 0) continue;
        if (const auto e = Quadrant(lookup_, walls_, vof_name(box.box, vof), first, second).edge())
          fronts_[b].edges.push_back(*e);
      }
    fronts_[b].close(vof);
  }
}

std::optional<FlowEdge> FlowEdges::in_front(VofName v, int first, int second) const {
  const int b = lookup_.graph().local(box_of(v));
  if (b < 0) return Quadrant(lookup_, walls_, v, first, second).edge();
  for (const FlowEdge& e : fronts_[b].of(vof_of(v)))
    if (e.side == std::array{first, second}) return e;
  return {};
}

void FlowEdges::add_near(VofName v, std::vector<FlowEdge>& edges) const {
  std::array<VofName, 6> across;
  std::array<unsigned, 6> bits{};
  unsigned any = possible(v);
  const unsigned own = any;
  for (std::size_t side = 0; side < 6; ++side) {
    across[side] = lookup_.across(v, static_cast<int>(side));
    if (across[side] != no_face) any |= bits[side] = possible(across[side]);
  }
  if (any == 0) return;
  // `steps` from the cell in front of the edge to v, towards `first`
  const auto add = [&](VofName front, int first, int second, int steps) {
    const std::optional<FlowEdge> e = in_front(front, first, second);
    if (!e) return;
    if (steps == 0) return edges.push_back(*e);
    const FlowEdge moved(e->side, {e->apex[0] - steps, e->apex[1]}, e->begin, e->angle);
    if (moved.here > 0.0) edges.push_back(moved);
  };
  const auto meets = [&](VofName u, int side) { return (walls_.met(u) >> side & 1U) != 0; };
  for (int first = 0; first < 6; ++first)
    for (int second = 0; second < 6; ++second) {
      if (direction_of(first) == direction_of(second)) continue;
      const std::size_t ahead = first, behind = opposite(first);
      const auto has = [&](unsigned quadrants) { return (quadrants >> bit_of(first, second) & 1U) != 0; };
      const bool wall = meets(v, second);
      if (first < second && has(own)) add(v, first, second, 0);
      if (wall && has(bits[behind]) && !meets(across[behind], second)) add(across[behind], first, second, 1);
      if (!wall && has(bits[ahead]) && !meets(across[ahead], second)) add(across[ahead], first, second, -1);
    }
}

namespace {

/// σ / h² that makes the row of a cell without walls exact for (Σ w)^vertex_power.
double friction_of(const std::array<FlowEdge, 3>& edges) {
  const auto w = [&](const Vec3& x) {
    double sum = 0.0;
    for (const FlowEdge& e : edges) sum += e.value(x);
    return std::pow(sum, vertex_power);
  };
  const double here = w({});
  double minus = 0.0;
  for (int side = 0; side < 6; ++side) minus += here - w(to_vec(side_offset(side)));
  return std::max(-minus / here, 0.0);
}

}  // namespace

double FlowEdges::vertex_friction(VofName v) const {
  std::array<VofName, 6> across;
  std::array<unsigned, 6> bits{};
  if (walls_.met(v) != 0) return 0.0;
  for (std::size_t side = 0; side < 6; ++side) {
    across[side] = lookup_.across(v, static_cast<int>(side));
    if (across[side] != no_face) bits[side] = possible(across[side]);
  }
  const auto edge_at = [&](int side, int first, int second) -> std::optional<FlowEdge> {
    const auto s = static_cast<std::size_t>(side);
    if ((bits[s] >> bit_of(first, second) & 1U) == 0) return {};
    return in_front(across[s], first, second);
  };
  double sum = 0.0;
  for (const int x : {0, 1})
    for (const int y : {2, 3})
      for (const int z : {4, 5}) {
        const auto a = edge_at(x, y, z), b = a ? edge_at(y, z, x) : std::nullopt,
                   c = b ? edge_at(z, x, y) : std::nullopt;
        if (c) sum += friction_of({*a, *b, *c});
      }
  return sum;
}

Vec3 edge_friction(std::span<const FlowEdge> edges, const Walls& walls) {
  Vec3 sum;
  for (const FlowEdge& e : edges) {
    const double here = e.here;
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
