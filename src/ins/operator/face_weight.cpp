// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/face_weight.hpp"

#include <algorithm>
#include <cmath>

namespace karst {
namespace {

constexpr double most_at_flat = 64.0;  ///< FaceArea::most_weight where the wall is a plane: half a cell has 26
constexpr double same_plane = 0.3;     ///< |log| of the ratio of what a plane makes equal
constexpr double least_other = 0.1;    ///< of the other cell's distance to the plane, over d: it lies in the fluid
constexpr double least_squares = 0.1;  ///< Σ n_d² over the lines that meet the wall; else its normal is not used

/// The velocity near a flow cell, over its own value: 0 on the walls that the cell sees.
class Profile {
 public:
  /// @param at  cell centre, relative to that of the low cell
  Profile(const FlowSurroundings& cell, const Vec3& at) : at_(at) {
    const Walls& walls = cell.walls;
    for (int e = 0; e < 3; ++e) {
      const double a = theta(walls, low_side(e)), b = theta(walls, high_side(e));
      if (a <= 1.0 && b <= 1.0) {
        between_ *= (a + b) * (a + b) / (6.0 * a * b);
        throat_ = true;
      } else if (a <= 1.0) {
        slope_[e] = 1.0 / a;
      } else if (b <= 1.0) {
        slope_[e] = -1.0 / b;
      }
    }
    any_ = throat_ || norm(slope_) > 0.0;
    if (!throat_ && any_) tilt(walls);
    if (!throat_ && norm(walls.normal) == 0.0) part(walls.area);
    flat_ = !throat_ && walls.plane;
    if (!throat_ && !corner_) edges_ = cell.edges;
    any_ = any_ || !edges_.empty();
  }
  bool any() const { return any_; }

  /// Mean over a gap with walls on both sides, over the value at the cell; 1 without such a gap.
  double between() const { return between_; }

  /// @param other_between  of the other cell. Where only this one hugs a wall of a gap, the mean of the two is about
  ///                       half of that over the gap, however small its own value is
  FaceWeight weight(int d, const Vec3& other, double other_between, bool other_curved, const FaceArea& area) const {
    const auto between_cells = [&](double beyond) { return 0.5 * (1.0 + std::max(beyond, least_other)); };
    const double of_both = throat_ ? 2.0 / (1.0 / between_ + 1.0 / other_between) : 1.0;
    const double mean = edges_.empty() ? std::max(linear(area.at), 0.0) / between_cells(linear(other))
                                       : over_edge(d, area) / between_cells(at_edge(other));
    FaceWeight w{area.area * std::min(mean * of_both, flat_ ? most_at_flat : area.most_weight), 0.0};
    if (throat_ || corner_ || norm(slope_) == 0.0) return w;
    const double at_face = between_cells(linear(other)), here = std::max(linear(area.at), 0.0);
    const double steep = norm(slope_), distance = 1.0 / steep;
    const double along = std::pow(slope_[d] / steep, 2), across = 1.0 - along;
    const double extent = std::min(area.area, 2.0), variance = across * extent * extent / 12.0;
    w.bend = 0.5 * area.area * (distance * distance * here * (at_face - here) - variance);
    w.bend += w.mean * along / 8.0;
    if (other_curved) w.bend += 0.5 * w.mean * (1.0 / 24.0 - along / 6.0);
    return w;
  }

