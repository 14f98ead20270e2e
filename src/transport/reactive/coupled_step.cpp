// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/coupled_step.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/traffic.hpp"

namespace karst {

namespace {

constexpr int most_iterations = 12;
constexpr double enough = 1e-8;      ///< of all that reacts: what Newton's method may leave, to start the next step
constexpr double too_much = 1e-2;    ///< the same, from which the step is made in another way
constexpr double round_off = 1e-14;  ///< of the largest total: below zero that counts as zero

/// What a thread works with.
struct CoupledWorkspace {
  ReactionWorkspace work;
  Speciation solution;
  std::vector<double> film, share, most, extent, slope;
};

/// A step, and all that its parts share.
class Coupled {
 public:
  Coupled(const CoupledProblem& problem, TransportStepper& stepper, double dt, ReactionState& reaction,
          TransportState& state, CoupledScratch& scratch)
      : medium_(problem.medium),
        sites_(problem.sites),
        stepper_(stepper),
        grid_(stepper.grid()),
        dt_(dt),
        first_(problem.first),
        reaction_(reaction),
        state_(state),
        s_(scratch),
        n_(medium_.minerals.size()),
        n_totals_(medium_.n_totals()),
        skip_(problem.options.skip),
        crossing_(problem.options.crossing),
        old_(reaction.rate) {
    for (double& q : old_) q = std::isnan(q) ? 0.0 : q;
    prepare();
  }

  bool reacted_before() const {
    return grid_.composite->comm().any(std::ranges::any_of(old_, [](double q) { return q != 0.0; }));
  }
  void forget_before() { std::ranges::fill(old_, 0.0); }

  /// False where there is no solution; the state is then any.
  bool run(TransportReport& moved, CoupledCounts& counts) {
    set_sources();
    stepper_.advance(state_, dt_, moved, s_.sources);
    const Timer timer("reaction");
    for (std::size_t p = 0; p < n_totals_; ++p) std::ranges::copy(total(p).span(), s_.moved[p].span().begin());
    for (Array<double>& d : s_.spread) std::ranges::fill(d, 0.0);
    for (Array<double>& d : s_.dissolved) std::ranges::fill(d, 0.0);
    if (!solve_sites() && !start_without_reaction()) return false;
    for (int i = 0; i < most_iterations; ++i) {
      ++counts.iterations;
      spread_all();
      if (!solve_sites()) return false;
      const double left = left_over();
      const bool last = i + 1 == most_iterations;
      if (overdrawn()) {
        if (last) return false;
        continue;
      }
      if (left <= enough) return positive();
      if (last && left > too_much) return false;
    }
    return positive();
  }

  void sum_up(ReactionReport& report) {
    const Comm& comm = grid_.composite->comm();
    std::vector<double> sums(3 * n_);
    for (std::size_t m = 0; m < n_; ++m) {
      for (std::size_t k = 0; k < sites_.size(); ++k) {
        const std::size_t v = sites_.volume[k];
        const double change = s_.dissolved[m][v], now = old_[k * n_ + m] + change / dt_;
        sums[m] += grid_.volume[v] * (dt_ * old_[k * n_ + m] + change);
        const double before = reaction_.rate[k * n_ + m];
        reaction_.rate[k * n_ + m] = now;
        if (!reaction_.amount.empty())
          reaction_.amount[k * n_ + m] = left_after(reaction_.amount[k * n_ + m], dt_ * old_[k * n_ + m] + change);
        sums[n_ + m] += grid_.volume[v] * add_error(reaction_, k * n_ + m, before, dt_, crossing_);
      }
      sums[2 * n_ + m] = parallel_sum(grid_.n_own, [&](std::int64_t v) { return grid_.volume[v] * s_.spread[m][v]; });
    }
    comm.sum(std::span<double>(sums));
    report.dissolved.assign(sums.begin(), sums.begin() + n_);
    report.time_error.assign(sums.begin() + n_, sums.begin() + 2 * n_);
    report.gained.assign(n_totals_, 0.0);
    for (std::size_t m = 0; m < n_; ++m)
      for (std::size_t p = 0; p < n_totals_; ++p) report.gained[p] += medium_.minerals[m].brought[p] * sums[2 * n_ + m];
    std::vector<std::int64_t> counts{solved_, kept_, 0};
    for (const std::int32_t c : reaction_.cost) counts[2] += c;
    comm.sum(std::span<std::int64_t>(counts));
    report.solved = counts[0];
    report.kept = counts[1];
    report.speciations = counts[2];
    reaction_.dt = 0.0;  // rates are those of no step in turn
  }

