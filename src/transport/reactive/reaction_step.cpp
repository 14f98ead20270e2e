// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reaction_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/traffic.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

constexpr double least_total = 1e-14;  ///< [mol/kgw], next to which changes are none

/// What a thread works with.
struct SiteWorkspace {
  ReactionWorkspace work;
  Speciation solution;
  std::vector<double> film, own;  ///< [primary] totals at the film, with what sorbs; in the volume
  std::vector<double> share, most, least, extent;
};

/// What no site solved.
struct Failures {
  std::mutex mutex;
  std::int64_t n = 0, site = std::numeric_limits<std::int64_t>::max();
  void add(std::int64_t i) {
    const std::lock_guard lock(mutex);
    ++n;
    site = std::min(site, i);
  }
};

class Step {
 public:
  /// @param totals  as they stand until apply()
  Step(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double dt,
       const ReactionOptions& options, ReactionState& state, std::span<Array<double>> totals)
      : medium_(medium),
        sites_(sites),
        grid_(grid),
        dt_(dt),
        options_(options),
        state_(state),
        totals_(totals),
        n_(medium.minerals.size()),
        n_totals_(medium.n_totals()),
        old_rate_(state.rate),
        kept_(sites.size()),
        dissolved_(state.sorbed.size(), 0.0),
        released_(state.sorbed.size(), 0.0) {}

  /// Totals that react.
  void look(std::size_t s, std::vector<double>& film) const {
    film.resize(n_totals_);
    find_film(grid_, sites_, s, totals_, film);
    for (std::size_t p = 0; sorbs() && p < n_totals_; ++p) film[p] += state_.sorbed[s * n_totals_ + p];
  }

  void solve(Failures& failures) {
    std::vector<std::int64_t> sums{0};
    sums.reserve(state_.cost.size() + 1);
    for (const std::int32_t cost : state_.cost) sums.push_back(sums.back() + cost + 1);
    std::vector<SiteWorkspace> workspaces(n_threads());
    if (sites_.size() == 0) return;
    for (SiteWorkspace& b : workspaces) prepare(b);
    const Timer timer("sites");
    const double before = seconds_worked();
    parallel_for_shares(sums, [&](std::int64_t i) {
      SiteWorkspace& workspace = workspaces[thread_number()];
      if (!solve_site(i, workspace)) failures.add(i);
    });
    state_.seconds += seconds_worked() - before;
  }

  /// [site][mineral]
  template <class F>
  std::vector<double> of_minerals(F&& f) const {
    std::vector<double> all;
    for (std::size_t s = 0; s < sites_.size(); ++s)
      for (std::size_t m = 0; m < n_; ++m) all.push_back(f(s, m));
    return all;
  }
  std::vector<double> areas() const {
    return of_minerals([&](std::size_t s, std::size_t m) { return sites_.area_of(s, m); });
  }
  std::vector<double> amounts() const {
    return of_minerals([&](std::size_t s, std::size_t m) { return left(s, m); });
  }

  /// Rates that PHREEQC finds over the step.
  void take_rates_of(PhreeqcCells& cells) {
    std::vector<double> there(sites_.size() * n_totals_), dissolved(sites_.size() * n_);
    for (std::size_t s = 0; s < sites_.size(); ++s)
      for (std::size_t p = 0; p < n_totals_; ++p) there[s * n_totals_ + p] = totals_[p][sites_.volume[s]];
    cells.react(dt_, there, dissolved);
    for (std::size_t s = 0; s < sites_.size(); ++s)
      for (std::size_t m = 0; m < n_; ++m)
        state_.rate[s * n_ + m] = std::min(dissolved[s * n_ + m], std::max(0.0, left(s, m))) / dt_;
  }

  /// @param time  that rates act
  void apply(double time) const {
    parallel_for(std::ssize(sites_.volume), [&](std::int64_t s) {
      const std::size_t v = sites_.volume[s];
      for (std::size_t m = 0; m < n_; ++m) {
        const double amount = time * state_.rate[s * n_ + m];
        if (!state_.amount.empty()) state_.amount[s * n_ + m] = left_after(state_.amount[s * n_ + m], amount);
        for (std::size_t p = 0; p < n_totals_; ++p) totals_[p][v] += medium_.minerals[m].brought[p] * amount;
      }
      for (std::size_t p = 0; sorbs() && kept_[s] == 0 && p < n_totals_; ++p) {
        totals_[p][v] = dissolved_[s * n_totals_ + p];
        state_.sorbed[s * n_totals_ + p] -= released_[s * n_totals_ + p];
      }
    });
  }

