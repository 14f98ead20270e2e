// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/diffusion_stages.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/comm/parallel_fill.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr double part_of_step = 2.0 - std::numbers::sqrt2, of_end = 0.5 * part_of_step,
                 of_others = 0.25 * std::numbers::sqrt2;
constexpr double stiff_from = 3.0;      ///< D dt / h² from which GCR with multigrid is faster than sweeps
constexpr double least_change = 1e-15;  ///< of the values: a smaller change is round-off
constexpr double second_guess = 4.0;    ///< times better than nothing is the first guess of the second stage
constexpr double enough = 10.0;         ///< times the tolerance is what sweeps may leave
constexpr int joined_steps = 2;         ///< to solve for joined orphans, which may hang on each other

double shift_of(double dt) { return 1.0 / (of_end * dt); }

/// The three times of a step at which boundary values are asked for.
std::array<double, 3> times_of(double t, double dt) {
  return {just_after(t, dt), t + part_of_step * dt, just_before_end(t, dt)};
}

template <int C>
double value_at(const StageStep<C>& step, int c, int side, const Vec3& at, double time) {
  const ScalarSide& s = step.component[c]->sides[side];
  return (s.value ? s.value(at, time) : 0.0) - step.least[c];
}

template <int C>
double beyond_wall(const StageStep<C>& step, std::int32_t volume, int c) {
  return step.beyond.empty() ? 0.0 : step.beyond[C * std::int64_t{volume} + c];
}

/// The stages of find_diffusive_flux() and all that they share.
template <int C>
class Stages {
 public:
  Stages(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step, DiffusionScratch& scratch)
      : grid_(grid), group_(group), step_(step), s_(scratch), a_(shift_of(step.dt)) {}

  std::span<double> g() { return step_.balance; }
  std::span<double> b() { return s_.b.span().first(n()); }
  std::span<double> y() { return s_.y.span().first(n()); }
  std::span<double> vector(Array<double>& of) { return of.span().first(std::size_t{C} * grid_.n_values); }

  /// g, and b of the first stage.
  void begin() {
    find_ends();
    move_values<C>(group_.moved, step_.values, step_.least, phi_own());
    const std::span<double> g = this->g(), image = y(), right = b();
    group_.op->template apply<C>(phi_own(), image);
    for (int k = 0; group_.any_joined && k < joined_steps; ++k) {
      set_joined(image, right);
      group_.op->template apply<C>(phi_own(), image);
    }
    over_numbers([&](std::int64_t i) { g[i] -= image[i]; });
    add_boundary(g);
    over_numbers([&](std::int64_t i) { right[i] = 2.0 * g[i]; });
    take_ends(0, right);
    let_fragments_rest(right);
  }

  /// b of the second stage in g, its first guess x / γ in `before`, what that leaves in b.
  void begin_second() {
    const std::span<double> g = this->g(), right = b();
    const double *const x = s_.change.data(), *const mass = group_.rows.mass.data();
    const double factor = of_others / of_end * a_;
    parallel_for(grid_.n_own, [&](std::int64_t v) {
      for (std::int64_t i = C * v; i < C * (v + 1); ++i) g[i] += factor * mass[v] * x[i];
    });
    take_ends(1, g);
    let_fragments_rest(g);
    double* const before = s_.before.data();
    over_numbers([&](std::int64_t i) {
      before[i] = x[i] / part_of_step;
      right[i] = g[i] - right[i] / part_of_step;
    });
  }

  /// φ of c + w x + d y.
  void end() {
    const std::span<double> mean = vector(s_.change);
    const double *const c = step_.values.data(), *const second = s_.second.data();
    const std::array<double, C> least = step_.least;
    parallel_for(grid_.n_own, [&](std::int64_t v) {
      for (int n = 0; n < C; ++n) {
        const std::int64_t i = C * v + n;
        mean[i] = (c[i] - least[n]) + of_others * mean[i] + of_end * second[i];
      }
    });
    fetch_remote<C>(grid_, mean);
    if (grid_.counts.fragments > 0) {
      let_fragments_follow(mean);
      fetch_remote<C>(grid_, mean);
    }
    for (std::int64_t v = grid_.n_all; v < grid_.n_values; ++v)
      for (int n = 0; n < C; ++n) mean[C * v + n] = c[C * v + n] - least[n];
    move_values<C>(group_.moved, mean, {}, phi_own());
  }

