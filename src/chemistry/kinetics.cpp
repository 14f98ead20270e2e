// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/kinetics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "base/core/error.hpp"
#include "chemistry/constants.hpp"

namespace karst {

namespace {

double number_of(const std::string& word, std::string_view text) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  require(!word.empty() && *end == '\0' && std::isfinite(value),
          "rate \"{}\": '{}' is not a number; expected: k, species and exponents, Ea and an energy, \"0.89 H+ 1 Ea "
          "14.4\", or \"database\"",
          text, word);
  return value;
}

}  // namespace

constexpr double largest_energy = 500.0;  // [kJ/mol]

RatePath parse_rate_path(const ChemicalSystem& system, std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  const double k = number_of(word, text);
  require(k > 0.0, "rate \"{}\": the constant must be positive", text);
  RatePath path{.ln_k = std::log(k), .activity = {}, .phases = {}};
  std::string value;
  while (words >> word) {
    require(static_cast<bool>(words >> value), "rate \"{}\": a number is missing after {}", text, word);
    const double number = number_of(value, text);
    if (word == "Ea") {
      require(std::abs(number) <= largest_energy,
              "rate \"{}\": Ea {} is given in kJ/mol, and minerals have 5 to 150; allowed: up to {:g} (J/mol / 1000)",
              text, value, largest_energy);
      path.ln_k -= number / gas_constant_kj * (1.0 / system.kelvin - 1.0 / kelvin_25);
      continue;
    }
    const int species = system.species_of(word), phase = system.phase(word);
    const bool gas = species < 0 && phase >= 0 && system.phases[phase].is_gas;
    require(species >= 0 || gas, "rate \"{}\": {} is neither a species of this solution nor one of its gases", text,
            word);
    (gas ? path.phases : path.activity).emplace_back(gas ? phase : species, number);
  }
  return path;
}

KineticMineral make_mineral(const ChemicalSystem& system, const MineralOptions& options) {
  KineticMineral mineral{options.name, system.phase(options.phase), options.area, options.amount, {}};
  try {
    require(
        mineral.phase >= 0,
        "phase {} contains elements that are not in the solution; valences are separate elements, S(6) gives no S(-2)",
        options.phase);
    require(!options.rates.empty(), "no rate is given; expected: rates = [\"0.89 H+ 1\", ...]");
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
    for (const auto& [phase, exponent] : path.phases)
      ln += exponent * saturation_index(system, state, phase) * std::numbers::ln10;
    k += std::exp(ln);
  }
  const double ln_omega = saturation_index(system, state, mineral.phase) * std::numbers::ln10;
  return -mineral.area * k * std::expm1(ln_omega);
}

double dissolution_slope(const ChemicalSystem& system, const Speciation& state, const KineticMineral& mineral,
                         std::span<const double> ln_activity_slope) {
  const auto slope_of = [&](const MassAction& action) {
    double sum = action.water * ln_activity_slope[system.n_basis()];
    for (const auto& [p, c] : action.basis) sum += c * ln_activity_slope[p];
    return sum;
  };
  double k = 0.0, dk = 0.0;
  for (const RatePath& path : mineral.paths) {
    double ln = path.ln_k, slope = 0.0;
    for (const auto& [species, exponent] : path.activity) {
      ln += exponent * ln_activity(system, state, species);
      slope += exponent *
               (species < system.n_primaries ? ln_activity_slope[species] : slope_of(system.species[species].formed));
    }
    for (const auto& [phase, exponent] : path.phases) {
      ln += exponent * saturation_index(system, state, phase) * std::numbers::ln10;
      slope += exponent * slope_of(system.phases[phase].dissolved);
    }
    k += std::exp(ln);
    dk += std::exp(ln) * slope;
  }
  const double ln_omega = saturation_index(system, state, mineral.phase) * std::numbers::ln10;
  const double slope = slope_of(system.phases[mineral.phase].dissolved);
  return -mineral.area * (dk * std::expm1(ln_omega) + k * std::exp(ln_omega) * slope);
}

}  // namespace karst
