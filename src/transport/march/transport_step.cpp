// SPDX-License-Identifier: BSD-3-Clause
// One step. With c at the time t, per component:
//
//   half of decay and source, exactly
//   low order            c_low, an M-matrix (low_order.hpp)
//   diffusion and wall   corrected by TR-BDF2's fluxes (diffusion_stages.hpp), within the range of all data
//   advection            corrected by F (c_k + g_k·(x_f - x_k)), c_k and g_k of (c + c_low)/2, within local bounds
//   half of decay and source
//
// Factors of a face are those of all components: sums of components stay sums.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/timer.hpp"
#include "transport/march/transport_stepper.hpp"

namespace karst {
namespace {

constexpr double no_volume = 0.0;  ///< where sources of a rank without volumes stand, that are sources all the same

template <class F>
void for_range(std::int64_t n, F&& f) {
  parallel_for(n, [&](std::int64_t i) { f(static_cast<std::size_t>(i)); });
}

}  // namespace

double TransportStepper::content(const TransportState& state, std::size_t i) const {
  const double* const c = state.values[i].data();
  return grid_.composite->comm().sum(parallel_sum(grid_.n_own, [&](std::int64_t k) { return grid_.volume[k] * c[k]; }));
}

/// Values on the ends of the domain: given ones where the flow enters and on fixed sides, else those of the volume. Of
/// a fixed side at the beginning or at the end of the step; of an open one the mean of both, so that what flows in is
/// what is asked for whatever the limiter does.
void TransportStepper::set_boundary(std::size_t i, const StepTimes& step, bool at_end, std::span<double> values) const {
  const ScalarComponent& c = components_[i];
  const double first = just_after(step.t, step.dt), last = just_before_end(step.t, step.dt);
  parallel_for(std::ssize(grid_.boundary), [&](std::int64_t k) {
    const BoundaryFace& b = grid_.boundary[k];
    const ScalarSide& side = c.sides[b.side];
    double& value = values[grid_.n_all + k];
    if (side.kind != ScalarSide::Kind::fixed && !(flow_.all[b.face] < 0.0))
      value = values[b.volume];
    else if (!side.value)
      value = 0.0;
    else if (side.kind == ScalarSide::Kind::fixed)
      value = side.value(b.at, at_end ? last : first);
    else
      value = 0.5 * (side.value(b.at, first) + side.value(b.at, last));
  });
}

/// Decay and source over dt, exactly.
void TransportStepper::react(TransportState& state, std::size_t i, double dt, TransportReport& report) {
  const double decay = components_[i].decay, source = components_[i].source;
  if (decay == 0.0 && source == 0.0) return;
  const double stays = std::exp(-decay * dt);
  const double gained = decay > 0.0 ? source * -std::expm1(-decay * dt) / decay : source * dt;
  const std::span<double> c = state.values[i].span();
  double volume = 0.0;
  std::array<double, 2> sums{};
  sums[0] = parallel_sum(grid_.n_own, [&](std::int64_t k) {
    const auto v = static_cast<std::size_t>(k);
    const double now = c[v] * stays + gained, difference = now - c[v];
    c[v] = now;
    return grid_.volume[v] * difference;
  });
  sums[1] = parallel_sum(grid_.n_own, [&](std::int64_t k) { return grid_.volume[k]; });
  grid_.composite->comm().sum(std::span<double>(sums));
  volume = sums[1];
  fetch_remote(grid_, c);
  ComponentBalance& b = report.components[i];
  b.source += source * dt * volume;
  b.decay += source * dt * volume - sums[0];
  ScalarRange& range = state.range[i];
  range = {std::min(range.least, range.least * stays + gained),
           std::max(range.largest, range.largest * stays + gained)};
}

/// Widens the range by the values on the ends of the domain, old and new ones, and those of walls.
void TransportStepper::include_data(TransportState& state, std::size_t i) {
  const Work& w = work_[i];
  const std::span<const double> c = state.values[i].span(), low = w.low.span();
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  const auto include = [&](double x) {
    lo = std::min(lo, x);
    hi = std::max(hi, x);
  };
  for (std::size_t k = 0; k < grid_.boundary.size(); ++k) {
    const BoundaryFace& b = grid_.boundary[k];
    const bool given = components_[i].sides[b.side].kind == ScalarSide::Kind::fixed || flow_.all[b.face] < 0.0;
    if (!given) continue;
    include(c[static_cast<std::size_t>(grid_.n_all) + k]);
    include(low[static_cast<std::size_t>(grid_.n_all) + k]);
  }
  for (std::size_t v = 0; v < w.wall.size(); ++v)
    if (w.group->low.wall[v] > 0.0) include(w.group->low.equilibrium[v]);
  std::array<double, 2> extremes{-lo, hi};
  grid_.composite->comm().max(std::span<double>(extremes));
  ScalarRange& range = state.range[i];
  range = {std::min(range.least, -extremes[0]), std::max(range.largest, extremes[1])};
}

/// c_low.
void TransportStepper::low_order_step(TransportState& state, std::size_t i, double dt, TransportReport& report) {
  Work& w = work_[i];
  const std::span<double> c = state.values[i].span(), low = w.low.span();
  const LowOrderTerms* const terms = w.group != nullptr ? &w.group->low : nullptr;
  set_boundary(i, {state.time, dt}, false, c);
  std::ranges::copy(c, low.begin());
  set_boundary(i, {state.time, dt}, true, low);
  include_data(state, i);
  upwind_flux(grid_, flow_.explicit_flow(), c, flux_.span());
  if (terms != nullptr || flow_.n_implicit > 0) {
    const double size = std::max(std::abs(state.range[i].least), std::abs(state.range[i].largest));
    report.low_iterations += low_.solve(grid_, flow_, terms, flux_.span(), w.source, dt, size, low);
    set_boundary(i, {state.time, dt}, true, low);
  }
  take_low_flux(state, i, dt);
  if (w.source.data() != nullptr) add_source(state, i, dt, report);
}

/// Sources of advance(): into the balance, and what the step of low order makes of them into the range.
void TransportStepper::add_source(TransportState& state, std::size_t i, double dt, TransportReport& report) {
  const Work& w = work_[i];
  const auto extreme = [&](double sign) {
    return parallel_max(grid_.n_own, [&](std::int64_t v) { return sign * w.low[v]; });
  };
  std::array<double, 2> extremes{extreme(-1.0), extreme(1.0)};
  grid_.composite->comm().max(std::span<double>(extremes));
  ScalarRange& range = state.range[i];
  range = {std::min(range.least, -extremes[0]), std::max(range.largest, extremes[1])};
  report.components[i].source += dt * grid_.composite->comm().sum(parallel_sum(
                                          grid_.n_own, [&](std::int64_t v) { return grid_.volume[v] * w.source[v]; }));
}

/// c_low from its fluxes; in the correction what its diffusion and its wall moved, with the other sign.
void TransportStepper::take_low_flux(TransportState& state, std::size_t i, double dt) {
  Work& w = work_[i];
  const std::span<double> c = state.values[i].span(), low = w.low.span(), correction = w.correction.span();
  const LowOrderTerms* const terms = w.group != nullptr ? &w.group->low : nullptr;
  add_implicit_flux(flow_, low, flux_.span());
  if (terms != nullptr) add_two_point_flux(grid_, *terms, low, -dt, flux_.span(), correction);
  if (w.reacts())
    for_range(grid_.n_own, [&](std::size_t v) {
      w.through_wall[v] = dt * terms->wall[v] * (low[v] - terms->equilibrium[v]);
      w.wall[v] = -w.through_wall[v];
    });
  const double *const flux = flux_.data(), *const lost = w.through_wall.data();
  const double* const source = w.source.data();
  const bool reacts = w.reacts(), gains = w.source.data() != nullptr;
  for_each_volume(grid_, [&](std::int32_t v, auto&& faces) {
    double sum = 0.0;
    faces([&](std::int32_t face, std::int32_t, double outward) { sum += outward * flux[face]; });
    low[v] = c[v] - (dt * sum + (reacts ? lost[v] : 0.0)) / grid_.volume[v];
    if (gains) low[v] += dt * source[v];
  });
  for (std::size_t k = 0; k < w.ends.size(); ++k) w.ends[k] = dt * flux_[grid_.boundary[k].face];
  fetch_remote(grid_, low);
  set_boundary(i, {state.time, dt}, true, low);
}

/// (c + c_low) / 2 and its gradient.
void TransportStepper::find_mean(const TransportState& state, std::size_t i) {
  const std::span<const double> c = state.values[i].span(), low = work_[i].low.span();
  for_range(grid_.n_values, [&](std::size_t v) { mean_[v] = 0.5 * (c[v] + low[v]); });
  find_gradient(grid_, mean_.span(), {gradient_[0].span(), gradient_[1].span(), gradient_[2].span()});
}

/// mean_ = -Σ advective fluxes of (c + c_low) / 2 - r, and sources.
void TransportStepper::find_balance(const TransportState& state, std::size_t i) {
  const Work& w = work_[i];
  const double least = state.range[i].least;
  if (flow_.at_rest) {
    std::ranges::fill(mean_, 0.0);
  } else {
    find_mean(state, i);
    for_range(grid_.n_values, [&](std::size_t v) { mean_[v] -= least; });
    linear_upwind_flux(grid_, flow_.explicit_flow(), mean_.span(),
                       {gradient_[0].span(), gradient_[1].span(), gradient_[2].span()}, flux_.span());
    if (flow_.n_implicit > 0)
      for (const ImplicitFace& f : flow_.implicit_faces) flux_[f.face] += f.flow * (w.low[f.from] - least);
    add_up(grid_, flux_.span(), mean_.span());
    for_range(grid_.n_own, [&](std::size_t v) { mean_[v] = -mean_[v]; });
  }
  if (w.source.data() != nullptr)
    for_range(grid_.n_own, [&](std::size_t v) { mean_[v] += grid_.volume[v] * w.source[v]; });
}

void TransportStepper::diffusive_correction(TransportState& state, std::size_t i, double dt, TransportReport& report) {
  Work& w = work_[i];
  const StageOptions options{options_.tolerance, options_.max_iterations};
  StageStep<1> step;
  step.component[0] = &components_[i];
  step.least[0] = state.range[i].least;
  step.size[0] = std::max(std::abs(state.range[i].least), std::abs(state.range[i].largest));
  step.values = state.values[i].span();
  step.balance = mean_.span().first(grid_.n_own);
  step.t = state.time;
  step.dt = dt;
  find_balance(state, i);
  bool solved = false;
  if (!is_stiff(grid_, *w.group, dt)) {
    StageSums<1> sums = solve_by_sweeps<1>(grid_, *w.group, step, options, *diffusion_);
    std::array<double, 3> all{sums.change[0], sums.left[0][0], sums.left[1][0]};
    grid_.composite->comm().sum(std::span<double>(all));
    sums = {{all[0]}, {{{all[1]}, {all[2]}}}};
    solved = is_solved<1>(grid_, *w.group, step, options, sums);
    if (!solved) find_balance(state, i);
    report.high_iterations += sweeps_for(w.group->sweeps, options.tolerance) * 2;
  }
  if (!solved) report.high_iterations += solve_stiff<1>(grid_, *w.group, step, options, *diffusion_);
  diffusive_flux<1>(grid_, *w.group, step, *diffusion_, flux_.span(),
                    w.reacts() ? wall_flux_.span() : std::span<double>{});
  const double* const phi = diffusion_->phi.data();
  const double diffusivity = w.group->rows.diffusivity;
  for_all_faces(
      grid_,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int, std::int32_t level) {
        w.correction[face] += dt * diffusivity * grid_.width(level) * (phi[left] - phi[right]);
      },
      [&](const ScalarFace& f, std::int64_t) { w.correction[f.face] += dt * flux_[f.face]; });
  // Isolated fragments keep the fluxes of low order: the accurate operator gives some of them no balance.
  for_range(static_cast<std::int64_t>(grid_.listed.size()), [&](std::size_t k) {
    if (grid_.listed[k].fragment) w.correction[grid_.listed[k].face] = 0.0;
  });
  if (w.reacts())
    for_range(grid_.n_own,
              [&](std::size_t v) { w.wall[v] = grid_.fragment[v] != 0 ? 0.0 : w.wall[v] + dt * wall_flux_[v]; });
}

