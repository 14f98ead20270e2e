// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/job/job.hpp"
#include "app/output/page_values.hpp"
#include "app/transport/transport_job.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

std::string cells_text(const Json& level) {
  const auto cells = level.at("cells").get<std::array<int, 3>>();
  return fmt::format("{} × {} × {}", cells[0], cells[1], cells[2]);
}

std::string width_text(const Json& level) { return format_si(number(level, "cell_width_m"), "m"); }

/// One line: the deck and its grid.
std::string source_of(const Json& summary) {
  const Json& levels = summary.at("levels");
  const std::string finest =
      levels.size() > 1 ? fmt::format(", refined to {} on level {}", width_text(levels.back()), levels.size() - 1) : "";
  return fmt::format("{}: {} cells of {}{}; {} fluid cells",
                     std::filesystem::path(summary.at("deck").get<std::string>()).filename().string(),
                     cells_text(levels.at(0)), width_text(levels.at(0)), finest,
                     count_text(summary.at("cells").at("fluid").get<std::int64_t>()));
}

/// A column per level.
std::string levels_card(const Json& summary) {
  ColumnTable table;
  int l = 0;
  for (const Json& level : summary.at("levels")) table.add_column(fmt::format("level {}", l++), level);
  table.row("cell width", width_text);
  table.row("cells of the whole domain, if all were of this level", cells_text);
  for (const auto& [name, key] : {std::pair{"boxes", "boxes"},
                                  {"fluid cells", "fluid"},
                                  {"of them unknowns: not covered by a finer level", "unknowns"}})
    table.row(name, [key = key](const Json& level) { return count_text(level.at(key).get<std::int64_t>()); });
  std::string note = "Cells of a level are half as wide as those of the previous level.";
  if (summary.contains("followed_grid")) {
    const Json& followed = summary.at("followed_grid");
    note += fmt::format(
        " The grid followed the solution: the table is of its largest state; a step had {} unknowns on average and {} "
        "at "
        "most; it changed {} times, in {}.",
        count_text(static_cast<std::int64_t>(number(followed, "unknowns_mean"))),
        count_text(followed.at("unknowns_most").get<std::int64_t>()),
        count_text(followed.at("changes").get<std::int64_t>()), format_seconds(number(followed, "seconds")));
    if (followed.contains("max_cells") && followed.at("limited_steps").get<std::int64_t>() > 0)
      note += fmt::format(
          " In {} steps grid.max_cells = {} left out finer boxes that were asked for, the weakest first: up to {}.",
          count_text(followed.at("limited_steps").get<std::int64_t>()),
          count_text(followed.at("max_cells").get<std::int64_t>()),
          count_text(followed.at("boxes_left_out_most").get<std::int64_t>()));
  }
  return card("Grid", table.html(), note);
}

std::string count_of(const Json& summary, const char* what, const char* one) {
  const auto n = summary.at(what).get<std::int64_t>();
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

/// Wall area by mineral, where there are several.
std::string minerals_of(const Json& summary) {
  std::vector<std::string> parts;
  for (const Json& mineral : summary.at("minerals"))
    parts.push_back(fmt::format("{} {:.4g} m² ({:.2f} %)", name_of(mineral), number(mineral, "wall_area_m2"),
                                100.0 * number(mineral, "fraction")));
  return parts.size() > 1 ? ": " + join(parts) : "";
}

std::vector<std::pair<std::string, std::string>> facts_of(const Json& summary) {
  const auto seconds = [&](const char* part) { return format_seconds(summary.at("seconds").at(part).get<double>()); };
  std::int64_t pores = 0, removed = 0;
  for (const Json& level : summary.at("levels")) {
    pores += level.at("pores").get<std::int64_t>();
    removed += level.at("pores_removed").get<std::int64_t>();
  }
  const Json& memory = summary.at("memory");
  const std::string when = summary.contains("walls") ? " at the beginning" : "";  // of the geometry
  return {
      {"program", "karst " + summary.at("karst").get<std::string>()},
      {"hardware", count_of(summary, "ranks", "MPI rank") + ", " + count_of(summary, "threads", "thread") + " each"},
      {"time", fmt::format("geometry {}, set-up of the solvers {}, solves {}, all {}", seconds("geometry"),
                           seconds("setup"), seconds("solve"), seconds("total"))},
      {"memory", fmt::format("{} at most, {} per fluid cell", format_bytes(number(memory, "peak_bytes")),
                             format_bytes(number(memory, "bytes_per_fluid_cell")))},
      {"porosity" + when,
       fmt::format("{:.5f}, connected {:.5f}", number(summary, "porosity"), number(summary, "connected_porosity"))},
      {"specific surface" + when,
       fmt::format("{:.4g} 1/m: wall area per volume of the sample", number(summary, "specific_surface_per_m"))},
      {"wall area" + when, fmt::format("{:.4g} m²", number(summary, "wall_area_m2")) + minerals_of(summary)},
      {"pores removed" + when,
       fmt::format("{} of {}: flow cannot reach them", count_text(removed), count_text(pores))}};
}

/// A summary may be that of a run that ended before all was done.
std::string stopped_text(const Json& summary) {
  const std::string status = summary.value("status", "completed");
  if (status.starts_with("complete")) return {};
  return fmt::format("This run did not finish (status: {}). The results below are those completed.", status);
}

/// One line, which python/karst/plot/view.py replaces when it makes the view.
std::string view_text(const Json& summary, bool there) {
  if (there) return "<p class=\"view\"><a href=\"view.html\">Wall, streamlines and slices to turn</a></p>\n";
  const auto files = summary.at("files").get<std::vector<std::string>>();
  if (std::ranges::none_of(files, [](const std::string& name) { return name.ends_with(".vtkhdf"); })) return {};
  return "<p class=\"view\">To turn wall, streamlines and slices in a browser: <code>karst view .</code> in this "
         "directory makes view.html.</p>\n";
}

/// Where walls move steady states are solved again and again: the last ones are shown.
std::string last_states_text(const Json& summary) {
  const bool steady = summary.contains("transport") && is_steady(summary.at("transport"));
  const bool flow = summary.contains("flow") || summary.contains("inlet_flow") || summary.contains("lid_flow");
  if (!summary.contains("walls") || !(flow || steady)) return {};
  return fmt::format(
      "<p>Walls moved: numbers and pictures of {} are those at the end, unless they say otherwise.</p>\n",
      !flow    ? "transport"
      : steady ? "flow and transport"
               : "the flow");
}

}  // namespace

std::string run_report(const Json& summary, const std::string& deck, const Figures& figures, bool view) {
  RunPage page;
  try {
    const auto title = summary.at("title").get<std::string>();
    const std::filesystem::path name(summary.at("deck").get<std::string>());
    page.title = title.empty() ? name.filename().string() : title;
    page.source = source_of(summary);
    page.program = summary.at("karst").get<std::string>();
    page.stopped = stopped_text(summary);
    page.view = view_text(summary, view) + last_states_text(summary);
    page.warnings = summary.at("warnings").get<std::vector<std::string>>();
    for (const Job& job : jobs()) page.parts.push_back(job.page(summary, figures));
    if (summary.at("levels").size() > 1) page.parts.push_back({{}, {levels_card(summary)}});
    page.facts = facts_of(summary);
  } catch (const JsonError& e) {
    throw Error(fmt::format("summary.json: not from a finished `karst run` of this version: {}", e.what()));
  }
  page.deck = deck;
  return html(page);
}

}  // namespace karst
