// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/unsteady_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"
#include "ins/solve/flow_volumes.hpp"

namespace karst {
namespace {

constexpr double gamma = 1.0 - std::numbers::sqrt2 / 2.0;  ///< of the two stages
/// Times the step before, at most, for BDF2: it is stable up to 1 + √2 (Grigorieff, Numer. Math. 42 (1983) 359).
constexpr double most_growth = 2.0;
/// 1 / dt of a step in which neither friction nor what is carried changes the flow, over the rates of both.
constexpr double shortest_rate = 1e4;
/// Second difference of the last three flows over the first one, at most, for a step to begin with a parabola.
constexpr double most_bent = 0.5;

double dot(const Quad& a, const Quad& b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2]; }
double square(const Quad& q) { return dot(q, q); }

/// Σ κ f(VoF) over own VoFs, of this rank [h0³].
template <class F>
double sum_over(std::span<const float> volume, F&& f) {
  return parallel_sum(std::ssize(volume), [&](std::int64_t v) { return double{volume[v]} * f(v); });
}

/// Σ κ u·y of rows y in units of their level, of this rank.
double work_of(const StokesLevels& op, std::span<const float> volume, std::span<const Quad> u,
               std::span<const Quad> y) {
  double sum = 0.0;
  for (int l = 0; l < op.n_levels(); ++l) {
    const std::size_t begin = op.begin(l), n = op.begin(l + 1) - begin;
    sum += sum_over(volume.subspan(begin, n), [&](std::size_t v) { return dot(u[begin + v], y[begin + v]); }) /
           (StokesLevels::width(l) * StokesLevels::width(l));
  }
  return sum;
}

}  // namespace

UnsteadySolver::UnsteadySolver(StokesSolver& stokes, const Geometry& geometry, DriveAt drive_at,
                               const StokesDrive& reference, TimeScheme scheme, double inertia)
    : stokes_(&stokes),
      drive_at_(std::move(drive_at)),
      scheme_(scheme),
      size_(stokes.size_of(reference, "unsteady flow")),
      now_(stokes.op()),
      before_(stokes.op()),
      inertia_(inertia),
      volume_(flow_volumes(stokes.op(), geometry)),
      bend_(stokes.all_values().size(), Purpose::solver, {}) {
  std::ranges::fill(stokes.all_values(), Quad{});
  require(inertia >= 0.0, "unsteady flow: inertia {}; it must not be negative", inertia);
  if (inertia == 0.0) return;
  advection_.emplace(stokes.op());
  carrying_ = on_each_level<BaseFlow>(stokes.op());
}

/// Keeps stokes.values(), applied with this drive and term.
void UnsteadySolver::keep(const StokesDrive& drive, const TimeTerm& term, PastFlow& to) {
  stokes_->op().keep(stokes_->values(), drive, term, to);
}

void UnsteadySolver::face_fluxes(FaceField& fluxes) const {
  if (tried_)
    stokes_->op().face_fluxes(stokes_->values(), tried_->drive.force, tried_->term, fluxes);
  else
    stokes_->op().face_fluxes(now_, fluxes);
}

void UnsteadySolver::begin_here(const StokesDrive& drive) {
  stokes_->krylov().give_room_back();  // steps take fewer iterations than a steady flow
  stokes_->residual(drive, stokes_->krylov().work());
  keep(drive, {}, now_);
  stokes_->list_unknowns();
  time_ = dt_ = carried_size_ = 0.0;
  carry(0.0, 0.0, before_);
}

void UnsteadySolver::begin_near(const StokesDrive& drive) {
  const std::span<Quad> x = stokes_->all_values();
  parallel_for(std::ssize(x), [&](std::int64_t v) {
    if (volume_[v] == 0.0F) x[v] = {};
  });
  begin_here(drive);
  jump(drive);
}

void UnsteadySolver::jump(const StokesDrive& drive) {
  const std::span<Quad> x = stokes_->all_values();
  const std::vector<Quad> given(x.begin(), x.end());
  const double a = shortest_rate * std::max(1.0, outflow_);
  const TimeTerm term{a, {a, 0.0}, {&now_, &now_}};
  try {
    stokes_->solve_from_here(drive, term, std::max(size_, carried_size_), "jump of the flow");
  } catch (...) {  // on all ranks
    std::ranges::copy(given, x.begin());
    throw;
  }
  for (std::size_t v = 0; v < given.size(); ++v) x[v].v[3] = given[v].v[3];  // that of the step made the flow whole
  keep(drive, term, before_);
  std::swap(now_, before_);
  for (std::size_t v = 0; v < given.size(); ++v) now_.cells[v].v[3] = given[v].v[3];
  stokes_->list_unknowns();
  forget();
  carry(0.0, 0.0, before_);
}

