// SPDX-License-Identifier: BSD-3-Clause
// Volumes of a transport grid without a value of their own, such as those that have just opened, and their neighbours
// that have one: in the first round those with such a neighbour across a face, then those beside them, and so on. Of
// several neighbours each counts by the conductance of the faces to it. Local: a round is one exchange with neighbours.
#pragma once

#include <span>
#include <vector>

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

struct NeighbourRounds {
  std::vector<std::int32_t> volume;      ///< own volumes, by round
  std::vector<std::int64_t> begin{0};    ///< per volume: first of its neighbours, and the end
  std::vector<std::int32_t> neighbour;   ///< with a value, or one from an earlier round
  std::vector<double> weight;            ///< parallel; Σ = 1 for each volume
  std::vector<std::int64_t> rounds{0};   ///< first of their volumes, and the end: as many rounds on all ranks
  std::vector<std::int32_t> isolated{};  ///< own volumes that no faces lead from to one with a value, increasing
};

/// @param has_value  n_own
/// Collective.
NeighbourRounds find_rounds(ScalarGrid& grid, std::span<const std::uint8_t> has_value);

/// Means of neighbours for the volumes without a value; isolated ones keep what they have.
/// @param[in,out] values  n_all
/// Collective.
void fill_from_neighbours(ScalarGrid& grid, const NeighbourRounds& rounds, std::span<double> values);

/// The other way: what volumes without a value have goes to their neighbours, the last round first. Σ is kept to
/// round-off; isolated ones keep theirs.
/// @param[in,out] amounts  n_own
/// Collective.
void give_to_neighbours(ScalarGrid& grid, const NeighbourRounds& rounds, std::span<double> amounts);

}  // namespace karst
