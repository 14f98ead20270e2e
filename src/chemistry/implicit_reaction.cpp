// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/implicit_reaction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dense_solve.hpp"

namespace karst {

namespace {

constexpr double tolerance = 1e-10;  // of an extent, and a millionth of it of the totals
constexpr int newton_iterations = 30, single_iterations = 100, most_sweeps = 10;

/// One solve: G_m = ξ_m - min(most_m, share_m r_m) = 0.
class Solve {
 public:
  Solve(const ChemicalSystem& system, std::span<const SurfaceReaction> minerals, const ImplicitReaction& reaction,
        Speciation& state, ReactionWorkspace& work)
      : system_(system),
        minerals_(minerals),
        r_(reaction),
        state_(state),
        work_(work),
        n_(minerals.size()),
        n_totals_(static_cast<std::size_t>(system.n_primaries)) {
    work.conditions.resize(n_totals_);
    work.slope.resize(n_totals_ + 1);
    work.start.resize(n_totals_);
    for (auto* v : {&work.rate, &work.residual, &work.step, &work.next, &work.trial}) v->resize(n_);
    work.matrix.resize(n_ * n_);
    work.factors.resize(n_ * n_);
    for (const double t : reaction.totals) size_ += std::abs(t);
  }

  bool run() {
    // What cannot be brought or taken is no start.
    for (std::size_t m = 0; m < n_; ++m) {
      if (!(r_.share[m] > 0.0)) r_.extent[m] = 0.0;
      r_.extent[m] = std::min(r_.extent[m], r_.most[m]);
    }
    if (!evaluate(r_.extent)) {
      std::ranges::fill(r_.extent, 0.0);
      if (!evaluate(r_.extent)) return false;
    }
    if (n_ == 1) return solve_single(0) != Single::failed;
    if (newton() || sweeps()) return true;
    // Minerals that compete fast: from slow ones on, all faster by the same factor from stage to stage.
    std::ranges::fill(r_.extent, 0.0);
    const double fastest = *std::ranges::max_element(r_.share);
    for (pace_ = 1e-6 / fastest; pace_ < 1.0; pace_ = std::min(1.0, 4.0 * pace_))
      if (!evaluate(r_.extent) || !(newton() || sweeps())) return false;
    return evaluate(r_.extent) && (newton() || sweeps());
  }

 private:
  enum class Single { failed, moved, stood };

  double share(std::size_t m) const { return pace_ * r_.share[m]; }

  /// One mineral after the other.
  bool sweeps() {
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      bool still = true;
      for (std::size_t m = 0; m < n_; ++m) {
        const Single result = solve_single(m);
        if (result == Single::failed) return false;
        still = still && result == Single::stood;
      }
      if (still || newton()) return true;
    }
    return false;
  }

  double least(double extent) const { return tolerance * (std::abs(extent) + 1e-6 * size_) + 1e-18; }

  /// Speciation and rates at T + Σ ν ξ; false where there is no such solution.
  bool evaluate(std::span<const double> extent) {
    for (std::size_t p = 0; p < n_totals_; ++p) {
      double total = r_.totals[p];
      for (std::size_t m = 0; m < n_; ++m) total += minerals_[m].brought[p] * extent[m];
      // Totals that transport left at zero or a rounding below it count as none (least_total of the speciation).
      if (p > 0 && total < std::min(r_.totals[p], 0.0) - 1e-14 * size_) return false;
      work_.conditions[p] = {SolutionCondition::Kind::total, total};
    }
    ++work_.evaluations;
    std::ranges::copy(state_.ln_m, work_.start.begin());
    const double strength = state_.ionic_strength, water = state_.ln_water;
    if (!speciate(system_, work_.conditions, state_, work_.speciation)) {
      std::ranges::copy(work_.start, state_.ln_m.begin());
      state_.ionic_strength = strength;
      state_.ln_water = water;
      return false;
    }
    for (std::size_t m = 0; m < n_; ++m) {
      work_.rate[m] = r_.share[m] > 0.0 ? dissolution_rate(system_, state_, minerals_[m].mineral) : 0.0;
      work_.residual[m] = extent[m] - std::min(r_.most[m], share(m) * work_.rate[m]);
      if (!std::isfinite(work_.residual[m])) return false;
    }
    return true;
  }

  bool held(std::size_t m) const { return share(m) * work_.rate[m] >= r_.most[m]; }

  /// d r_m / dξ_c at what was evaluated last, for all m, into work_.step.
  bool slopes(std::size_t c) {
    if (!activity_slopes(system_, work_.conditions, minerals_[c].brought, state_, work_.speciation, work_.slope))
      return false;
    for (std::size_t m = 0; m < n_; ++m)
      work_.step[m] = r_.share[m] > 0.0 ? dissolution_slope(system_, state_, minerals_[m].mineral, work_.slope) : 0.0;
    return true;
  }

