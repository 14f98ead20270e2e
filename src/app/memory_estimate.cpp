// SPDX-License-Identifier: BSD-3-Clause
#include "app/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/format.hpp"
#include "base/memory.hpp"

namespace karst {

std::vector<MemoryPart> estimate_memory(const Comm& comm, std::int64_t program) {
  const std::int64_t of_geometry = arena::bytes_now(Purpose::geometry),
                     of_connectivity = arena::bytes_now(Purpose::connectivity);
  const std::int64_t temporary = arena::peak_resident_set() - program - of_geometry - of_connectivity;
  const auto over_ranks = [&](const std::string& name, std::int64_t bytes) {
    return MemoryPart{name, comm.max(bytes), comm.sum(bytes)};
  };
  return {over_ranks("program", program), over_ranks("geometry", of_geometry),
          over_ranks("connectivity", of_connectivity),
          over_ranks("set-up of the geometry", std::max<std::int64_t>(0, temporary))};
}

MemoryPart estimate_plotfile(const Comm& comm, const Geometry& geometry, int n_components) {
  std::int64_t box_cells = 0;
  for (const LevelGeometry& level : geometry.levels) {
    std::int64_t cells = 0;
    for (int b = 0; b < level.graph.n_local(); ++b) cells += level.graph.box(b).cells.count();
    box_cells = std::max(box_cells, cells);  // levels are written one after the other
  }
  constexpr auto value = static_cast<std::int64_t>(sizeof(float));
  const std::int64_t buffer = std::min(PlotDescription{}.buffer_bytes, value * n_components * box_cells);
  return {fmt::format("plotfile, {} component{}", n_components, n_components == 1 ? "" : "s"), comm.max(buffer),
          comm.sum(buffer)};
}

MemoryPart estimate_job(const Comm& comm, const Geometry& geometry, std::string_view name, std::int64_t more_cells,
                        double bytes_per_fluid_cell) {
  std::int64_t cells = more_cells / comm.size();
  for (const LevelGeometry& level : geometry.levels)
    for (int b = 0; b < level.graph.n_local(); ++b) cells += level.graph.box(b).n_own;
  const auto bytes = static_cast<std::int64_t>(bytes_per_fluid_cell * static_cast<double>(cells));
  return {fmt::format("job {}, about", name), comm.max(bytes), comm.sum(bytes)};
}

std::string memory_table(const std::vector<MemoryPart>& parts, const MemoryPart& measured) {
  const auto line = [](const std::string& name, const std::string& a, const std::string& b) {
    return fmt::format("  {:<32}{:>15}{:>15}\n", name, a, b);
  };
  const auto bytes = [](std::int64_t n) { return format_bytes(static_cast<double>(n)); };
  std::string text = line("", "busiest rank", "all ranks");
  MemoryPart total;
  for (const MemoryPart& p : parts) {
    text += line(p.name, bytes(p.largest_rank), bytes(p.all_ranks));
    total.largest_rank += p.largest_rank;
    total.all_ranks += p.all_ranks;
  }
  text += line("a run at most, estimated", bytes(total.largest_rank), bytes(total.all_ranks));
  text += line(measured.name, bytes(measured.largest_rank), bytes(measured.all_ranks));
  return text;
}

}  // namespace karst
