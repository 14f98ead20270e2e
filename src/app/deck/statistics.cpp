// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/statistics.hpp"

#include <ranges>
#include <set>
#include <utility>

#include "base/comm/parallel.hpp"

namespace karst {

namespace {

std::int64_t sum_of(const auto& levels, auto count) {
  std::int64_t total = 0;
  for (const auto& level : levels) total += level.*count;
  return total;
}

LevelBytes count_bytes(const Comm& comm, const LevelGeometry& level) {
  constexpr auto row = static_cast<std::int64_t>(2 * sizeof(std::uint16_t) + sizeof(std::array<std::uint16_t, 6>));
  LevelBytes bytes;
  std::set<std::pair<const void*, const void*>> tables;  // boxes may share one
  for (int b = 0; b < level.graph.n_local(); ++b) {
    const BoxGraph box = level.graph.box(b);
    if (!tables.insert({box.runs.data(), box.row_vof.data()}).second) continue;
    const auto rows = static_cast<std::int64_t>(box.row_vof.size());
    bytes.irregular += box.n_irregular * row + static_cast<std::int64_t>(box.extra.size_bytes());
    bytes.regular += (rows - box.n_irregular) * row + static_cast<std::int64_t>(box.runs.size_bytes());
  }
  bytes.exchange = level.graph.bytes() - bytes.irregular - bytes.regular;
  return {comm.sum(bytes.irregular + level.bytes_of_moments()), comm.sum(bytes.regular), comm.sum(bytes.exchange)};
}

}  // namespace

double GeometryStatistics::wall_area() const { return report.wall_area * cell_width * cell_width; }

std::int64_t GeometryStatistics::sum(std::int64_t LevelReport::*count) const { return sum_of(report.levels, count); }

std::int64_t GeometryStatistics::sum(std::int64_t CutCounts::*count) const {
  return sum_of(std::views::transform(report.levels, &LevelReport::cut), count);
}

std::int64_t GeometryStatistics::sum(std::int64_t LevelBytes::*count) const { return sum_of(bytes, count); }

GeometryStatistics collect_statistics(const Comm& comm, const Geometry& geometry, double cell_width,
                                      const std::string& title) {
  GeometryStatistics s;
  s.title = title;
  s.cell_width = cell_width;
  s.report = geometry.report;
  for (const LevelGeometry& level : geometry.levels) s.bytes.push_back(count_bytes(comm, level));
  s.specific_surface = geometry.report.specific_surface / cell_width;
  s.ranks = comm.size();
  s.threads = comm.max(std::int64_t{n_threads()});
  s.workers = comm.sum(std::int64_t{n_threads()});
  return s;
}

}  // namespace karst
