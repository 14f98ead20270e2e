// SPDX-License-Identifier: BSD-3-Clause
// Speciation and kinetics in microseconds per solution: `bench_chemistry DATABASE`. One thread.
#include <fmt/core.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/clock.hpp"
#include "chemistry/speciation.hpp"

namespace {

using namespace karst;

/// Totals near those of a solution, as cells of a sample meet them from step to step.
/// @param spread  relative change of each total between two solves
void speciation(const Database& database, const std::vector<std::string>& elements, double spread) {
  const ChemicalSystem system = make_system(database, elements, 298.15);
  std::vector<SolutionCondition> conditions{{SolutionCondition::Kind::activity, -7.5 * std::log(10.0)}};
  for (std::size_t p = 1; p <= elements.size(); ++p) conditions.push_back({SolutionCondition::Kind::total, 1e-3});
  SpeciationWorkspace work;
  Speciation state = cold_start(system, conditions);
  speciate(system, conditions, state, work);
  for (std::size_t p = 0; p < conditions.size(); ++p)
    conditions[p] = {SolutionCondition::Kind::total, total_of(system, state, static_cast<int>(p))};
  const std::vector<SolutionCondition> first = conditions;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  constexpr int solves = 20000;
  int iterations = 0, failed = 0;
  const double begin = now();
  for (int k = 0; k < solves; ++k) {
    for (std::size_t p = 0; p < conditions.size(); ++p)
      conditions[p].value = first[p].value * (1.0 + spread * unit(random));
    failed += speciate(system, conditions, state, work) ? 0 : 1;
    iterations += state.iterations;
  }
  fmt::print("{:>9}  {:>7}  {:>8.0e}  {:>9.2f}  {:>10.2f}  {:>6}\n", system.n_primaries, system.species.size(), spread,
             1e6 * (now() - begin) / solves, static_cast<double>(iterations) / solves, failed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fmt::print(stderr, "bench_chemistry DATABASE\n"), 1;
  const Database database = read_database(argv[1]);
  const std::vector<std::vector<std::string>> systems{
      {"Ca", "C(4)"},
      {"Ca", "C(4)", "Na", "Cl", "Mg"},
      {"Ca", "C(4)", "Na", "Cl", "Mg", "K", "S(6)", "Si", "Al", "Sr", "Ba"}};
  fmt::print("primaries  species    change         µs  iterations  failed\n");
  for (const auto& elements : systems)
    for (const double spread : {1e-4, 1e-2, 0.3}) speciation(database, elements, spread);
}
