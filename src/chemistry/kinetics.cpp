// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/kinetics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "base/dense_solve.hpp"
#include "base/error.hpp"

namespace karst {

namespace {

constexpr double gas_constant = 8.314462618e-3;  // [kJ/mol/K]
constexpr double gamma = 1.0 - 1.0 / std::numbers::sqrt2;

double number_of(const std::string& word, std::string_view text) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  require(!word.empty() && *end == '\0' && std::isfinite(value), "rate \"{}\": '{}' is no number", text, word);
  return value;
}

/// Rates as a function of what has dissolved, and the steps.
class Batch {
 public:
  Batch(const ChemicalSystem& system, const Speciation& start, const std::vector<KineticMineral>& minerals)
      : system_(system), minerals_(minerals), solution_(start), n_(minerals.size()) {
    for (int p = 0; p < system.n_primaries; ++p) totals_.push_back(total_of(system, start, p));
    conditions_.resize(totals_.size());
    rates_.resize(n_);
    for (const KineticMineral& m : minerals) {
      std::vector<double> parts(totals_.size(), 0.0);
      for (const auto& [p, c] : system.phases[m.phase].dissolved.primaries) parts[p] = c;
      parts_.push_back(std::move(parts));
    }
  }

  const Speciation& solution() const { return solution_; }

  /// Rates where `dissolved` of each mineral has dissolved; false where no such solution is found.
  bool rates(const std::vector<double>& dissolved, std::vector<double>& to) {
    for (std::size_t p = 0; p < totals_.size(); ++p) {
      double total = totals_[p];
      for (std::size_t m = 0; m < n_; ++m) total += parts_[m][p] * dissolved[m];
      if (p > 0 && total < -1e-14) return false;
      conditions_[p] = {SolutionCondition::Kind::total, total};
    }
    Speciation next = solution_;
    if (!speciate(system_, conditions_, next, work_)) return false;
    solution_ = std::move(next);
    for (std::size_t m = 0; m < n_; ++m) {
      const double rate = dissolution_rate(system_, solution_, minerals_[m]);
      to[m] = dissolved[m] >= minerals_[m].amount && rate > 0.0 ? 0.0 : rate;
    }
    return true;
  }

  /// k = rates(base + share k) by Newton's method with the slopes of differences; false when it does not converge.
  bool stage(const std::vector<double>& base, double share, std::vector<double>& k) {
    std::vector<double> at(n_), f(n_), shifted(n_), slope(n_ * n_), step(n_);
    for (int iteration = 0; iteration < 25; ++iteration) {
      for (std::size_t m = 0; m < n_; ++m) at[m] = base[m] + share * k[m];
      if (!rates(at, f)) return false;
      double change = 0.0, scale = 0.0;
      for (std::size_t c = 0; c < n_; ++c) {
        std::vector<double> beside = at;
        const double shift = 1e-7 * std::max(std::abs(at[c]), 1e-9);
        beside[c] += at[c] + shift < minerals_[c].amount ? shift : -shift;
        if (!rates(beside, shifted)) return false;
        for (std::size_t r = 0; r < n_; ++r)
          slope[r * n_ + c] = (r == c ? 1.0 : 0.0) - share * (shifted[r] - f[r]) / (beside[c] - at[c]);
      }
      for (std::size_t m = 0; m < n_; ++m) step[m] = k[m] - f[m];
      if (!eliminate(slope, step)) return false;
      for (std::size_t m = 0; m < n_; ++m) {
        k[m] -= step[m];
        change = std::max(change, share * std::abs(step[m]));
        scale = std::max(scale, std::abs(base[m]) + share * std::abs(k[m]));
      }
      if (change <= 1e-10 * scale + 1e-18) return true;
    }
    return false;
  }

  /// One step of h; returns the difference of second and first order over `tolerance`, or infinity where a stage fails.
  double step(std::vector<double>& y, double h, double tolerance) {
    std::vector<double> k1 = rates_, k2(n_), base = y, next = y;
    if (!rates(y, k1) || !stage(y, gamma * h, k1)) return INFINITY;
    for (std::size_t m = 0; m < n_; ++m) base[m] = y[m] + (1.0 - gamma) * h * k1[m];
    k2 = k1;
    if (!stage(base, gamma * h, k2)) return INFINITY;
    double error = 0.0;
    for (std::size_t m = 0; m < n_; ++m) {
      next[m] = base[m] + gamma * h * k2[m];
      const double scale = tolerance * std::abs(next[m]) + 1e-13;
      error = std::max(error, gamma * h * std::abs(k2[m] - k1[m]) / scale);
      if (next[m] > minerals_[m].amount && next[m] > y[m]) next[m] = minerals_[m].amount;
    }
    if (error <= 1.0) y = next;
    return error;
  }

