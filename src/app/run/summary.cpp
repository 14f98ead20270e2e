// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/summary.hpp"

#include <algorithm>
#include <cmath>

#include "base/core/version.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// h of the level cubed [m³].
double cell_volume(const GeometryStatistics& s, std::size_t level) {
  return std::pow(std::ldexp(s.cell_width, -static_cast<int>(level)), 3);
}

std::int64_t boxes_pruned(const LevelReport& level) { return level.boxes_asked - level.boxes; }

Json cells_json(const GeometryStatistics& s) {
  std::int64_t pruned = 0;
  for (const LevelReport& level : s.report.levels) pruned += boxes_pruned(level);
  return {{"fluid", s.sum(&LevelReport::vofs_composite)},
          {"irregular", s.sum(&LevelReport::irregular_composite)},
          {"multivalued_vofs", s.sum(&LevelReport::multivalued_vofs)},
          {"merged", s.sum(&LevelReport::joined)},
          {"orphans", s.sum(&LevelReport::orphans)},
          {"cut", s.sum(&CutCounts::cells_cut)},
          {"gaps_closed", s.sum(&CutCounts::gaps_closed)},
          {"walls_lost", s.sum(&CutCounts::walls_lost)},
          {"boxes", s.sum(&LevelReport::boxes)},
          {"boxes_pruned", pruned},
          {"slots", s.sum(&LevelReport::slots)}};
}

Json minerals_json(const GeometryStatistics& s) {
  Json minerals = Json::array();
  for (const MineralWall& mineral : s.report.minerals)
    minerals.push_back({{"name", mineral.name},
                        {"wall_area_m2", s.wall_area(mineral)},
                        {"fraction", s.report.wall_area > 0.0 ? mineral.area / s.report.wall_area : 0.0}});
  return minerals;
}

Json level_json(const GeometryStatistics& s, std::size_t l) {
  const LevelReport& r = s.report.levels[l];
  const LevelBytes& bytes = s.bytes[l];
  return {{"cell_width_m", std::ldexp(s.cell_width, -static_cast<int>(l))},
          {"cells", r.cells},
          {"boxes", r.boxes},
          {"boxes_pruned", boxes_pruned(r)},
          {"imbalance", r.imbalance},
          {"fluid", r.vofs},
          {"unknowns", r.vofs_composite},
          {"irregular", r.irregular},
          {"multivalued_vofs", r.multivalued_vofs},
          {"cells_cut", r.cut.cells_cut},
          {"cells_multivalued", r.cut.cells_multivalued},
          {"cells_subdivided", r.cut.cells_subdivided},
          {"gaps_closed", r.cut.gaps_closed},
          {"walls_lost", r.cut.walls_lost},
          {"closed_faces", r.closed_faces},
          {"merged", r.joined},
          {"orphans", r.orphans},
          {"orphan_volume_m3", r.orphan_volume * cell_volume(s, l)},
          {"pores", r.pores},
          {"pores_removed", r.pores_removed},
          {"pores_removed_volume_m3", r.removed_volume * cell_volume(s, l)},
          {"slots", r.slots},
          {"bytes", {{"irregular", bytes.irregular}, {"regular", bytes.regular}, {"exchange", bytes.exchange}}}};
}

Json memory_json(const Summary& summary) {
  const auto fluid =
      static_cast<double>(std::max<std::int64_t>(1, domain_of(summary).sum(&LevelReport::vofs_composite)));
  Json memory{{"peak_bytes", summary.memory.peak},
              {"peak_bytes_largest_rank", summary.memory.largest_rank},
              {"bytes_per_fluid_cell", static_cast<double>(summary.memory.peak) / fluid}};
  for (int p = 0; p < n_purposes; ++p)
    memory[std::string(name_of(static_cast<Purpose>(p)))] = summary.memory.by_purpose[p];
  return memory;
}

Json solves_json(const std::vector<JobResult>& jobs) {
  Json solves = Json::array();
  for (const JobResult& job : jobs)
    for (const SolveRow& s : job.solves)
      solves.push_back({{"name", s.name},
                        {"method", s.method},
                        {"preconditioner", s.preconditioner},
                        {"iterations", s.iterations},
                        {"relative_residual", s.relative_residual},
                        {"setup_seconds", s.setup_seconds},
                        {"seconds", s.seconds}});
  return solves;
}