  void sum_up(double time, ReactionReport& report) const {
    std::vector<double> sums(2 * n_);
    for (std::size_t m = 0; m < n_; ++m) {
      sums[m] = parallel_sum(std::ssize(sites_.volume), [&](std::int64_t s) {
        return grid_.volume[sites_.volume[s]] * time * state_.rate[s * n_ + m];
      });
      if (medium_.minerals[m].at_once()) continue;
      sums[n_ + m] = parallel_sum(std::ssize(sites_.volume), [&](std::int64_t s) {
        return grid_.volume[sites_.volume[s]] *
               add_error(state_, s * n_ + m, old_rate_[s * n_ + m], dt_, options_.crossing);
      });
    }
    std::vector<double> sorbed = add_up(state_.sorbed), released = add_up(released_);
    std::vector<std::int64_t> counts(3);
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      ++counts[kept_[s] != 0 ? 1 : 0];
      counts[2] += state_.cost[s];
    }
    const Comm& comm = grid_.composite->comm();
    comm.sum(std::span<double>(sums));
    comm.sum(std::span<double>(sorbed));
    comm.sum(std::span<double>(released));
    comm.sum(std::span<std::int64_t>(counts));
    report.sorbed = sorbs() ? sorbed : std::vector<double>();
    report.dissolved.assign(sums.begin(), sums.begin() + n_);
    report.time_error.assign(sums.begin() + n_, sums.end());
    report.gained = released;
    for (std::size_t m = 0; m < n_; ++m)
      for (std::size_t p = 0; p < n_totals_; ++p)
        report.gained[p] += medium_.minerals[m].brought[p] * report.dissolved[m];
    report.solved = counts[0];
    report.kept = counts[1];
    report.speciations = counts[2];
  }

 private:
  bool sorbs() const { return !medium_.sites.empty(); }

  /// What there is of a mineral [mol/kgw].
  double left(std::size_t s, std::size_t m) const {
    return state_.amount.empty() ? std::numeric_limits<double>::infinity() : state_.amount[s * n_ + m];
  }

  /// Σ V values of all sites, [primary]; 0 where there are none.
  std::vector<double> add_up(const std::vector<double>& values) const {
    std::vector<double> sums(n_totals_, 0.0);
    for (std::size_t p = 0; p < n_totals_ && !values.empty(); ++p)
      sums[p] = parallel_sum(std::ssize(sites_.volume), [&](std::int64_t s) {
        return grid_.volume[sites_.volume[s]] * values[s * n_totals_ + p];
      });
    return sums;
  }

  void prepare(SiteWorkspace& b) const {
    b.solution = medium_.start;
    b.own.resize(n_totals_);
    for (auto* v : {&b.share, &b.most, &b.least, &b.extent}) v->resize(n_);
  }

  /// The rates of the last solve are those of these totals, too.
  bool as_before(std::size_t s, std::span<const double> film) const {
    if (!(options_.skip > 0.0)) return false;
    if (std::abs(dt_ - state_.dt) > 1e-9 * dt_) return false;
    if (!hardly_changed(film, std::span(state_.seen).subspan(s * n_totals_, n_totals_), options_.skip)) return false;
    for (std::size_t m = 0; m < n_; ++m)
      if (dt_ * old_rate_[s * n_ + m] > left(s, m)) return false;
    return !areas_change(sites_, state_.amount, {}, s);
  }

  bool solve_site(std::size_t s, SiteWorkspace& b) {
    state_.cost[s] = 0;
    look(s, b.film);
    kept_[s] = as_before(s, b.film) ? 1 : 0;
    if (kept_[s] != 0) return true;
    for (std::size_t p = 0; p < n_totals_; ++p) b.own[p] = totals_[p][sites_.volume[s]];
    const double tau = sites_.has_films() ? sites_.film_time[s] : 0.0;
    const double seen = std::max(0.5 * dt_ + tau, dt_), longer = seen / dt_;
    for (std::size_t m = 0; m < n_; ++m) {
      const SurfaceReaction& r = medium_.minerals[m];
      b.share[m] = sites_.area_of(s, m) * (r.at_once() ? 1.0 : seen);
      b.most[m] = r.dissolves ? std::max(0.0, left(s, m)) * longer : 0.0;
      b.least[m] = r.precipitates ? -std::numeric_limits<double>::infinity() : 0.0;
      b.extent[m] = std::isnan(old_rate_[s * n_ + m]) ? 0.0 : old_rate_[s * n_ + m] * seen;
    }
    float* const start = state_.start.data() + s * (medium_.n_basis() + 2);
    begin_at(start, b.solution);
    const int before = b.work.evaluations;
    const ImplicitReaction reaction{b.film, b.share, b.most, b.extent, b.least};
    bool found = solve_reaction(medium_, reaction, b.solution, b.work);
    if (!found) {  // once more from the first start, without the term along the wall
      b.solution = medium_.start;
      if (tau > 0.0) std::ranges::copy(b.own, b.film.begin());
      std::ranges::fill(b.extent, 0.0);
      found = solve_reaction(medium_, reaction, b.solution, b.work);
    }
    state_.cost[s] = b.work.evaluations - before;
    if (!found) return false;
    keep_start(b.solution, start);
    keep_seen(b.film, state_.seen.data() + s * n_totals_);
    for (std::size_t m = 0; m < n_; ++m) {
      // What has gone has gone to the last bit.
      const bool all = b.extent[m] >= b.most[m];
      state_.rate[s * n_ + m] = all ? left(s, m) / dt_ : b.extent[m] / seen;
    }
    if (areas_change(sites_, state_.amount, state_.rate, s)) state_.seen[s * n_totals_] = never;
    if (tau > 0.0) leave_positive(s, b.own);
    if (sorbs()) take_dissolved(s, b);
    return true;
  }

  /// What is dissolved then is that of the solution, however little it is; what sorbs is all else.
  void take_dissolved(std::size_t s, const SiteWorkspace& b) {
    for (std::size_t p = 0; p < n_totals_; ++p) {
      const double dissolved = total_of(medium_.system, b.solution, static_cast<int>(p));
      double released = dissolved - b.own[p];
      for (std::size_t m = 0; m < n_; ++m) released -= dt_ * state_.rate[s * n_ + m] * medium_.minerals[m].brought[p];
      released_[s * n_totals_ + p] = released;
      dissolved_[s * n_totals_ + p] = dissolved;
    }
  }

  /// The term along the wall may show the wall more than the volume has: no total becomes negative by that.
  void leave_positive(std::size_t s, std::span<const double> own) {
    double part = 1.0;
    for (std::size_t p = 1; p < n_totals_; ++p) {
      double change = 0.0;
      for (std::size_t m = 0; m < n_; ++m) change += dt_ * state_.rate[s * n_ + m] * medium_.minerals[m].brought[p];
      const double there = std::max(0.0, own[p]);
      if (change < -there) part = std::min(part, there / -change);
    }
    if (part < 1.0)
      for (std::size_t m = 0; m < n_; ++m) state_.rate[s * n_ + m] *= part;
  }

  const ReactiveMedium& medium_;
  const ReactiveSites& sites_;
  const ScalarGrid& grid_;
  double dt_;
  const ReactionOptions& options_;
  ReactionState& state_;
  std::span<Array<double>> totals_;
  std::size_t n_, n_totals_;
  std::vector<double> old_rate_;
  std::vector<std::uint8_t> kept_;
  std::vector<double> dissolved_;  ///< [site][primary] in the end; empty where nothing sorbs
  std::vector<double> released_;   ///< [site][primary] what no longer sorbs; empty where nothing does
};

