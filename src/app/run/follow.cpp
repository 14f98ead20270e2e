// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/follow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/job/run_services.hpp"
#include "app/run/change_ground.hpp"
#include "app/run/move_walls.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/log.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

constexpr int looks_between = 10;   ///< from one at whether fewer boxes would do to the next
constexpr double too_many = 1.5;    ///< times as many boxes as are asked for
constexpr std::size_t few_of = 20;  ///< boxes under grid.max_cells: one of so many is not worth a change

std::size_t n_boxes(const FlaggedBoxes& flagged) {
  std::size_t n = 0;
  for (const auto& keys : flagged) n += keys.size();
  return n;
}

/// Boxes that are none of the others.
std::size_t n_new(const FlaggedBoxes& boxes, const FlaggedBoxes& others) {
  std::size_t n = 0;
  for (std::size_t l = 0; l < boxes.size(); ++l)
    n += std::ranges::count_if(
        boxes[l], [&](std::uint64_t key) { return l >= others.size() || !std::ranges::binary_search(others[l], key); });
  return n;
}

/// Whether a box is missing. @param[out] boxes  as Process::flag(), of this rank
bool is_missing(const JobContext& context, const Together& all, AskedBoxes* boxes) {
  bool missing = false;
  for (const Refinement& rule : context.grid.refine)
    if (rule.follows())
      for (const auto& process : all) missing = process->flag(rule, boxes) || missing;
  return context.comm.any(missing);
}

/// As FluidOfBox: VoFs, and what has joined VoFs of neighbours.
std::vector<std::uint16_t> cells_with_fluid(const LevelGeometry& level, int local) {
  std::vector<std::uint16_t> cells;
  for_each_vof(level.graph.box(local), [&](int, int cell) { cells.push_back(static_cast<std::uint16_t>(cell)); });
  const auto [first, last] = level.joined_in(local);
  for (std::int64_t i = first; i < last; ++i)
    if (level.joined[i].home != no_face) cells.push_back(level.joined[i].cell);
  return cells;
}

/// All boxes that are asked for, with those that hold them on coarser levels, as far as grid.max_cells allows.
LimitedBoxes wanted_boxes(const JobContext& context, const Together& all) {
  AskedBoxes asked;
  is_missing(context, all, &asked);
  asked = gather(context.comm, std::move(asked));
  if (!context.services.base_grid) return {keys_of(asked)};
  const LevelGeometry& level0 = context.geometry().levels[0];
  const auto fluid = [&](int local) { return cells_with_fluid(level0, local); };
  return within_limit(context.comm, level0.graph.layout(), fluid, *context.services.base_grid, asked,
                      *context.flagged(), context.grid.max_cells);
}

/// That boxes are left out, when it begins.
void note_left_out(JobContext& context, std::int64_t boxes) {
  FollowedGrid& followed = context.services.followed;
  if (boxes > 0 && followed.left_out == 0)
    log_info("grid.max_cells = {}: {} finer boxes that [[grid.refine]] asks for are left out, the weakest first",
             context.grid.max_cells, boxes);
  followed.leave_out(boxes);
}

/// What does not follow the solution fits into grid.max_cells.
/// @param follows  the rest of the grid will
void require_room(JobContext& context, bool follows) {
  const std::int64_t most = context.grid.max_cells;
  if (most == 0 || context.grid.follows() != follows) return;
  const GeometryReport& report = context.geometry().report;
  std::vector<std::string> levels;
  for (std::size_t l = 0; l < report.levels.size(); ++l)
    levels.push_back(fmt::format("{} of level {}", report.levels[l].vofs_composite, l));
  const std::int64_t unknowns = unknowns_of(report);
  require(unknowns <= most,
          "grid.max_cells = {}: the grid has {} unknowns{} ({}); allow more, or use fewer cells or fewer places to "
          "refine",
          most, unknowns, follows ? " before it follows anything" : "", join(levels, ", "));
  if (follows) context.services.base_grid = BaseGrid{unknowns, refined_boxes(context.geometry().grid)};
}

}  // namespace

Together begin_on_own_grid(JobContext& context, std::span<const Job> jobs, std::optional<Checkpoint>& from) {
  const bool follows = context.grid.follows() && jobs.front().in_time(context.config);
  if (context.grid.follows()) set_levels(context, follows ? std::optional(FlaggedBoxes()) : std::nullopt);
  require_room(context, follows);
  do_jobs_for_walls(context);
  Together all = begin_together(context, jobs, from);
  if (!follows || from) return all;
  for (int level = 1; level < context.grid.levels && is_missing(context, all, nullptr); ++level) {
    const LimitedBoxes wanted = wanted_boxes(context, all);
    note_left_out(context, wanted.left_out);
    if (wanted.boxes == *context.flagged()) break;
    all.clear();
    set_levels(context, wanted.boxes);
    all = begin_anew(context, jobs);
  }
  return all;
}

void follow(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock) {
  if (!context.grid.follows()) return;
  FollowedGrid& followed = context.services.followed;
  followed.add_step(unknowns_of(context.geometry().report));
  const std::int64_t every = context.grid.follow_every;
  if (clock.done() || clock.steps() % every != 0) return;
  const bool may_shrink = clock.steps() % (looks_between * every) == 0;
  if (followed.left_out > 0 && !may_shrink) return;  // boxes are missing all the time, and few would take turns
  const bool missing = is_missing(context, all, nullptr);
  if (!missing && !may_shrink) return;
  const auto [boxes, left_out] = wanted_boxes(context, all);
  note_left_out(context, left_out);
  const FlaggedBoxes& there = *context.flagged();
  if (boxes == there) return;  // what is missing has no box of its own: fluid that has joined another cell
  const std::size_t now = n_boxes(there), wanted = n_boxes(boxes);
  const bool more = left_out > 0 ? few_of * n_new(boxes, there) > now : missing;
  if (!more && static_cast<double>(now) <= too_many * static_cast<double>(wanted)) return;
  const WallClock since;
  change_levels(context, jobs, boxes, all, clock);
  ++followed.changes;
  followed.seconds += context.comm.max(since.seconds());
  log_detail("The grid follows after step {}: {} finer boxes, {} before{}", clock.steps(), wanted, now,
             left_out > 0 ? fmt::format(", {} left out by grid.max_cells", left_out) : "");
}

}  // namespace karst