 private:
  Array<double>& total(std::size_t p) { return state_.values[first_ + p]; }

  void prepare() {
    const std::size_t values = grid_.n_values, own = grid_.n_own;
    std::ranges::fill(reaction_.cost, 0);
    if (s_.seen.empty()) {  // else of steps before, maybe of an earlier run (reaction_items.hpp)
      for (auto* v : {&s_.rate, &s_.slope}) v->resize(sites_.size() * n_);
      s_.seen.assign(sites_.size() * n_totals_, never);
    }
    if (!s_.moved.empty()) return;
    const ScalarComponent& c = stepper_.components()[first_];
    s_.terms.diffusivity = c.diffusivity;
    for (std::size_t side = 0; side < 6; ++side) s_.terms.fixed[side] = c.sides[side].kind == ScalarSide::Kind::fixed;
    find_conductances(grid_, s_.terms);
    s_.terms.wall = Array<double>(own, Purpose::fields, 0.0);
    s_.terms.equilibrium = Array<double>(own, Purpose::fields, 0.0);
    for (std::size_t i = 0; i < first_ + n_totals_; ++i) s_.sources.emplace_back(own, Purpose::fields, 0.0);
    for (std::size_t p = 0; p < n_totals_; ++p) s_.moved.emplace_back(values, Purpose::fields, 0.0);
    for (std::size_t m = 0; m < n_; ++m) {
      s_.spread.emplace_back(values, Purpose::fields, 0.0);
      s_.dissolved.emplace_back(own, Purpose::fields, 0.0);
    }
    s_.room = Array<double>(values, Purpose::fields, 0.0);
    s_.source = Array<double>(own, Purpose::fields, 0.0);
    s_.b = Array<double>(own, Purpose::fields, 0.0);
  }

  void set_sources() {
    for (std::size_t p = 0; p < n_totals_; ++p) {
      Array<double>& source = s_.sources[first_ + p];
      for (std::size_t k = 0; k < sites_.size(); ++k) {
        double sum = 0.0;
        for (std::size_t m = 0; m < n_; ++m) sum += medium_.minerals[m].brought[p] * old_[k * n_ + m];
        source[sites_.volume[k]] = sum;
      }
    }
  }

  /// Rates behind the films of what is there, and their slopes along ν. False, on all ranks, where one is not found.
  bool solve_sites() {
    std::vector<CoupledWorkspace> workspaces(n_threads());
    for (CoupledWorkspace& b : workspaces) {
      b.solution = medium_.start;
      b.film.resize(n_totals_);
      b.slope.resize(medium_.n_basis() + 1);
      for (auto* v : {&b.share, &b.extent}) v->resize(n_);
      b.most.assign(n_, std::numeric_limits<double>::infinity());
    }
    const std::span<const Array<double>> totals = std::span(state_.values).subspan(first_, n_totals_);
    std::atomic<bool> failed = false;
    std::atomic<std::int64_t> kept = 0;
    const Timer timer("sites");
    const double before = seconds_worked();
    parallel_for_dynamic(std::ssize(sites_.volume), [&](std::int64_t k) {
      CoupledWorkspace& b = workspaces[thread_number()];
      find_film(grid_, sites_, k, totals, b.film);
      if (as_before(k, b.film))
        ++kept;
      else if (!solve_site(k, b))
        failed = true;
    });
    reaction_.seconds += seconds_worked() - before;
    kept_ += kept;
    solved_ += std::ssize(sites_.volume) - kept;
    return !grid_.composite->comm().any(failed);
  }

  /// T^ may hold less than the rates before took: then Newton's method starts from what is there without reaction,
  /// T^ less what Q_old brought.
  bool start_without_reaction() {
    std::ranges::fill(s_.rate, 0.0);
    std::ranges::fill(s_.slope, 0.0);
    spread_all();
    return solve_sites();
  }

  void spread_all() {
    for (std::size_t m = 0; m < n_; ++m) spread(m);
    add_up_totals();
  }

  /// What can dissolve at most, as a rate [mol/kgw/s].
  double most_rate(std::size_t k, std::size_t m) const {
    return reaction_.amount.empty() ? std::numeric_limits<double>::infinity()
                                    : std::max(0.0, reaction_.amount[k * n_ + m]) / dt_;
  }

