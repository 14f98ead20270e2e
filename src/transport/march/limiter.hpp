// SPDX-License-Identifier: BSD-3-Clause
// What keeps corrections of second order from making values that were not there. A correction of a face is an amount A
// from left to right; a factor per face, one for all components, says how much of it is taken: c = c_low - Σ factor A /
// V.
//
//   within a range  (diffusion, wall) only volumes that would leave the range of all data so far are held back, by the
//                   least that keeps them in, with what leaves them counted: R = (room + what flows out) / what flows
//                   in; repeated until nothing leaves. R tends to 1 with the excess, so round-off stays round-off
//   local           (advection) flux-corrected transport: every volume stays between the extrema of itself and its
//                   neighbours, before and after the step of low order (Zalesak, J. Comput. Phys. 31 (1979) 335)
#pragma once

#include "transport/march/scalar_grid.hpp"

namespace karst {

struct ScalarRange {
  double least = 0.0, largest = 0.0;
};

/// A component to be corrected.
struct Correction {
  std::span<double> low;           ///< n_values
  std::span<const double> before;  ///< n_values: old values, for local bounds
  std::span<const double> amount;  ///< n_faces
  std::span<const double> wall;    ///< n_own: out of the fluid; empty: none
  ScalarRange range;
};

struct LimiterScratch {
  Array<double> up, down;               ///< n_values: R of what raises and lowers a volume; 1 on the ends of the domain
  Array<double> face, wall;             ///< the factors: n_faces, n_own
  Array<std::uint8_t> held;             ///< n_values: R < 1 in this pass
  Array<std::uint8_t> listed;           ///< n_own: already in `next`
  Array<std::int32_t> place;            ///< n_own: of the volume in grid.plain, or -1 - its place in grid.special
  std::vector<std::int32_t> held_list;  ///< volumes with `held`, of other ranks too
  std::vector<std::int32_t> look, next;    ///< own volumes whose factors changed in the last pass, and in this one
  std::vector<std::int64_t> remote_begin;  ///< first face of the volumes n_own .. n_all, and the end
  std::vector<VolumeFace> remote_faces;    ///< those that they share with own volumes
  std::size_t bytes() const;               ///< of this rank
};

/// What all corrections take, factors in scratch; true when any is less than 1. Collective.
/// @param[out] passes  how often the factors were lowered
bool limit_to_range(ScalarGrid& grid, std::span<const Correction> corrections, LimiterScratch& scratch, int& passes);
/// Factors below 1 wherever the local bounds ask for them. What leaves through an end of the domain stays in the range,
/// too: its concentration is (F c dt + A) / (F dt). Collective.
/// @param flow    F, n_faces
void limit_locally(ScalarGrid& grid, std::span<const Correction> corrections, std::span<const double> flow, double dt,
                   LimiterScratch& scratch);

/// low -= Σ factor amount / V over the own volumes. Threaded; not collective.
/// @param limited  false: factors are 1
void apply_correction(const ScalarGrid& grid, const Correction& correction, bool limited,
                      const LimiterScratch& scratch);

/// Faces of this rank (those of their right or only own volume) with a factor below 0.99.
std::int64_t count_limited(const ScalarGrid& grid, const LimiterScratch& scratch);

}  // namespace karst
