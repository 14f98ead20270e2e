// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/follow.hpp"

#include <algorithm>

#include "app/job/run_services.hpp"
#include "app/run/change_ground.hpp"
#include "app/run/move_walls.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

constexpr int steps_between = 10;  ///< looks at whether fewer boxes would do
constexpr double too_many = 1.5;   ///< times as many boxes as are asked for

using Keys = std::vector<std::uint64_t>;

std::size_t n_boxes(const FlaggedBoxes& flagged) {
  std::size_t n = 0;
  for (const Keys& keys : flagged) n += keys.size();
  return n;
}

void sort_unique(Keys& keys) {
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
}

/// Whether a box is missing. @param[out] boxes  as Process::flag(), of this rank
bool is_missing(const JobContext& context, const Together& all, FlaggedBoxes* boxes) {
  bool missing = false;
  for (const Refinement& rule : context.grid.refine)
    if (rule.follows())
      for (const auto& process : all) missing = process->flag(rule, boxes) || missing;
  return context.comm.any(missing);
}

/// All boxes that are asked for, with those that hold them on coarser levels.
FlaggedBoxes wanted_boxes(const JobContext& context, const Together& all) {
  FlaggedBoxes boxes;
  is_missing(context, all, &boxes);
  const std::int64_t levels = context.comm.max(std::ssize(boxes));
  boxes.resize(levels);
  for (std::int64_t l = levels - 1; l >= 0; --l) {
    Keys& keys = boxes[l];
    keys = context.comm.all_gather<std::uint64_t>(keys);
    if (l + 1 < levels)
      for (const std::uint64_t finer : boxes[l + 1]) keys.push_back(finer >> 3);
    sort_unique(keys);
  }
  return boxes;
}

}  // namespace

Together begin_on_own_grid(JobContext& context, std::span<const Job> jobs, std::optional<Checkpoint>& from) {
  const bool follows = context.grid.follows() && jobs.front().in_time(context.config);
  if (context.grid.follows()) set_levels(context, follows ? std::optional(FlaggedBoxes()) : std::nullopt);
  do_jobs_for_walls(context);
  Together all = begin_together(context, jobs, from);
  if (!follows || from) return all;
  for (int level = 1; level < context.grid.levels && is_missing(context, all, nullptr); ++level) {
    const FlaggedBoxes boxes = wanted_boxes(context, all);
    all.clear();
    set_levels(context, boxes);
    all = begin_anew(context, jobs);
  }
  return all;
}

void follow(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock) {
  if (!context.grid.follows()) return;
  FollowedGrid& followed = context.services.followed;
  followed.add_step(unknowns_of(context.geometry().report));
  if (clock.done()) return;
  const bool missing = is_missing(context, all, nullptr);
  if (!missing && clock.steps() % steps_between != 0) return;
  const FlaggedBoxes boxes = wanted_boxes(context, all);
  if (boxes == *context.flagged()) return;  // what is missing has no box of its own: fluid that has joined another cell
  const std::size_t now = n_boxes(*context.flagged()), wanted = n_boxes(boxes);
  if (!missing && static_cast<double>(now) <= too_many * static_cast<double>(wanted)) return;
  const WallClock since;
  change_levels(context, jobs, boxes, all, clock);
  ++followed.changes;
  followed.seconds += context.comm.max(since.seconds());
  log_detail("The grid follows after step {}: {} finer boxes, {} before", clock.steps(), wanted, now);
}

}  // namespace karst
