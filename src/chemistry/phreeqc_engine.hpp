// SPDX-License-Identifier: BSD-3-Clause
// PHREEQC as a second engine: solutions by IPhreeqc, reacting cells by PhreeqcRM (Parkhurst and Wissmeier 2015, Adv.
// Water Resour. 83:176), from the same descriptions. Without the CMake option KARST_PHREEQCRM every call throws an
// Error that mentions the option.
//
// A cell is a kilogram of water: H = 2 W + Σ q H_p, O = W + Σ q O_p and charge = Σ q z_p, with the moles q of each
// primary species, its atoms H_p, O_p, and the moles W of water, those of a kilogram plus the difference in water
// between the last species and the primaries. PHREEQC has one total per element and allows electron transfer between
// valences: a solution with two valences of one element is rejected.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chemistry/batch.hpp"
#include "chemistry/solution.hpp"

namespace karst {

/// Whether Karst was built with PhreeqcRM.
bool has_phreeqc();

/// Input of PHREEQC: paths of a database and of files read after it.
struct PhreeqcFiles {
  std::string database;
  std::vector<std::string> additions;
};

/// As solve_solution() of solution.hpp, from the amounts of the description; the state is PHREEQC's. Not collective.
Solution solve_with_phreeqc(const PhreeqcFiles& files, const Database& database, const SolutionOptions& options);

/// Cells with minerals and phases in equilibrium, without sorbents.
class PhreeqcCells {
 public:
  /// @param area, amount  [cell][mineral], as BatchMinerals; not used after this call. Throws Error with PHREEQC's
  /// message.
  PhreeqcCells(const PhreeqcFiles& files, const ReactiveMedium& medium, std::span<const double> area,
               std::span<const double> amount, int n_threads);
  ~PhreeqcCells();
  PhreeqcCells(PhreeqcCells&&) noexcept;
  PhreeqcCells& operator=(PhreeqcCells&&) noexcept;

  /// Advances all cells by a time; 0: equilibrium only. Throws Error with PHREEQC's message. Not collective.
  /// @param totals  [cell][primary] of what is dissolved [mol/kgw]
  /// @param[out] dissolved  [cell][mineral] over the time [mol/kgw]
  void react(double time, std::span<const double> totals, std::span<double> dissolved);
  /// Results of react().
  Speciation solution(std::size_t cell) const;
  int n_threads() const;

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

/// As equilibrate() and react() of batch.hpp: times empty, or increasing. Not collective.
std::vector<BatchState> react_with_phreeqc(const PhreeqcFiles& files, const ReactiveMedium& medium,
                                           const BatchMinerals& minerals, const std::vector<double>& totals,
                                           const std::vector<double>& times);

}  // namespace karst
