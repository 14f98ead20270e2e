// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/vof_values.hpp"

#include <cmath>

#include "base/math/no_number.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// Calls f(cell, unknown) for the own unknowns of a box.
template <class F>
void for_each_unknown(const Geometry& geometry, const CompositeNumbering& numbering, int level, int box, F&& f) {
  const BoxGraph graph = geometry.levels[level].graph.box(box);
  for_each_vof(graph, [&](int vof, int cell) {
    const std::int32_t number = numbering.number(level, box, vof);
    if (number >= 0) f(cell, number);
  });
}

}  // namespace

void fill_cells(const JoinedCells& joined, int level, std::int64_t box, std::span<float> cells,
                const std::function<double(std::size_t unknown)>& value) {
  std::vector<double> sum(cells.size(), 0.0), count(cells.size(), 0.0);
  const auto add = [&](std::size_t cell, std::size_t unknown) {
    const double v = value(unknown);
    if (std::isnan(v)) return;
    sum[cell] += v;
    count[cell] += 1.0;
  };
  std::vector<std::uint8_t> own(cells.size(), 0);
  for_each_unknown(joined.geometry(), joined.numbering(), level, static_cast<int>(box),
                   [&](int cell, std::size_t unknown) {
                     own[cell] = 1;
                     add(cell, unknown);
                   });
  const LevelGeometry& at = joined.geometry().levels[level];
  const auto [first, last] = at.joined_in(static_cast<int>(box));
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
    const std::int32_t home = joined.homes(level)[i];
    if (home >= 0 && own[at.joined[i].cell] == 0) add(at.joined[i].cell, home);
  }
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = static_cast<float>(count[i] > 0.0 ? sum[i] / count[i] : no_number);
}

}  // namespace karst
