// SPDX-License-Identifier: BSD-3-Clause
// Grids on which the permeability of a run was solved, each finer than the one before (flow.error, decision 067).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/math/no_number.hpp"
#include "base/math/triple.hpp"
#include "grid/grid_options.hpp"

namespace karst {

/// One grid. Entries by axis; NaN: not solved, or not known.
struct FlowRound {
  FlaggedBoxes boxes{};                      ///< beside those of the deck
  std::int64_t cells = 0;                    ///< with flow, of all levels
  Vec3 permeability = Vec3::all(no_number);  ///< along the axis [m²]
  Vec3 weight = Vec3::all(no_number);        ///< M (ins/upscale/error_by_friction.hpp)
  Vec3 error = Vec3::all(no_number);         ///< estimated, relative
  int iterations = 0;                        ///< of all axes
  double seconds = 0.0;                      ///< of their solves with set-up, of the slowest rank
};

struct FlowRounds {
  std::vector<FlowRound> grids{};
  std::optional<FlaggedBoxes> next{};  ///< on which the flow is to be solved now; none: the last one is the result
  std::string limit{};       ///< why there is no finer one though the error is asked for; empty: it is reached
  double fine_weight = 1.0;  ///< LevelWeights::fine (ins/upscale/error_by_friction.hpp)
  std::string depends{};     ///< SolveStore::dependencies() on the first ground
};

}  // namespace karst
