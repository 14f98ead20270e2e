// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/speciation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/dense_solve.hpp"

namespace karst {

namespace {

constexpr double least_total = 1e-30;
constexpr double water_per_mole = 0.017;
constexpr double least_strength = 1e-12, largest_strength = 5.0;  // [mol/kgw]; no activity model here reaches further
constexpr double tolerance = 1e-13, rounding = 1e-11;             // of ln of a sum
constexpr int few_iterations = 12, most_iterations = 100;

double ln_gamma(const ActivityCoefficient& c, double root, double strength) {
  return -c.az2 * root / (1.0 + c.ba * root) + c.b * strength;
}
/// d ln γ / dI
double gamma_slope(const ActivityCoefficient& c, double root) {
  const double d = 1.0 + c.ba * root;
  return -c.az2 / (2.0 * root * d * d) + c.b;
}

/// Molalities and the derivatives that the Jacobian is made from, at a vector of unknowns x = ln m..., I, ln a_w.
class Mixture {
 public:
  Mixture(const ChemicalSystem& system, std::span<const SolutionCondition> conditions, Speciation& state,
          SpeciationWorkspace& work)
      : system_(system),
        conditions_(conditions),
        state_(state),
        work_(work),
        n_(static_cast<std::size_t>(system.n_primaries)) {
    state.molality.resize(system.species.size());
    state.ln_activity.resize(n_);
    work.ln_gamma.resize(system.species.size());
    work.slope.resize(system.species.size());
    work.residual.resize(n_ + 2);
    work.step.resize(n_ + 2);
    work.trial.resize(n_ + 2);
    work.unknowns.resize(n_ + 2);
    work.primary_slope.resize(n_);
    work.positive.resize(n_);
    work.negative.resize(n_);
    work.jacobian.resize((n_ + 2) * (n_ + 2));
  }

  /// Takes the unknowns into the state: molalities, activity coefficients and their slopes.
  void evaluate(const std::vector<double>& x) {
    const double strength = x[n_], root = std::sqrt(std::max(strength, 1e-24));
    std::copy_n(x.begin(), n_, state_.ln_m.begin());
    state_.ionic_strength = strength;
    state_.ln_water = x[n_ + 1];
    for (std::size_t i = 0; i < system_.species.size(); ++i) {
      const SystemSpecies& s = system_.species[i];
      work_.ln_gamma[i] = ln_gamma(s.activity, root, strength);
      work_.slope[i] = gamma_slope(s.activity, root);
      if (i < n_) {
        state_.ln_activity[i] = x[i] + work_.ln_gamma[i];
        state_.molality[i] = std::exp(x[i]);
        continue;
      }
      double ln_a = s.formed.water * x[n_ + 1] - s.formed.ln_k, slope = 0.0;
      for (const auto& [p, c] : s.formed.primaries) {
        ln_a += c * state_.ln_activity[p];
        slope += c * work_.slope[p];
      }
      state_.molality[i] = std::exp(std::min(ln_a - work_.ln_gamma[i], 700.0));
      work_.slope[i] = slope - work_.slope[i];  // d ln m_i / dI
    }
    // Of a primary species ln m is itself an unknown.
    for (std::size_t p = 0; p < n_; ++p) {
      work_.primary_slope[p] = work_.slope[p];
      work_.slope[p] = 0.0;
    }
  }

  /// Residuals and Jacobian. Returns the largest residual.
  /// @param held  ionic strength and activity of water stay as they are
  double rows(bool held) {
    std::ranges::fill(work_.jacobian, 0.0);
    total_rows();
    for (std::size_t p = 0; p < n_; ++p) condition_row(p);
    if (held) {
      for (const std::size_t row : {n_, n_ + 1}) {
        jacobian(row, row) = 1.0;
        work_.residual[row] = 0.0;
      }
    } else {
      strength_row();
      water_row();
    }
    double largest = 0.0;
    for (const double r : work_.residual) largest = std::isfinite(r) ? std::max(largest, std::abs(r)) : INFINITY;
    return largest;
  }

  std::size_t size() const { return n_ + 2; }
  bool is_total(std::size_t p) const { return conditions_[p].kind == SolutionCondition::Kind::total; }

  /// ½ Σ z² m
  double strength() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < system_.species.size(); ++i) {
      const double z = system_.species[i].charge;
      sum += 0.5 * z * z * state_.molality[i];
    }
    return sum;
  }

  /// ln (1 - 0.017 Σ m)
  double ln_water() const { return std::log(water_left()); }

 private:
  double& jacobian(std::size_t row, std::size_t column) { return work_.jacobian[row * (n_ + 2) + column]; }