  double a() const { return a_; }

 private:
  std::size_t n() const { return std::size_t{C} * grid_.n_own; }
  std::span<double> phi_own() { return s_.phi.span().first(n()); }
  template <class F>
  void over_numbers(F&& f) const {
    parallel_for(C * std::int64_t{grid_.n_own}, f);
  }
  /// b0, b0 - b_γ and b0 - b1 of the sides.
  void find_ends() {
    const std::vector<SideTerm>& sides = group_.op->boundary().sides;
    const std::array<double, 3> times = times_of(step_.t, step_.dt);
    s_.ends.resize(3 * C * sides.size());
    parallel_for(std::ssize(sides), [&](std::int64_t i) {
      double* const kept = s_.ends.data() + 3 * C * i;
      for (int c = 0; c < C; ++c) {
        std::array<double, 3> value;
        for (std::size_t k = 0; k < 3; ++k)
          value[k] = sides[i].weight * value_at(step_, c, sides[i].side, sides[i].at, times[k]);
        kept[c] = value[0];
        kept[C + c] = value[0] - value[1];
        kept[2 * C + c] = value[0] - value[2];
      }
    });
  }

  /// to += b0.
  void add_boundary(std::span<double> to) const {
    const std::vector<SideTerm>& sides = group_.op->boundary().sides;
    for (std::size_t i = 0; i < sides.size(); ++i)
      for (int c = 0; c < C; ++c) to[C * std::int64_t{sides[i].row} + c] += s_.ends[3 * C * i + c];
    for (const DiffusionGroup::WallRow& w : group_.wall_rows)
      for (int c = 0; c < C; ++c)
        to[C * std::int64_t{w.row} + c] += w.constant + (beyond_wall(step_, w.row, c) - step_.least[c]) * w.rate;
  }

  /// Solves the rows of joined orphans for their own values; image = K φ.
  void set_joined(std::span<const double> image, std::span<double> left) {
    over_numbers([&](std::int64_t i) { left[i] = -image[i]; });
    add_boundary(left);
    const std::span<double> phi = phi_own();
    for (const DiffusionGroup::Joined& o : group_.joined)
      for (std::int64_t i = C * std::int64_t{o.volume}; i < C * (std::int64_t{o.volume} + 1); ++i)
        phi[i] += left[i] / o.diagonal;
  }

  void let_fragments_rest(std::span<double> right) const {
    for (const std::int32_t f : group_.followers.volume) std::fill_n(right.data() + C * std::int64_t{f}, C, 0.0);
  }

  /// As their neighbours change.
  void let_fragments_follow(std::span<double> mean) const {
    const MovedValues& f = group_.followers;
    const double* const c = step_.values.data();
    for (std::size_t i = 0; i < f.volume.size(); ++i)
      for (std::int64_t k = f.begin[i]; k < f.begin[i + 1]; ++k)
        for (int n = 0; n < C; ++n) {
          const std::int64_t other = C * std::int64_t{f.other[k]} + n;
          mean[C * std::int64_t{f.volume[i]} + n] += f.weight[k] * (mean[other] - (c[other] - step_.least[n]));
        }
  }

  /// to -= b0 - b_γ (k = 0) or b0 - b1 (k = 1).
  void take_ends(std::size_t k, std::span<double> to) const {
    const std::vector<SideTerm>& sides = group_.op->boundary().sides;
    for (std::size_t i = 0; i < sides.size(); ++i)
      for (int c = 0; c < C; ++c) to[C * std::int64_t{sides[i].row} + c] -= s_.ends[(3 * i + k + 1) * C + c];
  }

  ScalarGrid& grid_;
  DiffusionGroup& group_;
  const StageStep<C>& step_;
  DiffusionScratch& s_;
  double a_;
};

template <int C>
std::array<double, C> squares(std::int64_t n, const double* x) {
  using Sums = std::array<double, C>;
  return parallel_reduce(
      n, Sums{},
      [&](std::int64_t v) {
        Sums s;
        for (int c = 0; c < C; ++c) s[c] = x[C * v + c] * x[C * v + c];
        return s;
      },
      [](Sums a, const Sums& b) {
        for (int c = 0; c < C; ++c) a[c] += b[c];
        return a;
      });
}