  /// All extents at once; a step is taken where it makes the next one shorter, whatever units and rates are (Deuflhard
  /// 1974, Numer. Math. 22, 289). False, with the best extents so far, when it does not converge.
  bool newton() {
    for (int i = 0; i < newton_iterations; ++i) {
      for (std::size_t c = 0; c < n_; ++c) {
        if (!slopes(c)) return false;
        for (std::size_t m = 0; m < n_; ++m)
          work_.matrix[m * n_ + c] = (m == c ? 1.0 : 0.0) - (held(m) ? 0.0 : share(m) * work_.step[m]);
      }
      const double length = step_length(work_.step);
      bool small = true, better = false;
      for (std::size_t m = 0; m < n_; ++m) small = small && std::abs(work_.step[m]) <= least(r_.extent[m]);
      for (double part = 1.0; part > 1e-3 && !better; part *= 0.5) {
        for (std::size_t m = 0; m < n_; ++m) work_.trial[m] = std::min(r_.extent[m] - part * work_.step[m], r_.most[m]);
        better = evaluate(work_.trial) && (small || step_length(work_.next) <= (1.0 - 0.25 * part) * length);
      }
      if (!better) return evaluate(r_.extent) && small;
      std::ranges::copy(work_.trial, r_.extent.begin());
      if (small) return true;
    }
    return false;
  }

  /// Σ |step|, the step of the slopes in work_.matrix for what was evaluated last.
  double step_length(std::vector<double>& step) {
    step = work_.residual;
    work_.factors = work_.matrix;
    if (!eliminate(work_.factors, step)) return INFINITY;
    double sum = 0.0;
    for (const double s : step) sum += std::abs(s);
    return sum;
  }

  /// Mineral m by itself: G grows with ξ_m, so that its zero lies between bounds that close in.
  Single solve_single(std::size_t m) {
    if (!(r_.share[m] > 0.0)) return Single::stood;
    const double start = r_.extent[m];
    double lo = -std::numeric_limits<double>::infinity(), hi = std::numeric_limits<double>::infinity();
    double reach = 0.5 * size_ + 1e-6;  // what a step may bring at first
    if (!evaluate(r_.extent)) return Single::failed;
    for (int i = 0; i < single_iterations; ++i) {
      const double at = r_.extent[m], g = work_.residual[m];
      (g > 0.0 ? hi : lo) = at;
      if (g == 0.0) return settled(m, start);
      if (!slopes(m)) return Single::failed;
      const double slope = 1.0 - (held(m) ? 0.0 : share(m) * work_.step[m]);
      double next = slope > 0.0 ? at - g / slope : (g > 0.0 ? -INFINITY : INFINITY);
      next = std::clamp(next, at - reach, at + reach);
      if (next >= hi) next = 0.5 * (at + hi);
      if (next <= lo) next = 0.5 * (at + lo);
      next = std::min(next, r_.most[m]);
      if (std::abs(next - at) == reach) reach *= 4.0;
      const bool small = std::abs(next - at) <= least(at);
      r_.extent[m] = next;
      for (int halvings = 0; !evaluate(r_.extent); ++halvings) {
        if (halvings > 200) return Single::failed;
        (next > at ? hi : lo) = r_.extent[m];
        r_.extent[m] = at + 0.5 * (r_.extent[m] - at);
      }
      if (small) return settled(m, start);
    }
    return Single::failed;
  }

  Single settled(std::size_t m, double start) const {
    return std::abs(r_.extent[m] - start) <= 10.0 * least(start) ? Single::stood : Single::moved;
  }

  const ChemicalSystem& system_;
  std::span<const SurfaceReaction> minerals_;
  const ImplicitReaction& r_;
  Speciation& state_;
  ReactionWorkspace& work_;
  std::size_t n_, n_totals_;
  double size_ = 0.0;  ///< Σ |T|
  double pace_ = 1.0;  ///< of all shares
};

}  // namespace

SurfaceReaction make_surface_reaction(const ChemicalSystem& system, const MineralOptions& options) {
  SurfaceReaction reaction{make_mineral(system, options), {}};
  reaction.mineral.area = 1.0;
  reaction.brought.resize(system.n_primaries, 0.0);
  for (const auto& [p, c] : system.phases[reaction.mineral.phase].dissolved.primaries) reaction.brought[p] = c;
  return reaction;
}

bool solve_reaction(const ChemicalSystem& system, std::span<const SurfaceReaction> minerals,
                    const ImplicitReaction& reaction, Speciation& state, ReactionWorkspace& work) {
  return Solve(system, minerals, reaction, state, work).run();
}

}  // namespace karst
