// SPDX-License-Identifier: BSD-3-Clause
// The discrete Stokes equations on all grid levels: one StokesOperator per level, each in units of its own cell width
// h_l (pressures and forces of level l are h_l and h_l² times those in units of h0), and their coupling
// (level_coupling.hpp). VoFs under a finer level are not unknowns: their rows are 0.
//
// Vectors: own VoFs, level after level, box after box, covered ones included.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/comm/parallel.hpp"
#include "fields/composite.hpp"
#include "ins/operator/level_coupling.hpp"

namespace karst {

class FaceField;
class StokesLevels;

/// A flow on all levels, each in its own units; allocated once, used by many applications.
template <class Q>
struct BasicFlowValues {
  explicit BasicFlowValues(const StokesLevels& op);
  BasicLevelValues<Q>& level(int l) { return levels[l]; }
  const BasicLevelValues<Q>& level(int l) const { return levels[l]; }
  /// Frees the means, which the next application needs, or allocates them again. Not collective.
  void drop_means();
  void make_means(const StokesLevels& op);
  /// Σ of the levels, in units of h0; of this rank.
  Vec3 flow() const;
  std::int64_t bytes() const;  ///< of this rank

  std::vector<BasicLevelValues<Q>> levels;
};
using FlowValues = BasicFlowValues<Quad>;
using FloatFlowValues = BasicFlowValues<FloatQuad>;

/// An earlier flow on all levels, as time steps need it (time_term.hpp): own VoFs, in the order of vectors.
struct PastFlow {
  explicit PastFlow(const StokesLevels& op);
  Array<Quad> cells;  ///< in units of their level
  Array<std::array<double, 6>> faces;
  std::vector<Array<double>> extra;   ///< per level
  std::vector<Array<float>> fluxes;   ///< through the FlowExtra, per level
  std::vector<Array<double>> ghosts;  ///< of LevelTime::Past, per level
  std::int64_t bytes() const;
};

/// ∂u/∂t = a u - s in units of h0: a and c_i in ν / h0². Earlier flows must exist where a weight is not 0.
struct TimeTerm {
  double shift = 0.0;
  std::array<double, 2> weight{};
  std::array<const PastFlow*, 2> past{};
};

class StokesLevels {
 public:
  /// Collective.
  StokesLevels(std::shared_ptr<const Composite> composite, const FlowSides& sides);
  StokesLevels(const StokesLevels&) = delete;
  StokesLevels& operator=(const StokesLevels&) = delete;

  const Comm& comm() const { return composite_->comm(); }
  const FlowSides& sides() const { return levels_[0]->sides(); }
  const std::shared_ptr<const Composite>& composite() const { return composite_; }
  const CompositeNumbering& numbering() const { return composite_->numbering(); }
  int n_levels() const { return static_cast<int>(levels_.size()); }
  StokesOperator& level(int l) { return *levels_[l]; }
  const StokesOperator& level(int l) const { return *levels_[l]; }
  /// Cell width of a level, in h0.
  static double width(int l) { return std::ldexp(1.0, -l); }
  /// Length of vectors, and the first entry of a level.
  std::int64_t n_vofs() const { return begin_.back(); }
  std::int64_t begin(int l) const { return begin_[l]; }
  std::span<Quad> part(int l, std::span<Quad> y) const { return y.subspan(begin(l), begin(l + 1) - begin(l)); }
  /// Position of an own unknown in vectors, and the cell width of its level [h0]. Consecutive unknowns of a box without
  /// a covered VoF between them are also consecutive in vectors. O(log n).
  struct Place {
    std::size_t vof;
    double width;
  };
  Place place_of(std::int64_t unknown) const {
    if (n_levels() == 1) return {static_cast<std::size_t>(unknown), 1.0};
    const auto next = std::ranges::upper_bound(stretches_, unknown, {}, &Stretch::unknown);
    const Stretch& s = *std::prev(next);
    return {static_cast<std::size_t>(s.vof + unknown - s.unknown), width(s.level)};
  }
  /// Profile of the value of a domain face, 1 everywhere unless set; with a mean of 1 the value is the mean. Returns
  /// its integral over the open part of the face and the area of that, of the own VoFs [h0²].
  std::array<double, 2> set_profile(int side, const EndProfile& profile) {
    std::array<double, 2> sums{};
    for (int l = 0; l < n_levels(); ++l) {
      const auto [integral, area] = level(l).set_profile(side, width(l), profile);
      sums[0] += integral;
      sums[1] += area;
    }
    return sums;
  }
  LevelCoupling& coupling() { return coupling_; }  ///< of several levels
  const LevelCoupling& coupling() const { return coupling_; }
  FlowCounts counts() const;  ///< of all levels; areas in h0²
  const LevelFaceCounts& face_counts() const { return face_counts_; }