/// From x_0 in `before` and what it leaves in r to x_n in `now`, n sweeps later; both change places. Returns the
/// squares of what x_{n-1} left.
template <int C>
std::array<double, C> sweep_through(ScalarGrid& grid, DiffusionGroup& group, int n, std::span<const double> b,
                                    std::span<const double> r, std::span<double> now, std::span<double> before,
                                    std::span<double> y) {
  const DiffusionSweeps& sweeps = group.sweeps;
  if (n % 2 == 0) std::swap(now, before);  // the last one ends in `now`
  if (n % 2 == 0) std::copy_n(now.begin(), b.size(), before.begin());
  first_sweep<C>(grid, group.rows, sweeps, before, r, now);
  std::array<double, C> left{};
  double omega = 2.0;  // so that the next one is 1 / (1 - ρ²/2)
  for (int k = 2; k <= n; ++k) {
    omega = 1.0 / (1.0 - 0.25 * sweeps.rho * sweeps.rho * omega);
    left = sweep<C>(grid, group.rows, sweeps, omega, k == n, {b, now, before, y});
    std::swap(now, before);
  }
  return left;
}

}  // namespace

DiffusionScratch::DiffusionScratch(const ScalarGrid& grid, int width) {
  const auto of = [&](std::int32_t n) { return Array<double>(std::int64_t{width} * n, Purpose::solver, 0.0); };
  phi = of(grid.n_all);
  for (Array<double>* a : {&b, &y}) *a = of(grid.n_own);
  for (Array<double>* a : {&change, &second, &before}) *a = of(grid.n_values);
  const double sum = parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v] * grid.volume[v]; });
  volume_norm = std::sqrt(grid.composite->comm().sum(sum));
}

std::int64_t DiffusionScratch::bytes() const {
  std::size_t sum = sizeof(double) * ends.capacity();
  for (const Array<double>* a : {&phi, &b, &y, &change, &second, &before}) sum += a->bytes();
  return static_cast<std::int64_t>(sum);
}

bool is_stiff(const ScalarGrid& grid, const DiffusionGroup& group, double dt) {
  const double h = grid.width(grid.composite->n_levels() - 1);
  return group.rows.diffusivity * dt > stiff_from * h * h;
}

template <int C>
StageSums<C> solve_by_sweeps(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step,
                             const StageOptions& options, DiffusionScratch& s) {
  const Timer timer("diffusion");
  Stages<C> stages(grid, group, step, s);
  set_shift(grid, group.rows, stages.a(), group.sweeps);
  const int n = sweeps_for(group.sweeps, options.tolerance);
  const auto change = stages.vector(s.change), second = stages.vector(s.second), before = stages.vector(s.before);
  StageSums<C> sums;
  stages.begin();
  parallel_fill(second, 0.0);
  sums.left[0] = sweep_through<C>(grid, group, n, stages.b(), stages.b(), change, second, stages.y());
  sums.change = squares<C>(grid.n_own, change.data());
  stages.begin_second();
  const int fewer = sweeps_for(group.sweeps, second_guess * options.tolerance);
  sums.left[1] = sweep_through<C>(grid, group, fewer, stages.g(), stages.b(), second, before, stages.y());
  stages.end();
  sums.sweeps = n + fewer;
  return sums;
}

template <int C>
bool is_solved(const ScalarGrid& grid, const DiffusionGroup& group, const std::array<double, C>& size, double tolerance,
               const StageSums<C>& sums) {
  const double rate = rate_of(group.sweeps);
  const double round_off = least_change * std::sqrt(static_cast<double>(grid.counts.volumes));
  for (int c = 0; c < C; ++c) {
    const double change = std::sqrt(sums.change[c]);
    const double allowed = std::max(enough * tolerance * change / rate, round_off * size[c]);
    for (const std::array<double, C>& left : sums.left)
      if (!(std::sqrt(left[c]) <= allowed)) return false;
  }
  return true;
}