void TransportStepper::advective_correction(TransportState& state, std::size_t i, double dt) {
  find_mean(state, i);
  upwind_difference(grid_, flow_.explicit_flow(), mean_.span(),
                    {gradient_[0].span(), gradient_[1].span(), gradient_[2].span()}, state.values[i].span(), dt,
                    work_[i].correction.span());
}

/// Adds a correction to c_low and to what has passed the ends of the domain and the wall.
void TransportStepper::take_correction(TransportState& state, std::size_t i, double dt, bool limited, bool wall) {
  Work& w = work_[i];
  const std::span<double> low = w.low.span();
  apply_correction(grid_,
                   {low, state.values[i].span(), w.correction.span(),
                    wall && w.reacts() ? w.wall.span() : std::span<double>{}, state.range[i]},
                   limited, limiter_);
  for (std::size_t k = 0; k < w.ends.size(); ++k) {
    const auto f = static_cast<std::size_t>(grid_.boundary[k].face);
    w.ends[k] += limited ? limiter_.face[f] * w.correction[f] : w.correction[f];
  }
  if (wall && w.reacts())
    for_range(grid_.n_own,
              [&](std::size_t v) { w.through_wall[v] += limited ? limiter_.wall[v] * w.wall[v] : w.wall[v]; });
  fetch_remote(grid_, low);
  set_boundary(i, {state.time, dt}, true, low);
}

