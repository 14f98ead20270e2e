// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/field_view.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "io/plot_reader.hpp"

namespace karst {

namespace {

/// Calls f(cell, values of the components) for the cells of a box that have values.
template <class F>
void for_each_value(const FieldView& view, int level, std::size_t box, std::span<const std::size_t> components, F&& f) {
  const Box& cells = view.boxes[level][box];
  const auto n = static_cast<std::size_t>(cells.count());
  std::vector<float> values(n * components.size());
  for (std::size_t c = 0; c < components.size(); ++c)
    view.fill(level, box, components[c], std::span(values).subspan(c * n, n));
  std::array<double, 3> one{};
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isnan(values[i])) continue;
    for (std::size_t c = 0; c < components.size(); ++c) one[c] = double{values[c * n + i]};
    f(cells.cell(static_cast<int>(i)), one);
  }
}

/// f(box) for the boxes of a level; among threads where boxes share no cube of 2^shift cells of the level.
template <class F>
void for_boxes(const FieldView& view, std::size_t level, int shift, F&& f) {
  const std::vector<Box>& boxes = view.boxes[level];
  const bool apart = !boxes.empty() && boxes[0].size()[0] >= 1 << shift;
  if (view.threads_may_fill && apart) return parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) { f(b); });
  for (std::size_t b = 0; b < boxes.size(); ++b) f(b);
}

}  // namespace

std::optional<std::size_t> FieldView::find(const std::string& component) const {
  const auto at = std::ranges::find(components, component);
  if (at == components.end()) return std::nullopt;
  return static_cast<std::size_t>(at - components.begin());
}

FieldView view_of_plotfile(const Comm& comm, const std::string& path) {
  FieldView view;
  std::string names;
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    const auto file = std::make_shared<const PlotReader>(path);
    view.cells = file->cells();
    view.cell_width = file->cell_width();
    names = join(file->components(), "\n");
    for (int l = 0; l < file->n_levels(); ++l) view.boxes.push_back(file->boxes(l));
    view.fill = [file](int level, std::size_t box, std::size_t component, std::span<float> cells) {
      file->read(level, box, component, cells);
      std::vector<std::uint8_t> hidden(cells.size());
      file->read_hidden(level, box, hidden);
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (hidden[i] != 0) cells[i] = static_cast<float>(no_number);
    };
  });
  comm.broadcast(names);
  comm.broadcast(std::span(&view.cells, 1));
  comm.broadcast(std::span(&view.cell_width, 1));
  view.components = split(names, '\n');
  return view;
}

namespace {

/// Sums over a layer of values times volumes of cells, then of these volumes [cells of level 0], per cell of the plane.
PlaneValues layer_sums(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                       const Layer& layer) {
  const Index& n = view.cells;
  const int direction = layer.direction, first = direction == 0 ? 1 : 0, second = direction == 2 ? 1 : 2;
  PlaneValues plane{direction, layer.first, n[first], n[second], {}};
  const std::int64_t n_cells = std::int64_t{plane.nx} * plane.ny;
  std::vector<double> sums(2 * n_cells, 0.0);  // of values, then of their volumes
  for (std::size_t level = 0; level < view.boxes.size(); ++level) {
    const int l = static_cast<int>(level);
    const double volume = std::ldexp(1.0, -3 * l);
    for (std::size_t b = 0; b < view.boxes[level].size(); ++b) {
      const Box& box = view.boxes[level][b];
      if (box.hi[direction] <= layer.first << l || box.lo[direction] >= layer.end << l) continue;
      for_each_value(view, l, b, components, [&](const Index& cell, const std::array<double, 3>& v) {
        const int place = cell[direction] >> l;
        if (place < layer.first || place >= layer.end) return;
        const std::int64_t pixel = std::int64_t{cell[second] >> l} * plane.nx + (cell[first] >> l);
        sums[pixel] += volume * (components.size() == 1 ? v[0] : std::hypot(v[0], v[1], v[2]));
        sums[n_cells + pixel] += volume;
      });
    }
  }
  comm.sum(std::span(sums));
  plane.values = std::move(sums);
  return plane;
}

}  // namespace

PlaneValues layer_mean(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                       const Layer& layer) {
  PlaneValues plane = layer_sums(comm, view, components, layer);
  const std::size_t n = plane.values.size() / 2;
  for (std::size_t i = 0; i < n; ++i)
    plane.values[i] = plane.values[n + i] > 0.0 ? plane.values[i] / plane.values[n + i] : no_number;
  plane.values.resize(n);
  return plane;
}

PlaneValues middle_plane(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                         int direction) {
  const int middle = view.cells[direction] / 2;
  return layer_mean(comm, view, components, {direction, middle, middle + 1});
}

