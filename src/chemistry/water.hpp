// SPDX-License-Identifier: BSD-3-Clause
// Properties of pure water at one atmosphere, for activity coefficients.
#pragma once

namespace karst {

/// Density [g/cm³] of water at 0 to 100 °C and 1 atm: Wagner and Pruss 2002, J. Phys. Chem. Ref. Data 31, 387,
/// equations 2.5 and 2.6, at saturation; from there to 1 atm by the compressibility that PHREEQC 3 fitted to their
/// equation of state.
double water_density(double kelvin);

/// Relative permittivity; Bradley and Pitzer 1979, J. Phys. Chem. 83, 1599, at 1 atm.
double water_permittivity(double kelvin);

/// Of Debye and Hückel: B = √(8π N ρ q / (ε T)) [kg^½/mol^½/Å] and A = q B / (2 ln 10 ε T) [kg^½/mol^½], q = e²/k. N
/// and q are those of PHREEQC (6.02252e23 / mol, 1.671008e-3 cm K), 2e-5 from current values, so that results can be
/// compared.
struct DebyeHueckel {
  double a = 0.0, b = 0.0;
};
DebyeHueckel debye_hueckel(double kelvin);

/// κ of a diffuse layer, σ = κ √I sinh(F ψ / (2 R T)) [C/m²] with I in mol/kgw: √(8000 ε ε0 R T); Gouy 1910, Chapman
/// 1913. Constants are those of PHREEQC.
double diffuse_layer_charge(double kelvin);

/// Fugacity coefficient of a pure gas; Peng and Robinson 1976, Ind. Eng. Chem. Fundam. 15, 59: the largest root.
/// @param pressure, critical_pressure [atm]
double fugacity_coefficient(double kelvin, double pressure, double critical_temperature, double critical_pressure,
                            double acentric);

}  // namespace karst
