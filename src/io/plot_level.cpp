// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_level.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "io/plot_set.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

/// Bytes of all datasets per cell of the level.
std::int64_t cell_bytes(const PlotTarget& to) {
  std::int64_t bytes = 0;
  for (const PlotShape& s : plot_shapes(to.plot)) bytes += value_bytes(s) * s.per_cell;
  return bytes;
}

/// Bytes of one chunk of each dataset.
std::int64_t chunk_bytes(const PlotTarget& to, const PlotOrder& order) {
  std::int64_t bytes = 0;
  for (const PlotShape& s : plot_shapes(to.plot)) bytes += value_bytes(s) * chunk_values(order, s.per_cell, s.in_rows);
  return bytes;
}

std::string level_name(int level) { return "Level" + std::to_string(level); }

/// Cuts the own boxes into rounds of at most plot.buffer_bytes (one box at least).
std::vector<PlotRound> rounds_of(const PlotTarget& to, const Layout& layout, const PlotOrder& order) {
  const std::int64_t most = to.plot.buffer_bytes / (static_cast<std::int64_t>(sizeof(float)) * to.n_components);
  std::vector<PlotRound> rounds;
  for (std::int64_t i = 0; i < std::ssize(order.own()); ++i) {
    const std::int64_t cells = layout.box(order.first_own() + order.own()[i]).count();
    if (rounds.empty() || rounds.back().cells + cells > most) rounds.push_back({i, i, 0});
    rounds.back().end = i + 1;
    rounds.back().cells += cells;
  }
  return rounds;
}

/// More than a round of all ranks adds to the file: the values, and the chunks shared with other ranks and rounds.
std::int64_t round_bytes(const PlotTarget& to, const PlotOrder& order, std::int64_t cells_of_all_ranks) {
  if (to.plot.compression == 0) return 0;  // has its place already
  const auto shared = std::int64_t{2} * to.comm.size() *
                      std::ranges::count_if(order.classes(), [](const SizeClass& c) { return c.n_boxes > 0; });
  return cell_bytes(to) * cells_of_all_ranks + chunk_bytes(to, order) * shared;
}

/// Values of a round in memory.
struct Buffers {
  Array<float> values;         ///< box after box, component after component, x fastest
  Array<float> sorted;         ///< of one array: box after box, cell after cell
  Array<std::uint8_t> hidden;  ///< box after box
};

/// f(box among the own, first cell in the round, cells) for the boxes of a round, among threads.
template <class F>
void for_boxes(const Layout& layout, const PlotOrder& order, const PlotRound& round, F&& f) {
  std::vector<std::int64_t> start{0};
  for (std::int64_t i = round.begin; i < round.end; ++i)
    start.push_back(start.back() + layout.box(order.first_own() + order.own()[i]).count());
  parallel_for_dynamic(round.end - round.begin,
                       [&](std::int64_t r) { f(order.own()[round.begin + r], start[r], start[r + 1] - start[r]); });
}

void fill_round(const PlotTarget& to, int level, const PlotOrder& order, const PlotRound& round, Buffers& buffers) {
  const Layout& layout = *to.plot.levels[level];
  for_boxes(layout, order, round, [&](std::int64_t box, std::int64_t first, std::int64_t cells) {
    for (std::int64_t c = 0; c < to.n_components; ++c)
      to.plot.fill(level, box, static_cast<int>(c),
                   buffers.values.span().subspan(first * to.n_components + c * cells, cells));
    to.plot.hide(level, box, buffers.hidden.span().subspan(first, cells));
  });
}

/// The components of one array, cell after cell.
void sort_round(const PlotTarget& to, const Layout& layout, const PlotOrder& order, const PlotRound& round,
                std::int64_t component, std::int64_t n, Buffers& buffers) {
  for_boxes(layout, order, round, [&](std::int64_t, std::int64_t first, std::int64_t cells) {
    for (std::int64_t c = 0; c < n; ++c) {
      const float* from = buffers.values.data() + first * to.n_components + (component + c) * cells;
      float* out = buffers.sorted.data() + first * n + c;
      for (std::int64_t i = 0; i < cells; ++i) out[i * n] = from[i];
    }
  });
}

/// The values of a round in memory go to their datasets. Collective.
void store_round(const PlotTarget& to, const Layout& layout, const PlotOrder& order, const PlotRound& round,
                 std::vector<PlotSet>& sets, Buffers& buffers) {
  std::int64_t component = 0;
  for (PlotSet& set : sets) {
    if (set.shape.flags) {
      write_round(to, set, order, round, buffers.hidden.data());
    } else if (set.shape.chombo) {
      write_round(to, set, order, round, buffers.values.data());
    } else {
      sort_round(to, layout, order, round, component, set.shape.per_cell, buffers);
      write_round(to, set, order, round, buffers.sorted.data());
      component += set.shape.per_cell;
    }
  }
}