PlaneValues middle_plane_to_walls(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                                  int direction) {
  PlaneValues plane = middle_plane(comm, view, components, direction);
  if (const auto fraction = view.find("fraction")) {
    plane.fluid = layer_sums(comm, view, {&*fraction, 1}, {direction, plane.plane, plane.plane + 1}).values;
    plane.fluid.resize(plane.values.size());  // what has no fluid has no value: sums are fractions of the whole cells
  }
  return plane;
}

PlaneValues up_to_walls(const PlaneValues& plane) {
  constexpr int picture_width = 660;  // [pixels], about
  const int n = std::clamp(picture_width / std::max(plane.nx, plane.ny), 1, 16);
  PlaneValues fine{plane.direction, plane.plane, n * plane.nx, n * plane.ny, {}};
  fine.values.assign(std::int64_t{fine.nx} * fine.ny, no_number);
  const auto below = [](double x, int cells) { return std::clamp(static_cast<int>(std::floor(x)), 0, cells - 1); };
  parallel_for(fine.ny, [&](std::int64_t row) {
    const double y = (static_cast<double>(row) + 0.5) / n - 0.5;
    const std::array<int, 2> j{below(y, plane.ny), below(y + 1, plane.ny)};
    for (int column = 0; column < fine.nx; ++column) {
      const double x = (column + 0.5) / n - 0.5;
      const std::array<int, 2> i{below(x, plane.nx), below(x + 1, plane.nx)};
      double fluid = 0.0, most = 0.0, value = no_number;
      for (std::size_t corner = 0; corner < 4; ++corner) {
        const double part_x = x - std::floor(x), part_y = y - std::floor(y);
        const double weight = (corner % 2 == 0 ? 1.0 - part_x : part_x) * (corner / 2 == 0 ? 1.0 - part_y : part_y);
        const std::int64_t cell = std::int64_t{j[corner / 2]} * plane.nx + i[corner % 2];
        fluid += weight * plane.fluid[cell];
        if (std::isnan(plane.values[cell]) || weight < most) continue;
        most = weight;
        value = plane.values[cell];
      }
      if (fluid >= 0.5) fine.values[row * fine.nx + column] = value;
    }
  });
  return fine;
}

std::string plane_figure_to_walls(const PlaneValues& plane, PlaneLook look) {
  if (!plane.fluid.empty()) look.frames = {{data_uri(picture_of(up_to_walls(plane), look.low, look.high)), ""}};
  return plane_figure(plane, look);
}

FieldLattice lattice_of(const Comm& comm, const FieldView& view, const std::array<std::size_t, 3>& components,
                        std::int64_t most) {
  constexpr int slab = 32;  // planes of cells at a time, whole boxes
  int shift = 0;
  const auto size = [&](int d) { return (view.cells[d] + (1 << shift) - 1) >> shift; };
  while (std::int64_t{size(0)} * size(1) * size(2) > most && shift < 5) ++shift;
  FieldLattice lattice;
  lattice.size = {size(0), size(1), size(2)};
  lattice.width = 1 << shift;
  const std::int64_t plane = std::int64_t{size(0)} * size(1);
  if (comm.rank() == 0) lattice.values.reserve(plane * size(2));
  std::vector<double> sums;
  for (int z = 0; z < view.cells[2]; z += slab) {
    const int first = z >> shift, last = std::min(size(2), (z + slab) >> shift);
    sums.assign(4 * plane * (last - first), 0.0);
    for (std::size_t level = 0; level < view.boxes.size(); ++level) {
      const int l = static_cast<int>(level);
      const double part = std::ldexp(1.0, -3 * (l + shift));
      for_boxes(view, level, l + shift, [&](std::size_t b) {
        const int low = view.boxes[level][b].lo[2] >> l;
        if (low < z || low >= z + slab) return;
        for_each_value(view, l, b, components, [&](const Index& cell, const std::array<double, 3>& v) {
          const std::int64_t at = ((cell[2] >> (l + shift)) - first) * plane +
                                  std::int64_t{cell[1] >> (l + shift)} * size(0) + (cell[0] >> (l + shift));
          for (std::size_t c = 0; c < 3; ++c) sums[4 * at + c] += part * v[c];
          sums[4 * at + 3] += part;
        });
      });
    }
    comm.sum(std::span(sums));
    if (comm.rank() != 0) continue;
    const std::size_t before = lattice.values.size();
    lattice.values.resize(before + sums.size() / 4);
    parallel_for(std::ssize(sums) / 4, [&](std::int64_t i) {
      for (std::size_t c = 0; c < 4; ++c) lattice.values[before + i][c] = static_cast<float>(sums[4 * i + c]);
    });
  }
  return lattice;
}

int across(const Index& cells, int axis) {
  const int a = (axis + 2) % 3, b = (axis + 1) % 3;
  return cells[b] < cells[a] ? b : a;
}

}  // namespace karst
