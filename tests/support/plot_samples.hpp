// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles with known values: value = 7 i + 131 j + 1031 k + 100003 c + 1000003 l, exact in float32.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "grid/layout_builder.hpp"
#include "io/plotfile.hpp"

namespace karst::test {

inline float plot_value(int level, const Index& cell, int component) {
  return static_cast<float>(7 * cell[0] + 131 * cell[1] + 1031 * cell[2] + 100003 * component + 1000003 * level);
}

/// A sample: layouts of all levels, kept together with their description.
struct PlotSample {
  std::vector<Layout> layouts;
  PlotDescription plot;
};

/// Level 0: every third box missing in a diagonal pattern. Finer levels: the boxes inside the lower part of the domain.
/// The last three components are a vector, those before are scalars; fewer than three are scalars.
inline PlotSample plot_sample(const Comm& comm, const Index& cells, int box_size, int n_levels, int n_components) {
  PlotSample s;
  Domain domain{cells, {}};
  for (int l = 0; l < n_levels; ++l) {
    const Index half{(domain.cells[0] + 1) / 2, (domain.cells[1] + 1) / 2, domain.cells[2]};
    s.layouts.push_back(build_layout(comm, domain, box_size, [&](const Box& box) {
                          const int diagonal = (box.lo[0] + 2 * box.lo[1] + 4 * box.lo[2]) / box_size;
                          const bool here = l == 0 ? diagonal % 3 != 1 : box.hi[0] <= half[0] && box.hi[1] <= half[1];
                          return here ? 1.0 : 0.0;
                        }).layout);
    domain = domain.refined();
  }
  s.plot.title = "sample";
  s.plot.version = "test";
  s.plot.cell_width = 2.5e-6;
  s.plot.time = 0.125;
  s.plot.step = 7;
  s.plot.chombo = true;
  const int n_scalars = n_components >= 3 ? n_components - 3 : n_components;
  for (int c = 0; c < n_scalars; ++c) s.plot.arrays.push_back({"field_" + std::to_string(c), "Pa", false});
  if (n_components >= 3) s.plot.arrays.push_back({"vector", "m/s", true});
  return s;
}

/// A pattern of flags.
inline std::uint8_t plot_hidden(const Index& cell) { return cell[0] + cell[1] == cell[2] ? cell_is_solid : 0; }

/// Call once the sample stands where it will stay.
inline void connect(PlotSample& s, const Comm& comm) {
  for (const Layout& layout : s.layouts) s.plot.levels.push_back(&layout);
  s.plot.fill = [&s, rank = comm.rank()](int level, std::int64_t box, int component, std::span<float> values) {
    const Layout& layout = s.layouts[level];
    std::size_t n = 0;
    for_each_cell(layout.box(layout.owned(rank).first + box),
                  [&](const Index& c) { values[n++] = plot_value(level, c, component); });
  };
  s.plot.hide = [&s, rank = comm.rank()](int level, std::int64_t box, std::span<std::uint8_t> flags) {
    const Layout& layout = s.layouts[level];
    std::size_t n = 0;
    for_each_cell(layout.box(layout.owned(rank).first + box), [&](const Index& c) { flags[n++] = plot_hidden(c); });
  };
}

}  // namespace karst::test
