// SPDX-License-Identifier: BSD-3-Clause
// What job `dispersion` shows.
#pragma once

#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "app/output/quantity.hpp"
#include "transport/dispersion/dispersion.hpp"

namespace karst {

using DispersionColumns = std::vector<DispersionColumn>;

/// Numbers of a run that turn what is over D and h0 into SI units.
struct DispersionScale {
  double cell_width = 0.0;  ///< h0 [m]
  double length = 0.0;      ///< of the Péclet number [m]
  bool length_given = false;
  double diffusivity = 0.0;            ///< [m²/s]
  double reynolds_per_velocity = 0.0;  ///< of the mean velocity in the pores [s/m]
  double velocity(double peclet) const { return peclet * diffusivity / length; }  ///< mean of the fluid [m/s]
  double reynolds(double peclet) const { return reynolds_per_velocity * velocity(peclet); }
  double cell_peclet(double peclet) const { return peclet * cell_width / length; }
};

/// What a Péclet number gave, in the order of dispersion.csv.
/// @param axis  of the flow
template <class Point, class F>
void each_quantity(const DispersionScale& scale, int axis, Point& p,
                   F&& f) requires std::is_same_v<std::remove_const_t<Point>, DispersionPoint> {
  using namespace shown;
  f(Quantity{"peclet", "", csv | json | record}, p.peclet);
  f(Quantity{"velocity", "m_s", csv | json}, scale.velocity(p.peclet));
  f(Quantity{"cell_peclet", "", csv | json, "{:.6g}"}, scale.cell_peclet(p.peclet));
  f(Quantity{"reynolds", "", csv | json, "{:.6g}"}, scale.reynolds(p.peclet));
  f(Quantity{"longitudinal", "", csv | json}, double{p.tensor[axis][axis]});
  for (const auto& [a, b] : {std::pair{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}})
    f(Quantity{std::string(axis_names[a]) + axis_names[b], "", csv}, double{p.tensor[a][b]});
  f(Quantity{"tensor", "", json | record}, p.tensor);
  f(Quantity{"iterations", "", csv | json | record}, p.iterations);
  f(Quantity{"relative_residual", "", csv | json | record, "{:.3g}"}, p.relative_residual);
  f(Quantity{"seconds"}, p.seconds);
  f(Quantity{"setup_seconds"}, p.setup_seconds);
}

/// Of the rows of a closure problem: those next to walls take most of it.
inline double setup_work_of_closures(double fluid, double irregular) { return fluid + 5.0 * irregular; }

std::string dispersion_text(const DispersionColumns& columns, const DispersionScale& scale);
std::string dispersion_headline(const DispersionColumns& columns);
/// Member `dispersion` of summary.json.
Json dispersion_json(const DispersionColumns& columns, const DispersionScale& scale);
std::string dispersion_csv(const DispersionColumns& columns, const DispersionScale& scale);
/// @param inertia  that of the flow is computed
std::vector<std::string> dispersion_warnings(const DispersionColumns& columns, const DispersionScale& scale,
                                             bool inertia);
PagePart dispersion_page(const Json& summary, const Figures& figures);

}  // namespace karst