/// The same message on all ranks: where, and what water it is.
void tell_failures(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, const Step& step,
                   const Failures& failures, double dt) {
  const Comm& comm = grid.composite->comm();
  const std::int64_t n = comm.sum(failures.n);
  if (n == 0) return;
  std::string text;
  if (failures.n > 0) {
    const std::size_t s = failures.site;
    const Vec3 at = grid.centroid[sites.volume[s]];
    text = fmt::format("in the cell at ({:.1f}, {:.1f}, {:.1f}) cell widths, totals [mol/kgw]:", at[0], at[1], at[2]);
    std::vector<double> film;
    step.look(s, film);
    for (std::size_t p = 0; p < film.size(); ++p) text += fmt::format(" {} {:.6g}", medium.system.elements[p], film[p]);
  }
  const auto first = -static_cast<int>(comm.max(failures.n > 0 ? -static_cast<double>(comm.rank()) : -1e9));
  comm.broadcast(text, first);
  throw Error(fmt::format(
      "chemistry: no solution of the reaction over a step of {:.4g} s in {} cells; first {}. A shorter step "
      "(time.dt) or slower minerals may help",
      dt, n, text));
}

}  // namespace

bool hardly_changed(std::span<const double> now, std::span<const float> before, double skip) {
  for (std::size_t p = 0; p < now.size(); ++p)
    if (const double seen = before[p]; !(std::abs(now[p] - seen) <= skip * (std::abs(seen) + least_total)))
      return false;
  return true;
}

