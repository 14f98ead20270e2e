// SPDX-License-Identifier: BSD-3-Clause
// Flux through a face next to a wall. For each flow cell the wall is a plane: δ(x) is its distance, d that of the cell.
// Along the normal the velocity is the parabola with 0 on the wall, u at the cell and the curvature -g of the momentum
// balance,
//
//   u(δ) = u_f δ / δ_f + g / 2 δ (δ_f - δ),
//
// with u_f = (u_l + u_r) / 2 + g n_d² / 8 on the line between the two cells. Its mean over the open area, in whichever
// cells, is the flux. Where a cell has walls on both sides, the parabola is determined by both zeros, without g. The
// two cells of a face have different walls; their fluxes are averaged.
#pragma once

#include "ins/operator/flow_edges.hpp"

namespace karst {

/// Open area [h²] and its centroid, relative to the centre of the cell on the low side of the face.
struct FaceArea {
  double area = 0.0;
  Vec3 at;
  double most_weight = 16.0;  ///< weight of the mean velocity, divided by the area: bounded where a plane is a poor
                              ///< model of the wall (contacts)
};

/// Flux through a face = mean u_f + bend g: bend is the curvature correction, u_f the mean velocity of the two cells, g
/// = f - ∂p across the face, both along its normal.
struct FaceWeight {
  double mean = 0.0, bend = 0.0;
};

/// The velocity near a flow cell, over its own value: 0 on the walls that the cell sees. Places are relative to its
/// centre.
class FlowProfile {
 public:
  /// @param edges  next to the cell; must outlive it
  FlowProfile(const Walls& walls, std::span<const FlowEdge> edges);
  bool any() const { return any_; }
  /// Mean over a gap with walls on both sides, over the value at the cell; 1 without such a gap.
  double between() const { return between_; }
  /// @param d              direction of the face
  /// @param other          the cell across
  /// @param other_between  of the other cell. Where only this one hugs a wall of a gap, the mean of the two is about
  ///                       half of that over the gap, however small its own value is
  FaceWeight weight(int d, const Vec3& other, double other_between, bool other_curved, const FaceArea& area) const;

 private:
  void tilt(const Walls& walls);
  void part(const Vec3& area);
  double at_edge(const Vec3& x) const;
  double over_edge(int d, const FaceArea& area) const;
  double linear(const Vec3& x) const;

  Vec3 slope_;
  std::span<const FlowEdge> edges_;
  std::array<int, 3> plane_{0, 1, 2};  // of each direction, in a corner
  double between_ = 1.0;
  bool throat_ = false, corner_ = false, flat_ = false, any_ = false;
};

/// @param step  from the low to the high cell
FaceWeight face_weight(int direction, const FlowProfile& low, const FlowProfile& high, const Vec3& step,
                       const FaceArea& area);

}  // namespace karst
