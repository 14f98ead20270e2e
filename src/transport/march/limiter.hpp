// SPDX-License-Identifier: BSD-3-Clause
// Limiters, which prevent second-order corrections from creating new extrema. A correction of a face is an amount A
// from left to right, and a factor per face is the fraction of it that is applied: c = c_low - Σ factor A / V.
// Components that must retain a relation share their factors, all others have their own.
//
//   within a range  (diffusion, wall) only volumes that would leave the range of all previous data are limited,
//                   their outflow counted: R = 1 - V excess / inflow, and a little less (`more` in
//                   limiter_range.cpp); repeated until no value leaves the range. R tends to 1 with the excess,
//                   so round-off remains round-off
//   local           (advection) flux-corrected transport: every volume remains between the extrema of itself and its
//                   neighbours, before and after the low-order step (Zalesak, J. Comput. Phys. 31 (1979) 335)
//
// Round-off is not limited: see Leeway. Components are stored in blocks, interleaved.
#pragma once

#include "transport/volumes/scalar_grid.hpp"
#include "transport/volumes/side_by_side.hpp"

namespace karst {

constexpr double counts_as_limited = 0.99;  ///< a face with a smaller factor counts as limited

struct ScalarRange {
  double least = 0.0, largest = 0.0;
};

/// Tolerances of the bounds for round-off. With s = max(|least|, |largest|) of all previous data and m the smallest
/// magnitude between them (0 where they differ in sign):
///
///   range  values in it are not limited. Own factors: the range of the data, extended on both sides by what its width
///          lacks to 1e-9 s, or by nothing if it is wider than that. Shared factors: extended by 1e-9 m + 5e-14 s.
///          Round-off, 1e-16 s, would otherwise limit all components beside one that varies little or has become
///          uniform, ahead of a front or behind it
///   slack  1e-15 (|least| + |largest|), beyond which a value has left the range
///   near   the distance by which a value may leave the extrema of its neighbourhood, but not the range: 1e-13 s,
///   shared
///          1e-9 s, plus the extension of a narrow range
struct Leeway {
  /// @param shares  Correction::shares
  Leeway(const ScalarRange& data, bool shares);
  double least_allowed() const { return range.least - slack; }
  double largest_allowed() const { return range.largest + slack; }
  ScalarRange range;
  double slack, near;
};

/// C components to be corrected. They either share one factor per face with each other and with the other blocks of a
/// call, or each has its own factors; then the call has a single block.
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

/// Work of the passes of correct_within_range() on this rank. It is measured separately because the volumes that leave
/// the range change from step to step, unlike all other work of transport.
struct LimiterWork {
  Array<std::uint32_t>
      looks;  ///< n_own: evaluations of a volume times the components of the block; accumulated until set to 0
  double seconds = 0.0;  ///< working time of all calls, without waiting
};

struct LimiterScratch {
  /// R of the amounts that increase and that decrease a volume, of the current block: C n_values; 1 on domain faces,
  /// and everywhere between the passes of the range.
  Array<double> up, down;
  Array<double> face, wall;  ///< the factors of the last call: Correction::factors() n_faces, n_own
  std::vector<double> near, least,
      largest;                 ///< of Leeway, component after component along an interval of plain volumes
  Array<std::uint8_t> held;    ///< n_values: R < 1 in this pass
  Array<std::uint8_t> listed;  ///< n_own: in `next`; in `touched`
  Array<std::int32_t>
      place;  ///< n_own: index of the volume's interval in grid.plain, or -1 - its index in grid.special
  std::vector<std::int32_t> held_list;  ///< volumes with `held`, of other ranks too
  std::vector<std::vector<std::int32_t>>
      outside;                           ///< per block: own volumes that would leave the range with the full correction
  std::vector<std::int32_t> look, next;  ///< own volumes whose factors changed in the last pass, and in this one
  std::vector<std::int32_t> touched;     ///< own volumes whose factors are not 1
  std::vector<std::int64_t> remote_begin;  ///< first face of the volumes n_own .. n_all, and the end
  std::vector<VolumeFace> remote_faces;    ///< those that they share with own volumes
  LimiterWork work;
  std::int64_t bytes() const;  ///< of this rank
};

/// @param width    of the widest block
/// @param factors  largest Correction::factors(). Not collective.
LimiterScratch make_limiter(const ScalarGrid& grid, int width, int factors);

struct RangeLimits {
  int passes = 0;  ///< how often the factors were lowered
  /// Number of factors below 0.99 of faces of this rank (a face belongs to its right or only own volume).
  std::int64_t limited = 0;
};

/// Applies the limited corrections to all blocks: low -= Σ factor amount / V in the own volumes. The factors remain in
/// scratch.face and wall, the work in scratch.work. Collective.
RangeLimits correct_within_range(ScalarGrid& grid, std::span<const Correction> blocks, LimiterScratch& scratch);
/// low -= Σ amount / V without limiter. Threaded; not collective.
void correct_freely(const ScalarGrid& grid, const Correction& block);

/// Applies the corrections limited by local bounds to all blocks. The outflow through a domain face remains in the
/// range, too: its concentration is (F c dt + A) / (F dt). Returns the number of factors below 0.99 of faces of this
/// rank. Collective.
/// @param flow    F, n_faces
std::int64_t correct_within_local_bounds(ScalarGrid& grid, std::span<const Correction> blocks,
                                         std::span<const double> flow, double dt, LimiterScratch& scratch);

}  // namespace karst