  /// Adds weight · d ln m_i / dx to a row.
  void add_species(std::size_t row, std::size_t i, double weight) {
    if (i < n_) {
      jacobian(row, i) += weight;
      return;
    }
    const SystemSpecies& s = system_.species[i];
    for (const auto& [p, c] : s.formed.primaries) jacobian(row, static_cast<std::size_t>(p)) += weight * c;
    jacobian(row, n_) += weight * work_.slope[i];
    jacobian(row, n_ + 1) += weight * s.formed.water;
  }

  /// ln Σ_positive - ln Σ_negative of the amounts q_i m_i and of -value.
  template <class Amount>
  void sum_row(std::size_t row, double value, Amount&& amount) {
    double positive = std::max(-value, 0.0), negative = std::max(value, 0.0);
    for (std::size_t i = 0; i < system_.species.size(); ++i) {
      const double q = amount(i) * state_.molality[i];
      (q > 0.0 ? positive : negative) += std::abs(q);
    }
    positive = std::max(positive, 1e-300);
    negative = std::max(negative, 1e-300);
    for (std::size_t i = 0; i < system_.species.size(); ++i) {
      const double q = amount(i) * state_.molality[i];
      if (q != 0.0) add_species(row, i, q / (q > 0.0 ? positive : negative));
    }
    work_.residual[row] = std::log(positive / negative);
  }

  /// f(primary, coefficient) for what a species counts as.
  template <class F>
  void for_each_part(std::size_t i, F&& f) const {
    if (i < n_) return f(i, 1.0);
    for (const auto& [p, c] : system_.species[i].formed.primaries) f(static_cast<std::size_t>(p), c);
  }

  /// All rows of totals in two passes over the species: what a species adds to many rows is looked up once.
  void total_rows() {
    const auto is_total = [&](std::size_t p) { return conditions_[p].kind == SolutionCondition::Kind::total; };
    for (std::size_t p = 0; p < n_; ++p) {
      const double value = p == 0 ? conditions_[p].value : std::max(conditions_[p].value, least_total);
      work_.positive[p] = is_total(p) ? std::max(-value, 0.0) : 1.0;
      work_.negative[p] = is_total(p) ? std::max(value, 0.0) : 1.0;
    }
    for (std::size_t i = 0; i < system_.species.size(); ++i)
      for_each_part(i, [&](std::size_t p, double c) {
        if (is_total(p)) (c > 0.0 ? work_.positive : work_.negative)[p] += std::abs(c) * state_.molality[i];
      });
    for (std::size_t p = 0; p < n_; ++p) {
      work_.positive[p] = std::max(work_.positive[p], 1e-300);
      work_.negative[p] = std::max(work_.negative[p], 1e-300);
      work_.residual[p] = std::log(work_.positive[p] / work_.negative[p]);
    }
    for (std::size_t i = 0; i < system_.species.size(); ++i)
      for_each_part(i, [&](std::size_t p, double c) {
        if (is_total(p)) add_species(p, i, c * state_.molality[i] / (c > 0.0 ? work_.positive : work_.negative)[p]);
      });
  }

  void condition_row(std::size_t p) {
    const SolutionCondition& c = conditions_[p];
    switch (c.kind) {
      case SolutionCondition::Kind::total:
        return;
      case SolutionCondition::Kind::charge:
        return sum_row(p, c.value, [&](std::size_t i) { return system_.species[i].charge; });
      case SolutionCondition::Kind::alkalinity:
        return sum_row(p, c.value, [&](std::size_t i) { return system_.species[i].alkalinity; });
      case SolutionCondition::Kind::activity:
        work_.residual[p] = state_.ln_activity[p] - c.value;
        jacobian(p, p) = 1.0;
        jacobian(p, n_) = work_.primary_slope[p];
        return;
      case SolutionCondition::Kind::saturation:
        return saturation_row(p, c);
    }
  }

  void saturation_row(std::size_t row, const SolutionCondition& c) {
    const MassAction& action = system_.phases[c.phase].dissolved;
    double ln_omega = action.water * state_.ln_water - action.ln_k;
    for (const auto& [p, coefficient] : action.primaries) {
      const auto q = static_cast<std::size_t>(p);
      ln_omega += coefficient * state_.ln_activity[q];
      jacobian(row, q) += coefficient;
      jacobian(row, n_) += coefficient * work_.primary_slope[q];
    }
    jacobian(row, n_ + 1) = action.water;
    work_.residual[row] = ln_omega - c.value;
  }

