// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/job/moving_walls.hpp"
#include "app/job/run_services.hpp"
#include "app/output/recorder.hpp"
#include "app/run/change_ground.hpp"
#include "app/run/move_walls.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/format.hpp"
#include "base/file/log.hpp"
#include "io/state_file.hpp"

namespace karst {

namespace {

std::string name_of(const Job& first) { return std::string(first.word.name) + std::string(checkpoint_suffix); }

Json json_of(const std::optional<FlaggedBoxes>& flagged) { return flagged ? Json(*flagged) : Json(); }
std::optional<FlaggedBoxes> flagged_of(const Json& checkpoint) {
  if (!checkpoint.contains("flagged") || checkpoint.at("flagged").is_null()) return {};
  return checkpoint.at("flagged").get<FlaggedBoxes>();
}

constexpr const char* displacement_list = "displacement of walls";
constexpr const char* slopes_list = "slopes of the displacement";

/// Where walls are, in a checkpoint.
std::vector<RankedList> lists_of(const MovingWalls* walls) {
  if (walls == nullptr) return {};
  const Displacement& s = walls->displacement;
  return {{displacement_list, s.values().first(s.blocks().n_own_corners())}, {slopes_list, s.slopes()}};
}

/// Puts walls where they were. Throws the same Error on all ranks. Collective.
/// @param keys  of the boxes in which the displacement is stored
void place_walls(const JobContext& context, const VofFile& file, const std::vector<std::uint64_t>& keys) {
  const Comm& comm = context.comm;
  context.walls->put_back(comm, domain_of(context.geometry()));
  Displacement& s = context.walls->displacement;
  s.add_boxes(comm, comm.rank() == 0 ? keys : std::vector<std::uint64_t>());
  const std::int64_t first = s.first_own_corner(comm);
  fail_together(comm, [&] {
    file.read(displacement_list, first, s.values().first(s.blocks().n_own_corners()));
    file.read(slopes_list, s.blocks().first_own(), s.slopes());
  });
}

/// The last whole checkpoint that this job was the first of, where one fits: its files are in place then.
/// @param[out] process  made on the ground of the checkpoint, or as it was
std::optional<Checkpoint> load_checkpoint(JobContext& context, const Job& job, std::unique_ptr<Process>& process) {
  const std::optional<FlaggedBoxes> at_start = context.flagged();
  const auto make_with = [&](const std::optional<FlaggedBoxes>& flagged) {
    if (flagged == context.flagged() && process) return;
    process.reset();
    set_levels(context, flagged);
    process = job.start(context);
  };
  Checkpoint found;
  const auto read = [&](const VofFile& file, const Json& json) {
    found = {json.at("clock").get<std::vector<double>>(), {}, true};
    for (const Json& part : json.at("parts")) {
      const std::string name = part.at("process");
      found.parts.push_back({name, part.at("depends_on"), part.at("recorded"),
                             read_state(file, part.at("state"), context.geometry(), name)});
    }
    process->recorder()->bring_files(found.parts.at(0).recorded);
  };
  const auto dependencies = [&](const VofFile& file, const Json& json) {
    if (context.walls) {
      place_walls(context, file, json.at("walls").get<std::vector<std::uint64_t>>());
      process.reset();
      set_ground(context, flagged_of(json));
      do_jobs_for_walls(context);
    }
    make_with(flagged_of(json));
    return process->dependencies();
  };
  if (const auto json = context.services.solved.load(name_of(job), dependencies, read)) {
    context.services.followed = FollowedGrid::of_state(json->at("followed"));
    return found;
  }
  if (context.walls && context.walls->displacement.blocks().layout().n_boxes() > 0) {  // of a checkpoint that fits not
    context.walls->put_back(context.comm, domain_of(context.geometry()));
    process.reset();
    set_ground(context, at_start);
    do_jobs_for_walls(context);
  }
  make_with(at_start);
  return {};
}

/// A process that was made, from the deck or from its part of a checkpoint.
void begin(const JobContext& context, Process& job, std::optional<Checkpoint>& from) {
  Recorder& recorder = *job.recorder();
  if (!from) {
    recorder.begin();
    return job.begin();
  }
  const std::string& process = recorder.process();
  const auto part = std::ranges::find(from->parts, process, &Checkpoint::Part::process);
  const double time = from->parts.front().recorded.at("time");
  constexpr const char* advice = "--overwrite starts at 0";
  require(part != from->parts.end(), "{}: the {} continues from {:g} s, but its checkpoint holds no {}; {}", process,
          from->parts.front().process, time, process, advice);
  const std::string changed = from->from_disk ? first_difference(part->depends_on, job.dependencies()) : "";
  require(changed.empty(),
          "{}: the {} continues from {:g} s, but the {} of its checkpoint belongs to other input: {}; {}", process,
          from->parts.front().process, time, process, changed, advice);
  if (from->from_disk && part != from->parts.begin())
    fail_together(context.comm, [&] { recorder.bring_files(part->recorded); });
  recorder.go_on(part->recorded);
  job.go_on(part->state);
  part->state = {};  // its memory is needed
  const Recorded& recorded = recorder.recorded();
  const std::string at = fmt::format("after step {}, at {}", recorded.steps, format_si(recorded.time, "s"));
  if (from->from_disk)
    log_info("{} continues {}", process, at);
  else
    log_detail("{}: set up again on another grid, {}", process, at);
}

/// Processes of jobs, one behind the other, each begun before the next is made.
Together begin_all(JobContext& context, std::span<const Job> jobs, std::optional<Checkpoint>& from, bool from_disk) {
  Together all;
  for (const Job& job : jobs) {
    const std::string name(job.word.name);
    if (!from || from->from_disk) context.services.progress.begin(name, name + ": set-up");
    std::unique_ptr<Process>& process = all.emplace_back();
    if (all.size() == 1 && from_disk && job.in_time(context.config))
      from = load_checkpoint(context, job, process);
    else
      process = job.start(context);
    if (process->recorder() != nullptr) begin(context, *process, from);
  }
  return all;
}

}  // namespace

bool save_checkpoint(const JobContext& context, const Together& jobs, const Clock& clock) {
  SolveStore& store = context.services.solved;
  if (!store.keeps()) return false;
  Json parts = Json::array();
  std::vector<State> states;
  std::vector<VofTable> tables;
  for (const auto& job : jobs) {
    Recorder& recorder = *job->recorder();
    if (!recorder.keep_files()) return false;
    const State& state = states.emplace_back(job->state());
    std::ranges::move(tables_of(state, context.geometry(), recorder.process()), std::back_inserter(tables));
    parts.push_back({{"process", recorder.process()},
                     {"depends_on", job->dependencies()},
                     {"recorded", recorder.json()},
                     {"state", description_of(state)}});
  }
  const std::string name = jobs.front()->recorder()->process() + std::string(checkpoint_suffix);
  const Json result{{"solve", name}, {"steps", clock.steps()}, {"time_s", clock.time()}, {"end_s", clock.end()}};
  return store.save(name, jobs.front()->dependencies(),
                    {result,
                     {{"flagged", json_of(context.flagged())},
                      {"followed", context.services.followed.state()},
                      {"walls", context.walls ? Json(context.walls->displacement.blocks().layout().keys()) : Json()},
                      {"clock", clock.state()},
                      {"parts", parts}}},
                    tables, lists_of(context.walls.get()));
}

Checkpoint take_checkpoint(const JobContext& context, const Together& jobs, const Clock& clock) {
  Checkpoint taken{clock.state(), {}};
  for (const auto& job : jobs) {
    job->recorder()->close();
    taken.parts.push_back(
        {job->recorder()->process(), job->dependencies(), job->recorder()->json(), owned(job->state())});
  }
  context.comm.any(false);  // histories are whole before another process opens them
  return taken;
}

Together begin_together(JobContext& context, std::span<const Job> jobs, std::optional<Checkpoint>& from) {
  return begin_all(context, jobs, from, !from);
}

Together begin_anew(JobContext& context, std::span<const Job> jobs) {
  std::optional<Checkpoint> none;
  return begin_all(context, jobs, none, false);
}

}  // namespace karst