Json balances_json(const std::vector<JobResult>& jobs) {
  Json balances = Json::object();
  for (const JobResult& job : jobs)
    for (const Balance& b : job.balances) balances[b.name] = b.relative;
  return balances;
}

Json seconds_json(const Summary& summary) {
  Json seconds{{"geometry", summary.seconds.geometry}};
  if (!summary.jobs.empty()) {
    seconds["setup"] = summary.seconds.setup;
    seconds["solve"] = summary.seconds.solve;
  }
  seconds["output"] = summary.seconds.output;
  seconds["total"] = summary.seconds.total;
  return seconds;
}

Json steps_json(const StepSeconds& steps) {
  Json json{{"first", steps.first}, {"number", std::ssize(steps.seconds)}};
  json.update(to_json(spread_of(steps.seconds)));
  return json;
}

}  // namespace

MemoryUse measure_memory(const Comm& comm) {
  MemoryUse use;
  use.peak = comm.sum(arena::peak_resident_set());
  use.largest_rank = comm.max(arena::peak_resident_set());
  for (int p = 0; p < n_purposes; ++p) use.by_purpose[p] = comm.sum(arena::bytes_peak(static_cast<Purpose>(p)));
  return use;
}

Json summary_json(const Summary& summary) {
  const GeometryStatistics& s = summary.geometry;
  Json json;
  json["karst"] = version_and_git_id();
  json["deck"] = summary.deck;
  json["title"] = s.title;
  json["status"] = summary.status;
  if (summary.status != "completed") {
    json["reason"] = summary.reason;
    json["finished_solves"] = Json::array();
    for (const FinishedSolve& solve : summary.finished) {
      json["finished_solves"].push_back({{"name", solve.name}});
      json["finished_solves"].back().update(solve.result);
    }
  }
  json["porosity"] = s.report.porosity;
  json["connected_porosity"] = s.report.connected_porosity;
  json["specific_surface_per_m"] = s.specific_surface;
  json["wall_area_m2"] = s.wall_area();
  json["minerals"] = minerals_json(s);
  json["percolates"] = {{"x", s.report.percolates[0]}, {"y", s.report.percolates[1]}, {"z", s.report.percolates[2]}};
  json["cells"] = cells_json(s);
  if (summary.domain) json["cells_with_reservoirs"] = cells_json(*summary.domain);
  json["levels"] = Json::array();
  for (std::size_t l = 0; l < s.report.levels.size(); ++l) json["levels"].push_back(level_json(s, l));
  for (const JobResult& job : summary.jobs) json.update(job.json);
  if (json.contains("walls")) json["porosity_at"] = "beginning";  // also minerals and cells; walls.last has the end
  if (!summary.jobs.empty()) {
    json["solves"] = solves_json(summary.jobs);
    if (summary.solves_read > 0) json["solves_from_earlier_run"] = summary.solves_read;
    json["balances"] = balances_json(summary.jobs);
    if (!summary.balance.is_null()) json["feedback_balance"] = summary.balance;
    if (!summary.followed.is_null()) json["followed_grid"] = summary.followed;
  }
  json["ranks"] = s.ranks;
  json["threads"] = s.threads;
  json["seconds"] = seconds_json(summary);
  if (!summary.steps.seconds.empty()) json["step_seconds"] = steps_json(summary.steps);
  if (summary.communication.seconds > 0.0) json["communication"] = to_json(summary.communication);
  if (summary.memory.peak > 0) json["memory"] = memory_json(summary);
  json["plotfile"] = {{"name", summary.plotfile},
                      {"parts", summary.plot.parts},
                      {"bytes", summary.plot.file_bytes},
                      {"values_bytes", summary.plot.box_bytes},
                      {"dense_values_bytes", summary.plot.dense_bytes}};
  json["files"] = summary.files;
  json["warnings"] = summary.first_warnings;
  for (const std::string& w : summary.warnings) json["warnings"].push_back(w);
  return json;
}

}  // namespace karst
