// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/steady_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/math/no_number.hpp"

namespace karst {
namespace {

constexpr double least_step = 1.0 / 16.0;  ///< share of a step of Newton that is still tried
constexpr double sufficient = 1e-4;        ///< of the fall that the linear equations promise
constexpr double forcing_factor = 0.9;     ///< γ of Eisenstat & Walker
constexpr double forcing_safeguard = 0.1;  ///< γ η² of the last step counts above this
constexpr int worth_following = 8;         ///< iterations of the last step; following the flow costs three to five
constexpr double far_away = 0.2;           ///< residual at the start of a solve from which the flow changes much
constexpr std::size_t patience = 6;        ///< steps that must halve the residual together

bool is_stuck(const std::vector<double>& steps) {
  return steps.size() > patience && steps.back() > 0.5 * steps[steps.size() - 1 - patience];
}

}  // namespace

SteadySolver::SteadySolver(StokesSolver& stokes, const SteadyOptions& options)
    : stokes_(&stokes),
      options_(options),
      advection_(stokes.op()),
      base_(on_each_level<BaseFlow>(stokes.op())),
      step_(stokes.op().n_vofs(), Purpose::solver),
      start_(stokes.op().n_vofs(), Purpose::solver) {}

void SteadySolver::residual(const StokesDrive& drive, double inertia, std::span<Quad> r) {
  stokes_->residual(drive, r);
  advection_.add(-inertia, stokes_->values(), drive, r);
}

GmresProblem SteadySolver::linearised(double inertia, const std::string& name) {
  GmresProblem problem;
  problem.name = name;
  problem.apply = [this, inertia](std::span<Quad> v) {
    FlowValues& u = stokes_->values();
    stokes_->preconditioner().apply(v, u);
    stokes_->op().apply(u, v);
    advection_.add_linearised(inertia, base_, u, v);
  };
  problem.functional = [this] { return stokes_->values().flow(); };
  return problem;
}

/// solution += part step
void SteadySolver::move(double part) {
  Quad* x = stokes_->all_values().data();
  parallel_for(std::ssize(step_.span()), [&](std::int64_t i) {
    for (std::size_t c = 0; c < 4; ++c) x[i].v[c] += part * step_[i].v[c];
  });
}

/// Goes along the step that GMRES left in its work vector, as far as the residual falls. Returns its length then, NaN
/// when it does not fall.
double SteadySolver::try_step(const StokesDrive& drive, double inertia, double left, SteadyReport& report) {
  FlowGmres& krylov = stokes_->krylov();
  stokes_->preconditioner().apply(krylov.work(), stokes_->values());
  stokes_->op().for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    std::copy_n(stokes_->values().level(l).x.own(b).begin(), n, step_.begin() + first);
  });
  move(1.0);
  for (double part = 1.0;; part *= 0.5) {
    residual(drive, inertia, krylov.work());
    const double now = krylov.norm(krylov.work());
    if (now <= (1.0 - sufficient * part) * left) return now;
    if (part <= least_step) return no_number;
    move(-0.5 * part);
    ++report.halvings;
  }
}

SteadyReport SteadySolver::solve(const StokesDrive& drive, double inertia, const std::string& name) {
  const Timer timer("steady");
  FlowGmres& krylov = stokes_->krylov();
  std::ranges::copy(stokes_->all_values(), start_.data());
  SteadyReport report;
  const double size = stokes_->size_of(drive, name), goal = options_.tolerance * size;
  GmresProblem problem = linearised(inertia, name);
  GmresReport linear;
  Vec3 base;
  if (options_.progress)
    problem.progress = [&](int iteration, double residual, const Vec3& more) {
      options_.progress({report.flow.krylov.iterations + iteration, residual, base + stokes_->per_cell() * more});
    };
  residual(drive, inertia, krylov.work());
  double left = krylov.norm(krylov.work()), forcing = options_.first_forcing;
  while (std::isfinite(left)) {
    report.steps.push_back(left / size);
    report.converged = left <= goal;
    if (report.converged || std::ssize(report.steps) > options_.max_steps || is_stuck(report.steps)) break;
    advection_.set_base(inertia, stokes_->values(), drive, base_);
    if (options_.progress) base = stokes_->velocity_of(stokes_->values());
    if (std::exchange(follow_, false) || last_iterations_ > worth_following ||
        (report.steps.size() == 1 && left > far_away * size))
      stokes_->preconditioner().follow(advection_, base_, inertia);
    linear = {};
    krylov.cycle(problem, size, left, std::max(0.5 * goal, forcing * left), linear);
    report.flow.krylov.iterations += last_iterations_ = linear.iterations;
    const double now = try_step(drive, inertia, left, report);
    const double reduction = now / left, before = forcing_factor * forcing * forcing;
    forcing = std::min(std::max(forcing_factor * reduction * reduction, before > forcing_safeguard ? before : 0.0),
                       options_.largest_forcing);
    left = now;
  }
  if (!report.converged) {
    std::ranges::copy(start_.span(), stokes_->all_values().begin());
    residual(drive, inertia, krylov.work());
  }
  stokes_->measure(report.flow);
  stokes_->list_unknowns();
  report.flow.krylov.relative_residual = report.steps.empty() ? left : report.steps.back();
  report.cell_reynolds = inertia * report.flow.largest_speed;
  return report;
}

MomentumRows steady_momentum_rows(StokesSolver& stokes, const StokesDrive& drive, double inertia) {
  const std::span<Quad> work = stokes.krylov().work();
  stokes.residual(drive, work);
  if (inertia == 0.0) return {};
  std::ranges::fill(work, Quad{});
  AdvectionLevels(stokes.op()).add(inertia, stokes.values(), drive, work);
  return {work, {}};
}

std::int64_t SteadySolver::bytes() const {
  std::int64_t sum = advection_.bytes() + static_cast<std::int64_t>(step_.bytes() + start_.bytes());
  for (const BaseFlow& level : base_) sum += level.bytes();
  return sum;
}

}  // namespace karst
