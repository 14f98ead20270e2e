// SPDX-License-Identifier: BSD-3-Clause
// The sample where the domain of a run is the sample with reservoirs (decision 054).
#pragma once

#include <memory>
#include <string>

#include "app/deck/config.hpp"
#include "app/deck/statistics.hpp"

namespace karst {

/// Places of the deck are in it; porosity, permeability and pore volume are of it.
struct Sample {
  GridOptions grid;       ///< with cells and size
  GeometryReport report;  ///< of the sample alone
  Index before{};         ///< its first cell in the domain
};

/// @param grid, report  of the sample without reservoirs
std::shared_ptr<const Sample> sample_between(const Reservoirs& reservoirs, const GridOptions& grid,
                                             const GeometryReport& report);
/// The domain, for the terminal.
std::string reservoirs_text(const Sample& sample, const GridOptions& domain, const GeometryStatistics& of_domain);

}  // namespace karst
