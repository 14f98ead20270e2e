// SPDX-License-Identifier: BSD-3-Clause
// Where the wall crosses one edge of the lattice of a level.
#pragma once

#include <span>

#include "eb/level_set.hpp"

namespace karst {

/// A node is fluid when φ exceeds this (in units of h): zeros and rounding noise count as solid, so a wall along a
/// cell face leaves no sliver.
constexpr double node_tolerance = 1e-10;
/// Crossings are no closer than this to the fluid end of an edge; closer to the solid end they are moved onto it.
constexpr double edge_tolerance = 1e-9;
/// Finest sub-lattice of a cell: (2^max_depth)^3.
constexpr int max_depth = 4;
/// Gaps of fluid between solids are followed no further than this.
constexpr int max_gap_depth = 3;

constexpr bool is_fluid(double phi) { return phi > node_tolerance; }

/// φ on the lattice of one level: lengths, positions and values in units of the cell width of that level.
/// A depth above zero marks the sub-lattice of a cell of the level `depth` below.
class LatticePhi {
 public:
  LatticePhi(const LocalLevelSet& phi, const Smoothness& smoothness, int level, int depth = 0);
  double at(const Vec3& x) const { return scale_ * (*phi_)(h_ * x); }
  /// @param x         scratch: points, in units of h; scaled in place
  /// @param[out] phi  one value per point
  void at(std::span<Vec3> x, std::span<double> phi) const;
  /// The lattice 2^m times finer, for features of the same cells.
  LatticePhi sub_lattice(int m) const { return {*phi_, smoothness_, level_ + m, depth_ + m}; }
  /// The next finer level itself.
  LatticePhi next_level() const { return {*phi_, smoothness_, level_ + 1, 0}; }
  int depth() const { return depth_; }
  double lipschitz() const { return lipschitz_; }
  /// No wall between two points of equal sign, f0 and f1 there, this far apart (or nothing is known about it).
  bool excludes_wall(double f0, double f1, double distance) const {
    if (lipschitz_ > 0 && std::abs(f0) + std::abs(f1) > lipschitz_ * distance) return true;
    return spacing_ > 0 ? distance <= spacing_ : lipschitz_ == 0;
  }

 private:
  const LocalLevelSet* phi_;
  Smoothness smoothness_;
  int level_, depth_;
  double h_, scale_, lipschitz_, spacing_;
};

struct EdgeCut {
  double t = 0;           ///< the crossing, in [0, 1] from the low end; only when crossing
  bool crossing = false;  ///< the ends differ
  bool split = false;     ///< two or more crossings, to be followed on a finer lattice
  bool lost = false;      ///< two or more crossings on the finest lattice
};

/// Crossing of the edge from node `low` in direction d. Between samples of equal sign it looks for hidden walls by
/// bisection until the smoothness of φ excludes them or the finest lattice is reached. Depends on the edge alone.
/// @param f0, f1  φ at its ends
EdgeCut cut_edge(const LatticePhi& phi, const Vec3& low, int d, double f0, double f1);

}  // namespace karst
