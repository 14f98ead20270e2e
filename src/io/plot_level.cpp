// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_level.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "io/agree.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

constexpr auto value_bytes = static_cast<std::int64_t>(sizeof(float));
std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }
hsize_t extent(std::int64_t n) { return static_cast<hsize_t>(n); }

/// First and last cell, as Chombo writes them.
struct ChomboBox {
  int lo[3], hi[3];
};

ChomboBox chombo_box(const Box& box) {
  return {{box.lo[0], box.lo[1], box.lo[2]}, {box.hi[0] - 1, box.hi[1] - 1, box.hi[2] - 1}};
}

Handle box_type(std::string_view path) {
  Handle type(check(H5Tcreate(H5T_COMPOUND, sizeof(ChomboBox)), "describe a box", path), H5Tclose);
  const char* names[6] = {"lo_i", "lo_j", "lo_k", "hi_i", "hi_j", "hi_k"};
  for (std::size_t n = 0; n < 6; ++n)
    check(H5Tinsert(type, names[n], n * sizeof(int), H5T_NATIVE_INT), "describe a box", path);
  return type;
}

void put_triple(hid_t object, const std::string& name, int value, std::string_view path) {
  Handle type(check(H5Tcreate(H5T_COMPOUND, 3 * sizeof(int)), "describe an index", path), H5Tclose);
  const char* names[3] = {"intvecti", "intvectj", "intvectk"};
  for (std::size_t n = 0; n < 3; ++n)
    check(H5Tinsert(type, names[n], n * sizeof(int), H5T_NATIVE_INT), "describe an index", path);
  Handle space(check(H5Screate(H5S_SCALAR), "describe an index", path), H5Sclose);
  const int values[3] = {value, value, value};
  hdf5::put(object, name, type, space, values, path);
}

/// A small dataset that rank 0 writes and the others only create. Collective.
void write_list(const PlotTarget& to, hid_t parent, const std::string& name, hid_t type, std::vector<hsize_t> sizes,
                const void* values) {
  Handle space = hdf5::simple_space(sizes, to.path);
  Handle set(check(H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   "create dataset " + name, to.path),
             H5Dclose);
  agree(to.comm, [&] {
    if (to.comm.rank() == 0)
      check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write dataset " + name, to.path);
  });
}

/// Values per chunk: whole boxes when they are small, whole components of a box when they are large; 64 KiB or a
/// little less, since readers that fetch box by box unpack one chunk at least for each.
std::int64_t chunk_values(const PlotOrder& order, std::size_t components) {
  const auto n_components = static_cast<std::int64_t>(components);
  constexpr std::int64_t most = std::int64_t{1} << 14;
  std::int64_t cells = 1;
  for (const SizeClass& c : order.classes()) cells = std::max(cells, c.box_cells);
  const std::int64_t box = cells * n_components;
  const std::int64_t chunk = box <= most ? most / box * box : std::max<std::int64_t>(1, most / cells) * cells;
  return std::min(chunk, order.n_cells() * n_components);
}

Handle create_values(const PlotTarget& to, hid_t group, const PlotOrder& order) {
  const std::size_t n = to.plot.components.size();
  const std::int64_t n_values = order.n_cells() * static_cast<std::int64_t>(n);
  if (to.plot.compression == 0) to.room.reserve(to.metadata + n_values * value_bytes);
  Handle properties(check(H5Pcreate(H5P_DATASET_CREATE), "prepare the values", to.path), H5Pclose);
  if (to.plot.compression > 0) {
    const hsize_t chunk = extent(chunk_values(order, n));
    check(H5Pset_chunk(properties, 1, &chunk), "set the chunk size", to.path);
    check(H5Pset_shuffle(properties), "set the byte shuffle", to.path);
    check(H5Pset_deflate(properties, static_cast<unsigned>(to.plot.compression)), "set the compression", to.path);
  }
  check(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), "prepare the values", to.path);
  const hsize_t size[1] = {extent(n_values)};
  Handle space = hdf5::simple_space(size, to.path);
  return {check(H5Dcreate2(group, "data:datatype=0", H5T_IEEE_F32LE, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                "create the values", to.path),
          H5Dclose};
}

/// Boxes, owners and offsets, in file order.
void write_boxes(const PlotTarget& to, hid_t group, const Layout& layout, const PlotOrder& order) {
  std::vector<ChomboBox> boxes;
  std::vector<int> owners;
  std::vector<std::int64_t> offsets;
  if (to.comm.rank() == 0) {
    offsets.push_back(0);
    for (std::int64_t b : order.all(layout)) {
      const Box box = layout.box(b);
      boxes.push_back(chombo_box(box));
      owners.push_back(layout.owner(b));
      offsets.push_back(offsets.back() + box.count() * static_cast<std::int64_t>(to.plot.components.size()));
    }
  }
  const hsize_t n = extent(layout.n_boxes());
  write_list(to, group, "boxes", box_type(to.path), {n}, boxes.data());
  write_list(to, group, "Processors", H5T_NATIVE_INT, {n}, owners.data());
  write_list(to, group, "data:offsets=0", H5T_NATIVE_INT64, {n + 1}, offsets.data());
}

}  // namespace

