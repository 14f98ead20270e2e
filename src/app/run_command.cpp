// SPDX-License-Identifier: BSD-3-Clause
// `karst run`: the geometry once, then the jobs that the deck asks for, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "app/image_warnings.hpp"
#include "app/job.hpp"
#include "app/plot_file.hpp"
#include "app/run_estimate.hpp"
#include "app/run_folder.hpp"
#include "app/run_progress.hpp"
#include "app/run_report.hpp"
#include "app/session.hpp"
#include "app/solve_store.hpp"
#include "app/summary.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/timer.hpp"
#include "solvers/petsc_session.hpp"

namespace karst {

namespace {

constexpr const char* plotfile_name = "plot.vtkhdf";
constexpr const char* report_name = "report.html";  // made from the summary

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

/// The words of --petsc. Throws Error when one belongs to no job: it would have no effect.
std::vector<std::string> petsc_options(const CommandLine& line, const std::vector<Job>& asked) {
  std::vector<std::string> words;
  for (const std::string& word : split(line.petsc, ' ')) {
    if (word.empty()) continue;
    words.push_back(word);
    if (!is_option(word)) continue;
    std::vector<std::string> prefixes;
    bool known = word == "-log_view";
    for (const Job& job : asked) {
      if (!job.through_petsc) continue;
      prefixes.push_back(fmt::format("-{}_", job.name));
      known = known || word.starts_with(prefixes.back());
    }
    require(known, "--petsc: {} belongs to no solve of this run; {}", word,
            prefixes.empty() ? "none of them goes through PETSc, so leave --petsc out"
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

std::vector<JobResult> do_jobs(const std::vector<Job>& asked, const JobContext& run, RunSeconds& seconds) {
  std::vector<JobResult> results;
  for (const Job& job : asked) {
    run.progress->begin(std::string(job.name), fmt::format("{}: set-up", job.name));
    results.push_back(job.run(run));
    log_info("{}", results.back().text);
    for (const SolveRow& s : results.back().solves) {
      seconds.setup += s.setup_seconds;
      seconds.solve += s.seconds;
    }
  }
  return results;
}

/// Timers, page and summary. Collective.
void write_summary(const Comm& comm, const RunFolder& folder, const std::string& deck, Summary& summary) {
  write_file(comm, folder.file("timers.txt"), timer_table(collect_timers(comm)) + '\n' + arena::report(comm));
  summary.files = folder.names();
  summary.files.insert(std::ranges::lower_bound(summary.files, report_name), report_name);
  const std::string json = summary_json(summary);
  Figures figures;
  for (JobResult& job : summary.jobs) figures.merge(job.figures);
  write_file(comm, folder.file(report_name), run_report(nlohmann::ordered_json::parse(json), deck, figures));
  write_file(comm, folder.file("summary.json"), json);
}

/// What the user came for, said last of all.
void tell_headlines(const Summary& summary) {
  std::string text;
  for (const JobResult& job : summary.jobs) text += job.headline;
  log_info("\n{}Porosity: {:.5f}, of pores open to flow {:.5f}", text, summary.geometry.report.porosity,
           summary.geometry.report.connected_porosity);
}

/// Of all parts, in order.
std::vector<std::string> all_warnings(const Summary& summary, std::vector<std::string> petsc) {
  std::vector<std::string> all = warnings(summary.geometry);
  for (const JobResult& job : summary.jobs) all.insert(all.end(), job.warnings.begin(), job.warnings.end());
  std::erase_if(petsc, [](const std::string& word) { return !is_option(word) || word == "-log_view"; });
  for (const std::string& option : unused_petsc_options(petsc))
    all.push_back(fmt::format("--petsc: {} had no effect; it is misspelt, or belongs to another method", option));
  return all;
}

/// Puts the results in their place and says what they are. Collective.
void publish(RunFolder& folder, const Summary& summary) {
  std::vector<ResultFile> files{{report_name, "the results on a page"}, {"summary.json", "the results, for programs"}};
  if (!summary.plotfile.empty()) files.push_back({plotfile_name, "fields of output.plot, for ParaView, yt and VisIt"});
  for (const JobResult& job : summary.jobs)
    for (const JobFile& file : job.files) files.push_back({file.name, file.use});
  tell_results(folder, files, folder.publish());
  tell_headlines(summary);
}

}  // namespace

void run_command(const Comm& comm, const CommandLine& line) {
  const WallClock clock;
  Summary summary;
  const Session session = start_session(comm, line);
  const std::vector<Job> asked = jobs_that_fit(comm, session.config, line);
  const std::vector<std::string> options = petsc_options(line, asked);
  const PetscSession petsc(options);
  RunFolder folder(comm, line.out.empty() ? session.config.output.directory : line.out, line.overwrite,
                   input_files(session.config, line), line.resume);
  if (folder.is_complete())
    return log_info(
        "{}: the earlier run had solved everything and was stopped while it moved its results; they are complete now",
        folder.path());
  LogFile log(comm, folder.file("log.txt"));
  announce(comm, session, line);
  if (line.resume)
    log_info("{}\n", folder.has_earlier_solves() ? "Goes on from what an earlier run has solved"
                                                 : "No earlier run left a finished solve: from the beginning");
  SolveStore solved(comm, folder.solves(), session.echo, folder.has_earlier_solves());
  std::unique_ptr<RunProgress> progress = follow_run(comm, session.config);
  const Source source = open_source(comm, session.config, folder.file("imported_image.h5"));
  summary.image_warnings = image_warnings(comm, source);
  for (const std::string& w : summary.image_warnings) log_warn("{}", w);
  progress->begin("geometry", "geometry");
  const Geometry geometry = build(comm, session.config, source, summary.seconds);
  summary.geometry = collect_statistics(comm, geometry, source.grid.cell_width(), session.config.title);
  progress->expect(parts_of_run(session.config, size_of(summary.geometry)));
  log_info("{}", pores_table(summary.geometry));
  log_detail("{}", grid_table(summary.geometry));
  const JobContext context{comm,
                           session.config,
                           source.grid,
                           geometry,
                           [&](const Variant& variant) {
                             return open_again(comm, session.config, source.grid, variant,
                                               folder.file("imported_image.h5"));
                           },
                           [&](const std::string& name) { return folder.file(name); },
                           wall_uncertainty(source),
                           progress.get(),
                           &solved};
  check_jobs(context);
  summary.jobs = do_jobs(asked, context, summary.seconds);
  summary.solves_read = solved.n_read();

  progress->begin("output", "output");
  const WallClock output_clock;
  std::vector<JobComponent> components;
  for (const JobResult& job : summary.jobs)
    components.insert(components.end(), job.components.begin(), job.components.end());
  summary.plot = write_plot(context, source, folder.file(plotfile_name), components);
  const std::string deck = deck_as_used(session, line);
  write_file(comm, folder.file("deck.toml"), deck);
  summary.seconds.output = comm.max(output_clock.seconds());
  summary.deck = line.deck;
  summary.plotfile = summary.plot.file_bytes > 0 ? plotfile_name : "";
  summary.memory = measure_memory(comm);
  summary.warnings = all_warnings(summary, options);
  for (const std::string& w : summary.warnings) log_warn("{}", w);
  summary.seconds.total = comm.max(clock.seconds());
  write_summary(comm, folder, deck, summary);
  progress.reset();
  log.close();
  publish(folder, summary);
}

}  // namespace karst