  /// Calls f(level, box, first VoF in vectors, own VoFs) for all own boxes, threaded.
  template <class F>
  void for_boxes(F&& f) const {
    for (int l = 0; l < n_levels(); ++l) {
      const LevelGraph& graph = level(l).geometry().graph;
      parallel_for(graph.n_local(), [&, l](std::int64_t i) {
        const int b = static_cast<int>(i);
        f(l, b, begin(l) + graph.vof_begin(b), graph.vof_begin(b + 1) - graph.vof_begin(b));
      });
    }
  }

  /// y = K u - b, the drive in units of h0. Allocates nothing on one level. Collective.
  template <class Q>
  void apply(BasicFlowValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive = {}, const TimeTerm& time = {});
  /// Stores values that were applied with this driving force and time as an earlier flow; may replace one of the
  /// earlier flows of `time`. Allocates nothing. Not collective.
  void keep(const FlowValues& u, const StokesDrive& drive, const TimeTerm& time, PastFlow& to) const;
  /// Recomputes the ghosts of a flow from its cells. Collective.
  /// @param[out] scratch  gets their velocities
  void find_ghosts(FlowValues& scratch, PastFlow& of);
  /// h ∂p, p in units of the level. Allocates nothing. Collective.
  template <class Q>
  void pressure_gradient(BasicFlowValues<Q>& u, std::span<std::array<float, 3>> gradient);
  /// All fluxes [velocity h0²] of values that were applied with this force, on composite(). Those through extra faces
  /// towards a coarser level or a domain face are included in the primary face of the side. Not collective.
  void face_fluxes(const FlowValues& u, const Vec3& force, FaceField& fluxes) const;
  /// The same of values that were applied with this time, a > 0: to the bit those of what keep() would store.
  void face_fluxes(const FlowValues& u, const Vec3& force, const TimeTerm& time, FaceField& fluxes) const;
  /// The same for an earlier flow, which may have been transient; extra faces in single precision.
  void face_fluxes(const PastFlow& flow, FaceField& fluxes) const;
  /// Sets covered cells and fine ghosts of a length in cells of each level from the nearest unknowns; then all halos.
  /// Collective.
  void fill_lengths(std::span<FloatField> lengths);
  std::int64_t bytes() const;  ///< of this rank

 private:
  /// Unknowns with consecutive VoFs begin here.
  struct Stretch {
    std::int64_t unknown, vof;
    int level;
  };
  void find_stretches();
  template <class Extra, class Through>
  void list_others(FaceField& fluxes, Extra&& extra, Through&& through) const;
  template <class F>
  void for_level_ghosts(int l, int box, F&& f) const;
  LevelTime on_level(int l, const TimeTerm& time) const;
  void keep_ghosts(const FlowValues& u, PastFlow& to) const;

  std::shared_ptr<const Composite> composite_;
  std::vector<Stretch> stretches_;  // empty on one level
  std::vector<std::unique_ptr<StokesOperator>> levels_;
  std::vector<std::int64_t> begin_{0};
  LevelFaceCounts face_counts_;
  LevelCoupling coupling_;
  std::vector<StokesDrive> drives_;
  std::vector<LevelTime> times_;
};

}  // namespace karst
