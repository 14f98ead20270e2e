// SPDX-License-Identifier: BSD-3-Clause
// Moments of a breakthrough curve, and the longitudinal dispersion that follows from them.
#pragma once

#include <array>
#include <optional>

namespace karst {

/// Moments of a signal c(t) that is constant in every step, as steps come: ∫ (c - c0) t^k dt, k = 0, 1, 2.
class SignalMoments {
 public:
  explicit SignalMoments(double start = 0.0) : start_(start), last_(start) {}
  /// Its state: start, last value and time, integrals.
  using Sums = std::array<double, 6>;
  explicit SignalMoments(const Sums& s) : start_(s[0]), last_(s[1]), t_(s[2]), m0_(s[3]), m1_(s[4]), m2_(s[5]) {}
  Sums sums() const { return {start_, last_, t_, m0_, m1_, m2_}; }
  /// Adds the step from the end of the previous one (initially 0) to t.
  void add(double t, double value);
  double time() const { return t_; }
  double start() const { return start_; }
  double last() const { return last_; }
  /// The k-th one.
  double pulse(int k) const { return k == 0 ? m0_ : k == 1 ? m1_ : m2_; }
  /// ∫ t^k dc from the start to the last value, which is assumed constant afterwards: by parts from the same integrals.
  double front(int k) const;

 private:
  double start_, last_, t_ = 0.0, m0_ = 0.0, m1_ = 0.0, m2_ = 0.0;
};

/// Response of a sample to its inflow.
struct Breakthrough {
  bool pulse = false;      ///< the inflow was a pulse; false: a front
  double recovered = 0.0;  ///< fraction of the inflow that has left: 1 if the curve is complete
  double mean_time = 0.0;  ///< residence time: first moment at the outlet minus that at the inlet [s]
  double variance = 0.0;   ///< second central moments, likewise [s²]
};
/// Empty while there was no inflow, or if the recovered fraction is less than `least_recovered` or more than 2 -
/// `least_recovered`.
std::optional<Breakthrough> breakthrough(const SignalMoments& inlet, const SignalMoments& outlet,
                                         double least_recovered = 0.98);

/// What the variance misses, over itself, where the curve ends before all of the inflow has left: the rest r leaves at
/// `end` [s] or later, so r (end - mean)² at the least of what it adds. 0 for a complete curve.
double missing_variance(const Breakthrough& response, double end);

/// D_L / (U L) from σ² / t² of a closed vessel, without diffusion through inlet and outlet,
///
///   σ²/t² = 2 δ - 2 δ² (1 - exp(-1/δ)),   δ = D_L / (U L),
///
/// U the mean velocity in the pores, L the length: Levenspiel, Chemical Reaction Engineering, 3rd ed., Wiley 1999,
/// chapter 13 (closed vessel). Empty unless 0 < σ²/t² < 1, the range of this formula.
std::optional<double> closed_vessel_dispersion(double relative_variance);

}  // namespace karst
