// SPDX-License-Identifier: BSD-3-Clause
// Fluxes that a grid leaves to the next one, where both have them from the same third one (decision 081).
#pragma once

#include <span>
#include <vector>

#include "fields/face_field.hpp"
#include "transport/regrid/source_marks.hpp"

namespace karst {

/// Of the old grid a volume counts as the coarsest source that covers it.
std::vector<RemoteItem> coarsest_sources(const GridChange& change);

/// A transfer from the same old grid, to the grid before the new one.
struct FluxesBefore {
  const GridChange& step;                ///< from the grid before to the new one
  FaceField& faces;                      ///< on the grid before
  std::span<const RemoteItem> sources;   ///< of the volumes of the grid before
  std::span<const RemoteItem> coarsest;  ///< as coarsest_sources()
};

/// Copies the fluxes between volumes whose sources have the volumes and faces that they had: everything that they
/// follow from is the same, whatever is around it. Returns which faces these are. Collective.
/// @param coarsest  as coarsest_sources() now
std::vector<std::uint8_t> copy_fluxes(GridChange& change, std::span<const RemoteItem> coarsest,
                                      const FluxesBefore& before, std::span<double> now);

}  // namespace karst
