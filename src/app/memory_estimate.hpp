// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/comm.hpp"
#include "eb/geometry.hpp"
#include "io/plotfile.hpp"

namespace karst {

/// One part of the memory of a run [bytes].
struct MemoryPart {
  std::string name;
  std::int64_t largest_rank = 0, all_ranks = 0;
};

/// What every run takes: the program itself, geometry and connectivity (counted), and what the set-up of the geometry
/// took for a while, which seldom goes back to the system. Once the geometry stands. Collective; the same on every
/// rank.
/// @param program  resident set of this process before the geometry was built [bytes]
std::vector<MemoryPart> estimate_memory(const Comm& comm, std::int64_t program);
/// The buffer through which the plotfile goes. Collective; the same on every rank.
MemoryPart estimate_plotfile(const Comm& comm, const Geometry& geometry, int n_components);
/// What a job needs at its peak. Collective; the same on every rank.
/// @param more_cells  fluid cells beside those of the geometry, over all ranks
MemoryPart estimate_job(const Comm& comm, const Geometry& geometry, std::string_view name, std::int64_t more_cells,
                        double bytes_per_fluid_cell);

/// The parts, their sum, and the peak measured while the geometry was built.
std::string memory_table(const std::vector<MemoryPart>& parts, const MemoryPart& measured);

}  // namespace karst