 private:
  /// The plane with the wall's own normal through where the grid lines meet it.
  void tilt(const Walls& walls) {
    double sum = 0.0, squares = 0.0;
    for (int side = 0; side < 6; ++side) {
      if (theta(walls, side) > 1.0) continue;
      const int d = direction_of(side);
      const double against = is_high(side) ? -walls.normal[d] : walls.normal[d];
      if (against <= 0.0) continue;
      sum += against * against * against * theta(walls, side);
      squares += against * against;
    }
    if (squares > least_squares) slope_ = (squares / sum) * walls.normal;
  }
  static double theta(const Walls& walls, int side) { return std::max(walls.theta[side], least_theta); }
  /// Which lines meet the same plane: those whose slopes are as the areas that face them, and those that share such a
  /// one. In any order of the directions.
  void part(const Vec3& area) {
    for (int e = 0; e < 3; ++e)
      for (int f = 0; f < e; ++f) {
        const double a = area[e] * slope_[f], b = area[f] * slope_[e];
        if (a * b > 0.0 && std::abs(std::log(a / b)) < same_plane)
          std::ranges::replace(plane_, int{plane_[e]}, int{plane_[f]});
      }
    for (int e = 0; e < 3; ++e)
      for (int f = 0; f < e; ++f) corner_ = corner_ || (slope_[e] * slope_[f] != 0.0 && plane_[e] != plane_[f]);
  }
  /// The same of w of the edges (flow_edges.hpp).
  double at_edge(const Vec3& x) const {
    double sum = 0.0;
    for (const FlowEdge& e : edges_) sum += e.value(x - at_) / e.here;
    return sum / static_cast<double>(edges_.size());
  }
  /// Mean of w over the open part of a whole face across d, at_d from the cell.
  static double mean_in_plane(const FlowEdge& e, int d, double at_d) {
    constexpr int n = 8;
    const std::array<int, 2> in_plane{direction_of(e.side[0]), direction_of(e.side[1])};
    const bool is_line = d == in_plane[0] || d == in_plane[1];  // of the plane, seen along the edge
    std::array<std::array<double, n>, n> w;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        Vec3 x;
        x[in_plane[0]] = (i + 0.5) / n - 0.5;
        x[in_plane[1]] = (j + 0.5) / n - 0.5;
        if (is_line) x[d] = at_d;
        const bool again = (d == in_plane[0] && i > 0) || (d == in_plane[1] && j > 0);
        w[i][j] = !again ? e.value(x) : d == in_plane[0] ? w[0][j] : w[i][0];
      }
    double total = 0.0;
    int fluid = 0;
    for (const auto& line : w)
      for (const double at : line) {
        total += at;
        fluid += at > 0.0;
      }
    return fluid > 0 ? total / fluid : 0.0;
  }
  /// Mean over a face. In front of an edge w is as uneven as the face that the edge cuts; elsewhere the centroid does.
  double over_edge(int d, const FaceArea& area) const {
    double sum = 0.0;
    for (const FlowEdge& e : edges_) {
      if (!e.in_front() || area.area > 1.0 + 1e-6) {
        sum += e.value(area.at - at_) / e.here;
        continue;
      }
      sum += mean_in_plane(e, d, area.at[d] - at_[d]) / e.here;
    }
    return sum / static_cast<double>(edges_.size());
  }
  /// Distance to the plane, over that of the cell; in a corner the product over its walls.
  double linear(const Vec3& x) const {
    const Vec3 r = x - at_;
    if (!corner_) return 1.0 + dot(slope_, r);
    std::array<double, 3> distance{1.0, 1.0, 1.0};
    for (int e = 0; e < 3; ++e) distance[plane_[e]] += slope_[e] * r[e];
    double product = 1.0;
    for (const double d : distance) product *= std::max(d, 0.0);
    return product;
  }

  Vec3 at_, slope_;
  std::span<const FlowEdge> edges_;
  std::array<int, 3> plane_{0, 1, 2};  // of each direction, in a corner
  double between_ = 1.0;
  bool throat_ = false, corner_ = false, flat_ = false, any_ = false;
};

}  // namespace

FaceWeight face_weight(int direction, const FlowSurroundings& low, const FlowSurroundings& high, const Vec3& step,
                       const FaceArea& area) {
  const Profile below(low, {}), above(high, step);
  FaceWeight sum;
  if (below.any()) sum = below.weight(direction, step, above.between(), !above.any(), area);
  if (!above.any()) return below.any() ? sum : FaceWeight{area.area, 0.0};
  const FaceWeight w = above.weight(direction, {}, below.between(), !below.any(), area);
  if (!below.any()) return w;
  return {0.5 * (sum.mean + w.mean), 0.5 * (sum.bend + w.bend)};
}

}  // namespace karst