/// Fluxes that carry momentum in a step: now + by (now - other)
void UnsteadySolver::carry(double by, double dt, const PastFlow& other) {
  if (!advection_) return;
  const double part = advection_->combine({{{1.0 + by, &now_}, {-by, &other}}}, carrying_);
  outflow_ = inertia_ * stokes_->op().comm().max(part);
  require(outflow_ * dt <= most_cfl,
          "unsteady flow: a step would exchange {:.3g} times the volume of a cell; at most {:g} is allowed: use "
          "shorter steps",
          outflow_ * dt, most_cfl);
}

void UnsteadySolver::solve(double time, const TimeTerm& term, Tried& step) {
  step.drive = drive_at_(time);
  step.term = term;
  const CarriedMomentum carried{advection_ ? &*advection_ : nullptr, carrying_, inertia_};
  step.report.iterations +=
      stokes_->solve_from_here(step.drive, term, std::max(size_, carried_size_), "unsteady flow", carried).iterations;
  if (rate_.size() > 0) set_rate(term);
  measure_change(term, step.report.energy);
}

/// a u - s of the solution, before the pasts of the term change.
void UnsteadySolver::set_rate(const TimeTerm& term) {
  const std::span<const Quad> x = stokes_->all_values();
  parallel_for(std::ssize(x), [&](std::int64_t v) {
    for (std::size_t d = 0; d < 3; ++d) {
      double rate = term.shift * x[v].v[d];
      for (std::size_t k = 0; k < 2; ++k)
        if (term.weight[k] != 0.0) rate -= term.weight[k] * term.past[k]->cells[v].v[d];
      rate_[v][d] = static_cast<float>(rate);
    }
  });
}

MomentumRows UnsteadySolver::momentum_rows() {
  const StokesDrive drive = drive_at_(time_);
  const std::span<Quad> work = stokes_->krylov().work();
  stokes_->residual(drive, work);
  if (!advection_) return {{}, rate_.span()};
  std::ranges::fill(work, Quad{});
  advection_->add_carried(inertia_, carrying_, stokes_->values(), drive, work);
  return {work, rate_.span()};
}

double UnsteadySolver::flow_out(int side) const {
  const StokesLevels& op = stokes_->op();
  double sum = 0.0;
  for (int l = 0; l < op.n_levels(); ++l) {
    const LevelGraph& graph = op.level(l).geometry().graph;
    const double area = StokesLevels::width(l) * StokesLevels::width(l);
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      const std::size_t first = graph.vof_begin(b);
      const std::array<double, 6>* velocity = now_.faces.data() + op.begin(l) + first;
      for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
        if (op.level(l).is_plain(first + vof) && box.name(slots[side]) == domain_face)
          sum += area * velocity[vof][side];
      });
      for (const FlowRow& row : op.level(l).rows().of(b))
        if (row.area[side] > 0.0F && box.name(row.slot[side]) == domain_face)
          sum += area * double{row.area[side]} * velocity[row.vof][side];
    }
  }
  return op.comm().sum(sum);
}

/// solution = now + by (now - other) + bend (second divided difference)
void UnsteadySolver::extrapolate(double by, double pressure_by, double bend, const PastFlow& other) {
  const std::span<Quad> x = stokes_->all_values();
  const std::array<double, 4> of{by, by, by, pressure_by};
  parallel_for(std::ssize(x), [&](std::int64_t v) {
    for (std::size_t c = 0; c < 4; ++c)
      x[v].v[c] = now_.cells[v].v[c] + of[c] * (now_.cells[v].v[c] - other.cells[v].v[c]) + bend * double{bend_[v][c]};
  });
}

