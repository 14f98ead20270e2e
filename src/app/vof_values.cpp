// SPDX-License-Identifier: BSD-3-Clause
#include "app/vof_values.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "grid/vof_loops.hpp"

namespace karst {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
/// Calls f(cell, unknown) for the own unknowns of a box.
template <class F>
void for_each_unknown(const Geometry& geometry, const CompositeNumbering& numbering, int level, int box, F&& f) {
  const BoxGraph graph = geometry.levels[static_cast<std::size_t>(level)].graph.box(box);
  for_each_vof(graph, [&](int vof, int cell) {
    const std::int32_t number = numbering.number(level, box, vof);
    if (number >= 0) f(cell, static_cast<std::size_t>(number));
  });
}

}  // namespace

void fill_cells(const Geometry& geometry, const CompositeNumbering& numbering, int level, std::int64_t box,
                std::span<float> cells, const std::function<double(std::size_t unknown)>& value) {
  std::vector<double> sum(cells.size(), 0.0), count(cells.size(), 0.0);
  for_each_unknown(geometry, numbering, level, static_cast<int>(box), [&](int cell, std::size_t unknown) {
    const double v = value(unknown);
    if (std::isnan(v)) return;
    sum[static_cast<std::size_t>(cell)] += v;
    count[static_cast<std::size_t>(cell)] += 1.0;
  });
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = static_cast<float>(count[i] > 0.0 ? sum[i] / count[i] : nothing);
}

}  // namespace karst