void write_values(const PlotTarget& to, int level, const PlotOrder& order, std::vector<PlotSet>& sets) {
  const Layout& layout = *to.plot.levels[level];
  const std::vector<PlotRound> rounds = rounds_of(to, layout, order);
  std::int64_t largest = 0, widest = 1;
  for (const PlotRound& r : rounds) largest = std::max(largest, r.cells);
  for (const PlotArray& a : to.plot.arrays) widest = std::max<std::int64_t>(widest, a.n_components());
  Buffers buffers;
  fail_together(to.comm, [&] {
    buffers.values = Array<float>(largest * to.n_components, Purpose::buffers);
    buffers.sorted = Array<float>(largest * widest, Purpose::buffers);
    buffers.hidden = Array<std::uint8_t>(largest, Purpose::buffers);
  });
  const std::int64_t n_rounds = to.comm.max(std::ssize(rounds));
  for (std::int64_t r = 0; r < n_rounds; ++r) {
    const PlotRound round = r < std::ssize(rounds) ? rounds[r] : PlotRound{};
    to.room.reserve(to.metadata + round_bytes(to, order, to.comm.sum(round.cells)));
    fail_together(to.comm, [&] { fill_round(to, level, order, round, buffers); });
    fail_together(to.comm, [&] { store_round(to, layout, order, round, sets, buffers); });
  }
}

}  // namespace

std::int64_t frame_bytes(const PlotDescription& plot, const Layout& layout) {
  const std::int64_t n = std::ssize(component_names(plot.arrays));
  return 128 * layout.n_boxes() + (std::int64_t{8} << 10) * (n + 8);
}

std::int64_t table_bytes(const PlotDescription& plot, const PlotOrder& order) {
  if (order.n_cells() == 0) return 0;
  std::int64_t bytes = 0;
  for (const PlotShape& s : plot_shapes(plot))
    bytes +=
        (std::int64_t{8} << 10) + 128 * (order.n_cells() * s.per_cell / chunk_values(order, s.per_cell, s.in_rows) + 1);
  return bytes;
}

LevelGroups create_level_groups(const PlotTarget& to, hid_t vtk, int level) {
  const Handle group = hdf5::create_group(vtk, level_name(level), to.path);
  LevelGroups groups{hdf5::create_group(group, "CellData", to.path), {}};
  if (to.plot.chombo) groups.chombo = hdf5::create_group(to.file, "level_" + std::to_string(level), to.path);
  return groups;
}

LevelGroups write_level_frame(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order) {
  const Layout& layout = *to.plot.levels[level];
  const Handle group = hdf5::create_group(vtk, level_name(level), to.path);
  const hsize_t three[1] = {3};
  const double h = std::ldexp(to.plot.cell_width, -level);
  const double spacing[3] = {h, h, h};
  hdf5::put(group, "Spacing", H5T_NATIVE_DOUBLE, hdf5::simple_space(three, to.path), spacing, to.path);
  std::vector<int> boxes;  // lo_i hi_i lo_j hi_j lo_k hi_k
  if (to.comm.rank() == 0)
    for (std::int64_t b : order.all(layout)) {
      const Box box = layout.box(b);
      for (int d = 0; d < 3; ++d) boxes.insert(boxes.end(), {box.lo[d], box.hi[d] - 1});
    }
  const hsize_t sizes[2] = {static_cast<hsize_t>(layout.n_boxes()), 6};
  write_list(to, group, "AMRBox", H5T_NATIVE_INT, sizes, boxes.data());
  for (const char* without : {"PointData", "FieldData"}) hdf5::create_group(group, without, to.path);  // VTK 9.3 asks
  LevelGroups groups{hdf5::create_group(group, "CellData", to.path), {}};
  if (to.plot.chombo) groups.chombo = write_chombo_level(to, level, order);
  return groups;
}

void write_level_values(const PlotTarget& to, const LevelGroups& groups, int level, const PlotOrder& order) {
  if (to.plot.compression == 0) to.room.reserve(to.metadata + order.n_cells() * cell_bytes(to));
  std::vector<PlotSet> sets;
  for (const PlotShape& shape : plot_shapes(to.plot))
    sets.push_back(create_stored_set(to, shape.chombo ? groups.chombo : groups.cell_data, shape, order));
  write_values(to, level, order, sets);
  for (PlotSet& set : sets) finish_set(to, set);
}

}  // namespace karst