  /// ln I - ln ½ Σ z² m
  void strength_row() {
    const double sum = std::max(strength(), least_strength);
    for (std::size_t i = 0; i < system_.species.size(); ++i) {
      const double z = system_.species[i].charge;
      if (z != 0.0) add_species(n_, i, -0.5 * z * z * state_.molality[i] / sum);
    }
    jacobian(n_, n_) += 1.0 / state_.ionic_strength;
    work_.residual[n_] = std::log(state_.ionic_strength / sum);
  }

  double water_left() const {
    double sum = 0.0;
    for (const double m : state_.molality) sum += m;
    return std::max(1.0 - water_per_mole * sum, 0.1);
  }

  void water_row() {
    const double left = water_left();
    work_.residual[n_ + 1] = state_.ln_water - std::log(left);
    if (left > 0.1)
      for (std::size_t i = 0; i < system_.species.size(); ++i)
        add_species(n_ + 1, i, water_per_mole * state_.molality[i] / left);
    jacobian(n_ + 1, n_ + 1) += 1.0;
  }

  const ChemicalSystem& system_;
  std::span<const SolutionCondition> conditions_;
  Speciation& state_;
  SpeciationWorkspace& work_;
  std::size_t n_;
};

/// Longest share of a step that changes no primary by more than a factor of e^8.
double longest_share(const std::vector<double>& step, std::size_t n_primaries) {
  constexpr double most = 8.0;
  double largest = most;
  for (std::size_t p = 0; p < n_primaries; ++p) largest = std::max(largest, std::abs(step[p]));
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
/// @param held  see Mixture::rows
bool newton(Mixture& mixture, std::vector<double>& x, SpeciationWorkspace& work, int& iterations, int most, bool held,
            double goal) {
  const std::size_t n = mixture.size() - 2;
  mixture.evaluate(x);
  double residual = mixture.rows(held);
  for (int i = 0; i <= most; ++i, ++iterations) {
    if (residual < goal) return true;
    work.step = work.residual;
    if (!std::isfinite(residual) || !eliminate(work.jacobian, work.step)) return false;
    double share = longest_share(work.step, n), next = 0.0;
    for (int halvings = 0; halvings < 8; ++halvings, share *= 0.5) {
      take_step(x, work.step, share, work.trial);
      mixture.evaluate(work.trial);
      next = mixture.rows(held);
      if (next < residual || next < goal) break;
    }
    if (!(next < residual)) {
      if (next < goal) return true;
      mixture.evaluate(x);
      // Round-off of the sums lies above the goal where constants are extreme: then it is as good as it gets.
      return mixture.rows(held) < rounding;
    }
    std::swap(x, work.trial);
    residual = next;
  }
  return false;
}

/// Brings each primary towards the amount that its total allows, by the excess of its sum (positive continued
/// fractions: Carrayrou, Mosé & Behra 2002, AIChE J. 48, 894): a start in which no complex is larger than life, 10^16
/// mol of CO2.
void scale_down(Mixture& mixture, std::vector<double>& x, SpeciationWorkspace& work) {
  const std::size_t n = mixture.size() - 2;
  for (int k = 0; k < 40; ++k) {
    mixture.evaluate(x);
    mixture.rows(true);
    double largest = 0.0;
    for (std::size_t p = 1; p < n; ++p) {
      const double excess = mixture.is_total(p) ? std::max(0.0, work.residual[p]) : 0.0;
      x[p] -= 0.5 * excess;
      largest = std::max(largest, excess);
    }
    if (largest < 1.0) return;
  }
}

/// From far away: the amounts at given activity coefficients, then the ionic strength that they make, damped; both at
/// once would run after each other, as complexes of many charges grow with e^(z² I).
void approach(Mixture& mixture, std::vector<double>& x, Speciation& state, SpeciationWorkspace& work) {
  const std::size_t n = mixture.size() - 2;
  x[n] = std::min(x[n], 0.5);
  x[n + 1] = 0.0;
  scale_down(mixture, x, work);
  for (int k = 0; k < 30; ++k) {
    newton(mixture, x, work, state.iterations, most_iterations, true, 1e-3);
    const double strength = std::clamp(mixture.strength(), least_strength, largest_strength);
    const double change = std::log(strength / x[n]);
    x[n] *= std::exp(std::clamp(0.6 * change, -2.0, 0.7));
    x[n + 1] = mixture.ln_water();
    if (std::abs(change) < 0.02) return;
  }
}

}  // namespace

