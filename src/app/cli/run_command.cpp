// SPDX-License-Identifier: BSD-3-Clause
// `karst run`: the geometry once, then the jobs that the deck asks for, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/cli/commands.hpp"
#include "app/deck/run_identity.hpp"
#include "app/deck/session.hpp"
#include "app/deck/source.hpp"
#include "app/estimate/run_estimate.hpp"
#include "app/estimate/time_estimate.hpp"
#include "app/job/moving_walls.hpp"
#include "app/job/run_folder.hpp"
#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/vof_values.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_timers.hpp"
#include "app/run/simulation.hpp"
#include "app/run/summary.hpp"
#include "app/walls/walls_job.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "base/file/orderly_end.hpp"
#include "base/file/run_guarded.hpp"
#include "io/part_names.hpp"
#include "solvers/krylov/petsc_session.hpp"

namespace karst {

namespace {

constexpr const char* plotfile_name = "plot.vtkhdf";
constexpr const char* report_name = "report.html";  // made from the summary

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

/// The words of --petsc. Throws Error when one belongs to no job: it would have no effect.
std::vector<std::string> petsc_options(const CommandLine& line, const Config& config, const std::vector<Job>& asked) {
  std::vector<std::string> words;
  for (const std::string& word : split(line.petsc, ' ')) {
    if (word.empty()) continue;
    words.push_back(word);
    if (!is_option(word)) continue;
    std::vector<std::string> prefixes;
    bool known = word == "-log_view";
    for (const Job& job : asked) {
      if (!job.through_petsc(config)) continue;
      prefixes.push_back(fmt::format("-{}_", job.word.name));
      known = known || word.starts_with(prefixes.back());
    }
    require(known, "--petsc: {} matches no solve of this run; {}", word,
            prefixes.empty() ? "none of them uses PETSc, so remove --petsc"
                             : "options begin with " + join(prefixes, " or "));
  }
  return words;
}

/// Before anything is written.
std::vector<Job> jobs_that_fit(const Comm& comm, const Config& config, const CommandLine& line) {
  std::vector<Job> asked = asked_jobs(config);
  if (!line.force) refuse_what_cannot_fit(comm, config, asked);
  return asked;
}

/// The deck with the options of --petsc, which is what a solve by PETSc depends on.
std::string with_petsc(const std::string& deck, const CommandLine& line) {
  return line.petsc.empty()
             ? deck
             : fmt::format("{0}\n[diffusion]\n--petsc = {1}\n[transport]\n--petsc = {1}\n", deck, line.petsc);
}

/// A run from its folder on.
struct RunState {
  const Comm& comm;
  const CommandLine& line;
  const Session& session;
  WallClock clock;
  RunFolder& folder;
  LogFile& log;
  RunServices& services;
  std::vector<Job> asked;
  Summary summary{};
  std::shared_ptr<MovingWalls> walls{};    ///< JobContext::walls
  std::shared_ptr<const Sample> sample{};  ///< where the domain is it with reservoirs; the summary is of it then
  std::unique_ptr<KeptBoxes> kept{};       ///< of the ground, where it will change
};

/// While walls stand.
bool ground_changes(const Config& config) {
  return !config.walls.asked() &&
         (config.run.balance == Balancing::feedback || config.grid.follows() || config.flow.error > 0.0);
}

void do_jobs(RunState& run, JobContext& context) {
  const CountedJobs counted;
  Simulation(context, run.asked).run([&](JobResult result) {
    for (const SolveRow& s : result.solves) {
      run.summary.seconds.setup += s.setup_seconds;
      run.summary.seconds.solve += s.seconds;
      run.services.balance.add_solves(s.seconds);
    }
    log_info("{}", result.text);
    run.summary.jobs.push_back(std::move(result));
  });
  end_if_asked(run.comm);
  run.summary.communication = counted.told(run.comm, context.geometry());
  run.summary.solves_read = run.services.solved.n_read();
  run.summary.balance = run.services.balance.json();
  run.summary.followed = run.services.followed.json(run.session.config.grid.max_cells);
}

/// Deck, log and a summary of what was solved, for a run that ends here. Rank 0 writes what it knows; nothing waits for
/// other ranks, which may have failed.
void leave_unfinished(RunState& run, const std::string& status, const std::string& reason) try {
  run.services.progress.end();
  if (run.comm.rank() != 0) return;
  Summary& summary = run.summary;
  summary.status = status;
  summary.reason = reason;
  summary.finished = run.services.solved.finished();
  summary.deck = run.line.deck;
  summary.warnings = warnings(summary.geometry);
  summary.seconds.total = run.clock.seconds();
  summary.files = {"deck.toml", "log.txt", "summary.json"};
  const std::vector<std::string>& left = run.services.files.left;
  for (const std::string& name : left) {
    summary.files.push_back(name);
    for (const std::string& part : parts_beside(run.folder.file(name)))
      summary.files.push_back(std::filesystem::path(part).filename());
  }
  std::ranges::sort(summary.files);
  const Comm self = Comm::self();
  write_file(self, run.folder.file("deck.toml"), deck_as_used(run.session, run.line));
  write_file(self, run.folder.file("summary.json"), summary_json(summary).dump(2) + '\n');
  const auto on_its_way = std::ranges::count_if(
      summary.finished, [](const FinishedSolve& s) { return std::string_view(s.name).ends_with(checkpoint_suffix); });
  const std::int64_t n = std::ssize(summary.finished) - on_its_way;
  const bool failed = status == "failed";  // then the reason is told at the very end
  const std::string kept =
      n == 0 ? "no solve has finished"
             : fmt::format("{} finished solve{} saved in {}; the same command with --resume continues from there", n,
                           n == 1 ? " is" : "s are", run.folder.solves());
  log_warn("{}; {}", failed ? "the run failed" : reason, kept);
  if (!left.empty())
    log_info("The history of the transient run up to now is in {}, its last state in plot.vtkhdf; {}", left.front(),
             on_its_way > 0 ? "--resume continues from there" : "a new run starts at 0, also with --resume");
  if (failed) log_detail("error: {}", reason);
  run.log.close();
  log_info("Summary and log in {}", run.folder.leave(summary.files));
} catch (const std::exception& e) {  // the reason of the end is the one to be heard
  log_info("The solved part could not be summarised: {}", e.what());
}

/// The jobs. What ends them early leaves log, summary and what was finished, in order.
void do_jobs_in_order(RunState& run, JobContext& context) {
  run.folder.begin_work();
  const double limit = run.line.time_limit > 0.0 ? run.line.time_limit : run.session.config.run.time_limit;
  const OrderlyEnd orderly(run.comm, limit > 0.0 ? std::max(limit - run.clock.seconds(), 1e-9) : 0.0);
  try {
    do_jobs(run, context);
  } catch (const EarlyEnd& end) {
    finish_trace(run.services.trace, run.line);
    leave_unfinished(run, "interrupted", end.reason);
    run.comm.any(false);  // all ranks are here, and none ends before rank 0 has written
    throw ExitStatus{end.status};
  } catch (const std::exception& e) {
    leave_unfinished(run, "failed", e.what());
    throw;
  }
}

/// Timers, page and summary. Collective.
void write_summary(const Comm& comm, const RunFolder& folder, const std::string& deck, Summary& summary) {
  write_timers(comm, folder, summary.steps);
  summary.files = folder.names();
  summary.files.insert(std::ranges::lower_bound(summary.files, report_name), report_name);
  const std::string json = summary_json(summary).dump(2) + '\n';
  Figures figures;
  for (JobResult& job : summary.jobs) figures.merge(job.figures);
  write_file(comm, folder.file(report_name), run_report(Json::parse(json), deck, figures, false));
  write_file(comm, folder.file("summary.json"), json);
}

/// What the user came for, said last of all.
void tell_headlines(const Summary& summary) {
  std::string text;
  bool moved = false;
  for (const JobResult& job : summary.jobs) text += job.headline, moved = moved || job.json.contains("walls");
  log_info("\n{}Porosity{}: {:.5f}, connected {:.5f}", text, moved ? " at the beginning" : "",
           summary.geometry.report.porosity, summary.geometry.report.connected_porosity);
}

/// Of all parts, in order.
std::vector<std::string> all_warnings(const Summary& summary, std::vector<std::string> petsc) {
  Messages all = warnings(summary.geometry);
  for (const JobResult& job : summary.jobs) all.insert(all.end(), job.warnings.begin(), job.warnings.end());
  if (!summary.followed.is_null() && summary.followed.at("unknowns_most").get<std::int64_t>() <=
                                         (summary.domain ? *summary.domain : summary.geometry).report.levels.at(0).vofs)
    all.emplace_back(
        "grid.refine: what the grid is to follow was nowhere found, and all steps were made on level 0; check "
        "component, "
        "limits and units of the [[grid.refine]] that follow");
  std::erase_if(petsc, [](const std::string& word) { return !is_option(word) || word == "-log_view"; });
  for (const std::string& option : unused_petsc_options(petsc))
    all.add("--petsc: {} had no effect; it is misspelt, or belongs to another method", option);
  return all;
}

/// Plotfile, deck, timers, page and summary, which then replace those of an earlier run together.
void write_results(RunState& run, const JobContext& context, const Source& source,
                   const std::vector<std::string>& options) {
  const Comm& comm = run.comm;
  const RunFolder& folder = run.folder;
  Summary& summary = run.summary;
  run.services.progress.begin("output", "output");
  const WallClock output_clock;
  std::vector<JobComponent> components;
  for (JobResult& job : summary.jobs) {
    move_fields(comm, context.ground, job.components);
    components.insert(components.end(), job.components.begin(), job.components.end());
  }
  double time = 0.0;
  for (const JobResult& job : summary.jobs) time = std::max(time, job.time);
  summary.plot = write_plot(context, source, folder.file(plotfile_name), components, time);
  finish_trace(run.services.trace, run.line);
  const std::string deck = deck_as_used(run.session, run.line);
  write_file(comm, folder.file("deck.toml"), deck);
  summary.seconds.output = comm.max(output_clock.seconds());
  summary.deck = run.line.deck;
  summary.plotfile = summary.plot.file_bytes > 0 ? plotfile_name : "";
  summary.memory = measure_memory(comm);
  summary.steps = run.services.steps.of_slowest_rank(comm);
  summary.warnings = all_warnings(summary, options);
  for (const std::string& w : summary.warnings) log_warn("{}", w);
  summary.seconds.total = comm.max(run.clock.seconds());
  write_summary(comm, folder, deck, summary);
  run.services.progress.end();
  fail_together(comm, [&] { run.log.close(); });
  const std::string plot_use = "fields of output.plot, for ParaView, yt and Python" + told_parts(context, summary.plot);
  std::vector<ResultFile> files{{report_name, "report of the results"}, {"summary.json", "the results, for programs"}};
  if (!summary.plotfile.empty()) files.push_back({plotfile_name, plot_use});
  for (const JobResult& job : summary.jobs)
    for (const JobFile& file : job.files) files.push_back({file.name, file.use});
  tell_results(folder, files, run.folder.publish());
  tell_headlines(summary);
}

/// Where walls have moved to. Unlike the geometry at the start it may be without a wall.
std::shared_ptr<const Ground> ground_of_moved_walls(RunState& run, const GridOptions& grid, const BoxCosts& costs) {
  const WallClock clock;
  Geometry geometry = build_geometry(run.comm, grid, run.walls->now, run.session.config.geometry.keep,
                                     {ControlVolumes::home_cells, true}, costs);
  run.walls->now.drop_cache();
  run.summary.seconds.geometry += run.comm.max(clock.seconds());
  return std::make_shared<const Ground>(run.comm, std::move(geometry));
}

/// The geometry with boxes dealt out by these costs, as a ground.
/// @param before  the same with other owners or levels; nullptr: the first one
std::shared_ptr<const Ground> build_ground(RunState& run, const Source& source, const GridOptions& grid,
                                           const BoxCosts& costs, const Ground* before = nullptr) {
  RunSeconds seconds;
  const GeometryBefore kept{run.kept.get(), before == nullptr ? nullptr : &before->geometry()};
  Geometry geometry = build(run.comm, run.session.config, source, grid, seconds, costs, kept);
  run.summary.seconds.geometry += seconds.geometry;
  if (before != nullptr) {  // what results are scaled by stays, to the last digits of sums over ranks
    std::vector<LevelReport> levels = std::move(geometry.report.levels);
    geometry.report = before->geometry().report;
    geometry.report.levels = std::move(levels);
  }
  const GeometryStatistics& largest = run.sample && run.summary.domain ? *run.summary.domain : run.summary.geometry;
  if (before == nullptr || unknowns_of(geometry.report) >= unknowns_of(largest.report)) {  // it is what memory is for
    GeometryStatistics statistics =
        collect_statistics(run.comm, geometry, source.grid.cell_width(), run.session.config.title);
    if (run.sample)
      run.summary.domain = std::move(statistics);
    else
      run.summary.geometry = std::move(statistics);
  }
  return std::make_shared<const Ground>(run.comm, std::move(geometry));
}

/// Takes what is to be known of the sample itself, and puts it between its reservoirs. Collective.
Source with_reservoirs_of_run(RunState& run, Source source, const Reservoirs& reservoirs) {
  run.services.progress.begin("geometry", "geometry");
  const Geometry geometry = build(run.comm, run.session.config, source, source.grid, run.summary.seconds);
  run.summary.geometry = collect_statistics(run.comm, geometry, source.grid.cell_width(), run.session.config.title);
  run.sample = sample_between(reservoirs, source.grid, geometry.report);
  return with_reservoirs(std::move(source), reservoirs, ReservoirEnds::open);
}

/// Geometry, jobs and results. Collective.
void work(RunState& run, const Source& source, const std::vector<std::string>& options) {
  const Comm& comm = run.comm;
  const Config& config = run.session.config;
  RunServices& services = run.services;
  services.balance.begin_pass();
  services.exchanges.taken = taken_by(run.asked, config);
  const GridOptions& sample = run.sample ? run.sample->grid : source.grid;
  if (ground_changes(config)) run.kept = std::make_unique<KeptBoxes>();
  services.progress.begin("geometry", "geometry");
  JobContext context{comm,
                     config,
                     source.grid,
                     build_ground(run, source, source.grid, costs_at_start(config.run)),
                     services,
                     [&](const Variant& variant) {
                       return open_again(comm, config, sample, variant, services.files.path("imported_image.h5"));
                     },
                     wall_uncertainty(source),
                     run.sample};
  if (config.walls.asked())
    context.walls = run.walls = std::make_shared<MovingWalls>(comm, *source.level_set, domain_of(context.geometry()),
                                                              context.geometry().grid.n_levels() - 1,
                                                              standing_solids(context, *source.level_set));
  context.make_ground = [&](const GridOptions& grid, const BoxCosts& costs) {
    if (run.walls) return ground_of_moved_walls(run, grid, costs);
    std::shared_ptr<const Ground> ground = build_ground(run, source, grid, costs, context.ground.get());
    for (JobResult& job :
         run.summary.jobs)  // on other levels they stay where they were computed until they are written
      if (grid.flagged == context.flagged() && !job.components.empty() && job.components[0].ground == context.ground)
        move_fields(comm, ground, job.components);
    return ground;
  };
  services.progress.expect(parts_of_run(config, run.asked, size_of(domain_of(run.summary), sample)));
  log_info("{}", pores_table(run.summary.geometry));
  log_detail("{}", grid_table(run.summary.geometry));
  if (run.sample) log_info("{}", reservoirs_text(*run.sample, source.grid, *run.summary.domain));
  if (!config.output.plot.empty())
    services.files.plot = [&](const std::string& name, double time, const std::vector<JobComponent>& components) {
      write_plot(context, source, services.files.path(name), components, time);
    };
  check_jobs(context);
  do_jobs_in_order(run, context);
  write_results(run, context, source, options);
}

}  // namespace

void run_command(const Comm& comm, const CommandLine& line) {
  const WallClock clock;
  const Session session = start_session(comm, line);
  const std::vector<Job> asked = jobs_that_fit(comm, session.config, line);
  const std::vector<std::string> options = petsc_options(line, session.config, asked);
  const PetscSession petsc(options);
  RunFolder folder(comm, line.out.empty() ? session.config.output.directory : line.out, line.overwrite,
                   input_files(session.config, line), line.resume);
  if (folder.is_complete())
    return log_info("{}: an earlier run was stopped while it moved its results there; they are complete now",
                    folder.path());
  LogFile log(comm, folder.file("log.txt"));
  announce(comm, session, line);
  if (line.resume)
    log_info("{}\n", folder.has_earlier_solves() ? "Continuing from the solves of an earlier run"
                                                 : "No finished solve of an earlier run: starting from the beginning");
  const bool measures = session.config.run.balance == Balancing::feedback && comm.size() > 1;
  RunServices services{.solved = {comm, folder.solves(), with_contents(comm, with_petsc(session.echo, line)),
                                  folder.has_earlier_solves(), session.config.checkpoint.keep},
                       .trace = begin_trace(comm, line, session.config),
                       .balance = measures ? FeedbackBalance(comm) : FeedbackBalance()};
  services.files.path = [&folder](const std::string& name) { return folder.file(name); };
  RunState run{comm, line, session, clock, folder, log, services, asked};
  follow_run(comm, session.config, asked, services.progress);
  const double begun = unix_time();
  services.progress.tell_also([&folder, begun](const ProgressState& state) { folder.say(status_line(state, begun)); });
  Source source = open_source(comm, session.config, folder.file("imported_image.h5"));
  run.summary.first_warnings = first_warnings(comm, session.config, source);
  for (const std::string& w : run.summary.first_warnings) log_warn("{}", w);
  if (const auto reservoirs = reservoirs_of_run(session.config))
    source = with_reservoirs_of_run(run, std::move(source), *reservoirs);
  work(run, source, options);
}

}  // namespace karst
