// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/core/error.hpp"

namespace karst {

namespace {

constexpr double sdirk = 1.0 - 1.0 / std::numbers::sqrt2;

/// The vessel, and steps of time.
class Batch {
 public:
  Batch(const ReactiveMedium& medium, const BatchMinerals& minerals, const std::vector<double>& totals)
      : medium_(medium), minerals_(minerals), start_(totals), solution_(medium.start), n_(medium.minerals.size()) {
    for (auto* v : {&share_, &most_, &least_, &first_, &second_, &base_}) v->resize(n_);
  }

  const Speciation& solution() const { return solution_; }

  /// The solution, and the extents of equilibria, where `dissolved` of each mineral has dissolved and goes on for a
  /// time.
  /// @param[out] extent  of rates over the time, of equilibria since the beginning
  bool stage(const std::vector<double>& dissolved, double time, std::vector<double>& extent) {
    totals_ = start_;
    for (std::size_t m = 0; m < n_; ++m) {
      const SurfaceReaction& r = medium_.minerals[m];
      const double before = r.at_once() ? 0.0 : dissolved[m];
      for (std::size_t p = 0; p < totals_.size(); ++p) totals_[p] += r.brought[p] * before;
      share_[m] = r.at_once() ? minerals_.area[m] : minerals_.area[m] * time;
      most_[m] = r.dissolves ? std::max(0.0, minerals_.amount[m] - before) : 0.0;
      least_[m] = r.precipitates ? -std::numeric_limits<double>::infinity() : 0.0;
    }
    return solve_reaction(medium_, {totals_, share_, most_, extent, least_}, solution_, work_);
  }

  /// One step of h; returns the difference of second and first order over `tolerance`, or infinity where a stage fails.
  double step(std::vector<double>& y, double h, double tolerance) {
    first_ = second_ = y;
    if (!stage(y, sdirk * h, first_)) return INFINITY;
    for (std::size_t m = 0; m < n_; ++m)
      base_[m] = std::min(y[m] + (1.0 - sdirk) / sdirk * first_[m], minerals_.amount[m]);
    if (!stage(base_, sdirk * h, second_)) return INFINITY;
    double error = 0.0;
    for (std::size_t m = 0; m < n_; ++m) {
      const bool at_once = medium_.minerals[m].at_once();
      base_[m] = at_once ? second_[m] : base_[m] + second_[m];
      const double scale = tolerance * std::abs(base_[m]) + 1e-13;
      if (!at_once) error = std::max(error, std::abs(second_[m] - first_[m]) / scale);
    }
    if (error <= 1.0) y = base_;
    return error;
  }

 private:
  const ReactiveMedium& medium_;
  const BatchMinerals& minerals_;
  const std::vector<double>& start_;
  Speciation solution_;
  std::size_t n_;
  std::vector<double> totals_, share_, most_, least_, first_, second_, base_;
  ReactionWorkspace work_;
};

}  // namespace

BatchMinerals minerals_of(const std::vector<MineralOptions>& options) {
  BatchMinerals minerals;
  for (const MineralOptions& o : options) {
    minerals.area.push_back(o.area);
    minerals.amount.push_back(o.amount);
  }
  return minerals;
}

BatchState equilibrate(const ReactiveMedium& medium, const BatchMinerals& minerals, const std::vector<double>& totals) {
  Batch batch(medium, minerals, totals);
  std::vector<double> dissolved(medium.minerals.size(), 0.0);
  require(batch.stage(dissolved, 0.0, dissolved), "no equilibrium of all phases was found; pH {:.3f} before",
          ph_of(batch.solution()));
  return {0.0, dissolved, batch.solution()};
}

std::vector<BatchState> react(const ReactiveMedium& medium, const BatchMinerals& minerals,
                              const std::vector<double>& totals, const std::vector<double>& times, double tolerance) {
  Batch batch(medium, minerals, totals);
  std::vector<double> dissolved(medium.minerals.size(), 0.0), extent;
  std::vector<BatchState> states;
  double time = 0.0, h = times.empty() ? 0.0 : 1e-6 * times.front();
  for (const double end : times) {
    while (time < end) {
      const bool last = time + h >= end;
      const double step = last ? end - time : h;
      const double error = batch.step(dissolved, step, tolerance);
      if (error <= 1.0) time = last ? end : time + step;
      if (error > 1.0 || !last) h = step * std::clamp(0.8 / std::sqrt(std::max(error, 1e-4)), 0.2, 4.0);
      require(h > 1e-12 * end,
              "the batch reaction fails at {:.4g} s, pH {:.3f}: it does not converge with any step length", time,
              ph_of(batch.solution()));
    }
    extent = dissolved;
    batch.stage(dissolved, 0.0, extent);
    for (std::size_t m = 0; m < dissolved.size(); ++m)
      if (medium.minerals[m].at_once()) dissolved[m] = extent[m];
    states.push_back({time, dissolved, batch.solution()});
  }
  return states;
}

}  // namespace karst