Speciation cold_start(const ChemicalSystem& system, std::span<const SolutionCondition> conditions) {
  Speciation state;
  double ions = 0.0;
  for (std::size_t p = 0; p < conditions.size(); ++p) {
    const SolutionCondition& c = conditions[p];
    double m = p == 0 ? 1e-7 : 1e-6;
    if (c.kind == SolutionCondition::Kind::total && p > 0) m = std::max(c.value, least_total);
    if (c.kind == SolutionCondition::Kind::activity) m = std::exp(c.value);
    if (c.kind == SolutionCondition::Kind::alkalinity) m = std::max(c.value, 1e-12);
    state.ln_m.push_back(std::log(m));
    const double z = system.species[p].charge;
    ions += 0.5 * z * z * std::min(m, 2.0);
  }
  state.ionic_strength = std::clamp(ions, 1e-7, 2.0);
  return state;
}

bool speciate(const ChemicalSystem& system, std::span<const SolutionCondition> conditions, Speciation& state,
              SpeciationWorkspace& work) {
  Mixture mixture(system, conditions, state, work);
  const std::size_t n = mixture.size() - 2;
  std::vector<double>& x = work.unknowns;
  std::ranges::copy(state.ln_m, x.begin());
  x[n] = std::clamp(state.ionic_strength, least_strength, largest_strength);
  x[n + 1] = state.ln_water;
  state.iterations = 0;
  state.converged = newton(mixture, x, work, state.iterations, few_iterations, false, tolerance);
  for (int tries = 0; tries < 3 && !state.converged; ++tries) {
    approach(mixture, x, state, work);
    state.converged = newton(mixture, x, work, state.iterations, most_iterations, false, tolerance);
  }
  return state.converged;
}

bool activity_slopes(const ChemicalSystem& system, std::span<const SolutionCondition> conditions,
                     std::span<const double> direction, Speciation& state, SpeciationWorkspace& work,
                     std::span<double> slope) {
  Mixture mixture(system, conditions, state, work);
  const std::size_t n = mixture.size() - 2;
  std::vector<double>& x = work.unknowns;
  std::ranges::copy(state.ln_m, x.begin());
  x[n] = state.ionic_strength;
  x[n + 1] = state.ln_water;
  mixture.evaluate(x);
  mixture.rows(false);
  // Row p is ln Σ₊ - ln (Σ₋ + total), or with the total in Σ₊ where it is negative: its slope is -1 / sum in both.
  std::ranges::fill(work.step, 0.0);
  for (std::size_t p = 0; p < n; ++p)
    if (conditions[p].kind == SolutionCondition::Kind::total && (p == 0 || conditions[p].value > least_total))
      work.step[p] = direction[p] / (conditions[p].value > 0.0 ? work.negative[p] : work.positive[p]);
  if (!eliminate(work.jacobian, work.step)) return false;
  for (std::size_t p = 0; p < n; ++p) slope[p] = work.step[p] + work.primary_slope[p] * work.step[n];
  slope[n] = work.step[n + 1];
  return true;
}

double total_of(const ChemicalSystem& system, const Speciation& state, int primary) {
  double sum = state.molality[primary];
  for (std::size_t i = static_cast<std::size_t>(system.n_primaries); i < system.species.size(); ++i)
    for (const auto& [p, c] : system.species[i].formed.primaries)
      if (p == primary) sum += c * state.molality[i];
  return sum;
}

double charge_of(const ChemicalSystem& system, const Speciation& state) {
  double sum = 0.0;
  for (std::size_t i = 0; i < system.species.size(); ++i) sum += system.species[i].charge * state.molality[i];
  return sum;
}

double ions_of(const ChemicalSystem& system, const Speciation& state) {
  double sum = 0.0;
  for (std::size_t i = 0; i < system.species.size(); ++i) sum += std::abs(system.species[i].charge) * state.molality[i];
  return sum;
}

double alkalinity_of(const ChemicalSystem& system, const Speciation& state) {
  double sum = 0.0;
  for (std::size_t i = 0; i < system.species.size(); ++i) sum += system.species[i].alkalinity * state.molality[i];
  return sum;
}

double ln_activity(const ChemicalSystem& system, const Speciation& state, int species) {
  const MassAction& formed = system.species[species].formed;
  double ln_a = formed.water * state.ln_water - formed.ln_k;
  for (const auto& [p, c] : formed.primaries) ln_a += c * state.ln_activity[p];
  return ln_a;
}

double saturation_index(const ChemicalSystem& system, const Speciation& state, int phase) {
  const MassAction& action = system.phases[phase].dissolved;
  double ln_omega = action.water * state.ln_water - action.ln_k;
  for (const auto& [p, c] : action.primaries) ln_omega += c * state.ln_activity[p];
  return ln_omega / std::numbers::ln10;
}

double ph_of(const Speciation& state) { return -state.ln_activity[0] / std::numbers::ln10; }

}  // namespace karst
