// SPDX-License-Identifier: BSD-3-Clause
// Waters and minerals for transport with reactions.
#pragma once

#include <string>
#include <vector>

#include "chemistry/solution.hpp"
#include "transport/reactive/reaction_step.hpp"
#include "transport/volumes/transport_problem.hpp"

namespace karst::test {

inline std::vector<double> totals_of(const Solution& s) {
  std::vector<double> all;
  for (int p = 0; p < s.system.n_primaries; ++p) all.push_back(total_of(s.system, s.state, p));
  return all;
}

inline Solution water(const Database& database, const std::string& ph, std::vector<std::string> totals) {
  SolutionOptions options;
  options.ph = ph;
  options.totals = std::move(totals);
  return solve_solution(database, options);
}

/// An acid H+ and the mineral MOH, which dissolves as MOH + H+ = M+ + H2O, never comes to saturation, and of which the
/// rate is first order in H+: the ionic strength, and with it γ, stays as it is.
inline const Database& linear_database() {
  static const Database database = parse_database(R"(
SOLUTION_MASTER_SPECIES
H   H+   -1 H 1.008
H(1) H+  -1 0
E   e-    0 0 0
O   H2O   0 O 16
O(-2) H2O 0 0
M   M+    0 M 23
X   X-    0 X 35.45
SOLUTION_SPECIES
H+ = H+
H2O = H2O
e- = e-
M+ = M+
X- = X-
PHASES
MOH
MOH + H+ = M+ + H2O
log_k 60
)",
                                                  "linear");
  return database;
}

/// For CrunchFlow's calcite column.
inline const Database& crunch_database() {
  static const Database database = read_database(KARST_TEST_DATABASES "/calcite_column.dat");
  return database;
}

inline std::vector<ScalarComponent> components_of(const ChemicalSystem& system, double diffusivity) {
  std::vector<ScalarComponent> all;
  for (const std::string& element : system.elements) {
    ScalarComponent c;
    c.name = element;
    c.group = "totals";
    c.diffusivity = diffusivity;
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace karst::test