void keep_start(const Speciation& solution, float* start) {
  for (const double x : solution.basis) *start++ = static_cast<float>(x);
  *start++ = static_cast<float>(solution.ionic_strength);
  *start = static_cast<float>(solution.ln_water);
}

void begin_at(const float* start, Speciation& solution) {
  for (double& x : solution.basis) x = *start++;
  solution.ionic_strength = *start++;
  solution.ln_water = *start;
}

void keep_seen(std::span<const double> film, float* seen) {
  for (const double t : film) *seen++ = static_cast<float>(t);
}

double add_error(ReactionState& state, std::size_t i, double before, double dt, double crossing) {
  const double now = state.rate[i], interval = std::abs(now) > std::abs(before) ? std::max(dt, crossing) : dt;
  const double added = std::isnan(before) ? 0.0 : 0.5 * interval * std::abs(now - before);
  if (state.error.empty()) return added;
  const double was = state.error[i];
  state.error[i] = state.amount[i] > 0.0 ? was + added : 0.0;
  return state.error[i] - was;
}

std::int64_t ReactionState::bytes() const {
  return static_cast<std::int64_t>(
      sizeof(double) * (sorbed.capacity() + amount.capacity() + error.capacity() + rate.capacity()) +
      sizeof(float) * (start.capacity() + seen.capacity()) + sizeof(std::int32_t) * cost.capacity());
}

ReactionState start_reaction(const ReactiveMedium& medium, const ReactiveSites& sites) {
  ReactionState state;
  const std::size_t n_totals = medium.n_totals(), n_start = medium.n_basis() + 2;
  state.start.resize(sites.size() * n_start);
  state.sorbed.reserve(medium.sites.empty() ? 0 : sites.size() * n_totals);
  state.amount.reserve(sites.ends() ? sites.size() * sites.n_minerals : 0);
  for (std::size_t s = 0; s < sites.size(); ++s) {
    for (std::size_t p = 0; p < n_totals && !medium.sites.empty(); ++p)
      state.sorbed.push_back(sorbed_of(medium.system, medium.start, static_cast<int>(p)));
    if (sites.ends()) state.amount.insert(state.amount.end(), sites.amount.begin(), sites.amount.end());
    keep_start(medium.start, state.start.data() + s * n_start);
  }
  state.error.resize(state.amount.size(), 0.0);
  state.seen.resize(sites.size() * n_totals, std::numeric_limits<float>::quiet_NaN());
  state.rate.resize(sites.size() * medium.minerals.size(), no_number);
  state.cost.resize(sites.size(), 1);
  return state;
}

void react(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double dt,
           const ReactionOptions& options, ReactionState& state, std::span<Array<double>> totals,
           ReactionReport& report) {
  const Timer timer("reaction");
  Step step(medium, sites, grid, dt, options, state, totals);
  Failures failures;
  step.solve(failures);
  tell_failures(medium, sites, grid, step, failures, dt);
  step.apply(options.now * dt);
  step.sum_up(options.now * dt, report);
  state.dt = dt;
}

void react_on(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double time,
              ReactionState& state, std::span<Array<double>> totals, ReactionReport& report) {
  const Timer timer("reaction");
  const ReactionOptions options{0.0};
  const Step step(medium, sites, grid, time, options, state, totals);
  step.apply(time);
  step.sum_up(time, report);
  report.solved = report.kept = report.speciations = 0;
}

void react_with_phreeqc(const PhreeqcFiles& files, std::optional<PhreeqcCells>& cells, const ReactionPlace& place,
                        double dt, ReactionState& state, std::span<Array<double>> totals, ReactionReport& report) {
  const Timer timer("reaction");
  const ReactionOptions options{0.0};
  Step step(place.medium, place.sites, place.grid, dt, options, state, totals);
  fail_together(place.grid.composite->comm(), [&] {
    if (place.sites.size() == 0) return;
    if (!cells) cells.emplace(files, place.medium, step.areas(), step.amounts(), n_threads());
    step.take_rates_of(*cells);
  });
  step.apply(dt);
  step.sum_up(dt, report);
  state.dt = dt;
}

}  // namespace karst