void TransportStepper::correct_diffusion(TransportState& state, double dt, TransportReport& report) {
  corrections_.clear();
  for (std::size_t i = 0; i < work_.size(); ++i) {
    Work& w = work_[i];
    if (w.group == nullptr) continue;
    diffusive_correction(state, i, dt, report);
    corrections_.push_back({w.low.span(), state.values[i].span(), w.correction.span(), w.wall.span(), state.range[i]});
  }
  if (corrections_.empty()) return;
  const Timer timer("limiter");
  const bool limited = options_.limit && limit_to_range(grid_, corrections_, limiter_, report.passes);
  if (limited) report.limited_diffusion = grid_.composite->comm().sum(count_limited(grid_, limiter_));
  for (std::size_t i = 0; i < work_.size(); ++i)
    if (work_[i].group != nullptr) take_correction(state, i, dt, limited, true);
}

void TransportStepper::correct_advection(TransportState& state, double dt, TransportReport& report) {
  if (flow_.at_rest) return;
  corrections_.clear();
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const Timer timer("advection");
    advective_correction(state, i, dt);
    corrections_.push_back(
        {work_[i].low.span(), state.values[i].span(), work_[i].correction.span(), {}, state.range[i]});
  }
  const Timer timer("limiter");
  if (options_.limit) {
    limit_locally(grid_, corrections_, flow_.explicit_flow(), dt, limiter_);
    report.limited_faces = grid_.composite->comm().sum(count_limited(grid_, limiter_));
  }
  for (std::size_t i = 0; i < work_.size(); ++i) take_correction(state, i, dt, options_.limit, false);
}

