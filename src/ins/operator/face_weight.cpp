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

double theta_of(const Walls& walls, int side) { return std::max(walls.theta[side], least_theta); }

/// Mean of w over the open part of a whole face across d, at_d from the cell.
double mean_in_plane(const FlowEdge& e, int d, double at_d) {
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

}  // namespace

FlowProfile::FlowProfile(const Walls& walls, std::span<const FlowEdge> edges) {
  for (int e = 0; e < 3; ++e) {
    const double a = theta_of(walls, low_side(e)), b = theta_of(walls, high_side(e));
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
  if (!throat_ && !corner_) edges_ = edges;
  any_ = any_ || !edges_.empty();
}

FaceWeight FlowProfile::weight(int d, const Vec3& other, double other_between, bool other_curved,
                               const FaceArea& area) const {
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

/// The plane with the wall's own normal through where the grid lines meet it.
void FlowProfile::tilt(const Walls& walls) {
  double sum = 0.0, squares = 0.0;
  for (int side = 0; side < 6; ++side) {
    if (theta_of(walls, side) > 1.0) continue;
    const int d = direction_of(side);
    const double against = is_high(side) ? -walls.normal[d] : walls.normal[d];
    if (against <= 0.0) continue;
    sum += against * against * against * theta_of(walls, side);
    squares += against * against;
  }
  if (squares > least_squares) slope_ = (squares / sum) * walls.normal;
}

/// Which lines meet the same plane: those whose slopes are as the areas that face them, and those that share such a
/// one. In any order of the directions.
void FlowProfile::part(const Vec3& area) {
  for (int e = 0; e < 3; ++e)
    for (int f = 0; f < e; ++f) {
      const double a = area[e] * slope_[f], b = area[f] * slope_[e];
      if (a * b > 0.0 && std::abs(std::log(a / b)) < same_plane)
        std::ranges::replace(plane_, int{plane_[e]}, int{plane_[f]});
    }
  for (int e = 0; e < 3; ++e)
    for (int f = 0; f < e; ++f) corner_ = corner_ || (slope_[e] * slope_[f] != 0.0 && plane_[e] != plane_[f]);
}

/// w of the edges (flow_edges.hpp), over its value at the cell.
double FlowProfile::at_edge(const Vec3& x) const {
  double sum = 0.0;
  for (const FlowEdge& e : edges_) sum += e.value(x) / e.here;
  return sum / static_cast<double>(edges_.size());
}

/// The same, mean over a face. In front of an edge w is as uneven as the face that the edge cuts; elsewhere the
/// centroid does.
double FlowProfile::over_edge(int d, const FaceArea& area) const {
  double sum = 0.0;
  for (const FlowEdge& e : edges_) {
    if (!e.in_front() || area.area > 1.0 + 1e-6) {
      sum += e.value(area.at) / e.here;
      continue;
    }
    sum += mean_in_plane(e, d, area.at[d]) / e.here;
  }
  return sum / static_cast<double>(edges_.size());
}

/// Distance to the plane, over that of the cell; in a corner the product over its walls.
double FlowProfile::linear(const Vec3& x) const {
  if (!corner_) return 1.0 + dot(slope_, x);
  std::array<double, 3> distance{1.0, 1.0, 1.0};
  for (int e = 0; e < 3; ++e) distance[plane_[e]] += slope_[e] * x[e];
  double product = 1.0;
  for (const double d : distance) product *= std::max(d, 0.0);
  return product;
}

FaceWeight face_weight(int direction, const FlowProfile& low, const FlowProfile& high, const Vec3& step,
                       const FaceArea& area) {
  FaceWeight sum;
  if (low.any()) sum = low.weight(direction, step, high.between(), !high.any(), area);
  if (!high.any()) return low.any() ? sum : FaceWeight{area.area, 0.0};
  const FaceArea seen{area.area, area.at - step, area.most_weight};
  const FaceWeight w = high.weight(direction, Vec3{} - step, low.between(), !low.any(), seen);
  if (!low.any()) return w;
  return {0.5 * (sum.mean + w.mean), 0.5 * (sum.bend + w.bend)};
}

}  // namespace karst
