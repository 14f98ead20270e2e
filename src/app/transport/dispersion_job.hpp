// SPDX-License-Identifier: BSD-3-Clause
// What job `dispersion` shows.
#pragma once

#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "transport/dispersion/dispersion.hpp"

namespace karst {

class Json;

using DispersionColumns = std::vector<DispersionColumn>;

/// Numbers of a run that turn what is over D and h0 into SI units.
struct DispersionScale {
  double cell_width = 0.0;  ///< h0 [m]
  double length = 0.0;      ///< of the Péclet number [m]
  bool length_given = false;
  double diffusivity = 0.0;                                                       ///< [m²/s]
  double velocity(double peclet) const { return peclet * diffusivity / length; }  ///< mean of the fluid [m/s]
  double cell_peclet(double peclet) const { return peclet * cell_width / length; }
};

std::string dispersion_text(const DispersionColumns& columns, const DispersionScale& scale);
std::string dispersion_headline(const DispersionColumns& columns);
/// Member `dispersion` of summary.json.
std::string dispersion_json(const DispersionColumns& columns, const DispersionScale& scale);
std::string dispersion_csv(const DispersionColumns& columns, const DispersionScale& scale);
std::vector<std::string> dispersion_warnings(const DispersionColumns& columns, const DispersionScale& scale);
PagePart dispersion_page(const Json& summary, const Figures& figures);

}  // namespace karst
