// SPDX-License-Identifier: BSD-3-Clause
// A permeability to a stated error (decision 067): which octants of a grid are to be refined, and what is left of the
// error on a refined grid.
//
// Stokes flow is the flow of least friction, so a conductance that is wrong by a part ε in a place changes K by ε times
// the share f of this place in the friction of the whole flow. With an ε = δ w_l that is alike on all cells of level l,
//
//   error of K = δ M,   M = Σ_octants f w_l,   w_0 = 1,   w_l = a 4^-l
//
// and a grid on which M is smaller has an error that is smaller by as much. a = 1 is second order in the cell width. On
// cells as wide as the voxels of an image the interpolated wall is off by b = -1/6, on finer ones by 4^-l / 12
// (extrapolation.hpp): where this is all of the error, a = 1/2. For such grids a = 2/3, between the two. δ is what the
// last refinement has shown: K changed by δ (M before - M now). All is relative to K, an entry for each axis of the
// drive.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/grid_options.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// An octant of a box, with its share f of the friction of the flow along each axis.
struct OctantShare {
  int level = 0;           ///< of its cells
  std::uint64_t key = 0;   ///< of the finer box that covers it
  std::int64_t cells = 0;  ///< with flow
  Vec3 share;              ///< 0 for axes without a flow
};

/// Of all ranks, from FlowColumn::friction, by level and key. The same on every rank. Collective.
std::vector<OctantShare> octant_shares(const Comm& comm, std::span<const FlowColumn> columns);

/// w_l.
struct LevelWeights {
  double fine = 1.0;  ///< a
  double of(int level) const { return level == 0 ? 1.0 : std::ldexp(fine, -2 * level); }
  double gain(int level) const { return of(level) - of(level + 1); }  ///< of cells that are halved
};
inline constexpr LevelWeights second_order{1.0}, cells_of_voxels{2.0 / 3.0};

/// M.
Vec3 error_weight(std::span<const OctantShare> octants, const LevelWeights& weights);

/// Finer boxes for a smaller M, and those of coarser levels that hold them.
struct FinerGrid {
  FlaggedBoxes boxes;
  double cells = 0.0;         ///< with flow, about: what is refined around boxes so that levels nest is not counted
  bool enough = true;         ///< false: M stays above a goal
  bool out_of_cells = false;  ///< as there would be more than `most` cells
};

/// Of each axis those whose refinement gains most of M first, until M is no more than the goal, or nine tenths of what
/// can be gained are; then those with three refined neighbours.
/// @param grid    cells, periodic directions and box size
/// @param now     boxes that are refined already
/// @param goal    M; infinite: the axis needs nothing
/// @param finest  level that cells may have
/// @param most    cells with flow
FinerGrid finer_grid(const GridOptions& grid, std::span<const OctantShare> octants, const LevelWeights& weights,
                     const FlaggedBoxes& now, const Vec3& goal, int finest, double most);

/// Of one axis on one grid.
struct ErrorOnGrid {
  double permeability = 0.0;             ///< any unit
  double weight = 1.0;                   ///< M
  double error = 0.0;                    ///< estimated, relative; NaN: unknown
  std::optional<double> extrapolated{};  ///< in the unit of the permeability
};

/// Sets error and extrapolated value from the grid before, by
///
///   δ = |K - K before| / K / (M before - M),   error = 1.5 δ M, at least a third of what the error before comes to on
///                                              this grid: a change may be small by chance
///
/// Nothing is known where M did not become smaller.
void estimate_from_change(const ErrorOnGrid& before, ErrorOnGrid& now);

}  // namespace karst
