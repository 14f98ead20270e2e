// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/reaction_sums.hpp"

#include <algorithm>
#include <cmath>

namespace karst {

namespace {

using Kind = SolutionCondition::Kind;
using Bound = ReactionWorkspace::Bound;

constexpr double negligible = 1e-12;  // of a coefficient: what is left of it where others cancel
constexpr double nothing = 1e-300;    // share of a rate that is none
constexpr double much = 10.0;         // times a total

/// Constants of the amounts, with the shares of the rates.
void set_all_constants(const ReactionSolve& s) {
  set_constants(s.medium.system, s.medium.table, s.work.conditions, s.work.speciation);
  for (std::size_t m = 0; m < s.n(); ++m)
    for (int t = s.medium.first_term[m]; t < s.medium.first_term[m + 1]; ++t)
      s.work.speciation.constant[t] += std::log(std::max(s.work.share[m], nothing));
}

/// Totals and sums before they are combined.
void set_sums(const ReactionSolve& s) {
  const std::size_t n_totals = s.medium.n_totals(), length = s.medium.table.length;
  s.work.part.assign(s.medium.table.part.begin(), s.medium.table.part.end());
  for (std::size_t p = 0; p < n_totals; ++p)
    s.work.value[p] = p == 0 ? s.work.totals[p] : std::max(s.work.totals[p], least_amount);
  for (std::size_t m = 0; m < s.n(); ++m) {
    s.work.pivot[m] = -1;
    const std::vector<double>& brought = s.medium.minerals[m].brought;
    std::ranges::copy(brought, s.work.brought.begin() + m * n_totals);
    if (!s.reacts(m)) continue;
    for (std::size_t p = 0; p < n_totals; ++p) {
      if (!s.goes_on(m)) s.work.value[p] += brought[p] * s.bound_extent(m);
      for (int t = s.medium.first_term[m]; s.goes_on(m) && t < s.medium.first_term[m + 1]; ++t)
        s.work.part[p * length + t] = s.supplies(m, t) ? -brought[p] : brought[p];
    }
  }
}

/// The primary in whose sum a reaction is to stay: that of which there is least for it, so that the others, less their
/// share of it, stay sums of what they were; H+ only where there is no other. -1: the reaction is a sum of others.
int pivot_of(const ReactionSolve& s, std::size_t m) {
  const auto n_totals = static_cast<int>(s.medium.n_totals());
  const auto coefficient = [&](int p) {
    return std::ranges::count(s.work.pivot, p) == 0 ? std::abs(s.brought(m, p)) : 0.0;
  };
  double largest = 0.0, least_of_it = std::numeric_limits<double>::infinity();
  for (int p = 1; p < n_totals; ++p) largest = std::max(largest, coefficient(p));
  int pivot = coefficient(0) > negligible ? 0 : -1;
  for (int p = 1; p < n_totals; ++p) {
    const double c = coefficient(p), there = std::abs(s.work.value[p]) / c;
    if (c <= negligible || c < 0.1 * largest || there >= least_of_it) continue;
    least_of_it = there;
    pivot = p;
  }
  return pivot;
}

/// Leaves a reaction in the sum of one primary alone. False where it has none.
bool take_out(const ReactionSolve& s, std::size_t m) {
  s.work.pivot[m] = pivot_of(s, m);
  if (s.work.pivot[m] < 0) return false;
  const std::size_t pivot = s.work.pivot[m];
  const std::size_t length = s.medium.table.length;
  const double* const from = s.work.part.data() + pivot * length;
  for (std::size_t p = 0; p < s.medium.n_totals(); ++p) {
    const double factor = s.brought(m, p) / s.brought(m, pivot);
    if (p == pivot || std::abs(factor) <= negligible) continue;
    double* const to = s.work.part.data() + p * length;
    for (std::size_t i = 0; i < length; ++i) to[i] -= factor * from[i];
    s.work.value[p] -= factor * s.work.value[pivot];
    for (std::size_t other = 0; other < s.n(); ++other) s.brought(other, p) -= factor * s.brought(other, pivot);
  }
  return true;
}

/// Phase m is Σ c_k of others in equilibrium: as it forms (or dissolves) the others do the opposite, c_k times as much
/// of each, until the first one of all comes to a bound, and gives way. False where none does.
bool give_way(const ReactionSolve& s, std::size_t m) {
  std::size_t first = s.n();
  double amount = std::numeric_limits<double>::infinity();
  Bound bound = Bound::free;
  const auto reaches = [&](std::size_t k, double per_amount) {  // d extent / d amount
    const double way = per_amount > 0.0 ? s.reaction.most[k] - s.reaction.extent[k] : s.reaction.extent[k] - s.least(k);
    if (std::abs(per_amount) <= negligible || way / std::abs(per_amount) >= amount) return;
    amount = way / std::abs(per_amount);
    first = k;
    bound = per_amount > 0.0 ? Bound::at_most : Bound::at_least;
  };
  const double forms = s.work.forms ? 1.0 : -1.0;
  reaches(m, -forms);
  for (std::size_t k = 0; k < s.n(); ++k) {
    if (s.work.pivot[k] < 0 || !s.at_once(k)) continue;
    const std::size_t p = s.work.pivot[k];
    reaches(k, forms * s.brought(m, p) / s.brought(k, p));
  }
  if (first == s.n()) return false;
  s.work.bound[first] = bound;
  return true;
}

/// Conditions and lists of the combined sums.
void set_equations(const ReactionSolve& s) {
  const std::size_t n_totals = s.medium.n_totals(), length = s.medium.table.length;
  std::vector<SolutionCondition>& rows = s.work.speciation.conditions;
  s.work.sums.clear();
  for (std::size_t b = 0; b < s.medium.n_basis(); ++b) {
    const std::span<double> part(s.work.part.data() + b * length, length);
    for (double& c : part)
      if (std::abs(c) <= negligible) c = 0.0;
    s.work.sums.add(part);
    rows[b] = b < n_totals ? SolutionCondition{Kind::total, s.work.value[b]} : s.medium.sites[b - n_totals];
  }
  for (std::size_t m = 0; m < s.n(); ++m)
    if (s.goes_on(m) && s.at_once(m))
      rows[s.work.pivot[m]] = {Kind::saturation, s.medium.minerals[m].ln_omega, s.medium.minerals[m].mineral.phase};
  set_all_constants(s);
}

}  // namespace

void begin_at_state(const ReactionSolve& s) {
  std::vector<double>& x = s.work.speciation.unknowns;
  std::ranges::copy(s.state.basis, x.begin());
  x[s.medium.n_basis()] = s.state.ionic_strength;
  x[s.medium.n_basis() + 1] = s.state.ln_water;
}

RateWays rate_of(const ReactionSolve& s, std::size_t m) {
  RateWays ways;
  for (int t = s.medium.first_term[m]; t < s.medium.first_term[m + 1]; ++t) {
    const double way = s.work.speciation.amount[t];
    ways.net += s.supplies(m, t) ? way : -way;
    ways.size += way;
  }
  return ways;
}

void find_fast(const ReactionSolve& s) {
  set_all_constants(s);
  begin_at_state(s);
  evaluate(s.equations(), s.work.speciation.unknowns);
  for (std::size_t m = 0; m < s.n(); ++m) {
    double first = std::numeric_limits<double>::infinity(), second = first;
    for (std::size_t p = 1; p < s.medium.n_totals(); ++p) {
      const double c = std::abs(s.medium.minerals[m].brought[p]);
      if (c <= negligible) continue;
      const double total = std::max(s.work.totals[p], least_amount) / c;
      second = std::min(second, std::max(first, total));
      first = std::min(first, total);
    }
    s.work.fast[m] = rate_of(s, m).size > much * second ? 1 : 0;
  }
}

bool combine_sums(const ReactionSolve& s) {
  set_sums(s);
  const auto is_taken_out = [&](std::size_t m) {
    return s.taken_out == TakenOut::all || (s.taken_out == TakenOut::fast && s.work.fast[m] != 0);
  };
  // The phase that has just begun to form comes last: where it is a sum of others one of them gives way to it.
  const std::size_t last = s.work.entering;
  for (std::size_t k = 0; k <= s.n(); ++k) {
    const std::size_t m = k < s.n() ? k : last;
    if (m >= s.n() || (k < s.n() && m == last) || !s.goes_on(m) || !s.at_once(m)) continue;
    if (!take_out(s, m)) return give_way(s, m) && combine_sums(s);
  }
  for (std::size_t m = 0; m < s.n(); ++m)
    if (s.goes_on(m) && !s.at_once(m) && is_taken_out(m)) take_out(s, m);
  set_equations(s);
  return true;
}

}  // namespace karst