std::int64_t metadata_bytes(const PlotDescription& plot, const Layout& layout, const PlotOrder& order) {
  const auto n_components = static_cast<std::int64_t>(plot.components.size());
  const std::int64_t chunks = order.n_cells() * n_components / chunk_values(order, plot.components.size()) + 1;
  return 128 * (layout.n_boxes() + chunks) + (std::int64_t{16} << 10) * (n_components + 8);
}

Handle write_level_header(const PlotTarget& to, int level, const PlotOrder& order) {
  const Layout& layout = *to.plot.levels[place(level)];
  Handle group = hdf5::create_group(to.file, "level_" + std::to_string(level), to.path);
  hdf5::put_number(group, "dx", std::ldexp(to.plot.cell_width, -level), to.path);
  hdf5::put_number(group, "dt", 0.0, to.path);
  hdf5::put_number(group, "time", to.plot.time, to.path);
  hdf5::put_int(group, "ref_ratio", 2, to.path);
  Handle scalar(check(H5Screate(H5S_SCALAR), "describe a box", to.path), H5Sclose);
  const ChomboBox domain = chombo_box(layout.domain().box());
  hdf5::put(group, "prob_domain", box_type(to.path), scalar, &domain, to.path);

  Handle about = hdf5::create_group(group, "data_attributes", to.path);
  hdf5::put_int(about, "comps", static_cast<int>(to.plot.components.size()), to.path);
  put_triple(about, "ghost", 0, to.path);
  put_triple(about, "outputGhost", 0, to.path);
  hdf5::put_text(about, "objectType", "FArrayBox", to.path);

  write_boxes(to, group, layout, order);
  return create_values(to, group, order);
}

namespace {

/// Own boxes [begin, end) in file order, as one round of writing.
struct Round {
  std::int64_t begin = 0, end = 0, values = 0;
};

/// Cuts the own boxes into rounds of at most plot.buffer_bytes (one box at least).
std::vector<Round> rounds_of(const PlotTarget& to, const Layout& layout, const PlotOrder& order) {
  const auto n_components = static_cast<std::int64_t>(to.plot.components.size());
  const std::int64_t most = to.plot.buffer_bytes / value_bytes;
  const std::int64_t first = layout.owned(to.comm.rank()).first;
  std::vector<Round> rounds;
  for (std::int64_t i = 0; i < std::ssize(order.own()); ++i) {
    const std::int64_t values = layout.box(first + order.own()[place(i)]).count() * n_components;
    if (rounds.empty() || rounds.back().values + values > most) rounds.push_back({i, i, 0});
    rounds.back().end = i + 1;
    rounds.back().values += values;
  }
  return rounds;
}

/// More than a round of all ranks adds to the file: the values, and the chunks shared with other ranks and rounds.
std::int64_t round_bytes(const PlotTarget& to, const PlotOrder& order, std::int64_t values_of_all_ranks) {
  if (to.plot.compression == 0) return 0;  // has its place already
  const auto shared = std::int64_t{2} * to.comm.size() *
                      std::ranges::count_if(order.classes(), [](const SizeClass& c) { return c.n_boxes > 0; });
  const std::int64_t chunk = chunk_values(order, to.plot.components.size());
  return value_bytes * (values_of_all_ranks + chunk * shared);
}

/// Fills the buffer box after box, component after component, x fastest.
void fill_round(const PlotTarget& to, int level, const PlotOrder& order, const Round& round, std::span<float> buffer) {
  const Layout& layout = *to.plot.levels[place(level)];
  const std::int64_t first = layout.owned(to.comm.rank()).first;
  const auto n_components = static_cast<std::int64_t>(to.plot.components.size());
  std::vector<std::int64_t> start{0};
  for (std::int64_t i = round.begin; i < round.end; ++i)
    start.push_back(start.back() + layout.box(first + order.own()[place(i)]).count() * n_components);
  parallel_for_dynamic(round.end - round.begin, [&](std::int64_t r) {
    const std::int64_t box = order.own()[place(round.begin + r)];
    const std::int64_t cells = (start[place(r + 1)] - start[place(r)]) / n_components;
    for (std::int64_t c = 0; c < n_components; ++c)
      to.plot.fill(level, box, static_cast<int>(c), buffer.subspan(place(start[place(r)] + c * cells), place(cells)));
  });
}

/// Selects the boxes of a round in the file: one block per size, since the own boxes of a size are consecutive there.
void select_round(const PlotTarget& to, const PlotOrder& order, const Round& round, hid_t space) {
  const auto n_components = static_cast<std::int64_t>(to.plot.components.size());
  check(H5Sselect_none(space), "select the values", to.path);
  for (std::int64_t i = round.begin; i < round.end;) {
    const std::int64_t at = order.position(i);
    const SizeClass* c = nullptr;
    for (const SizeClass& one : order.classes())
      if (at >= one.first_box && at < one.first_box + one.n_boxes) c = &one;
    std::int64_t n = 0;
    while (i < round.end && order.position(i) == at + n && at + n < c->first_box + c->n_boxes) ++i, ++n;
    const hsize_t start = extent((c->first_cell + (at - c->first_box) * c->box_cells) * n_components);
    const hsize_t count = extent(n * c->box_cells * n_components);
    check(H5Sselect_hyperslab(space, H5S_SELECT_OR, &start, nullptr, &count, nullptr), "select the values", to.path);
  }
}

}  // namespace

