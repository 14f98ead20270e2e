// SPDX-License-Identifier: BSD-3-Clause
// The fluxes of a flow on another grid with the same walls (grid_change.hpp). What flows from source to source is kept:
// a finer grid shares it among its faces, a coarser one adds it up, so a grid that is refined and coarsened again has
// the fluxes of before. With u = Σ_f (x_f - x) F_f / V, the mean velocity of a volume (x its centroid; exact where Σ F
// = 0), on the other grid as point values, and g = area / distance of a face:
//
//   within a source   F = E = g (u_left + u_right) / 2 (x_right - x_left)   in the direction of the face
//   between two       F = E + g / Σ g (F_old - Σ E),  Σ over the faces between them
//
// Linear velocities in whole cells are exact; within sources Σ F is not 0, and TransportStepper::set_flow() removes
// what is left by a projection.
#pragma once

#include "transport/regrid/indicator.hpp"
#include "transport/regrid/kept_fluxes.hpp"
#include "transport/regrid/values_on_other_grid.hpp"

namespace karst {

/// Mean velocities u of own volumes, of fluxes through all faces [h0/time]. Not collective.
/// @param wanted  [own volume] others get 0; empty: all are wanted
Velocities velocities(const ScalarGrid& grid, std::span<const double> flux, std::span<const std::uint8_t> wanted = {});

/// Collective.
/// @param flow  [h0³/time], on the old grid; its halo is filled
/// @param before  a transfer of the same flow, what stays of which is copied: the fluxes have the same bits without it
FaceField fluxes_on_other_grid(GridChange& change, FaceField& flow, const FluxesBefore* before = nullptr);

}  // namespace karst