template <int C>
int solve_stiff(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step, const StageOptions& options,
                DiffusionScratch& s) {
  const Timer timer("diffusion");
  Stages<C> stages(grid, group, step, s);
  StiffDiffusion<C>& stiff = std::get<StiffDiffusion<C>>(group.stiff);
  set_shift(grid, group.rows, stages.a(), group.sweeps);
  set_shift(grid, *group.op, stages.a(), stiff);
  StiffOptions of_solve{options.tolerance, options.max_iterations, {}, {}};
  for (int c = 0; c < C; ++c) {
    of_solve.round_off[c] = least_change * stages.a() * step.size[c] * s.volume_norm;
    of_solve.name[c] = step.component[c]->name;
  }
  const auto change = stages.vector(s.change), second = stages.vector(s.second);
  stages.begin();
  parallel_fill(change, 0.0);
  int iterations = solve_stiff<C>(grid, group.rows, group.sweeps, stiff, of_solve, stages.b(), change, stages.y());
  stages.begin_second();
  parallel_copy<double>(stages.vector(s.before), second);
  iterations += solve_stiff<C>(grid, group.rows, group.sweeps, stiff, of_solve, stages.g(), second, stages.y());
  stages.end();
  return iterations;
}

template <int C>
void diffusive_flux(ScalarGrid& grid, DiffusionGroup& group, const StageStep<C>& step, DiffusionScratch& s,
                    std::span<double> flux, std::span<double> wall) {
  const Timer timer("diffusive flux");
  const std::array<double, 3> times = times_of(step.t, step.dt), weight{of_others, of_others, of_end};
  DiffusiveFlux::Values values;
  values.side = [&](int side, const Vec3& at, double* to) {
    for (int c = 0; c < C; ++c) {
      to[c] = 0.0;
      for (std::size_t k = 0; k < 3; ++k) to[c] += weight[k] * value_at(step, c, side, at, times[k]);
    }
  };
  values.wall = [&](std::int32_t volume, double* to) {
    for (int c = 0; c < C; ++c) to[c] = group.low.equilibrium[volume] + beyond_wall(step, volume, c) - step.least[c];
  };
  const std::span<double> phi = s.phi.span().first(std::size_t{C} * grid.n_all);
  group.flux.find<C>(grid, phi, values, flux, wall);
}

template StageSums<1> solve_by_sweeps<1>(ScalarGrid&, DiffusionGroup&, const StageStep<1>&, const StageOptions&,
                                         DiffusionScratch&);
template bool is_solved<1>(const ScalarGrid&, const DiffusionGroup&, const std::array<double, 1>&, double,
                           const StageSums<1>&);
template int solve_stiff<1>(ScalarGrid&, DiffusionGroup&, const StageStep<1>&, const StageOptions&, DiffusionScratch&);
template void diffusive_flux<1>(ScalarGrid&, DiffusionGroup&, const StageStep<1>&, DiffusionScratch&, std::span<double>,
                                std::span<double>);
template StageSums<2> solve_by_sweeps<2>(ScalarGrid&, DiffusionGroup&, const StageStep<2>&, const StageOptions&,
                                         DiffusionScratch&);
template bool is_solved<2>(const ScalarGrid&, const DiffusionGroup&, const std::array<double, 2>&, double,
                           const StageSums<2>&);
template int solve_stiff<2>(ScalarGrid&, DiffusionGroup&, const StageStep<2>&, const StageOptions&, DiffusionScratch&);
template void diffusive_flux<2>(ScalarGrid&, DiffusionGroup&, const StageStep<2>&, DiffusionScratch&, std::span<double>,
                                std::span<double>);
template StageSums<3> solve_by_sweeps<3>(ScalarGrid&, DiffusionGroup&, const StageStep<3>&, const StageOptions&,
                                         DiffusionScratch&);
template bool is_solved<3>(const ScalarGrid&, const DiffusionGroup&, const std::array<double, 3>&, double,
                           const StageSums<3>&);
template int solve_stiff<3>(ScalarGrid&, DiffusionGroup&, const StageStep<3>&, const StageOptions&, DiffusionScratch&);
template void diffusive_flux<3>(ScalarGrid&, DiffusionGroup&, const StageStep<3>&, DiffusionScratch&, std::span<double>,
                                std::span<double>);
template StageSums<4> solve_by_sweeps<4>(ScalarGrid&, DiffusionGroup&, const StageStep<4>&, const StageOptions&,
                                         DiffusionScratch&);
template bool is_solved<4>(const ScalarGrid&, const DiffusionGroup&, const std::array<double, 4>&, double,
                           const StageSums<4>&);
template int solve_stiff<4>(ScalarGrid&, DiffusionGroup&, const StageStep<4>&, const StageOptions&, DiffusionScratch&);
template void diffusive_flux<4>(ScalarGrid&, DiffusionGroup&, const StageStep<4>&, DiffusionScratch&, std::span<double>,
                                std::span<double>);

}  // namespace karst