void write_level_values(const PlotTarget& to, int level, const PlotOrder& order, hid_t values) {
  const Layout& layout = *to.plot.levels[place(level)];
  const std::vector<Round> rounds = rounds_of(to, layout, order);
  std::int64_t largest = 0;
  for (const Round& r : rounds) largest = std::max(largest, r.values);
  Array<float> buffer;
  agree(to.comm, [&] { buffer = Array<float>(place(largest), Purpose::buffers); });
  Handle transfer(check(H5Pcreate(H5P_DATASET_XFER), "prepare writing", to.path), H5Pclose);
  check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "prepare writing", to.path);
  Handle file_space(check(H5Dget_space(values), "describe the values", to.path), H5Sclose);

  const std::int64_t n_rounds = to.comm.max(std::ssize(rounds));
  for (std::int64_t r = 0; r < n_rounds; ++r) {
    const Round round = r < std::ssize(rounds) ? rounds[place(r)] : Round{};
    to.room.reserve(to.metadata + round_bytes(to, order, to.comm.sum(round.values)));
    agree(to.comm, [&] { fill_round(to, level, order, round, buffer.span()); });
    agree(to.comm, [&] {
      const hsize_t size[1] = {extent(std::max<std::int64_t>(1, round.values))};
      Handle memory = hdf5::simple_space(size, to.path);
      if (round.values == 0) check(H5Sselect_none(memory), "select the values", to.path);
      select_round(to, order, round, file_space);
      check(H5Dwrite(values, H5T_NATIVE_FLOAT, memory, file_space, transfer, buffer.data()), "write the values",
            to.path);
    });
  }
}

void write_level_view(const PlotTarget& to, hid_t vtk, int level, const PlotOrder& order) {
  const Layout& layout = *to.plot.levels[place(level)];
  const auto n_components = static_cast<std::int64_t>(to.plot.components.size());
  Handle group = hdf5::create_group(vtk, "Level" + std::to_string(level), to.path);
  const hsize_t three[1] = {3};
  Handle triple = hdf5::simple_space(three, to.path);
  const double h = std::ldexp(to.plot.cell_width, -level);
  const double spacing[3] = {h, h, h};
  hdf5::put(group, "Spacing", H5T_NATIVE_DOUBLE, triple, spacing, to.path);

  std::vector<int> boxes;  // lo_i hi_i lo_j hi_j lo_k hi_k
  if (to.comm.rank() == 0)
    for (std::int64_t b : order.all(layout)) {
      const ChomboBox box = chombo_box(layout.box(b));
      for (int d = 0; d < 3; ++d) boxes.insert(boxes.end(), {box.lo[d], box.hi[d]});
    }
  write_list(to, group, "AMRBox", H5T_NATIVE_INT, {extent(layout.n_boxes()), 6}, boxes.data());

  Handle cell_data = hdf5::create_group(group, "CellData", to.path);
  const std::string source = "/level_" + std::to_string(level) + "/data:datatype=0";
  const hsize_t n_cells[1] = {extent(order.n_cells())}, n_values[1] = {extent(order.n_cells() * n_components)};
  Handle view_space = hdf5::simple_space(n_cells, to.path), source_space = hdf5::simple_space(n_values, to.path);
  for (std::int64_t c = 0; c < n_components; ++c) {
    Handle properties(check(H5Pcreate(H5P_DATASET_CREATE), "prepare a view", to.path), H5Pclose);
    for (const SizeClass& k : order.classes()) {
      if (k.n_boxes == 0) continue;
      const hsize_t first = extent(k.first_cell), all = extent(k.n_boxes * k.box_cells);
      check(H5Sselect_hyperslab(view_space, H5S_SELECT_SET, &first, nullptr, &all, nullptr), "map a view", to.path);
      const hsize_t start = extent(k.first_cell * n_components + c * k.box_cells);
      const hsize_t stride = extent(k.box_cells * n_components), count = extent(k.n_boxes), block = extent(k.box_cells);
      check(H5Sselect_hyperslab(source_space, H5S_SELECT_SET, &start, &stride, &count, &block), "map a view", to.path);
      check(H5Pset_virtual(properties, view_space, ".", source.c_str(), source_space), "map a view", to.path);
    }
    check(H5Sselect_all(view_space), "map a view", to.path);
    const std::string& name = to.plot.components[place(c)];
    Handle view(
        check(H5Dcreate2(cell_data, name.c_str(), H5T_IEEE_F32LE, view_space, H5P_DEFAULT, properties, H5P_DEFAULT),
              "create the view of " + name, to.path),
        H5Dclose);
  }
}

}  // namespace karst
