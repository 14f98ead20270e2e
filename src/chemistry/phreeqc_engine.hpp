// SPDX-License-Identifier: BSD-3-Clause
// PHREEQC itself as a second engine: solutions by IPhreeqc, cells that react by PhreeqcRM (Parkhurst and Wissmeier
// 2015, Adv. Water Resour. 83:176), from the same descriptions. Without the CMake option KARST_PHREEQCRM every call
// throws Error that names it.
//
// A cell is a kilogram of water: H = 2 W + Σ q H_p, O = W + Σ q O_p and charge = Σ q z_p, with the moles q of each
// primary species, its atoms H_p, O_p, and the moles W of water, those of a kilogram and what the species that were
// found last hold more or less of it than the primaries. PHREEQC gives an element one total and lets electrons go from
// one valence to the other: a solution with two valences of one element is refused.
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

/// What PHREEQC reads: paths of a database and of files behind it.
struct PhreeqcFiles {
  std::string database;
  std::vector<std::string> additions;
};

/// As solve_solution() of solution.hpp, from the amounts of the description; the state is PHREEQC's. Not collective.
Solution solve_with_phreeqc(const PhreeqcFiles& files, const Database& database, const SolutionOptions& options);

/// Cells with minerals and phases in equilibrium, without sorbents.
class PhreeqcCells {
 public:
  /// @param area, amount  [cell][mineral], as BatchMinerals; not used after this
  /// Throws Error with what PHREEQC says.
  PhreeqcCells(const PhreeqcFiles& files, const ReactiveMedium& medium, std::span<const double> area,
               std::span<const double> amount, int n_threads);
  ~PhreeqcCells();
  PhreeqcCells(PhreeqcCells&&) noexcept;
  PhreeqcCells& operator=(PhreeqcCells&&) noexcept;

  /// All cells over a time; 0: equilibrium alone. Throws Error with what PHREEQC says. Not collective.
  /// @param totals  [cell][primary] of what is dissolved [mol/kgw]
  /// @param[out] dissolved  [cell][mineral] over the time [mol/kgw]
  void react(double time, std::span<const double> totals, std::span<double> dissolved);
  /// What react() has found.
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
