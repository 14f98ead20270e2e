// SPDX-License-Identifier: BSD-3-Clause
#include "app/vof_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "grid/vof_loops.hpp"

namespace karst {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr Rgb solid_colour{222, 225, 229};

/// Even steps of lightness; near to the map "viridis" of Smith & van der Walt (2015, public domain).
Rgb colour_of(double t) {
  constexpr std::array<Rgb, 9> map{{{68, 1, 84},
                                    {72, 40, 120},
                                    {62, 74, 137},
                                    {49, 104, 142},
                                    {38, 130, 142},
                                    {31, 158, 137},
                                    {53, 183, 121},
                                    {144, 215, 67},
                                    {253, 231, 37}}};
  const double at = std::clamp(t, 0.0, 1.0) * (map.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), map.size() - 2);
  Rgb colour;
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] =
        static_cast<std::uint8_t>(std::lround(map[i][c] + (at - static_cast<double>(i)) * (map[i + 1][c] - map[i][c])));
  return colour;
}

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

PlaneValues middle_plane(const Comm& comm, const Geometry& geometry, const CompositeNumbering& numbering,
                         std::span<const double> values, int direction) {
  const Index n = geometry.grid.levels[0].layout.domain().cells;
  const int first = direction == 0 ? 1 : 0, second = direction == 2 ? 1 : 2;
  PlaneValues plane{direction, n[direction] / 2, n[first], n[second], {}};
  const auto n_cells = static_cast<std::size_t>(plane.nx) * static_cast<std::size_t>(plane.ny);
  std::vector<double> sums(2 * n_cells, 0.0);  // of values, then of their numbers
  for (int l = 0; l < numbering.n_levels(); ++l) {
    const LevelGraph& graph = geometry.levels[static_cast<std::size_t>(l)].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const Box box = graph.box(b).cells;
      if (box.hi[direction] <= plane.plane << l || box.lo[direction] >= (plane.plane + 1) << l) continue;
      for_each_unknown(geometry, numbering, l, b, [&](int cell, std::size_t unknown) {
        const Index at = box.cell(cell);
        if (at[direction] >> l != plane.plane) return;
        const auto pixel = static_cast<std::size_t>(at[second] >> l) * static_cast<std::size_t>(plane.nx) +
                           static_cast<std::size_t>(at[first] >> l);
        sums[pixel] += values[unknown];
        sums[n_cells + pixel] += 1.0;
      });
    }
  }
  comm.sum(std::span(sums));
  plane.values.resize(n_cells);
  for (std::size_t i = 0; i < n_cells; ++i)
    plane.values[i] = sums[n_cells + i] > 0.0 ? sums[i] / sums[n_cells + i] : nothing;
  return plane;
}

Picture picture_of(const PlaneValues& plane, double low, double high) {
  Picture picture(plane.nx, plane.ny, 3);
  for (int j = 0; j < plane.ny; ++j)
    for (int i = 0; i < plane.nx; ++i) {
      const double value =
          plane.values[static_cast<std::size_t>(j) * static_cast<std::size_t>(plane.nx) + static_cast<std::size_t>(i)];
      const Rgb colour = std::isnan(value) ? solid_colour : colour_of((value - low) / (high - low));
      std::ranges::copy(colour, picture.pixel(i, plane.ny - 1 - j));
    }
  return picture;
}

std::string plane_figure(const PlaneValues& plane, double low, double high, const std::string& caption) {
  std::string scale;
  for (int i = 0; i <= 8; ++i) scale += fmt::format("{}{}", i == 0 ? "" : ",", hex(colour_of(i / 8.0)));
  const double longest = std::max(plane.nx, plane.ny);
  return fmt::format(
      "<figure><div class=\"stack\" style=\"width:{:.0f}px;max-width:100%;aspect-ratio:{}/{}\"><img alt=\"{}\" "
      "src=\"{}\"/></div>"
      "<figcaption>{}<br/>{:g} <span style=\"display:inline-block;width:140px;height:10px;"
      "background:linear-gradient(90deg,{})\"></span> {:g}</figcaption></figure>\n",
      340.0 * plane.nx / longest, plane.nx, plane.ny, caption, data_uri(picture_of(plane, low, high)), caption, low,
      scale, high);
}

}  // namespace karst
