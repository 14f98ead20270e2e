// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/job.hpp"
#include "app/run_page.hpp"
#include "app/statistics.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace karst {

namespace {

using Json = nlohmann::ordered_json;

std::string source_of(const Json& summary) {
  const Json& level = summary.at("levels").at(0);
  const auto cells = level.at("cells").get<std::vector<int>>();
  return fmt::format("{}: {} × {} × {} cells of {}, {} of them fluid",
                     std::filesystem::path(summary.at("deck").get<std::string>()).filename().string(), cells.at(0),
                     cells.at(1), cells.at(2), format_si(level.at("cell_width_m").get<double>(), "m"),
                     grouped(summary.at("cells").at("fluid").get<std::int64_t>()));
}

std::vector<std::pair<std::string, std::string>> facts_of(const Json& summary) {
  const auto seconds = [&](const char* part) { return format_seconds(summary.at("seconds").at(part).get<double>()); };
  std::int64_t pores = 0, removed = 0;
  for (const Json& level : summary.at("levels")) {
    pores += level.at("pores").get<std::int64_t>();
    removed += level.at("pores_removed").get<std::int64_t>();
  }
  const Json& memory = summary.at("memory");
  return {
      {"program", "karst " + summary.at("karst").get<std::string>()},
      {"ranks and threads", fmt::format("{} of {}", summary.at("ranks").get<int>(), summary.at("threads").get<int>())},
      {"time", fmt::format("geometry {}, set-up of the solvers {}, solves {}, all {}", seconds("geometry"),
                           seconds("setup"), seconds("solve"), seconds("total"))},
      {"memory", fmt::format("{} at most, {} per fluid cell", format_bytes(memory.at("peak_bytes").get<double>()),
                             format_bytes(memory.at("bytes_per_fluid_cell").get<double>()))},
      {"porosity", fmt::format("{:.5f}, of pores open to flow {:.5f}", summary.at("porosity").get<double>(),
                               summary.at("connected_porosity").get<double>())},
      {"specific surface",
       fmt::format("{:.4g} 1/m, wall area / volume of the sample", summary.at("specific_surface_per_m").get<double>())},
      {"pores removed", fmt::format("{} of {}", grouped(removed), grouped(pores))}};
}

}  // namespace

std::string run_report(const Json& summary, const std::string& deck, const Figures& figures) {
  RunPage page;
  try {
    const auto title = summary.at("title").get<std::string>();
    const std::filesystem::path name(summary.at("deck").get<std::string>());
    page.title = title.empty() ? name.filename().string() : title;
    page.source = source_of(summary);
    page.program = summary.at("karst").get<std::string>();
    page.warnings = summary.at("warnings").get<std::vector<std::string>>();
    for (const Job& job : jobs()) page.parts.push_back(job.page(summary, figures));
    page.facts = facts_of(summary);
  } catch (const Json::exception& e) {
    throw Error(fmt::format("summary.json: not that of a finished `karst run` of this version: {}", e.what()));
  }
  page.deck = deck;
  return html(page);
}

}  // namespace karst
