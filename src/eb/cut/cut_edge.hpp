// SPDX-License-Identifier: BSD-3-Clause
// Crossing of the wall with an edge of the lattice of a level.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// A node is fluid if φ exceeds this (in units of h): zeros and round-off count as solid, so a wall along a cell face
/// creates no sliver.
constexpr double node_tolerance = 1e-10;
/// Smallest distance of a crossing from the fluid end of an edge; crossings nearer than this to the solid end are moved
/// onto it.
constexpr double edge_tolerance = 1e-9;
/// Finest sub-lattice of a cell: (2^max_depth)^3.
constexpr int max_depth = 4;
/// Gaps of fluid between solids are refined to this depth: below h/4 they are closed (and counted).
constexpr int max_gap_depth = 2;

constexpr bool is_fluid(double phi) { return phi > node_tolerance; }

/// φ on the lattice of one level: lengths, positions and values in units of the cell width of that level.
/// A depth above zero marks the sub-lattice of a cell of the level `depth` below.
class LatticePhi {
 public:
  /// @param n_minerals  of the level set
  LatticePhi(const LocalLevelSet& phi, const Smoothness& smoothness, int level, int depth = 0, int n_minerals = 1);
  double at(const Vec3& x) const { return scale_ * (*phi_)(h_ * x); }
  /// @param x         scratch: points, in units of h; scaled in place
  /// @param[out] phi  one value per point
  void at(std::span<Vec3> x, std::span<double> phi) const;
  /// The lattice 2^m times finer, for features of the same cells.
  LatticePhi sub_lattice(int m) const { return {*phi_, smoothness_, level_ + m, depth_ + m, n_minerals_}; }
  /// The next finer level itself.
  LatticePhi next_level() const { return {*phi_, smoothness_, level_ + 1, 0, n_minerals_}; }
  int depth() const { return depth_; }
  double lipschitz() const { return lipschitz_; }
  bool states_spacing() const { return spacing_ > 0; }
  /// Whether signs() may provide more than excludes_wall: without a Lipschitz bound.
  bool bounds_signs() const { return smoothness_.bounds_signs && lipschitz_ == 0; }
  /// Whether signs() may provide more than excludes_wall, beside it.
  bool has_tight_signs() const { return smoothness_.tight_signs && lipschitz_ > 0; }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const { return phi_->signs(h_ * lo, h_ * hi); }
  PhiRange range(const Vec3& lo, const Vec3& hi) const {
    const PhiRange r = phi_->range(h_ * lo, h_ * hi);
    return {scale_ * r.least, scale_ * r.most};
  }
  int n_minerals() const { return n_minerals_; }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const { return phi_->only_mineral(h_ * lo, h_ * hi); }
  void add_wall(const Vec3& x, double area, std::span<double> areas) const { phi_->add_wall(h_ * x, area, areas); }
  /// Whether a wall between two points of equal sign is excluded, for the values f0, f1 and the distance of the points.
  bool excludes_wall(double f0, double f1, double distance) const {
    if (lipschitz_ > 0 && std::abs(f0) + std::abs(f1) > lipschitz_ * distance) return true;
    return spacing_ > 0 ? distance <= spacing_ : lipschitz_ == 0;
  }

 private:
  const LocalLevelSet* phi_;
  Smoothness smoothness_;
  int level_, depth_, n_minerals_;
  double h_, scale_, lipschitz_, spacing_;
};

struct EdgeCut {
  double t = 0;             ///< the crossing, in [0, 1] from the low end; only when crossing
  bool crossing = false;    ///< the ends differ
  bool split = false;       ///< two or more crossings, to be resolved on a finer lattice
  bool wall_lost = false;   ///< solid between fluid, too thin for the finest lattice
  bool gap_closed = false;  ///< fluid between solids, too thin to be resolved
};

/// Cuts many edges together, so that φ is evaluated at many points at once. The result of an edge depends only on that
/// edge. Between samples of equal sign hidden walls are searched for by bisection, until the smoothness or the bounds
/// of φ exclude them or half the finest lattice is reached. Retains its memory between calls.
class EdgeCutter {
 public:
  void clear() { edges_.clear(); }
  /// Edge from `low` in direction d with φ = f0 and f1 at its ends.
  void add(const Vec3& low, int d, double f0, double f1);
  /// Cuts all edges added.
  void run(const LatticePhi& phi);
  const EdgeCut& cut(std::size_t i) const { return edges_[i].cut; }

 private:
  struct Sample {
    double t, f;
  };
  struct Edge {
    Vec3 low;
    int d;
    double f0, f1;
    int changes;  ///< sign changes found; a, b: the lowest one
    Sample a, b;
    EdgeCut cut;
  };
  struct Interval {
    std::size_t edge;
    Sample a, b;
  };
  /// A root between a and b by secant steps kept inside the bracket.
  struct Search {
    std::size_t edge;
    Sample a, b, last, now;
    double fa, fb, width, next;
    int n;
    bool plateau;  ///< φ = 0 on a part of the edge: its end is found by bisection
  };
  SignBounds signs_between(const LatticePhi& phi, std::size_t edge, double a, double b) const;
  bool crosses_once(const LatticePhi& phi, std::size_t edge, double a, double b) const;
  void look(const LatticePhi& phi, const Interval& interval);
  void find_changes(const LatticePhi& phi);
  void judge(const LatticePhi& phi, std::size_t i);
  void find_roots(const LatticePhi& phi);
  void finish(const Search& search, double t);
  static bool propose(Search& search, double small_step);
  static void accept(Search& search, double f);
  void add_point(std::size_t edge, double t);

  std::vector<Edge> edges_;
  std::vector<Interval> open_, halves_;
  std::vector<Search> searches_;
  std::vector<Vec3> points_;
  std::vector<double> values_;
};

}  // namespace karst