 private:
  const ChemicalSystem& system_;
  const std::vector<KineticMineral>& minerals_;
  Speciation solution_;
  std::size_t n_;
  std::vector<double> totals_, rates_;
  std::vector<std::vector<double>> parts_;  ///< [mineral][primary]
  std::vector<SolutionCondition> conditions_;
  SpeciationWorkspace work_;
};

}  // namespace

RatePath parse_rate_path(const ChemicalSystem& system, std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  const double k = number_of(word, text);
  require(k > 0.0, "rate \"{}\": the constant must be positive", text);
  RatePath path{.ln_k = std::log(k), .activity = {}};
  std::string value;
  while (words >> word) {
    require(static_cast<bool>(words >> value), "rate \"{}\": a number is missing after {}", text, word);
    const double number = number_of(value, text);
    if (word == "Ea") {
      path.ln_k -= number / gas_constant * (1.0 / system.kelvin - 1.0 / 298.15);
      continue;
    }
    const int species = system.species_of(word);
    require(species >= 0, "rate \"{}\": {} is no species of this solution", text, word);
    path.activity.emplace_back(species, number);
  }
  return path;
}

KineticMineral make_mineral(const ChemicalSystem& system, const MineralOptions& options) {
  KineticMineral mineral{options.name, system.phase(options.phase), options.area, options.amount, {}};
  try {
    require(mineral.phase >= 0,
            "phase {} is not made of the elements of the solution; a valence is an element of its own, S(6) makes no "
            "S(-2)",
            options.phase);
    require(!options.rates.empty(), "no rate is given; wanted: rates = [\"0.89 H+ 1\", ...]");
    for (const std::string& rate : options.rates) mineral.paths.push_back(parse_rate_path(system, rate));
  } catch (const Error& e) {
    throw Error(fmt::format("mineral {}: {}", options.name, e.what()));
  }
  return mineral;
}

double dissolution_rate(const ChemicalSystem& system, const Speciation& state, const KineticMineral& mineral) {
  double k = 0.0;
  for (const RatePath& path : mineral.paths) {
    double ln = path.ln_k;
    for (const auto& [species, exponent] : path.activity) ln += exponent * ln_activity(system, state, species);
    k += std::exp(ln);
  }
  const double ln_omega = saturation_index(system, state, mineral.phase) * std::numbers::ln10;
  return -mineral.area * k * std::expm1(ln_omega);
}

double dissolution_slope(const ChemicalSystem& system, const Speciation& state, const KineticMineral& mineral,
                         std::span<const double> ln_activity_slope) {
  const auto slope_of = [&](const MassAction& action) {
    double sum = action.water * ln_activity_slope[system.n_primaries];
    for (const auto& [p, c] : action.primaries) sum += c * ln_activity_slope[p];
    return sum;
  };
  double k = 0.0, dk = 0.0;
  for (const RatePath& path : mineral.paths) {
    double ln = path.ln_k, slope = 0.0;
    for (const auto& [species, exponent] : path.activity) {
      const auto i = static_cast<std::size_t>(species);
      ln += exponent * ln_activity(system, state, species);
      slope += exponent * (species < system.n_primaries ? ln_activity_slope[i] : slope_of(system.species[i].formed));
    }
    k += std::exp(ln);
    dk += std::exp(ln) * slope;
  }
  const double ln_omega = saturation_index(system, state, mineral.phase) * std::numbers::ln10;
  const double slope = slope_of(system.phases[mineral.phase].dissolved);
  return -mineral.area * (dk * std::expm1(ln_omega) + k * std::exp(ln_omega) * slope);
}

std::vector<BatchState> react(const ChemicalSystem& system, const Speciation& start,
                              const std::vector<KineticMineral>& minerals, const std::vector<double>& times,
                              double tolerance) {
  Batch batch(system, start, minerals);
  std::vector<double> dissolved(minerals.size(), 0.0), rates(minerals.size());
  std::vector<BatchState> states;
  double time = 0.0, h = times.empty() ? 0.0 : 1e-6 * times.front();
  for (const double end : times) {
    while (time < end) {
      const bool last = time + h >= end;
      const double step = last ? end - time : h;
      const double error = batch.step(dissolved, step, tolerance);
      if (error <= 1.0) time = last ? end : time + step;
      if (error > 1.0 || !last) h = step * std::clamp(0.8 / std::sqrt(std::max(error, 1e-4)), 0.2, 4.0);
      require(h > 1e-12 * end, "the batch reaction stops at {:.4g} s, pH {:.3f}: no step is short enough", time,
              ph_of(batch.solution()));
    }
    batch.rates(dissolved, rates);
    states.push_back({time, dissolved, batch.solution()});
  }
  return states;
}

}  // namespace karst
