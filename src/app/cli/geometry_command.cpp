// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "app/cli/commands.hpp"
#include "app/deck/config.hpp"
#include "app/deck/plot_extent.hpp"
#include "app/deck/session.hpp"
#include "app/deck/source.hpp"
#include "app/estimate/run_estimate.hpp"
#include "app/estimate/time_estimate.hpp"
#include "app/job/run_folder.hpp"
#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "app/run/run_timers.hpp"
#include "app/run/summary.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/log.hpp"
#include "io/part_names.hpp"

namespace karst {

namespace {

constexpr const char* geometry_plotfile = "geometry.vtkhdf";

}  // namespace

void geometry_command(const Comm& comm, const CommandLine& line) {
  const WallClock clock;
  Summary summary;
  Session session = start_session(comm, line);
  if (!line.force) refuse_what_cannot_fit(comm, session.config, {});
  RunFolder folder(comm, line.out.empty() ? session.config.output.directory : line.out, line.overwrite,
                   input_files(session.config, line));
  LogFile log(comm, folder.file("log.txt"));
  announce(comm, session, line);
  RunServices services;
  follow_run(comm, session.config, {}, services.progress);
  const Source source = open_source(comm, session.config, folder.file("imported_image.h5"));
  summary.first_warnings = first_warnings(comm, session.config, source);
  for (const std::string& w : summary.first_warnings) log_warn("{}", w);
  plot_mistakes(session.config.output, source.grid, {}).finish();
  services.progress.begin("geometry", "geometry");
  const auto ground =
      std::make_shared<const Ground>(comm, build(comm, session.config, source, source.grid, summary.seconds));
  const Geometry& geometry = ground->geometry();
  summary.geometry = collect_statistics(comm, geometry, source.grid.cell_width(), session.config.title);
  log_info("{}", geometry_table(summary.geometry));
  services.progress.expect(parts_of_run(session.config, {}, size_of(summary.geometry, source.grid)));
  services.progress.begin("output", "output");

  for (const PlotWord& w : plot_words())
    if (!w.job.empty() && std::ranges::count(session.config.output.plot, w.field) > 0)
      log_info("Not in the plotfile: {}, which only `karst run` computes\n", w.word);
  if (session.config.flow.reservoir > 0)
    log_info(
        "Only the sample is shown; `karst run` adds the {} cells of flow.reservoir at the inlet and outlet faces along "
        "the flow\n",
        session.config.flow.reservoir);
  const WallClock output_clock;
  const JobContext context{comm, session.config, source.grid, ground, services};
  const std::string plotfile = folder.file(geometry_plotfile);
  for (int part = 1; part <= std::min(session.config.output.files, comm.size()); ++part)
    folder.file(part_name(geometry_plotfile, part));  // for a signal to remove
  summary.plot = write_plot(context, source, plotfile, {});
  write_file(comm, folder.file("deck.toml"), deck_as_used(session, line));
  summary.seconds.output = comm.max(output_clock.seconds());
  services.progress.end();
  summary.deck = line.deck;
  summary.plotfile = summary.plot.file_bytes > 0 ? geometry_plotfile : "";
  summary.memory = measure_memory(comm);
  summary.warnings = warnings(summary.geometry);
  log_info("{}", cost_table(summary.geometry, summary.seconds, summary.plot));
  for (const std::string& w : summary.warnings) log_warn("{}", w);
  summary.seconds.total = comm.max(clock.seconds());
  write_timers(comm, folder, {});
  summary.files = folder.names();
  write_file(comm, folder.file("summary.json"), summary_json(summary).dump(2) + '\n');
  fail_together(comm, [&] { log.close(); });
  std::vector<ResultFile> files;
  const std::string plot_use = "the cut cells, for ParaView, yt and Python" + told_parts(context, summary.plot);
  if (!summary.plotfile.empty()) files.push_back({geometry_plotfile, plot_use});
  files.push_back({"summary.json", "the numbers above, for programs"});
  tell_results(folder, files, folder.publish());
}

}  // namespace karst
