// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/equations.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/math/dense_solve.hpp"
#include "base/math/eight.hpp"
#include "base/math/exponentials.hpp"

namespace karst {

namespace {

using Kind = SolutionCondition::Kind;

constexpr double water_per_mole = 0.017;
constexpr double least_strength = 1e-12, largest_strength = 5.0;  // [mol/kgw]; no activity model here reaches further
constexpr double tolerance = 1e-13, rounding = 1e-11;             // of ln of a sum
constexpr int few_iterations = 12, most_iterations = 100;

/// Adds up the positive and the negative amounts of a sum that is to be `value`, which counts on the side where it is
/// positive.
struct Sides {
  double plus, minus;
};
Sides add_up(const SpeciationWorkspace& work, const WeightedSums& sums, int row, double value) {
  const double* const amount = work.amount.data();
  double plus = std::max(-value, 0.0), minus = std::max(value, 0.0);
  for (int k = sums.begin[row]; k < sums.begin[row + 1]; ++k) {
    const double q = sums.weight[k] * amount[sums.amount[k]];
    plus += std::max(q, 0.0);
    minus += std::max(-q, 0.0);
  }
  return {std::max(plus, 1e-300), std::max(minus, 1e-300)};
}

double sum_of(const SpeciationWorkspace& work, const WeightedSums& sums, int row) {
  double sum = 0.0;
  for (int k = sums.begin[row]; k < sums.begin[row + 1]; ++k) sum += sums.weight[k] * work.amount[sums.amount[k]];
  return sum;
}

/// Row `to` of the Jacobian += Σ weight amount d ln amount / dx, positive weights times per_plus, negative ones times
/// per_minus.
void add_slopes(const Equations& e, const WeightedSums& sums, int row, std::size_t to, double per_plus,
                double per_minus) {
  const std::size_t width = e.table.width, n_basis = e.table.n_basis;
  const int begin = sums.begin[row], n = sums.begin[row + 1] - begin;
  const int* const which = sums.amount.data() + begin;
  const double *const weight = sums.weight.data() + begin, *const amount = e.work.amount.data(),
                      *const slope = e.work.slope.data();
  double* const share = e.work.share.data();
  double by_strength = 0.0;
  for (int k = 0; k < n; ++k) {
    share[k] = weight[k] * amount[which[k]] * (weight[k] > 0.0 ? per_plus : per_minus);
    by_strength += share[k] * slope[which[k]];
  }
  double* const out = e.work.jacobian.data() + to * width;
  std::size_t c = 0;
  for (; c + 8 < width; c += 16) {  // two vectors at once, so that one sum need not wait for the other
    const double* const rows = e.table.rows.data() + c;
    Eight low = load_eight(out + c), high = load_eight(out + c + 8);
    for (int k = 0; k < n; ++k) {
      const double* const d = rows + which[k] * width;
      low += share[k] * load_eight(d);
      high += share[k] * load_eight(d + 8);
    }
    store_eight(low, out + c);
    store_eight(high, out + c + 8);
  }
  if (c < width) {
    const double* const rows = e.table.rows.data() + c;
    Eight total = load_eight(out + c);
    for (int k = 0; k < n; ++k) total += share[k] * load_eight(rows + which[k] * width);
    store_eight(total, out + c);
  }
  out[n_basis] += by_strength;
}

double saturation_residual(const Equations& e, const SolutionCondition& c, std::span<const double> x) {
  const MassAction& action = e.system.phases[c.phase].dissolved;
  double ln_omega = action.water * x[e.table.n_basis + 1] - action.ln_k;
  for (const auto& [b, coefficient] : action.basis) ln_omega += coefficient * e.work.ln_a[b];
  return ln_omega - c.value;
}

/// The sum that a condition of one place in the basis prescribes, and its row; null: it prescribes none.
std::pair<const WeightedSums*, int> prescribed_sum(const Equations& e, int b) {
  switch (e.conditions[b].kind) {
    case Kind::total:
    case Kind::potential:
      return {&e.sums, b};
    case Kind::charge:
      return {&e.table.ions, SpeciesTable::charge};
    case Kind::alkalinity:
      return {&e.table.ions, SpeciesTable::alkalinity};
    case Kind::activity:
    case Kind::saturation:
      break;
  }
  return {nullptr, 0};
}

/// Residual of the condition of one place in the basis; of a sum the ratio of its sides, of which the logarithm is it.
double basis_residual(const Equations& e, std::span<const double> x, int b) {
  const SolutionCondition& c = e.conditions[b];
  if (const auto [sums, row] = prescribed_sum(e, b); sums != nullptr) {
    const Sides sides = add_up(e.work, *sums, row, c.kind == Kind::potential ? 0.0 : c.value);
    e.work.positive[b] = sides.plus;
    e.work.negative[b] = sides.minus;
    e.work.ratio[b] = sides.plus / sides.minus;
    return 0.0;
  }
  return c.kind == Kind::activity ? e.work.ln_a[b] - c.value : saturation_residual(e, c, x);
}

void basis_row(const Equations& e, int b) {
  const SolutionCondition& c = e.conditions[b];
  const std::size_t row = b, n_basis = e.table.n_basis;
  double* const out = e.work.jacobian.data() + row * e.table.width;
  if (const auto [sums, which] = prescribed_sum(e, b); sums != nullptr)
    return add_slopes(e, *sums, which, row, 1.0 / e.work.positive[b], 1.0 / e.work.negative[b]);
  if (c.kind == Kind::activity) {
    out[row] = 1.0;
    out[n_basis] = e.work.basis_slope[b];
    return;
  }
  const MassAction& action = e.system.phases[c.phase].dissolved;
  for (const auto& [p, coefficient] : action.basis) {
    out[p] += coefficient;
    out[n_basis] += coefficient * e.work.basis_slope[p];
  }
  out[n_basis + 1] = action.water;
}

/// Longest share of a step that changes nothing of the basis by more than a factor of e^8.
double longest_share(std::span<const double> step) {
  constexpr double most = 8.0;
  double largest = most;
  for (const double s : step) largest = std::max(largest, std::abs(s));
  return most / largest;
}

/// x - share step. The ionic strength stays positive and grows by at most a factor of ten.
void take_step(const std::vector<double>& x, const std::vector<double>& step, double share, std::vector<double>& to) {
  const std::size_t n = x.size() - 2;
  for (std::size_t k = 0; k < x.size(); ++k) to[k] = x[k] - share * step[k];
  to[n] = std::clamp(std::clamp(to[n], 0.1 * x[n], 10.0 * x[n]), least_strength, 4.0 * largest_strength);
  to[n + 1] = std::clamp(to[n + 1], -2.0, 0.0);
}

/// Newton's method with steps halved until the largest residual falls. False when it stands still or takes too long.
bool newton(const Equations& e, std::vector<double>& x, int& iterations, int most, IonicMedium medium, double goal) {
  SpeciationWorkspace& work = e.work;
  const std::size_t n_basis = e.table.n_basis;
  evaluate(e, x);
  double residual = residuals(e, x, medium);
  for (int i = 0; i <= most; ++i, ++iterations) {
    if (residual < goal) return true;
    if (!std::isfinite(residual)) return false;
    jacobian(e, x, medium);
    if (!solve_step(e)) return false;
    double share = longest_share({work.step.data(), n_basis}), next = 0.0;
    for (int halvings = 0; halvings < 8; ++halvings, share *= 0.5) {
      take_step(x, work.step, share, work.trial);
      evaluate(e, work.trial);
      next = residuals(e, work.trial, medium);
      if (next < residual || next < goal) break;
    }
    if (!(next < residual)) {
      if (next < goal) {
        std::swap(x, work.trial);
        return true;
      }
      evaluate(e, x);
      // Round-off of the sums lies above the goal where constants are extreme: then it is as good as it gets.
      return residuals(e, x, medium) < rounding;
    }
    std::swap(x, work.trial);
    residual = next;
  }
  return false;
}

/// Brings each primary towards the amount that its total allows, by the excess of its sum (positive continued
/// fractions: Carrayrou, Mosé & Behra 2002, AIChE J. 48, 894): a start in which no complex is larger than life, 10^16
/// mol of CO2.
void scale_down(const Equations& e, std::vector<double>& x) {
  const std::size_t n_basis = e.table.n_basis;
  for (int k = 0; k < 40; ++k) {
    evaluate(e, x);
    residuals(e, x, IonicMedium::held);
    double largest = 0.0;
    for (std::size_t b = 1; b < n_basis; ++b) {
      const double excess = e.conditions[b].kind == Kind::total ? std::max(0.0, e.work.residual[b]) : 0.0;
      x[b] -= 0.5 * excess;
      largest = std::max(largest, excess);
    }
    if (largest < 1.0) return;
  }
}

/// From far away: the amounts at given activity coefficients, then the ionic strength that they make, damped; both at
/// once would run after each other, as complexes of many charges grow with e^(z² I).
void approach(const Equations& e, std::vector<double>& x, int& iterations) {
  const std::size_t n_basis = e.table.n_basis;
  x[n_basis] = std::min(x[n_basis], 0.5);
  x[n_basis + 1] = 0.0;
  scale_down(e, x);
  for (int k = 0; k < 30; ++k) {
    newton(e, x, iterations, most_iterations, IonicMedium::held, 1e-3);
    const double strength = std::min(e.work.strength, largest_strength);
    const double change = std::log(strength / x[n_basis]);
    x[n_basis] *= std::exp(std::clamp(0.6 * change, -2.0, 0.7));
    x[n_basis + 1] = std::log(e.work.water_left);
    if (std::abs(change) < 0.02) return;
  }
}

}  // namespace

void prepare(const SpeciesTable& table, SpeciationWorkspace& work) {
  const std::size_t n_basis = table.n_basis, length = table.length;
  for (auto* v : {&work.amount, &work.slope, &work.constant, &work.share}) v->resize(length);
  for (auto* v : {&work.ln_a, &work.basis_slope, &work.positive, &work.negative}) v->resize(n_basis + 1);
  for (auto* v : {&work.unknowns, &work.trial, &work.residual, &work.step}) v->resize(n_basis + 2);
  work.ratio.resize(table.width);
  work.jacobian.resize((n_basis + 2) * table.width);
}

void set_constants(const ChemicalSystem& system, const SpeciesTable& table,
                   std::span<const SolutionCondition> conditions, SpeciationWorkspace& work) {
  std::ranges::copy(table.constant, work.constant.begin());
  for (std::size_t i = system.n_dissolved; i < system.species.size(); ++i) {
    const int b = system.n_primaries + system.species[i].site;
    work.constant[i] += std::log(std::max(conditions[b].value, least_amount));
  }
  for (int k = table.first_layer; k < table.first_term; ++k) {
    const int b = table.n_basis - (table.first_term - k + 1) / 2;
    work.constant[k] += std::log(conditions[b].value);
  }
}

void evaluate(const Equations& e, std::span<const double> x) {
  const SpeciesTable& t = e.table;
  SpeciationWorkspace& work = e.work;
  const std::size_t n_basis = t.n_basis, length = t.length, n_primaries = e.system.n_primaries;
  const double strength = x[n_basis], root = std::sqrt(std::max(strength, 1e-24)), half_per_root = 0.5 / root;
  const auto load = [](const std::vector<double>& v, std::size_t i) { return load_eight(v.data() + i); };
  // ln γ and its slope of all amounts, for those of the basis first
  for (std::size_t i = 0; i < length; i += 8) {
    const Eight d = 1.0 / (1.0 + load(t.ba, i) * root), az2 = load(t.az2, i), linear = load(t.b, i);
    store_eight(az2 * root * d - linear * strength, work.amount.data() + i);
    store_eight(az2 * d * d * half_per_root - linear, work.slope.data() + i);
  }
  for (std::size_t b = 0; b < n_basis; ++b) {
    work.ln_a[b] = b < n_primaries ? x[b] - work.amount[b] : x[b];
    work.basis_slope[b] = b < n_primaries ? -work.slope[b] : 0.0;
  }
  work.ln_a[n_basis] = x[n_basis + 1];
  work.basis_slope[n_basis] = 0.0;
  const double *const ln_a = work.ln_a.data(), *const basis_slope = work.basis_slope.data();
  for (std::size_t i = 0; i < length; i += 8) {
    Eight ln_m = load(work.constant, i) + load(work.amount, i), slope = load(work.slope, i);
    const double* const form = t.form.data() + i;
    for (std::size_t b = 0; b <= n_basis; ++b) {
      const Eight c = load_eight(form + b * length);
      ln_m += c * ln_a[b];
      slope += c * basis_slope[b];
    }
    store_eight(ln_m, work.amount.data() + i);
    store_eight(slope, work.slope.data() + i);
  }
  for (int k = t.first_layer; k < t.first_term; ++k) {  // √I of diffuse layers
    work.amount[k] += std::log(root);
    work.slope[k] += half_per_root / root;
  }
  exponentials(work.amount);
}

double residuals(const Equations& e, std::span<const double> x, IonicMedium medium) {
  SpeciationWorkspace& work = e.work;
  const std::size_t n = e.table.n_basis;
  std::ranges::fill(work.ratio, 1.0);
  for (int b = 0; b < e.table.n_basis; ++b) work.residual[b] = basis_residual(e, x, b);
  work.strength = std::max(sum_of(work, e.table.ions, SpeciesTable::strength), least_strength);
  work.water_left = std::max(1.0 - water_per_mole * sum_of(work, e.table.ions, SpeciesTable::dissolved), 0.1);
  if (medium == IonicMedium::unknown) {
    work.ratio[n] = x[n] / work.strength;
    work.ratio[n + 1] = 1.0 / work.water_left;
  }
  work.residual[n] = 0.0;
  work.residual[n + 1] = medium == IonicMedium::held ? 0.0 : x[n + 1];
  double all = 0.0, largest = 0.0;
  for (const double r : work.ratio) all += r;
  logarithms(work.ratio);
  for (std::size_t k = 0; k < n + 2; ++k) {
    work.residual[k] += work.ratio[k];
    all += work.residual[k];
    largest = std::max(largest, std::abs(work.residual[k]));
  }
  return std::isfinite(all) ? largest : INFINITY;
}

void jacobian(const Equations& e, std::span<const double> x, IonicMedium medium) {
  SpeciationWorkspace& work = e.work;
  const std::size_t n = e.table.n_basis, width = e.table.width;
  std::ranges::fill(work.jacobian, 0.0);
  for (int b = 0; b < e.table.n_basis; ++b) basis_row(e, b);
  work.jacobian[n * width + n] = work.jacobian[(n + 1) * width + n + 1] = 1.0;
  if (medium == IonicMedium::held) return;
  work.jacobian[n * width + n] = 1.0 / x[n];
  add_slopes(e, e.table.ions, SpeciesTable::strength, n, -1.0 / work.strength, 0.0);
  if (work.water_left > 0.1)
    add_slopes(e, e.table.ions, SpeciesTable::dissolved, n + 1, water_per_mole / work.water_left, 0.0);
}

bool solve_step(const Equations& e) {
  e.work.step = e.work.residual;
  return eliminate_padded(e.work.jacobian, e.table.width, e.work.step);
}

bool solve(const Equations& e, std::vector<double>& x, int& iterations) {
  const std::size_t n = e.table.n_basis;
  x[n] = std::clamp(x[n], least_strength, largest_strength);
  bool found = newton(e, x, iterations, few_iterations, IonicMedium::unknown, tolerance);
  for (int tries = 0; tries < 3 && !found; ++tries) {
    approach(e, x, iterations);
    found = newton(e, x, iterations, most_iterations, IonicMedium::unknown, tolerance);
  }
  return found;
}

void take_state(const Equations& e, std::span<const double> x, Speciation& state) {
  const std::size_t n_basis = e.table.n_basis, n_species = e.system.species.size();
  state.basis.assign(x.begin(), x.begin() + n_basis);
  state.ionic_strength = x[n_basis];
  state.ln_water = x[n_basis + 1];
  state.molality.assign(e.work.amount.begin(), e.work.amount.begin() + n_species);
  state.ln_activity.assign(e.work.ln_a.begin(), e.work.ln_a.begin() + n_basis);
}

}  // namespace karst
