// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/implicit_reaction.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "chemistry/reaction_sums.hpp"

namespace karst {

namespace {

using Kind = SolutionCondition::Kind;
using Bound = ReactionWorkspace::Bound;

constexpr double round_off = 1e-13;  // of an extent beyond its bound, relative to what is there
constexpr double nearly = 1e-9;      // of a rate that is held at its bound
constexpr double wanted = 1e-10;     // ln Ω beyond an equilibrium by which a phase goes on again

void prepare_solve(const ReactionSolve& s) {
  const std::size_t n = s.n(), n_basis = s.medium.n_basis(), n_totals = s.medium.n_totals();
  ReactionWorkspace& work = s.work;
  prepare(s.medium.table, work.speciation);
  work.conditions.resize(n_basis);
  work.speciation.conditions.resize(n_basis);
  work.bound.resize(n);
  work.pivot.resize(n);
  work.share.resize(n);
  work.fast.resize(n);
  work.brought.resize(n * n_totals);
  work.value.resize(n_basis);
  std::ranges::copy(s.medium.sites, work.conditions.begin() + n_totals);
}

bool newton(const ReactionSolve& s) {
  ++s.work.evaluations;
  begin_at_state(s);
  std::vector<double>& x = s.work.speciation.unknowns;
  s.state.iterations = 0;
  s.state.converged = solve(s.equations(), x, s.state.iterations);
  if (s.state.converged) take_state(s.equations(), x, s.state);
  return s.state.converged;
}

/// Extents: what the sum of its primary says, or the rate, whichever has less of round-off.
void find_extents(const ReactionSolve& s) {
  const std::size_t length = s.medium.table.length;
  for (std::size_t m = 0; m < s.n(); ++m)
    if (s.reacts(m)) s.reaction.extent[m] = s.goes_on(m) ? rate_of(s, m).net : s.bound_extent(m);
  for (std::size_t m = 0; m < s.n(); ++m) {
    if (!s.reacts(m) || s.work.pivot[m] < 0) continue;
    const std::size_t p = s.work.pivot[m];
    double sum = -s.work.value[p], terms = std::abs(sum);
    for (std::size_t i = 0; i < s.medium.system.species.size(); ++i) {
      const double q = s.work.part[p * length + i] * s.work.speciation.amount[i];
      sum += q;
      terms += std::abs(q);
    }
    for (std::size_t k = 0; k < s.n(); ++k)
      if (s.goes_on(k) && s.work.pivot[k] < 0) sum -= s.brought(k, p) * s.reaction.extent[k];
    if (s.at_once(m) || terms < rate_of(s, m).size * std::abs(s.brought(m, p)))
      s.reaction.extent[m] = sum / s.brought(m, p);
  }
}

/// A rate that is held at its bound would not reach it any more.
bool released(const ReactionSolve& s, std::size_t m) {
  const double rate = rate_of(s, m).net;
  return s.work.bound[m] == Bound::at_most ? rate < s.reaction.most[m] * (1.0 - nearly)
                                           : rate > s.least(m) * (1.0 - nearly);
}

/// The equilibrium that is at its bound and wants most to go on; n() where there is none.
std::size_t released_equilibrium(const ReactionSolve& s) {
  std::size_t worst = s.n();
  double largest = wanted;
  for (std::size_t m = 0; m < s.n(); ++m) {
    if (!s.reacts(m) || !s.at_once(m) || s.goes_on(m) || !(s.least(m) < s.reaction.most[m])) continue;
    const SurfaceReaction& r = s.medium.minerals[m];
    const double over = saturation_index(s.medium.system, s.state, r.mineral.phase) * std::numbers::ln10 - r.ln_omega;
    const double wants = s.work.bound[m] == Bound::at_most ? over : -over;
    if (wants <= largest) continue;
    largest = wants;
    worst = m;
  }
  return worst;
}

/// Takes reactions beyond their bounds to them, and lets go on what would; of equilibria one at a time, bounds first.
/// True where there is any.
bool changed(const ReactionSolve& s) {
  bool any = false;
  std::size_t worst = s.n();
  double farthest = 0.0;
  for (std::size_t m = 0; m < s.n(); ++m) {
    if (!s.reacts(m)) continue;
    double& extent = s.reaction.extent[m];
    const double up = extent - s.reaction.most[m], down = s.least(m) - extent, beyond = std::max(up, down);
    const Bound reached = up > down ? Bound::at_most : Bound::at_least;
    const bool past = beyond > round_off * (s.size + std::abs(extent));
    if (!s.goes_on(m)) {
      if (s.at_once(m) || !released(s, m)) continue;
      s.work.bound[m] = Bound::free;
      any = true;
    } else if (!past) {
      extent = std::clamp(extent, s.least(m), s.reaction.most[m]);
    } else if (!s.at_once(m)) {
      s.work.bound[m] = reached;
      any = true;
    } else if (beyond > farthest) {
      farthest = beyond;
      worst = m;
    }
  }
  if (worst < s.n()) {
    s.work.bound[worst] = s.reaction.extent[worst] > s.reaction.most[worst] ? Bound::at_most : Bound::at_least;
    return true;
  }
  if (any) return true;
  worst = released_equilibrium(s);
  if (worst == s.n()) return false;
  s.work.forms = s.work.bound[worst] == Bound::at_most;
  s.work.bound[worst] = Bound::free;
  s.work.entering = worst;
  return true;
}

/// Equilibria begin where their guess says.
void set_bounds(const ReactionSolve& s) {
  s.work.entering = s.n();
  s.work.forms = true;
  for (std::size_t m = 0; m < s.n(); ++m) {
    double& extent = s.reaction.extent[m];
    extent = s.reacts(m) ? std::clamp(extent, s.least(m), s.reaction.most[m]) : 0.0;
    s.work.bound[m] = !s.at_once(m)                  ? Bound::free
                      : extent >= s.reaction.most[m] ? Bound::at_most
                      : extent <= s.least(m)         ? Bound::at_least
                                                     : Bound::free;
  }
}

/// @param pace  all rates are these times theirs
bool run(const ReactionSolve& s, double pace = 1.0) {
  for (std::size_t m = 0; m < s.n(); ++m) s.work.share[m] = pace * s.reaction.share[m];
  find_fast(s);
  set_bounds(s);
  const std::size_t most_changes = 4 * s.n() + 8;
  for (std::size_t change = 0; change < most_changes; ++change) {
    if (!combine_sums(s) || !newton(s)) return false;
    find_extents(s);
    if (changed(s)) continue;
    for (std::size_t p = 0; p < s.medium.n_totals(); ++p) {
      double total = s.work.totals[p];
      for (std::size_t m = 0; m < s.n(); ++m) total += s.medium.minerals[m].brought[p] * s.reaction.extent[m];
      s.work.conditions[p] = {Kind::total, total};
    }
    return true;
  }
  return false;
}

/// From the totals of the start, without rates, to those that are asked, with rates that grow by decades.
bool run_in_stages(const ReactionSolve& s) {
  constexpr double decades = 30.0, shortest = 1e-4;
  Speciation& start = s.work.before;
  start = s.state;
  std::vector<double>& from = s.work.from;
  from.resize(s.medium.n_totals());
  for (std::size_t p = 0; p < from.size(); ++p)
    from[p] =
        total_of(s.medium.system, start, static_cast<int>(p)) + sorbed_of(s.medium.system, start, static_cast<int>(p));
  std::ranges::fill(s.reaction.extent, 0.0);
  for (double at = 0.0, step = 0.25; at < 1.0;) {
    const double next = std::min(1.0, at + step);
    for (std::size_t p = 0; p < from.size(); ++p)
      s.work.totals[p] = next < 1.0 ? from[p] + next * (s.reaction.totals[p] - from[p]) : s.reaction.totals[p];
    if (run(s, std::pow(10.0, decades * (next - 1.0)))) {
      start = s.state;
      at = next;
      step *= 2.0;
    } else {
      s.state = start;
      step *= 0.25;
      if (step < shortest) return false;
    }
  }
  return true;
}

std::vector<double> brought_by(const ChemicalSystem& system, int phase) {
  std::vector<double> brought(system.n_primaries, 0.0);
  for (const auto& [p, c] : system.phases[phase].dissolved.basis) brought[p] = c * system.atoms[p];
  return brought;
}

/// Adds two terms per path: ln of the forward rate k Π a^n, then of the backward rate k Π a^n Ω, each linear in the
/// logarithms of the basis.
void add_terms(const ChemicalSystem& system, const KineticMineral& mineral, std::vector<TableTerm>& terms) {
  const auto add = [](const MassAction& action, double times, TableTerm& to) {
    for (const auto& [b, c] : action.basis) to.basis.emplace_back(b, times * c);
    to.water += times * action.water;
    to.constant -= times * action.ln_k;
  };
  for (const RatePath& path : mineral.paths) {
    TableTerm way{{}, 0.0, path.ln_k};
    for (const auto& [species, exponent] : path.activity) add(system.species[species].formed, exponent, way);
    for (const auto& [phase, exponent] : path.phases) add(system.phases[phase].dissolved, exponent, way);
    terms.push_back(way);
    add(system.phases[mineral.phase].dissolved, 1.0, way);
    terms.push_back(std::move(way));
  }
}

}  // namespace

SurfaceReaction make_surface_reaction(const ChemicalSystem& system, const MineralOptions& options) {
  SurfaceReaction reaction{make_mineral(system, options), {}};
  reaction.mineral.area = 1.0;
  reaction.brought = brought_by(system, reaction.mineral.phase);
  return reaction;
}

SurfaceReaction make_equilibrium(const ChemicalSystem& system, const std::string& name, int phase, double ln_omega) {
  return {{name, phase, 0.0, 0.0, {}}, brought_by(system, phase), ln_omega};
}

ReactiveMedium make_medium(ChemicalSystem system, std::vector<SurfaceReaction> minerals, Speciation start,
                           std::vector<SolutionCondition> sites) {
  ReactiveMedium medium{std::move(system), std::move(minerals), std::move(start), {}, {}, std::move(sites)};
  std::vector<TableTerm> terms;
  const int first = medium.system.table.first_term;
  for (const SurfaceReaction& r : medium.minerals) {
    medium.first_term.push_back(first + static_cast<int>(terms.size()));
    add_terms(medium.system, r.mineral, terms);
  }
  medium.first_term.push_back(first + static_cast<int>(terms.size()));
  medium.table = make_table(medium.system, terms);
  return medium;
}

bool solve_reaction(const ReactiveMedium& medium, const ImplicitReaction& reaction, Speciation& state,
                    ReactionWorkspace& work) {
  ReactionSolve solve{medium, reaction, state, work};
  prepare_solve(solve);
  work.totals.assign(reaction.totals.begin(), reaction.totals.end());
  for (const double t : reaction.totals) solve.size += std::abs(t);
  for (const TakenOut which : {TakenOut::fast, TakenOut::all, TakenOut::none}) {
    solve.taken_out = which;
    if (run(solve)) return true;
  }
  solve.taken_out = TakenOut::fast;
  return run_in_stages(solve);
}

}  // namespace karst