void TransportStepper::balance(TransportState& state, std::size_t i, TransportReport& report) const {
  const Work& w = work_[i];
  const std::span<const double> c = state.values[i].span();
  ComponentBalance& b = report.components[i];
  std::array<double, 3> sums{};
  for (std::size_t k = 0; k < w.ends.size(); ++k) {  // by the flow, as concentrations may be negative
    const double flow = flow_.all[grid_.boundary[k].face], amount = w.ends[k];
    if (flow < 0.0 || (flow == 0.0 && amount < 0.0))
      sums[0] -= amount;
    else
      sums[1] += amount;
  }
  if (w.reacts()) sums[2] = parallel_sum(grid_.n_own, [&](std::int64_t v) { return w.through_wall[v]; });
  const Comm& comm = grid_.composite->comm();
  comm.sum(std::span<double>(sums));
  b.inflow = sums[0];
  b.outflow = sums[1];
  b.wall = sums[2];
  b.content = content(state, i);
  b.stored = b.content - w.content;
  const double moved =
      std::abs(b.inflow) + std::abs(b.outflow) + std::abs(b.wall) + std::abs(b.decay) + std::abs(b.source);
  const double size = std::max({moved, std::abs(b.content), std::abs(w.content)});
  const double left = b.inflow - b.outflow - b.wall - b.decay + b.source - b.stored;
  b.imbalance = size > 0.0 ? std::abs(left) / size : 0.0;
  std::array<double, 2> extremes{parallel_max(grid_.n_own, [&](std::int64_t v) { return -c[v]; }),
                                 parallel_max(grid_.n_own, [&](std::int64_t v) { return c[v]; })};
  comm.max(std::span<double>(extremes));
  b.least = -extremes[0];
  b.largest = extremes[1];
}

void TransportStepper::advance(TransportState& state, double dt, TransportReport& report,
                               std::span<const Array<double>> sources) {
  const Timer timer("transport");
  require(dt > 0.0 && std::isfinite(dt), "transport: a time step of {}; it must be positive", dt);
  require(flow_.given, "transport: a step without a flow; set_flow() comes first");
  report.step = dt;
  report.limited_faces = report.limited_diffusion = 0;
  report.passes = report.low_iterations = report.high_iterations = 0;
  report.components.assign(components_.size(), ComponentBalance{});
  choose_implicit(grid_, dt, flow_);
  report.implicit_volumes = flow_.n_implicit;
  report.largest_explicit_step = flow_.largest_explicit_step;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    work_[i].content = content(state, i);
    work_[i].source = {};
    if (i < sources.size())
      work_[i].source = sources[i].size() > 0 ? sources[i].span() : std::span<const double>(&no_volume, 0);
    react(state, i, 0.5 * dt, report);
    low_order_step(state, i, dt, report);
  }
  correct_diffusion(state, dt, report);
  correct_advection(state, dt, report);
  state.time += dt;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    std::swap(state.values[i], work_[i].low);
    react(state, i, 0.5 * dt, report);
    balance(state, i, report);
  }
}

}  // namespace karst
