// SPDX-License-Identifier: BSD-3-Clause
// transport.mode = "steady": the state in which transport ends, solved component by component (SteadyTransport).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/job/job.hpp"
#include "app/output/vof_values.hpp"
#include "app/output/wall_surface.hpp"
#include "app/transport/transport_setup.hpp"

namespace karst {

/// Solves, in the flow that the run has left. Collective.
JobResult steady_transport(const JobContext& run);

/// Flux into the wall per area [C m/s] and concentration at it [C], per piece of wall.
struct WallMap {
  std::vector<float> flux, concentration;
};

/// Concentrations at the walls of first-order laws, c_eq + (flux - given flux) / rate, and without a rate c - flux
/// distance / D from the value in the VoF.
/// @param laws    per mineral
/// @param flux    per piece [C m/s]
/// @param values  own unknowns [C]
/// Not collective.
WallMap wall_map(const JobContext& run, const std::vector<WallPlace>& places, const ComponentDeck& component,
                 const std::vector<SurfaceLaw>& laws, std::span<const double> flux, std::span<const double> values);

/// What the walls with a law do as a whole. Collective.
/// @param mean  concentration of the fluid
std::optional<WallResult> sum_walls(const JobContext& run, const std::vector<WallPlace>& places, const WallMap& map,
                                    const std::vector<SurfaceLaw>& laws, double loss, double mean);

/// What the minerals of each piece take of a component, by their laws at the concentration of the wall; their sum is
/// the flux. Not collective.
/// @param flux  per piece [C m/s]
std::vector<MineralFlux> mineral_fluxes(const JobContext& run, const std::vector<WallPlace>& places, const WallMap& map,
                                        const std::vector<SurfaceLaw>& laws, std::span<const double> flux);

/// Writes wall.vtp with the maps of all components, unless the deck does not want it or no wall has a law. Collective.
void leave_wall(const JobContext& run, const std::vector<WallPlace>& places,
                const std::vector<std::vector<SurfaceLaw>>& laws, std::vector<WallMap> maps, JobResult& result);

}  // namespace karst
