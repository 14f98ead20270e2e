// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/rate_parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "chemistry/constants.hpp"
#include "chemistry/kinetics.hpp"

namespace karst {

namespace {

constexpr double none = -30.0;  ///< log10 k of a way that is none
constexpr std::size_t usual = 8, carbonates = 9, sulphides = 11;
constexpr double table_of_carbonates = 33.0, table_of_sulphides = 35.0;

void add_path(double k, double energy, const std::string& activities, std::vector<std::string>& paths) {
  if (k > 0.0) paths.push_back(fmt::format("{:.17g}{} Ea {:.17g}", k, activities, energy));
}

std::string factor(const char* species, double exponent) {
  return exponent == 0.0 ? "" : fmt::format(" {} {:.17g}", species, exponent);
}

bool same(const std::string& a, const std::string& b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Sources that are asked for: both of "database", one of "database PK"; empty: it is no such word.
std::vector<std::string> sources_of(const std::string& rate) {
  if (rate == "database") return {"PK", "HERMANSKA"};
  for (const char* source : {"PK", "HERMANSKA"})
    if (rate == fmt::format("database {}", source)) return {source};
  require(!rate.starts_with("database"), "\"{}\": expected: \"database\", \"database PK\" or \"database HERMANSKA\"",
          rate);
  return {};
}

}  // namespace

std::vector<std::string> paths_of_palandri_kharaka(const std::vector<double>& p) {
  const bool carbonate = p.size() == carbonates && p.back() == table_of_carbonates;
  const bool sulphide = p.size() == sulphides && p.back() == table_of_sulphides;
  require(
      p.size() == usual || carbonate || sulphide,
      "{} rate parameters; expected: log k, E and n of the acid path, log k and E of the neutral path, log k, E and "
      "n of the basic path, {} numbers, or {} with table 33 (carbonates), {} with table 35 (sulphides) at the end",
      p.size(), usual, carbonates, sulphides);
  std::vector<std::string> paths;
  const auto add = [&](std::size_t at, const std::string& activities) {
    if (p[at] > none) add_path(std::pow(10.0, p[at]), p[at + 1], activities, paths);
  };
  const std::size_t neutral = sulphide ? 4 : 3, third = sulphide ? 7 : 5;
  add(0, factor("H+", p[2]) + (sulphide ? factor("Fe+3", p[3]) : ""));
  add(neutral, sulphide ? factor("O2", p[6]) : "");
  add(third, factor(carbonate ? "CO2(g)" : "H+", p[third + 2]));
  return paths;
}

std::vector<std::string> paths_of_hermanska(const std::vector<double>& p) {
  constexpr std::size_t wanted = 11;
  require(
      p.size() == wanted,
      "{} rate parameters; expected: log k, A, E and n of the acid path, log k, A and E of the neutral path, log k, "
      "A, E and n of the basic path, {} numbers",
      p.size(), wanted);
  std::vector<std::string> paths;
  const auto add = [&](std::size_t at, const std::string& activities) {
    add_path(p[at] * std::exp(-p[at + 1] / (gas_constant_kj * kelvin_25)), p[at + 1], activities, paths);
  };
  add(1, factor("H+", p[3]));
  add(5, "");
  add(8, factor("H+", p[10]));
  return paths;
}

void take_rates(const std::vector<DatabaseRate>& rates, MineralOptions& mineral) {
  std::vector<std::string> all, names;
  for (const DatabaseRate& rate : rates) names.push_back(rate.mineral);
  for (const std::string& text : mineral.rates) {
    const std::vector<std::string> sources = sources_of(text);
    if (sources.empty()) all.push_back(text);
    const DatabaseRate* found = nullptr;
    for (const std::string& source : sources)
      for (const DatabaseRate& rate : rates)
        if (found == nullptr && rate.source == source && same(rate.mineral, mineral.phase)) found = &rate;
    require(
        sources.empty() || found != nullptr,
        "mineral {}: \"{}\": {} has no rate parameters ({}){}; chemistry.rates = \"palandri-kharaka.dat\" contains "
        "some; programs in Basic (RATES) and RATE_PARAMETERS_SVD are not read. Or give the reaction paths themselves",
        mineral.name, text, mineral.phase, join(sources, " or "), or_rather(mineral.phase, names));
    if (found != nullptr) all.insert(all.end(), found->paths.begin(), found->paths.end());
  }
  mineral.rates = std::move(all);
}

}  // namespace karst
