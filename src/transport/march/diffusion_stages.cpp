// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/diffusion_stages.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "base/timer.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

constexpr double part_of_step = 2.0 - std::numbers::sqrt2, of_end = 0.5 * part_of_step,
                 of_others = 0.25 * std::numbers::sqrt2;
constexpr double stiff = 2.0;           ///< D dt / h² from which a multigrid cycle is worth its time
constexpr double least_change = 1e-15;  ///< of the values: a smaller change is round-off
/// Of the solver: 2 directions do for most steps; where D dt / h² is of order one some solves stand still with them.
constexpr GcrMemory directions(2, 20, 8);
constexpr int wide_steps = 2;  ///< Jacobi steps in wide rows, as in EllipticMultigrid

/// φ: values where those of the operator stand.
void move_values(const ScalarGrid& grid, const DiffusionGroup& group, std::span<const double> c,
                 std::span<double> phi) {
  parallel_for(grid.n_own, [&](std::int64_t i) { phi[i] = c[i]; });
  const DiffusionGroup::Moved& moved = group.moved;
  parallel_for(std::ssize(moved.volume), [&](std::int64_t i) {
    const auto m = static_cast<std::size_t>(i), v = static_cast<std::size_t>(moved.volume[m]);
    double sum = 0.0;
    for (auto k = static_cast<std::size_t>(moved.begin[m]); k < static_cast<std::size_t>(moved.begin[m + 1]); ++k)
      sum += moved.weight[k] * (c[moved.other[k]] - c[v]);
    phi[v] += sum;
  });
}

/// One step of find_diffusive_flux() and all that its parts share.
class Stages {
 public:
  Stages(ScalarGrid& grid, DiffusionGroup& group, DiffusionScratch& scratch, const StageStep& step,
         const StageOptions& options)
      : grid_(grid), group_(group), s_(scratch), shift_(1.0 / (of_end * step.dt)), options_(options) {
    round_off_ = least_change * shift_ * step.size * scratch.volume_norm;
    const double dt = step.dt;
    if (group.op->problem().a != shift_) group.op->set_shift(shift_);
    const double h = grid.width(grid.composite->n_levels() - 1);
    multigrid_ = group.low.diffusivity * dt > stiff * h * h;
    if (multigrid_ && group.multigrid == nullptr) group.multigrid = std::make_unique<EllipticMultigrid>(*group.op);
  }

  /// K φ, K without a.
  void apply_without_shift(std::span<const double> phi, std::span<double> y) {
    group_.op->apply(phi, y);
    group_.op->apply_volumes(phi, s_.image.span());
    parallel_for(grid_.n_own, [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      y[v] -= shift_ * s_.image[v];
    });
  }

  /// K φ of the change that solve() has found: b - r - a M change; what is left is known, so nothing is applied again.
  void image_of_solution(std::span<const double> change, std::span<double> y) {
    group_.op->apply_volumes(change.first(grid_.n_own), s_.image.span());
    const std::span<const double> left = s_.gcr.residual();
    parallel_for(grid_.n_own, [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      y[v] = s_.rhs[v] - left[v] - shift_ * s_.image[v];
    });
  }

  /// b of the boundary values at these times with these weights, those of the wall once.
  void right_side(std::array<double, 3> weight, std::span<double> b) {
    group_.boundary->weight = weight;
    group_.op->right_side({}, b);
  }

  /// Solves for a change with s_.rhs; it starts from what it holds, `from_zero`: which is 0. Returns the iterations.
  int solve(std::span<double> change, bool from_zero) {
    const auto n = static_cast<std::size_t>(grid_.n_own);
    double size = parallel_sum(grid_.n_own, [&](std::int64_t i) {
      const double r = s_.rhs[i];
      return r * r;
    });
    size = std::sqrt(grid_.composite->comm().sum(size));
    if (!from_zero) apply(change, s_.image.span());
    double left = from_zero ? s_.gcr.start(s_.rhs.span()) : s_.gcr.start(s_.rhs.span(), s_.image.span());
    int i = 0;
    for (double next = left; std::isfinite(next); ++i) {
      left = next;
      if (left <= std::max(options_.tolerance * size, round_off_)) return i;
      if (i == options_.max_iterations) break;
      precondition(s_.gcr.to_precondition(), s_.direction.span().first(n));
      apply(s_.direction.span(), s_.gcr.image());
      std::ranges::copy(s_.direction.span().first(n), s_.gcr.direction().begin());
      next = s_.gcr.advance(change.first(n));
    }
    require(false,
            "transport: the implicit step of diffusion of {} was not solved to {:.1e} in {} iterations: {:.1e} of its "
            "right-hand side is left (time step {:.3g}); use a smaller one (time.cfl)",
            group_.boundary->component->name, options_.tolerance, i, left / size, 1.0 / (of_end * shift_));
    return 0;
  }

 private:
  /// y = (a M + K T) x, T = move_values() with nothing on the ends of the domain.
  void apply(std::span<double> x, std::span<double> y) {
    fetch_remote(grid_, x);
    move_values(grid_, group_, x, s_.work.span());
    group_.op->apply(s_.work.span(), y);
    parallel_for(std::ssize(group_.moved.volume), [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(group_.moved.volume[i]);
      y[v] -= shift_ * grid_.volume[v] * (s_.work[v] - x[v]);
    });
  }