  /// Rates and slopes of the last solve are those of these totals, too, where there is enough for them: they depend on
  /// nothing else but areas, which change where walls are partly covered.
  bool as_before(std::size_t k, std::span<const double> film) const {
    if (!(skip_ > 0.0) || !hardly_changed(film, std::span(s_.seen).subspan(k * n_totals_, n_totals_), skip_))
      return false;
    for (std::size_t m = 0; m < n_; ++m)
      if (s_.rate[k * n_ + m] > most_rate(k, m)) return false;
    return !areas_change(sites_, reaction_.amount, {}, k);
  }

  /// More is taken of a mineral somewhere than there is. The same on all ranks.
  bool overdrawn() const {
    if (!sites_.ends()) return false;
    constexpr double allowed = 1e-14;
    bool any = false;
    for (std::size_t k = 0; k < sites_.size(); ++k)
      for (std::size_t m = 0; m < n_; ++m) {
        const double taken = dt_ * old_[k * n_ + m] + s_.dissolved[m][sites_.volume[k]];
        const double there = std::max(0.0, reaction_.amount[k * n_ + m]);
        any = any || taken > there + allowed * (std::abs(dt_ * old_[k * n_ + m]) + there);
      }
    return grid_.composite->comm().any(any);
  }

  bool solve_site(std::size_t k, CoupledWorkspace& b) {
    const double tau = sites_.film_time[k];
    for (std::size_t m = 0; m < n_; ++m) {
      b.share[m] = sites_.area_of(k, m) * tau;
      b.most[m] = most_rate(k, m) * tau;
      b.extent[m] = old_[k * n_ + m] * tau;
    }
    float* const start = reaction_.start.data() + k * (n_totals_ + 2);
    begin_at(start, b.solution);
    const int before = b.work.evaluations;
    const ImplicitReaction film{b.film, b.share, b.most, b.extent};
    bool found = solve_reaction(medium_, film, b.solution, b.work);
    if (!found) {
      b.solution = medium_.start;
      std::ranges::fill(b.extent, 0.0);
      found = solve_reaction(medium_, film, b.solution, b.work);
    }
    reaction_.cost[k] += b.work.evaluations - before;
    if (!found) return false;
    keep_seen(b.film, s_.seen.data() + k * n_totals_);
    keep_start(b.solution, start);
    for (std::size_t m = 0; m < n_; ++m) {
      double slope = 0.0;
      const SurfaceReaction& r = medium_.minerals[m];
      const bool all = b.extent[m] >= b.most[m];  // it is what there is, whatever the water
      if (b.share[m] > 0.0 && !all &&
          activity_slopes(medium_.system, b.work.conditions, r.brought, b.solution, b.work.speciation, b.slope))
        slope = std::min(0.0, dissolution_slope(medium_.system, b.solution, r.mineral, b.slope));
      s_.rate[k * n_ + m] = all ? most_rate(k, m) : b.extent[m] / tau;
      s_.slope[k * n_ + m] = sites_.area_of(k, m) * slope / (1.0 - b.share[m] * slope);
    }
    if (areas_change(sites_, reaction_.amount, s_.rate, k)) s_.seen[k * n_totals_] = never;
    return true;
  }

  /// δ_m with the rate of what is there and its slope; made of its fluxes.
  void spread(std::size_t m) {
    Array<double>& d = s_.spread[m];
    for (std::size_t k = 0; k < sites_.size(); ++k) {
      const std::size_t v = sites_.volume[k];
      const double slope = s_.slope[k * n_ + m];
      s_.source[v] = s_.rate[k * n_ + m] - old_[k * n_ + m] - slope * d[v];
      s_.terms.wall[v] = -slope * grid_.volume[v];
    }
    parallel_for(grid_.n_own, [&](std::int64_t v) { s_.b[v] = dt_ * grid_.volume[v] * s_.source[v]; });
    std::ranges::fill(d, 0.0);
    set_step(grid_, s_.terms, dt_, s_.implicit);
    solve<1>(grid_, s_.terms, dt_, s_.implicit, s_.b.span(), d.span(), s_.room.span());
    parallel_for(grid_.n_own, [&](std::int64_t v) {
      s_.dissolved[m][v] = dt_ * (s_.source[v] - s_.terms.wall[v] / grid_.volume[v] * d[v]);
    });
    for_sums_across<1>(
        grid_, s_.terms.g, d.data(), [](std::int32_t v) { return v; },
        [&](std::int64_t v, double across, std::int32_t) {
          s_.b[v] = s_.dissolved[m][v] - dt_ / grid_.volume[v] * (s_.terms.g.sum[v] * d[v] - across);
        });
    std::ranges::copy(s_.b.span(), d.span().begin());
    fetch_remote(grid_, d.span());
  }

