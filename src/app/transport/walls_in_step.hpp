// SPDX-License-Identifier: BSD-3-Clause
// What walls took and gave off in the last step of transport in time.
#pragma once

#include <vector>

#include "app/transport/steady_transport_job.hpp"
#include "app/transport/transport_system.hpp"

namespace karst {

/// What walls with laws do in a step, as maps.
struct WallsInStep {
  std::vector<WallPlace> places;
  std::vector<std::vector<SurfaceLaw>> laws;  ///< [component][mineral]
  std::vector<std::vector<double>> flux;      ///< [component][place] [C m/s]; totals have none
  std::vector<WallMap> maps;                  ///< [component]
};

/// Of the last step. Not collective.
WallsInStep walls_in_step(const TransportSystem& system);

/// The same by component and mineral, and what minerals of [chemistry] gave off: wall_rates, at_walls, dissolution and
/// deposits. Not collective.
void leave_wall_rates(const TransportSystem& system, Exchanges& exchanges);

/// Walls that are behind or ahead in a step: as far as in its middle. Not collective.
void take_walls_behind(const WallsBehind& walls, double dt, TransportSystem& system);

}  // namespace karst