  void precondition(std::span<const double> r, std::span<double> z) {
    if (multigrid_) return (*group_.multigrid)(r, z);
    // Whole volumes: their diagonal. All others by Jacobi steps of the operator.
    const double diffusivity = group_.low.diffusivity;
    for (int l = 0; l < grid_.composite->n_levels(); ++l) {
      const std::int32_t begin = grid_.level_begin[l];
      const double stiffness = 6.0 * diffusivity * grid_.width(l);
      parallel_for(grid_.level_begin[static_cast<std::size_t>(l) + 1] - begin, [&](std::int64_t i) {
        const auto v = static_cast<std::size_t>(begin + i);
        z[v] = r[v] / (shift_ * grid_.volume[v] + stiffness);
      });
    }
    for (const std::int32_t o : group_.joined) z[o] = 0.0;
    for (int step = 0; step < wide_steps; ++step) group_.op->relax_wide_rows(r, z);
  }

  ScalarGrid& grid_;
  DiffusionGroup& group_;
  DiffusionScratch& s_;
  double shift_;
  StageOptions options_;
  bool multigrid_ = false;
  double round_off_ = 0.0;  // residuals that cannot be told from it
};

}  // namespace

double DiffusionGroup::Boundary::value(int side, const Vec3& x) const {
  const ScalarSide& s = component->sides[side];
  if (!s.value) return 0.0;
  double sum = 0.0;
  for (std::size_t k = 0; k < 3; ++k)
    if (weight[k] != 0.0) sum += weight[k] * s.value(x, time[k]);
  return sum;
}

DiffusionScratch::DiffusionScratch(const ScalarGrid& grid)
    : gcr(grid.composite->comm(), grid.n_own, directions), faces(grid.composite) {
  for (Array<double>* a : {&phi, &kc, &b, &rhs, &work, &image})
    *a = Array<double>(static_cast<std::size_t>(grid.n_own), Purpose::solver, 0.0);
  for (Array<double>* a : {&change, &second, &direction})
    *a = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::solver, 0.0);
  const double squares = parallel_sum(grid.n_own, [&](std::int64_t i) {
    const double v = grid.volume[i];
    return v * v;
  });
  volume_norm = std::sqrt(grid.composite->comm().sum(squares));
}

std::int64_t DiffusionScratch::bytes() const {
  std::size_t sum = 0;
  for (const Array<double>* a : {&phi, &kc, &b, &rhs, &work, &image, &change, &second, &direction}) sum += a->bytes();
  return static_cast<std::int64_t>(sum) + gcr.bytes() + faces.bytes();
}

int find_diffusive_flux(ScalarGrid& grid, DiffusionGroup& group, const ScalarComponent& component,
                        const StageStep& step, const StageOptions& options, DiffusionScratch& s,
                        const StageFluxes& result) {
  const double t = step.t, dt = step.dt;
  const Timer timer("diffusion");
  *group.boundary = {&component, {just_after(t, dt), t + part_of_step * dt, just_before_end(t, dt)}, {}};
  Stages stages(grid, group, s, step, options);
  const auto rows = [&](auto&& f) {
    parallel_for(grid.n_own, [&](std::int64_t i) { f(static_cast<std::size_t>(i)); });
  };
  // r0 = K c - b0 goes to kc; the residuals with later boundary values follow from it.
  move_values(grid, group, step.values, s.phi.span());
  stages.apply_without_shift(s.phi.span(), s.kc.span());
  stages.right_side({1.0, 0.0, 0.0}, s.b.span());
  stages.right_side({0.0, 1.0, 0.0}, s.rhs.span());
  rows([&](std::size_t v) {
    const double at_start = s.kc[v] - s.b[v], later = s.kc[v] - s.rhs[v];
    s.b[v] = later;
    s.rhs[v] = part_of_step / of_end * step.balance[v] - at_start - later;
    s.kc[v] = at_start;
  });
  for (const std::int32_t o : group.joined) s.rhs[o] = -s.b[o];
  std::ranges::fill(s.change, 0.0);
  std::ranges::fill(s.direction, 0.0);
  int iterations = stages.solve(s.change.span(), true);

  // r_γ = K c_γ - b_γ, then the second stage.
  stages.image_of_solution(s.change.span(), s.work.span());
  rows([&](std::size_t v) {
    const double at_middle = s.b[v] + s.work[v];
    s.rhs[v] = (step.balance[v] - of_others * (s.kc[v] + at_middle)) / of_end;
  });
  stages.right_side({1.0, 0.0, -1.0}, s.b.span());  // b0 - b1: nothing of the wall is in the difference
  stages.right_side({0.0, 0.0, 0.0}, s.work.span());
  rows([&](std::size_t v) {
    const double at_end = s.kc[v] + s.b[v] - s.work[v];
    s.rhs[v] -= at_end;
    s.b[v] = at_end;
    s.second[v] = s.change[v] / part_of_step;
  });
  for (const std::int32_t o : group.joined) s.rhs[o] = -s.b[o];
  iterations += stages.solve(s.second.span(), false);

  // Fluxes of w c + w c_γ + d c_1.
  for (std::size_t v = 0; v < s.change.size(); ++v)
    s.change[v] = step.values[v] + of_others * s.change[v] + of_end * s.second[v];
  fetch_remote(grid, s.change.span());
  group.boundary->weight = {of_others, of_others, of_end};
  move_values(grid, group, s.change.span(), s.phi.span());
  group.fluxes->find(s.phi.span(), s.faces, *group.wall_flux);
  list_fluxes(grid, s.faces, result.face);
  if (result.wall.empty()) return iterations;
  std::ranges::fill(result.wall, 0.0);
  for (const DiffusionGroup::WallRow& r : group.wall_rows)
    result.wall[r.volume] = group.wall_flux->level(static_cast<int>(r.level))[r.row];
  return iterations;
}

}  // namespace karst
