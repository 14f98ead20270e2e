// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reaction_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/error.hpp"
#include "base/timer.hpp"

namespace karst {

namespace {

constexpr double least_total = 1e-14;  ///< [mol/kgw], next to which changes are none

/// What a thread works with.
struct Bench {
  ReactionWorkspace work;
  Speciation solution;
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
  Step(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double dt,
       const ReactionOptions& options, ReactionState& state)
      : medium_(medium),
        sites_(sites),
        grid_(grid),
        dt_(dt),
        options_(options),
        state_(state),
        n_(medium.minerals.size()),
        n_totals_(medium.n_totals()),
        old_rate_(state.rate),
        kept_(sites.size()),
        film_(sites.size() * n_totals_),
        own_(film_.size()),
        released_(state.sorbed.size(), 0.0) {}

  /// Totals that react, before any of them changes.
  void look(std::span<const Array<double>> totals) {
    parallel_for(std::ssize(sites_.volume), [&](std::int64_t i) {
      const auto s = static_cast<std::size_t>(i);
      find_film(sites_, s, totals, std::span(film_).subspan(s * n_totals_, n_totals_));
      for (std::size_t p = 0; p < n_totals_; ++p) {
        own_[s * n_totals_ + p] = totals[p][sites_.volume[s]];
        if (sorbs()) film_[s * n_totals_ + p] += state_.sorbed[s * n_totals_ + p];
      }
    });
  }

  void solve(Failures& failures) {
    std::vector<std::int64_t> sums{0};
    for (const std::int64_t cost : state_.cost) sums.push_back(sums.back() + cost + 1);
    std::vector<Bench> benches(static_cast<std::size_t>(n_threads()));
    if (sites_.size() == 0) return;
    for (Bench& b : benches) prepare(b);
    const Timer timer("sites");
    parallel_for_shares(sums, [&](std::int64_t i) {
      Bench& bench = benches[thread_number()];
      if (!solve_site(static_cast<std::size_t>(i), bench)) failures.add(i);
    });
    state_.seconds += timer.seconds();
  }

  void apply(std::span<Array<double>> totals) const {
    parallel_for(std::ssize(sites_.volume), [&](std::int64_t i) {
      const auto s = static_cast<std::size_t>(i), v = static_cast<std::size_t>(sites_.volume[s]);
      for (std::size_t m = 0; m < n_; ++m) {
        const double amount = dt_ * state_.rate[s * n_ + m];
        state_.amount[s * n_ + m] -= amount;
        for (std::size_t p = 0; p < n_totals_; ++p) totals[p][v] += medium_.minerals[m].brought[p] * amount;
      }
      for (std::size_t p = 0; sorbs() && kept_[s] == 0 && p < n_totals_; ++p) {
        totals[p][v] = own_[s * n_totals_ + p];
        state_.sorbed[s * n_totals_ + p] -= released_[s * n_totals_ + p];
      }
    });
  }

