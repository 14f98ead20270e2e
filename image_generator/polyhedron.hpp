// SPDX-License-Identifier: BSD-3-Clause
// Convex polyhedra: half spaces cut off one after the other; volume and areas in closed form.
#pragma once

#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// The points x with normal · x < offset; the normal has length 1 and points out of the body.
struct FacetPlane {
  Vec3 normal;
  double offset;
};

class Polyhedron {
 public:
  struct Face {
    int plane;               ///< as given to cut(); -1 for the sides of the box
    std::vector<Vec3> loop;  ///< corners in order, counter-clockwise seen from outside
  };
  /// The box [lo, hi].
  Polyhedron(const Vec3& lo, const Vec3& hi);
  /// Keeps what lies in the half space; the new face is called `plane`.
  void cut(const FacetPlane& half_space, int plane);
  bool empty() const { return faces_.empty(); }
  /// Sum over faces of (area vector · corner) / 3.
  double volume() const;
  /// Of the face called `plane`; 0 when it was cut away.
  double area(int plane) const;
  /// Of all faces.
  double area() const;
  /// Largest distance of a corner from x.
  double reach(const Vec3& x) const;
  const std::vector<Face>& faces() const { return faces_; }

 private:
  std::vector<Face> faces_;
};

}  // namespace karst
