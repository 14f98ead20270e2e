// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/water.hpp"

#include <cmath>
#include <numbers>

namespace karst {

double water_density(double kelvin) {
  constexpr double critical_kelvin = 647.096, critical_density = 322.0, critical_pressure = 22.064e6 / 101325.0;  // atm
  const double theta = 1.0 - kelvin / critical_kelvin, third = std::cbrt(theta), half = std::sqrt(theta);
  const auto power = [](double x, int n) { return std::pow(x, n); };
  const double saturated = critical_density * (1.0 + 1.99274064 * third + 1.09965342 * power(third, 2) -
                                               0.510839303 * power(third, 5) - 1.75493479 * power(third, 16) -
                                               45.5170352 * power(third, 43) - 6.74694450e5 * power(third, 110));
  const double vapour = critical_pressure * std::exp(critical_kelvin / kelvin *
                                                     (-7.85951783 * theta + 1.84408259 * power(half, 3) -
                                                      11.7866497 * power(theta, 3) + 22.6807411 * power(half, 7) -
                                                      15.9618719 * power(theta, 4) + 1.80122502 * power(half, 15)));
  const double t = kelvin - 273.15;
  const double per_atm = 5.188e-2 + t * (-4.1885519e-4 + t * (6.6780748e-6 + t * (-3.6648699e-8 + t * 8.3501912e-11)));
  return 1e-3 * (saturated + per_atm * (1.0 - vapour));
}

double water_permittivity(double kelvin) {
  constexpr double bar = 1.01325;
  const double at_1000 = 3.4279e2 * std::exp(-5.0866e-3 * kelvin + 9.4690e-7 * kelvin * kelvin);
  const double c = -2.0525 + 3.1159e3 / (-1.8289e2 + kelvin);
  const double b = -8.0325e3 + 4.2142e6 / kelvin + 2.1417 * kelvin;
  return at_1000 + c * std::log((b + bar) / (b + 1000.0));
}

DebyeHueckel debye_hueckel(double kelvin) {
  const double density = water_density(kelvin);
  const double et = water_permittivity(kelvin) * kelvin;
  constexpr double avogadro = 6.02252e23, q = 1.671008e-3;  // [1/mol], [cm K]
  const double per_cm = std::sqrt(8.0 * std::numbers::pi * avogadro * 1e-3 * density * q / et);
  return {q * per_cm / (2.0 * std::numbers::ln10 * et), 1e-8 * per_cm};
}

double diffuse_layer_charge(double kelvin) {
  constexpr double vacuum = 8.854e-12, gas = 8.3147;  // [F/m], [J/mol/K]
  return std::sqrt(8000.0 * water_permittivity(kelvin) * vacuum * gas * kelvin);
}

double fugacity_coefficient(double kelvin, double pressure, double critical_temperature, double critical_pressure,
                            double acentric) {
  constexpr double gas = 82.057366;  // [cm³ atm/mol/K]
  const double kappa = 0.37464 + acentric * (1.54226 - 0.26992 * acentric);
  const double root = 1.0 + kappa * (1.0 - std::sqrt(kelvin / critical_temperature));
  const double rtc = gas * critical_temperature, rt = gas * kelvin;
  const double a = 0.457235 * rtc * rtc / critical_pressure * root * root * pressure / (rt * rt);
  const double b = 0.077796 * rtc / critical_pressure * pressure / rt;
  // z³ - (1 - B) z² + (A - 3B² - 2B) z - (AB - B² - B³) = 0: Newton's method from above the largest root
  double z = 2.0;
  for (int i = 0; i < 60; ++i) {
    const double f = ((z - (1.0 - b)) * z + (a - 3.0 * b * b - 2.0 * b)) * z - (a * b - b * b - b * b * b);
    const double df = (3.0 * z - 2.0 * (1.0 - b)) * z + (a - 3.0 * b * b - 2.0 * b);
    const double step = f / df;
    z -= step;
    if (std::abs(step) < 1e-14) break;
  }
  const double s2 = std::sqrt(2.0);
  return std::exp(z - 1.0 - std::log(z - b) -
                  a / (2.0 * s2 * b) * std::log((z + (1.0 + s2) * b) / (z + (1.0 - s2) * b)));
}

}  // namespace karst
