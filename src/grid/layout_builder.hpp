// SPDX-License-Identifier: BSD-3-Clause
// Creates layouts: which boxes of the lattice contain fluid, and their owners
// (docs/decisions/001-boxes-on-a-lattice.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/box_costs.hpp"
#include "grid/layout.hpp"

namespace karst {

/// Cost of a box in any unit, from its cells (clipped at the domain boundary); 0 if it contains no fluid: then the box
/// does not exist. Called from several threads.
using Classify = std::function<double(const Box& cells)>;
/// Called before boxes are classified, with those of this rank: to get what their classification needs. Collective.
using Prepare = std::function<void(std::span<const Box> cells)>;

struct BuiltLayout {
  Layout layout;
  std::int64_t candidates = 0;  ///< boxes classified
  std::int64_t kept = 0;        ///< boxes that contain fluid
  double imbalance = 1.0;       ///< longest time of a rank / the mean, by the weights of the distribution
};

/// Layout of the whole domain. Candidates are distributed to the ranks in contiguous Morton ranges of equal length; no
/// rank lists them all. Throws Error unless the box size is 8, 16 or 32. A layout without boxes is valid; the caller
/// reports it. Same layout for any number of ranks (only the owners differ). Collective.
/// @param costs  by which boxes are distributed, for this level. Throws Error if they belong to other boxes.
BuiltLayout build_layout(const Comm& comm, const Domain& domain, int box_size, const Classify& classify,
                         const BoxCosts& costs = {}, int level = 0, const Prepare& prepare = {});

/// Only the given lattice positions: strictly increasing keys, the same on every rank. Collective.
BuiltLayout build_layout(const Comm& comm, const Domain& domain, int box_size,
                         std::span<const std::uint64_t> candidates, const Classify& classify,
                         const BoxCosts& costs = {}, int level = 0, const Prepare& prepare = {});

/// Morton keys number [first, last) of the lattice positions inside `size`, counted in Morton order. Empty octants are
/// skipped by arithmetic: O(last - first + depth) for a domain of any shape. Not collective.
std::vector<std::uint64_t> lattice_keys(const Index& size, std::int64_t first, std::int64_t last);

}  // namespace karst
