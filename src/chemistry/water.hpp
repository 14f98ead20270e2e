// SPDX-License-Identifier: BSD-3-Clause
// Pure water at one atmosphere, and what activity coefficients take from it.
#pragma once

namespace karst {

/// Density [g/cm³] of water at 0 to 100 °C; Kell 1975, J. Chem. Eng. Data 20, 97.
double water_density(double kelvin);

/// Relative permittivity; Bradley and Pitzer 1979, J. Phys. Chem. 83, 1599, at 1 atm.
double water_permittivity(double kelvin);

/// Of Debye and Hückel: A = 1.82483e6 √ρ / (ε T)^1.5 [kg^½/mol^½], B = 50.2916 √(ρ / (ε T)) [kg^½/mol^½/Å].
struct DebyeHueckel {
  double a = 0.0, b = 0.0;
};
DebyeHueckel debye_hueckel(double kelvin);

/// Fugacity coefficient of a pure gas; Peng and Robinson 1976, Ind. Eng. Chem. Fundam. 15, 59: the largest root.
/// @param pressure, critical_pressure [atm]
double fugacity_coefficient(double kelvin, double pressure, double critical_temperature, double critical_pressure,
                            double acentric);

}  // namespace karst