  void sum_up(ReactionReport& report) const {
    std::vector<double> sums(2 * n_);
    for (std::size_t m = 0; m < n_; ++m) {
      const auto of_sites = [&](auto&& f) {
        return parallel_sum(std::ssize(sites_.volume), [&](std::int64_t i) {
          const auto s = static_cast<std::size_t>(i);
          return dt_ * grid_.volume[sites_.volume[s]] * f(state_.rate[s * n_ + m], old_rate_[s * n_ + m]);
        });
      };
      sums[m] = of_sites([](double now, double) { return now; });
      if (!medium_.minerals[m].at_once())
        sums[n_ + m] =
            of_sites([](double now, double old) { return std::isnan(old) ? 0.0 : 0.5 * std::abs(now - old); });
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
    report.dissolved.assign(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(n_));
    report.time_error.assign(sums.begin() + static_cast<std::ptrdiff_t>(n_), sums.end());
    report.gained = released;
    for (std::size_t m = 0; m < n_; ++m)
      for (std::size_t p = 0; p < n_totals_; ++p)
        report.gained[p] += medium_.minerals[m].brought[p] * report.dissolved[m];
    report.solved = counts[0];
    report.kept = counts[1];
    report.speciations = counts[2];
  }

  std::span<const double> film(std::size_t site) const { return std::span(film_).subspan(site * n_totals_, n_totals_); }

 private:
  bool sorbs() const { return !medium_.sites.empty(); }

  /// Σ V values of all sites, [primary]; 0 where there are none.
  std::vector<double> add_up(const std::vector<double>& values) const {
    std::vector<double> sums(n_totals_, 0.0);
    for (std::size_t p = 0; p < n_totals_ && !values.empty(); ++p)
      sums[p] = parallel_sum(std::ssize(sites_.volume), [&](std::int64_t i) {
        const auto s = static_cast<std::size_t>(i);
        return grid_.volume[sites_.volume[s]] * values[s * n_totals_ + p];
      });
    return sums;
  }

  void prepare(Bench& b) const {
    b.solution = medium_.start;
    for (auto* v : {&b.share, &b.most, &b.least, &b.extent}) v->resize(n_);
  }

  /// The rates of the last solve are those of these totals, too.
  bool as_before(std::size_t s) const {
    if (!(options_.skip > 0.0)) return false;
    if (std::abs(dt_ - state_.dt) > 1e-9 * dt_) return false;
    if (!hardly_changed(film(s), std::span(state_.seen).subspan(s * n_totals_, n_totals_), options_.skip)) return false;
    for (std::size_t m = 0; m < n_; ++m)
      if (dt_ * old_rate_[s * n_ + m] > state_.amount[s * n_ + m]) return false;
    return true;
  }

  bool solve_site(std::size_t s, Bench& b) {
    state_.cost[s] = 0;
    kept_[s] = as_before(s) ? 1 : 0;
    if (kept_[s] != 0) return true;
    const double tau = sites_.film_time[s], seen = std::max(0.5 * dt_ + tau, dt_), longer = seen / dt_;
    for (std::size_t m = 0; m < n_; ++m) {
      const SurfaceReaction& r = medium_.minerals[m];
      b.share[m] = r.at_once() ? sites_.area[s * n_ + m] : sites_.area[s * n_ + m] * seen;
      b.most[m] = r.dissolves ? std::max(0.0, state_.amount[s * n_ + m]) * longer : 0.0;
      b.least[m] = r.precipitates ? -std::numeric_limits<double>::infinity() : 0.0;
      b.extent[m] = std::isnan(old_rate_[s * n_ + m]) ? 0.0 : old_rate_[s * n_ + m] * seen;
    }
    const std::size_t n_basis = medium_.n_basis();
    double* const start = state_.start.data() + s * (n_basis + 2);
    std::copy_n(start, n_basis, b.solution.basis.begin());
    b.solution.ionic_strength = start[n_basis];
    b.solution.ln_water = start[n_basis + 1];
    const int before = b.work.evaluations;
    const ImplicitReaction reaction{film(s), b.share, b.most, b.extent, b.least};
    bool found = solve_reaction(medium_, reaction, b.solution, b.work);
    if (!found) {  // once more from the first start, without the term along the wall
      b.solution = medium_.start;
      if (tau > 0.0)
        std::copy_n(own_.begin() + static_cast<std::ptrdiff_t>(s * n_totals_), n_totals_,
                    film_.begin() + static_cast<std::ptrdiff_t>(s * n_totals_));
      std::ranges::fill(b.extent, 0.0);
      found = solve_reaction(medium_, reaction, b.solution, b.work);
    }
    state_.cost[s] = b.work.evaluations - before;
    if (!found) return false;
    std::ranges::copy(b.solution.basis, start);
    start[n_basis] = b.solution.ionic_strength;
    start[n_basis + 1] = b.solution.ln_water;
    std::ranges::copy(film(s), state_.seen.begin() + static_cast<std::ptrdiff_t>(s * n_totals_));
    for (std::size_t m = 0; m < n_; ++m) {
      // What has gone has gone to the last bit.
      const bool all = b.extent[m] >= b.most[m];
      state_.rate[s * n_ + m] = all ? state_.amount[s * n_ + m] / dt_ : b.extent[m] / seen;
    }
    if (tau > 0.0) leave_positive(s);
    if (sorbs()) take_dissolved(s, b.solution);
    return true;
  }

  /// What is dissolved then is that of the solution, however little it is; what sorbs is all else.
  void take_dissolved(std::size_t s, const Speciation& solution) {
    for (std::size_t p = 0; p < n_totals_; ++p) {
      double& own = own_[s * n_totals_ + p];
      double released = total_of(medium_.system, solution, static_cast<int>(p)) - own;
      for (std::size_t m = 0; m < n_; ++m) released -= dt_ * state_.rate[s * n_ + m] * medium_.minerals[m].brought[p];
      released_[s * n_totals_ + p] = released;
      own = total_of(medium_.system, solution, static_cast<int>(p));
    }
  }

  /// The term along the wall may show the wall more than the volume has: no total becomes negative by that.
  void leave_positive(std::size_t s) {
    double part = 1.0;
    for (std::size_t p = 1; p < n_totals_; ++p) {
      double change = 0.0;
      for (std::size_t m = 0; m < n_; ++m) change += dt_ * state_.rate[s * n_ + m] * medium_.minerals[m].brought[p];
      const double there = std::max(0.0, own_[s * n_totals_ + p]);
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
  std::size_t n_, n_totals_;
  std::vector<double> old_rate_;
  std::vector<std::uint8_t> kept_;
  std::vector<double> film_;      ///< [site][primary] totals at the film, with what sorbs
  std::vector<double> own_;       ///< [site][primary] in the volume; where anything sorbs what is dissolved in the end
  std::vector<double> released_;  ///< [site][primary] what no longer sorbs; empty where nothing does
};

/// The same message on all ranks: where, and what water it is.
void tell_failures(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, const Step& step,
                   const Failures& failures, double dt) {
  const Comm& comm = grid.composite->comm();
  const std::int64_t n = comm.sum(failures.n);
  if (n == 0) return;
  std::string text;
  if (failures.n > 0) {
    const auto s = static_cast<std::size_t>(failures.site);
    const Vec3 at = grid.centroid[sites.volume[s]];
    text = fmt::format("in the cell at ({:.1f}, {:.1f}, {:.1f}) cell widths, totals [mol/kgw]:", at[0], at[1], at[2]);
    for (std::size_t p = 0; p < step.film(s).size(); ++p)
      text += fmt::format(" {} {:.6g}", medium.system.elements[p], step.film(s)[p]);
  }
  const auto first = -static_cast<int>(comm.max(failures.n > 0 ? -static_cast<double>(comm.rank()) : -1e9));
  comm.broadcast(text, first);
  throw Error(fmt::format(
      "chemistry: no solution of the reaction over a step of {:.4g} s in {} cells; first {}. A shorter step "
      "(time.dt) or slower minerals may help",
      dt, n, text));
}

}  // namespace

bool hardly_changed(std::span<const double> now, std::span<const double> before, double skip) {
  for (std::size_t p = 0; p < now.size(); ++p)
    if (!(std::abs(now[p] - before[p]) <= skip * (std::abs(before[p]) + least_total))) return false;
  return true;
}

std::int64_t ReactionState::bytes() const {
  return static_cast<std::int64_t>(sizeof(double) * (start.capacity() + seen.capacity() + sorbed.capacity() +
                                                     amount.capacity() + rate.capacity() + cost.capacity()));
}

ReactionState start_reaction(const ReactiveMedium& medium, const ReactiveSites& sites) {
  ReactionState state;
  const std::size_t n_totals = medium.n_totals();
  for (std::size_t s = 0; s < sites.size(); ++s) {
    for (std::size_t p = 0; p < n_totals && !medium.sites.empty(); ++p)
      state.sorbed.push_back(sorbed_of(medium.system, medium.start, static_cast<int>(p)));
    state.start.insert(state.start.end(), medium.start.basis.begin(), medium.start.basis.end());
    state.start.push_back(medium.start.ionic_strength);
    state.start.push_back(medium.start.ln_water);
  }
  state.seen.resize(sites.size() * n_totals, std::numeric_limits<double>::quiet_NaN());
  state.amount = sites.amount;
  state.rate.resize(sites.size() * medium.minerals.size(), std::numeric_limits<double>::quiet_NaN());
  state.cost.resize(sites.size(), 1);
  return state;
}

void react(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double dt,
           const ReactionOptions& options, ReactionState& state, std::span<Array<double>> totals,
           ReactionReport& report) {
  const Timer timer("reaction");
  Step step(medium, sites, grid, dt, options, state);
  step.look(totals);
  Failures failures;
  step.solve(failures);
  tell_failures(medium, sites, grid, step, failures, dt);
  step.apply(totals);
  step.sum_up(report);
  state.dt = dt;
}

}  // namespace karst
