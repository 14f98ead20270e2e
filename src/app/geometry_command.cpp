// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/config.hpp"
#include "app/run_folder.hpp"
#include "app/session.hpp"
#include "app/source.hpp"
#include "app/summary.hpp"
#include "base/atomic_file.hpp"
#include "base/log.hpp"
#include "base/timer.hpp"
#include "base/version.hpp"

namespace karst {

namespace {

constexpr const char* plotfile_name = "geometry.vtkhdf";

PlotSize write_plot(const Comm& comm, const std::string& path, const Session& session, const Source& source,
                    const Geometry& geometry) {
  Timer timer("plotfile");
  const std::vector<PlotComponent> components = plot_components(session.config.output.plot);
  if (components.empty()) return {};
  PlotDescription plot;
  plot.title = session.config.title;
  plot.version = version_and_git_id();
  plot.cell_width = source.grid.cell_width();
  for (const LevelGeometry& level : geometry.levels) plot.levels.push_back(&level.graph.layout());
  for (const PlotComponent& c : components) plot.components.push_back(c.name);
  plot.fill = [&](int level, std::int64_t box, int component, std::span<float> cells) {
    fill_plot_component(geometry, *source.level_set, plot.cell_width, components[static_cast<std::size_t>(component)],
                        level, box, cells);
  };
  return write_plotfile(comm, path, plot);
}

std::string deck_head(const std::string& deck) {
  return fmt::format("# The complete deck as used by karst {}, from {}.\n", version_and_git_id(), deck);
}

void tell_files(const RunFolder& folder, bool with_plot, const std::vector<std::string>& removed) {
  if (!removed.empty()) log_info("Replaced the {} files of an earlier run in {}", removed.size(), folder.path());
  const auto tell = [](const char* name, const char* use) { log_info("  {:<18}{}", name, use); };
  log_info("Results in {}:", folder.path());
  if (with_plot) tell(plotfile_name, "the cut cells, for ParaView, yt and VisIt");
  tell("summary.json", "the figures above, for programs");
  tell("deck.toml", "the complete deck as used");
  tell("timers.txt", "times of all parts, memory by purpose");
  tell("log.txt", "this text");
}

}  // namespace

void geometry_command(const Comm& comm, const CommandLine& line) {
  const WallClock clock;
  Summary summary;
  Session session = start_session(comm, line);
  RunFolder folder(comm, line.out.empty() ? session.config.output.directory : line.out, line.overwrite);
  LogFile log(comm, folder.file("log.txt"));
  announce(comm, session, line);
  const Source source = open_source(comm, session.config, folder.file("imported_image.h5"));
  const Geometry geometry = build(comm, session.config, source, summary.seconds);
  summary.geometry = collect_statistics(comm, geometry, source.grid.cell_width(), session.config.title);
  log_info("{}", geometry_table(summary.geometry));

  const WallClock output_clock;
  summary.plot = write_plot(comm, folder.file(plotfile_name), session, source, geometry);
  write_file(comm, folder.file("deck.toml"), deck_head(line.deck) + session.echo);
  summary.seconds.output = comm.max(output_clock.seconds());
  summary.deck = line.deck;
  summary.plotfile = summary.plot.file_bytes > 0 ? plotfile_name : "";
  summary.memory = measure_memory(comm);
  summary.warnings = warnings(summary.geometry);
  log_info("{}", cost_table(summary.geometry, summary.seconds, summary.plot));
  for (const std::string& w : summary.warnings) log_warn("{}", w);
  summary.seconds.total = comm.max(clock.seconds());
  write_file(comm, folder.file("timers.txt"), timer_table(collect_timers(comm)) + '\n' + arena::report(comm));
  write_file(comm, folder.file("summary.json"), summary_json(summary));
  log.close();
  tell_files(folder, summary.plot.file_bytes > 0, folder.publish());
}

}  // namespace karst
