// SPDX-License-Identifier: BSD-3-Clause
// What keeps corrections of second order from making values that were not there. A correction of a face is an amount A
// from left to right; a factor per face says how much of it is taken: c = c_low - Σ factor A / V. Components that have
// to keep a relation share their factors, all others have their own.
//
//   within a range  (diffusion, wall) only volumes that would leave the range of all data so far are held back, with
//   what
//                   leaves them counted: R = 1 - V excess / what flows in, and a little less (`more` in
//                   limiter_range.cpp); repeated until nothing leaves. R tends to 1 with the excess, so round-off stays
//                   round-off
//   local           (advection) flux-corrected transport: every volume stays between the extrema of itself and its
//                   neighbours, before and after the step of low order (Zalesak, J. Comput. Phys. 31 (1979) 335)
//
// Round-off holds nobody back: see Leeway. Components come in blocks, side by side.
#pragma once

#include "transport/march/scalar_grid.hpp"
#include "transport/march/side_by_side.hpp"

namespace karst {

constexpr double counts_as_limited = 0.99;  ///< a smaller factor does

struct ScalarRange {
  double least = 0.0, largest = 0.0;
};

/// What bounds leave to round-off, so that a component that is uniform but for noise does not lower the factors that it
/// shares. With s = max(|least|, |largest|) of the data so far:
///
///   range  values within it are let be: the range of the data, on both sides wider by what its width misses to 1e-9 s,
///          nothing where it is wider than that
///   slack  1e-15 (|least| + |largest|), beyond which a value has left the range
///   near   1e-13 s and what has widened the range: what a value may leave the extrema of its neighbourhood by, but not
///          the range
struct Leeway {
  explicit Leeway(const ScalarRange& data);
  double least_allowed() const { return range.least - slack; }
  double largest_allowed() const { return range.largest + slack; }
  ScalarRange range;
  double slack, near;
};

/// C components to be corrected. They share one factor per face with each other and the other blocks of a call, or have
/// their own; then theirs is the only block.
struct Correction {
  int width = 1;                   ///< C
  bool shares = true;              ///< one factor per face in place of C
  std::span<double> low;           ///< C n_values
  std::span<const double> before;  ///< C n_values: old values, for local bounds
  std::span<const double> amount;  ///< C n_faces
  std::span<const double> wall;    ///< C n_own: out of the fluid; empty: none
  std::array<ScalarRange, most_side_by_side> range{};
  int factors() const { return shares ? 1 : width; }
};

/// f(width, factors) as integral constants.
template <class F>
decltype(auto) with_factors(const Correction& b, F&& f) {
  return with_width(b.width, [&](auto C) { return b.shares ? f(C, std::integral_constant<int, 1>{}) : f(C, C); });
}

/// What passes of correct_within_range() take, on this rank. Where volumes leave the range, and how many, differs from
/// step to step, as nothing else of transport does.
struct LimiterWork {
  Array<std::uint32_t> looks;  ///< n_own: at a volume, times the components of the block; added up until set to 0
  double seconds = 0.0;        ///< worked in all calls, without waiting
};

struct LimiterScratch {
  /// R of what raises and lowers a volume, of the block at hand: C n_values; 1 on the ends of the domain, and between
  /// the passes of the range everywhere.
  Array<double> up, down;
  Array<double> face, wall;                  ///< the factors of the last call: Correction::factors() n_faces, n_own
  std::vector<double> near, least, largest;  ///< of Leeway, component after component along a stretch of plain volumes
  Array<std::uint8_t> held;                  ///< n_values: R < 1 in this pass
  Array<std::uint8_t> listed;                ///< n_own: in `next`; in `touched`
  Array<std::int32_t> place;                 ///< n_own: of the volume in grid.plain, or -1 - its place in grid.special
  std::vector<std::int32_t> held_list;       ///< volumes with `held`, of other ranks too
  std::vector<std::vector<std::int32_t>> outside;  ///< per block: own volumes that would leave the range with all of it
  std::vector<std::int32_t> look, next;    ///< own volumes whose factors changed in the last pass, and in this one
  std::vector<std::int32_t> touched;       ///< own volumes whose factors are not 1
  std::vector<std::int64_t> remote_begin;  ///< first face of the volumes n_own .. n_all, and the end
  std::vector<VolumeFace> remote_faces;    ///< those that they share with own volumes
  LimiterWork work;
  std::int64_t bytes() const;  ///< of this rank
};

/// @param width    of the widest block
/// @param factors  most Correction::factors()
/// Not collective.
LimiterScratch make_limiter(const ScalarGrid& grid, int width, int factors);

struct RangeLimits {
  int passes = 0;  ///< how often the factors were lowered
  /// Factors below 0.99 of faces of this rank: those of their right or only own volume.
  std::int64_t limited = 0;
};

/// Gives all blocks what they may take: low -= Σ factor amount / V in the own volumes, factors left in scratch.face and
/// wall; what it took, in scratch.work. Collective.
RangeLimits correct_within_range(ScalarGrid& grid, std::span<const Correction> blocks, LimiterScratch& scratch);
/// low -= Σ amount / V, whatever comes out. Threaded; not collective.
void correct_freely(const ScalarGrid& grid, const Correction& block);

/// Gives all blocks what local bounds allow. What leaves through an end of the domain stays in the range, too: its
/// concentration is (F c dt + A) / (F dt). Returns how many factors of faces of this rank are below 0.99. Collective.
/// @param flow    F, n_faces
std::int64_t correct_within_local_bounds(ScalarGrid& grid, std::span<const Correction> blocks,
                                         std::span<const double> flow, double dt, LimiterScratch& scratch);

}  // namespace karst