/// Of the solution and the two flows before it. None where the first of them stands before a start, nor where
/// velocities change so differently from step to step, or by so little, that a line foretells the next one better.
void UnsteadySolver::set_bend(double dt) {
  const std::span<const Quad> x = stokes_->all_values();
  const double ratio = dt / dt_;
  const auto change = [&](std::size_t v, std::size_t c) { return x[v].v[c] - now_.cells[v].v[c]; };
  const auto bent = [&](std::size_t v, std::size_t c) {
    return change(v, c) - ratio * (now_.cells[v].v[c] - before_.cells[v].v[c]);
  };
  const auto sum_of_squares = [&](auto&& of) {
    return sum_over(volume_.span(), [&](std::size_t v) {
      double sum = 0.0;
      for (std::size_t c = 0; c < 3; ++c) sum += of(v, c) * of(v, c);
      return sum;
    });
  };
  std::array<double, 2> sums{sum_of_squares(change), sum_of_squares(bent)};
  stokes_->op().comm().sum(std::span(sums));
  const bool foretells = n_in_row_ > 1 && sums[1] < most_bent * most_bent * sums[0];
  const double per_step = foretells ? 1.0 / (dt * (dt + dt_)) : 0.0;
  parallel_for(std::ssize(x), [&](std::int64_t v) {
    for (std::size_t c = 0; c < 4; ++c) bend_[v][c] = static_cast<float>(per_step * bent(v, c));
  });
}

void UnsteadySolver::two_stages(double dt, Tried& step) {
  // A shorter step may look back on before_ where one was made.
  if (scheme_ == TimeScheme::bdf2 && dt_ > 0.0 && !stage_) stage_.emplace(stokes_->op());
  PastFlow& stage = stage_ ? *stage_ : before_;
  const double a = 1.0 / (gamma * dt), more = (1.0 - gamma) / gamma;
  const TimeTerm first{a, {a, 0.0}, {&now_, &now_}}, end{a, {(1.0 - more) * a, more * a}, {&now_, &stage}};
  const auto make_stage = [&] {
    solve(time_ + gamma * dt, first, step);
    keep(step.drive, first, stage);
  };
  carry(0.0, dt, before_);
  make_stage();
  if (advection_) {  // the stage carries itself
    carry(-1.0, dt, stage);
    make_stage();
    carry(-1.0 / gamma, dt, stage);
    extrapolate(-1.0 / gamma, -1.0 / gamma, 0.0, stage);
  }
  solve(time_ + dt, end, step);
}

void UnsteadySolver::two_steps(double dt, Tried& step) {
  const double r = dt / dt_, to_now = (1.0 + r) / dt, to_before = -r * r / ((1.0 + r) * dt);
  const TimeTerm term{to_now + to_before, {to_now, to_before}, {&now_, &before_}};
  // The pressure of what came before a start does not go over into that of the flow after it.
  extrapolate(r, n_in_row_ == 1 ? 0.0 : r, dt * (dt + dt_), before_);
  carry(r, dt, before_);
  solve(time_ + dt, term, step);
}

void UnsteadySolver::try_step(double dt) {
  const Timer timer("step");
  require(dt > 0.0, "unsteady flow: a step of {}; it must be positive", dt);
  outflow_before_ = outflow_;
  shift_before_ = stokes_->preconditioner().shift();
  const bool goes_on = scheme_ == TimeScheme::bdf2 && dt_ > 0.0 && dt <= most_growth * dt_;
  Tried step{.in_stages = !goes_on};
  step.report.dt = dt;
  try {
    if (goes_on)
      two_steps(dt, step);
    else
      two_stages(dt, step);
  } catch (...) {  // on all ranks
    leave_as_before();
    throw;
  }
  tried_ = step;
}

void UnsteadySolver::go_back() {
  if (!tried_) return;
  tried_.reset();
  leave_as_before();
}

void UnsteadySolver::leave_as_before() {
  std::ranges::copy(now_.cells, stokes_->all_values().begin());
  outflow_ = outflow_before_;
  stokes_->preconditioner().set_slow(shift_before_);
}

StepReport UnsteadySolver::accept() {
  const Timer timer("step");
  require(tried_.has_value(), "unsteady flow: no step was tried");
  auto [in_stages, drive, term, report] = *tried_;
  tried_.reset();
  if (in_stages)
    std::ranges::fill(bend_.span(), std::array<float, 4>{});
  else
    set_bend(report.dt);
  keep(drive, term, before_);
  std::swap(now_, before_);
  n_in_row_ = in_stages ? 1 : n_in_row_ + 1;
  report.cfl = outflow_ * report.dt;
  time_ += report.dt;
  dt_ = report.dt;
  report.time = time_;
  measure(report);
  stokes_->list_unknowns();
  return report;
}

StepReport UnsteadySolver::step(double dt) {
  try_step(dt);
  return accept();
}