  void add_up_totals() {
    for (std::size_t p = 0; p < n_totals_; ++p)
      parallel_for(grid_.n_all, [&](std::int64_t v) {
        double sum = s_.moved[p][v];
        for (std::size_t m = 0; m < n_; ++m) sum += medium_.minerals[m].brought[p] * s_.spread[m][v];
        total(p)[v] = sum;
      });
  }

  /// Σ |Q - what has been taken for it| / Σ |Q|, the largest of all minerals.
  double left_over() {
    std::vector<double> sums(2 * n_);
    for (std::size_t k = 0; k < sites_.size(); ++k)
      for (std::size_t m = 0; m < n_; ++m) {
        const std::size_t v = sites_.volume[k];
        const double taken = old_[k * n_ + m] + s_.dissolved[m][v] / dt_, found = s_.rate[k * n_ + m];
        sums[2 * m] += grid_.volume[v] * std::abs(found - taken);
        sums[2 * m + 1] += grid_.volume[v] * (std::abs(found) + std::abs(taken));
      }
    grid_.composite->comm().sum(std::span<double>(sums));
    double worst = 0.0;
    for (std::size_t m = 0; m < n_; ++m)
      if (sums[2 * m + 1] > 0.0) worst = std::max(worst, sums[2 * m] / sums[2 * m + 1]);
    return worst;
  }

  /// No total but that of H+ is below zero.
  bool positive() {
    double least = 0.0, size = 0.0;
    for (std::size_t p = 1; p < n_totals_; ++p) {
      const Array<double>& t = total(p);
      least = std::max(least, parallel_max(grid_.n_own, [&](std::int64_t v) { return -t[v]; }));
      size = std::max(size, parallel_max(grid_.n_own, [&](std::int64_t v) { return t[v]; }));
    }
    std::array<double, 2> both{least, size};
    grid_.composite->comm().max(std::span<double>(both));
    return both[0] <= round_off * both[1];
  }

  const ReactiveMedium& medium_;
  const ReactiveSites& sites_;
  TransportStepper& stepper_;
  ScalarGrid& grid_;
  double dt_;
  std::size_t first_;
  ReactionState& reaction_;
  TransportState& state_;
  CoupledScratch& s_;
  std::size_t n_, n_totals_;
  double skip_, crossing_;
  std::int64_t solved_ = 0, kept_ = 0;  ///< sites, over all iterations
  std::vector<double> old_;             ///< [site][mineral] Q_old
};

}  // namespace

std::int64_t CoupledScratch::bytes() const {
  std::size_t sum = room.bytes() + source.bytes() + b.bytes();
  for (const auto* all : {&sources, &moved, &spread, &dissolved})
    for (const Array<double>& a : *all) sum += a.bytes();
  return static_cast<std::int64_t>(sum + sizeof(double) * (rate.capacity() + slope.capacity()) +
                                   sizeof(float) * seen.capacity()) +
         terms.bytes() + implicit.bytes();
}

void advance_coupled(const CoupledProblem& problem, TransportStepper& stepper, double dt, ReactionState& reaction,
                     TransportState& state, CoupledScratch& scratch, TransportReport& moved, ReactionReport& reacted) {
  CoupledCounts& counts = scratch.counts;
  ++counts.steps;
  Coupled step(problem, stepper, dt, reaction, state, scratch);
  bool found = step.run(moved, counts);
  if (!found && step.reacted_before()) {
    ++counts.from_zero;
    stepper.go_back(state);
    step.forget_before();
    found = step.run(moved, counts);
  }
  const auto n_totals = problem.medium.n_totals();
  if (found) {
    step.sum_up(reacted);
  } else {
    ++counts.in_turn;
    stepper.go_back(state);
    stepper.advance(state, dt, moved);
    react(problem.medium, problem.sites, stepper.grid(), dt, problem.options, reaction,
          std::span(state.values).subspan(problem.first, n_totals), reacted);
  }
  for (std::size_t p = 0; p < n_totals; ++p) stepper.take_changes(state, problem.first + p);
}

}  // namespace karst
