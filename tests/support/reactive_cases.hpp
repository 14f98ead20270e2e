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

/// Constants for CrunchFlow's calcite column: EQ3/6 as CrunchFlow interpolates it to 25 °C, with which both its waters
/// have the pH that it gives, 5.000 and 8.000, and the second one is saturated.
inline const Database& crunch_database() {
  static const Database database = parse_database(R"(
SOLUTION_MASTER_SPECIES
H    H+    -1 H 1.008
H(1) H+    -1 0
E    e-    0 0 0
O    H2O   0 O 16
O(-2) H2O  0 0
Ca   Ca+2  0 Ca 40.08
C    HCO3- 1 HCO3 12.011
SOLUTION_SPECIES
H+ = H+
-gamma 9.0 0.0
H2O = H2O
e- = e-
Ca+2 = Ca+2
-gamma 6.0 0.0
HCO3- = HCO3-
-gamma 4.0 0.0
H2O = OH- + H+
log_k -13.9911
-gamma 3.5 0.0
HCO3- = CO3-2 + H+
log_k -10.3264
-gamma 4.5 0.0
HCO3- + H+ = CO2 + H2O
log_k 6.3414
-gamma 3.0 0.0
Ca+2 + H2O = CaOH+ + H+
log_k -12.85
-gamma 4.0 0.0
Ca+2 + HCO3- = CaHCO3+
log_k 1.0429
-gamma 4.0 0.0
Ca+2 + HCO3- = CaCO3 + H+
log_k -7.0089
-gamma 3.0 0.0
PHASES
Calcite
CaCO3 + H+ = Ca+2 + HCO3-
log_k 1.8542
)",
                                                  "crunch");
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
