// SPDX-License-Identifier: BSD-3-Clause
// Physical constants of the chemistry: those of PHREEQC, which differ from current values by up to 1e-4, where results
// are compared with it.
#pragma once

namespace karst {

constexpr double kelvin_25 = 298.15;
constexpr double phreeqc_faraday = 96493.5;            ///< [C/mol]
constexpr double phreeqc_gas_constant = 8.3147;        ///< [J/mol/K], 3e-5 from today's
constexpr double phreeqc_gas_constant_kj = 8.3147e-3;  ///< [kJ/mol/K]
constexpr double gas_constant_kj = 8.314462618e-3;     ///< [kJ/mol/K], of rate laws

}  // namespace karst
