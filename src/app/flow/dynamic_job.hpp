// SPDX-License-Identifier: BSD-3-Clause
// What job `dynamic_permeability` shows.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "ins/upscale/dynamic_permeability.hpp"

namespace karst {

/// Along one axis; SI units.
struct DynamicColumn {
  int axis = 0;
  bool connected = true;          ///< false: no pore leads along the axis; nothing was solved
  double permeability = 0.0;      ///< of steady flow, k0 [m²]
  double corner = 0.0;            ///< where the flow is 45° behind the drive [Hz]; NaN: beyond what the cells resolve
  double relaxation_time = 0.0;   ///< mean, in which flow comes to rest [s]
  double reduction_change = 0.0;  ///< largest relative change of k(ω) when a solve is left out
  std::vector<double> frequency;  ///< [Hz]
  std::vector<std::complex<double>> dynamic;  ///< k(ω), drive and flow as e^{iωt} [m²]
  int solves = 0;
  int iterations = 0;  ///< of all solves
};

struct DynamicResults {
  double resolved = 0.0;    ///< frequency up to which the skin is at least one cell thick [Hz]
  double cell_width = 0.0;  ///< [m]
  double viscosity = 0.0;   ///< kinematic [m²/s]
  double porosity = 0.0;    ///< connected
  std::vector<DynamicColumn> columns;

  /// √(2 ν / ω) [m].
  double skin(double frequency) const;
  /// α(ω) = ν φ / (i ω k(ω)).
  std::complex<double> tortuosity(double frequency, std::complex<double> k) const;
};

std::string dynamic_text(const DynamicResults& results);
std::string dynamic_headline(const DynamicResults& results);
/// Member `dynamic_permeability` of summary.json.
Json dynamic_json(const DynamicResults& results);
std::string dynamic_csv(const DynamicResults& results);
std::vector<std::string> dynamic_warnings(const DynamicResults& results);
PagePart dynamic_page(const Json& summary, const Figures& figures);

}  // namespace karst
