// SPDX-License-Identifier: BSD-3-Clause
// Converts rate parameters of PHREEQC's databases to paths of a reaction.
#pragma once

#include <string>
#include <vector>

namespace karst {

struct DatabaseRate;
struct MineralOptions;

/// Palandri and Kharaka 2004, USGS Open-File Report 2004-1068: log10 k at 25 °C, activation energy [kJ/mol] and
/// exponent of H+ of an acid path, the first two of a neutral one, all three of a basic one (also of H+). For
/// carbonates (last number 33, their table) the third path depends on the fugacity of CO2; for sulphides (35) the first
/// depends on H+ and Fe+3, the second on O2, and both have one number more. A path with log10 k = -30 is absent. Throws
/// Error for another count of numbers. Not collective.
std::vector<std::string> paths_of_palandri_kharaka(const std::vector<double>& parameters);

/// Hermanská et al. 2022, Chem. Geol. 597, 120807: of an acid, a neutral and a basic path log10 k at 25 °C, which is
/// not used, A [mol/m²/s] and E [kJ/mol] of A exp(-E / R T), and for the first and last the exponent of H+. Throws
/// Error for another count of numbers. Not collective.
std::vector<std::string> paths_of_hermanska(const std::vector<double>& parameters);

/// Inserts the paths of the mineral's phase in place of "database" (the first source that has it, Palandri and Kharaka
/// first), "database PK" or "database HERMANSKA" among its rates. Throws Error, with the mineral's name and the
/// nearest, where there are none. Not collective.
/// @param rates  of the database, and of other files
void take_rates(const std::vector<DatabaseRate>& rates, MineralOptions& mineral);

}  // namespace karst
