// SPDX-License-Identifier: BSD-3-Clause
// Pore spaces whose effective diffusivity is known.
#pragma once

#include <cmath>
#include <numbers>

#include "support/geometry_cases.hpp"
#include "transport/effective_diffusivity.hpp"

namespace karst::test {

inline GridOptions diffusion_grid(const Index& cells, std::array<bool, 3> periodic = {}, int box = 8) {
  return unit_cells(cells, periodic, box);
}

/// Solid layers of normal (1, 1, 0), as thick as the fluid between them; `n_layers` of them in a period of n cells.
inline std::unique_ptr<LevelSet> slanted_layers(int n, int n_layers, double shift = 0.3) {
  const double period = n / (n_layers * std::numbers::sqrt2);
  Vec3 normal{1, 1, 0};
  normal *= 1.0 / norm(normal);
  LevelSetParts plates;
  for (int i = -1; i <= 2 * n_layers + 1; ++i)
    plates.push_back(plate((shift + i * period) * normal, normal, 0.5 * period));
  return union_of_solids(std::move(plates));
}

/// Effective diffusivity over that of the fluid of a simple cubic array of spheres that lets nothing through; total
/// cross-section. Source: Sangani & Acrivos, Proc. R. Soc. Lond. A 386 (1983) 263, equation of section 4 with
/// conductivity 0; errors below 0.1 % up to a solid fraction of 0.4.
inline double simple_cubic_diffusivity(double solid) {
  const auto l = [](double n) { return -(2.0 * n - 1.0) / (2.0 * n); };
  const double c = solid;
  const double series = 2.0 + c +
                        1.3047 * l(2) * std::pow(c, 10.0 / 3) * (1.0 + 0.2305 * l(3) * std::pow(c, 11.0 / 3)) /
                            (1.0 - 0.4054 * l(2) * std::pow(c, 7.0 / 3)) +
                        0.07231 * l(3) * std::pow(c, 14.0 / 3) + 0.1526 * l(4) * std::pow(c, 6.0) +
                        0.01045 * l(5) * std::pow(c, 22.0 / 3);
  return 1.0 - 3.0 * c / series;
}

inline DiffusionOptions along(std::vector<int> axes, double tolerance = 1e-12) {
  DiffusionOptions options;
  options.axes = std::move(axes);
  options.tolerance = tolerance;
  return options;
}

}  // namespace karst::test