/// The last thing in krylov().work() is the residual of the step.
void UnsteadySolver::measure(StepReport& report) {
  const StokesLevels& op = stokes_->op();
  report.velocity = stokes_->velocity_of(stokes_->values());
  const std::span<Quad> work = stokes_->krylov().work();
  const std::span<const Quad> x = stokes_->all_values();
  const double net = parallel_max(std::ssize(work), [&](std::int64_t v) { return std::abs(work[v].v[3]); });
  // What lies under a finer level holds a first guess of its step.
  const double speed =
      parallel_max(std::ssize(x), [&](std::int64_t v) { return volume_[v] > 0.0F ? square(x[v]) : 0.0; });
  std::array<double, 2> largest{speed, net};
  op.comm().max(std::span(largest));
  report.largest_speed = std::sqrt(largest[0]);
  report.divergence = report.largest_speed > 0.0
                          ? largest[1] / stokes_->preconditioner().continuity_weight() / report.largest_speed
                          : 0.0;
  const double energy = sum_over(volume_.span(), [&](std::size_t v) { return 0.5 * square(x[v]); });
  report.kinetic_energy = stokes_->per_cell() * op.comm().sum(energy);
  measure_energy(report.energy);
}

/// Growth and time_scheme of the solution, before the pasts of the term change: u·(u - u_k) is (|u|² - |u_k|²) / 2 and
/// |u - u_k|² / 2.
void UnsteadySolver::measure_change(const TimeTerm& term, EnergyRates& energy) {
  const std::span<const Quad> x = stokes_->all_values();
  std::array<double, 2> sums{};
  for (std::size_t k = 0; k < 2; ++k) {
    if (term.weight[k] == 0.0) continue;
    const std::span<const Quad> past = term.past[k]->cells.span();
    const auto more = [&](std::size_t v) { return square(x[v]) - square(past[v]); };
    const auto apart = [&](std::size_t v) {
      double sum = 0.0;
      for (std::size_t d = 0; d < 3; ++d) sum += (x[v].v[d] - past[v].v[d]) * (x[v].v[d] - past[v].v[d]);
      return sum;
    };
    sums[0] += 0.5 * term.weight[k] * sum_over(volume_.span(), more);
    sums[1] += 0.5 * term.weight[k] * sum_over(volume_.span(), apart);
  }
  stokes_->op().comm().sum(std::span(sums));
  energy.growth = stokes_->per_cell() * sums[0];
  energy.time_scheme = stokes_->per_cell() * sums[1];
}

/// All else, from the residual of the step in krylov().work() and the solution in values(), applied.
void UnsteadySolver::measure_energy(EnergyRates& energy) {
  const Timer timer("energy");
  StokesLevels& op = stokes_->op();
  const std::span<Quad> work = stokes_->krylov().work();
  const std::span<const Quad> x = stokes_->all_values();
  std::array<double, 4> sums{};
  sums[0] = work_of(op, volume_.span(), x, work);
  if (advection_) {
    std::ranges::fill(work, Quad{});
    advection_->add_carried(inertia_, carrying_, stokes_->values(), drive_at_(time_), work);
    sums[1] = work_of(op, volume_.span(), x, work);
    sums[3] = parallel_sum(std::ssize(work), [&](std::int64_t v) { return square(work[v]); });
  }
  op.for_boxes([&](int l, int b, std::size_t first, std::size_t) {
    for (Quad& q : stokes_->values().level(l).x.own(b)) {
      q = x[first++];
      q.v[3] = 0.0;
    }
  });
  op.apply(stokes_->values(), work, velocities_of(drive_at_(time_), op.sides()));
  sums[2] = work_of(op, volume_.span(), x, work);
  op.comm().sum(std::span(sums));
  carried_size_ = std::sqrt(sums[3]);
  for (double& sum : sums) sum *= stokes_->per_cell();
  energy.advection = sums[1];
  energy.dissipation = sums[2];
  energy.work = energy.growth + energy.time_scheme + energy.dissipation + energy.advection + sums[0];
}

std::int64_t UnsteadySolver::bytes() const {
  std::int64_t sum = now_.bytes() + before_.bytes() + static_cast<std::int64_t>(volume_.bytes() + rate_.bytes());
  if (stage_) sum += stage_->bytes();
  if (advection_) sum += advection_->bytes();
  for (const BaseFlow& level : carrying_) sum += level.bytes();
  return sum;
}

}  // namespace karst
