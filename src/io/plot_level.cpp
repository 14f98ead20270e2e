// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_level.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "io/agree.hpp"
#include "io/plot_set.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(float));
std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Datasets of a level.
struct LevelSets {
  std::vector<PlotSet> arrays;
  PlotSet hidden, chombo;
};

/// Bytes of all datasets per cell of the level.
std::int64_t cell_bytes(const PlotTarget& to) { return value_bytes * to.n_components * (to.plot.chombo ? 2 : 1) + 1; }

/// Bytes of one chunk of each dataset.
std::int64_t chunk_bytes(const PlotTarget& to, const PlotOrder& order) {
  std::int64_t bytes = chunk_values(order, 1, false);
  for (const PlotArray& a : to.plot.arrays) bytes += value_bytes * chunk_values(order, a.n_components(), a.is_vector);
  if (to.plot.chombo) bytes += value_bytes * chunk_values(order, to.n_components, false);
  return bytes;
}

/// /VTKHDF/LevelL without its values.
Handle write_vtk_level(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order) {
  const Layout& layout = *to.plot.levels[place(level)];
  Handle group = hdf5::create_group(vtk, "Level" + std::to_string(level), to.path);
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
  return group;
}

LevelSets create_sets(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order) {
  LevelSets sets;
  if (to.plot.compression == 0) to.room.reserve(to.metadata + order.n_cells() * cell_bytes(to));
  const Handle group = write_vtk_level(to, vtk, level, order);
  const Handle cell_data = hdf5::create_group(group, "CellData", to.path);
  for (const PlotArray& a : to.plot.arrays) {
    sets.arrays.push_back(
        create_set(to, cell_data, a.name, order, a.n_components(), a.is_vector, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT));
    hdf5::put_text(sets.arrays.back().data, "units", a.unit, to.path);
  }
  sets.hidden = create_set(to, cell_data, "vtkGhostType", order, 1, false, H5T_STD_U8LE, H5T_NATIVE_UINT8);
  if (to.plot.chombo)
    sets.chombo = create_set(to, write_chombo_level(to, level, order), "data:datatype=0", order, to.n_components, false,
                             H5T_IEEE_F32LE, H5T_NATIVE_FLOAT);
  return sets;
}

/// Cuts the own boxes into rounds of at most plot.buffer_bytes (one box at least).
std::vector<PlotRound> rounds_of(const PlotTarget& to, const Layout& layout, const PlotOrder& order) {
  const std::int64_t most = to.plot.buffer_bytes / (value_bytes * to.n_components);
  const std::int64_t first = layout.owned(to.comm.rank()).first;
  std::vector<PlotRound> rounds;
  for (std::int64_t i = 0; i < std::ssize(order.own()); ++i) {
    const std::int64_t cells = layout.box(first + order.own()[place(i)]).count();
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
void for_boxes(const PlotTarget& to, const Layout& layout, const PlotOrder& order, const PlotRound& round, F&& f) {
  const std::int64_t first = layout.owned(to.comm.rank()).first;
  std::vector<std::int64_t> start{0};
  for (std::int64_t i = round.begin; i < round.end; ++i)
    start.push_back(start.back() + layout.box(first + order.own()[place(i)]).count());
  parallel_for_dynamic(round.end - round.begin, [&](std::int64_t r) {
    f(order.own()[place(round.begin + r)], start[place(r)], start[place(r + 1)] - start[place(r)]);
  });
}

void fill_round(const PlotTarget& to, int level, const PlotOrder& order, const PlotRound& round, Buffers& buffers) {
  const Layout& layout = *to.plot.levels[place(level)];
  for_boxes(to, layout, order, round, [&](std::int64_t box, std::int64_t first, std::int64_t cells) {
    for (std::int64_t c = 0; c < to.n_components; ++c)
      to.plot.fill(level, box, static_cast<int>(c),
                   buffers.values.span().subspan(place(first * to.n_components + c * cells), place(cells)));
    to.plot.hide(level, box, buffers.hidden.span().subspan(place(first), place(cells)));
  });
}

/// The components of one array, cell after cell.
void sort_round(const PlotTarget& to, const Layout& layout, const PlotOrder& order, const PlotRound& round,
                std::int64_t component, std::int64_t n, Buffers& buffers) {
  for_boxes(to, layout, order, round, [&](std::int64_t, std::int64_t first, std::int64_t cells) {
    for (std::int64_t c = 0; c < n; ++c) {
      const float* from = buffers.values.data() + first * to.n_components + (component + c) * cells;
      float* out = buffers.sorted.data() + first * n + c;
      for (std::int64_t i = 0; i < cells; ++i) out[i * n] = from[i];
    }
  });
}

void write_values(const PlotTarget& to, int level, const PlotOrder& order, const LevelSets& sets) {
  const Layout& layout = *to.plot.levels[place(level)];
  const std::vector<PlotRound> rounds = rounds_of(to, layout, order);
  std::int64_t largest = 0, widest = 1;
  for (const PlotRound& r : rounds) largest = std::max(largest, r.cells);
  for (const PlotArray& a : to.plot.arrays) widest = std::max<std::int64_t>(widest, a.n_components());
  Buffers buffers;
  agree(to.comm, [&] {
    buffers.values = Array<float>(place(largest * to.n_components), Purpose::buffers);
    buffers.sorted = Array<float>(place(largest * widest), Purpose::buffers);
    buffers.hidden = Array<std::uint8_t>(place(largest), Purpose::buffers);
  });
  const std::int64_t n_rounds = to.comm.max(std::ssize(rounds));
  for (std::int64_t r = 0; r < n_rounds; ++r) {
    const PlotRound round = r < std::ssize(rounds) ? rounds[place(r)] : PlotRound{};
    to.room.reserve(to.metadata + round_bytes(to, order, to.comm.sum(round.cells)));
    agree(to.comm, [&] { fill_round(to, level, order, round, buffers); });
    agree(to.comm, [&] {
      std::int64_t component = 0;
      for (const PlotSet& set : sets.arrays) {
        sort_round(to, layout, order, round, component, set.per_cell, buffers);
        write_round(to, set, order, round, buffers.sorted.data());
        component += set.per_cell;
      }
      write_round(to, sets.hidden, order, round, buffers.hidden.data());
      if (to.plot.chombo) write_round(to, sets.chombo, order, round, buffers.values.data());
    });
  }
}

}  // namespace

std::int64_t metadata_bytes(const PlotDescription& plot, const Layout& layout, const PlotOrder& order) {
  std::int64_t n = 0, chunks = 3;
  const auto add = [&](std::int64_t per_cell, bool in_rows) {
    chunks += order.n_cells() * per_cell / chunk_values(order, per_cell, in_rows) + 1;
  };
  for (const PlotArray& a : plot.arrays) {
    n += a.n_components();
    add(a.n_components(), a.is_vector);
  }
  add(1, false);
  if (plot.chombo) add(n, false);
  return 128 * (layout.n_boxes() + chunks) + (std::int64_t{16} << 10) * (n + 8);
}

void write_level(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order) {
  LevelSets sets = create_sets(to, vtk, level, order);
  write_values(to, level, order, sets);
  for (PlotSet& set : sets.arrays) check(set.data.close(), "finish the values", to.path);
  check(sets.hidden.data.close(), "finish the values", to.path);
  check(sets.chombo.data.close(), "finish the values", to.path);
}

}  // namespace karst
