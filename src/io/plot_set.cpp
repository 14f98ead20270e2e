// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_set.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/file/mpi_files.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

void write_list(const PlotTarget& to, hid_t parent, const std::string& name, hid_t type, std::span<const hsize_t> sizes,
                const void* values) {
  Handle space = hdf5::simple_space(sizes, to.path);
  Handle set(
      check(H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, hdf5::set_properties(to.path), H5P_DEFAULT),
            "create dataset " + name, to.path),
      H5Dclose);
  fail_together(to.comm, [&] {
    if (to.comm.rank() == 0)
      check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write dataset " + name, to.path);
  });
}

std::int64_t chunk_values(const PlotOrder& order, std::int64_t per_cell, bool in_rows) {
  constexpr std::int64_t most = std::int64_t{1} << 14;
  std::int64_t cells = 1;
  for (const SizeClass& c : order.classes()) cells = std::max(cells, c.box_cells);
  const std::int64_t box = cells * per_cell;
  std::int64_t chunk = std::max<std::int64_t>(1, most / cells) * cells;
  if (box <= most) chunk = most / box * box;
  if (in_rows) chunk = std::max<std::int64_t>(1, most / box) * box;
  return std::min(chunk, order.n_cells() * per_cell);
}

std::int64_t value_bytes(const PlotShape& shape) { return shape.flags ? 1 : sizeof(float); }

std::vector<PlotShape> plot_shapes(const PlotDescription& plot) {
  std::vector<PlotShape> shapes;
  std::int64_t n = 0;
  for (const PlotArray& a : plot.arrays) {
    shapes.push_back({a.name, a.unit, a.n_components(), a.is_vector});
    n += a.n_components();
  }
  shapes.push_back({.name = "vtkGhostType", .flags = true});
  if (plot.chombo) shapes.push_back({.name = "data:datatype=0", .per_cell = n, .chombo = true});
  return shapes;
}

std::vector<hsize_t> set_sizes(const PlotShape& shape, std::int64_t cells) {
  if (shape.in_rows) return {extent(cells), extent(shape.per_cell)};
  return {extent(cells * shape.per_cell)};
}

Handle create_set(const PlotTarget& to, hid_t parent, const PlotShape& shape, const PlotOrder& order,
                  hid_t properties) {
  Handle space = hdf5::simple_space(set_sizes(shape, order.n_cells()), to.path);
  Handle data(check(H5Dcreate2(parent, shape.name.c_str(), shape.flags ? H5T_STD_U8LE : H5T_IEEE_F32LE, space,
                               H5P_DEFAULT, properties, H5P_DEFAULT),
                    "create dataset " + shape.name, to.path),
              H5Dclose);
  if (!shape.flags && !shape.chombo) hdf5::put_text(data, "units", shape.unit, to.path);
  return data;
}

PlotSet create_stored_set(const PlotTarget& to, hid_t parent, const PlotShape& shape, const PlotOrder& order) {
  Handle properties = hdf5::set_properties(to.path);
  std::vector<hsize_t> chunk{extent(chunk_values(order, shape.per_cell, shape.in_rows))};
  if (shape.in_rows) chunk = {chunk[0] / extent(shape.per_cell), extent(shape.per_cell)};
  if (to.plot.compression > 0) {
    check(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()), "set the chunk size", to.path);
    check(H5Pset_shuffle(properties), "set the byte shuffle", to.path);
    check(H5Pset_deflate(properties, static_cast<unsigned>(to.plot.compression)), "set the compression", to.path);
  }
  check(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), "prepare " + shape.name, to.path);
  PlotSet set{create_set(to, parent, shape, order, properties), shape};
  if (to.plot.compression > 0 && to.comm.size() == 1)
    set.chunk_bytes = value_bytes(shape) * chunk_values(order, shape.per_cell, shape.in_rows);
  return set;
}

namespace {

/// Selects the boxes of a round in the file: one block per size, since the own boxes of a size are consecutive there.
void select_round(const PlotTarget& to, const PlotSet& set, const PlotOrder& order, const PlotRound& round,
                  hid_t space) {
  check(H5Sselect_none(space), "select the values", to.path);
  for (std::int64_t i = round.begin; i < round.end;) {
    const std::int64_t at = order.position(i);
    const SizeClass* c = nullptr;
    for (const SizeClass& one : order.classes())
      if (at >= one.first_box && at < one.first_box + one.n_boxes) c = &one;
    std::int64_t n = 0;
    while (i < round.end && order.position(i) == at + n && at + n < c->first_box + c->n_boxes) ++i, ++n;
    const std::int64_t values = set.shape.in_rows ? 1 : set.shape.per_cell;
    const hsize_t start[2] = {extent((c->first_cell + (at - c->first_box) * c->box_cells) * values), 0};
    const hsize_t count[2] = {extent(n * c->box_cells * values), extent(set.shape.per_cell)};
    check(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, nullptr, count, nullptr), "select the values", to.path);
  }
}

/// What HDF5's filters "shuffle" and "deflate" make of a chunk: first bytes of all values, second bytes ...,
/// compressed.
std::vector<std::byte> packed(std::span<const std::byte> chunk, std::int64_t of_value, int compression) {
  std::vector<std::byte> sorted(chunk.size());
  const std::size_t bytes = static_cast<std::size_t>(of_value), n = chunk.size() / bytes;
  for (std::size_t b = 0; b < bytes; ++b)
    for (std::size_t i = 0; i < n; ++i) sorted[b * n + i] = chunk[i * bytes + b];
  uLongf size = compressBound(sorted.size());
  std::vector<std::byte> out(size);
  const int done = compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(sorted.data()),
                             sorted.size(), compression);
  require(done == Z_OK, "zlib cannot compress {} bytes (status {})", sorted.size(), done);
  out.resize(size);
  return out;
}

/// The next chunks of a dataset, a batch at a time: compressed by all threads, written by one.
void write_chunks(const PlotTarget& to, PlotSet& set, std::span<const std::span<const std::byte>> chunks) {
  constexpr std::size_t batch = 256;
  const std::int64_t row = value_bytes(set.shape) * (set.shape.in_rows ? set.shape.per_cell : 1);
  for (; !chunks.empty(); chunks = chunks.subspan(std::min(batch, chunks.size()))) {
    std::vector<std::vector<std::byte>> out(std::min(batch, chunks.size()));
    parallel_for_dynamic(std::ssize(out), [&](std::int64_t i) {
      out[i] = packed(chunks[i], value_bytes(set.shape), to.plot.compression);
    });
    for (const std::vector<std::byte>& chunk : out) {
      const hsize_t at[2] = {extent(set.n_chunks++ * (set.chunk_bytes / row)), 0};
      check(H5Dwrite_chunk(set.data, H5P_DEFAULT, 0, at, chunk.size(), chunk.data()), "write the values", to.path);
    }
  }
}

/// The values that follow those written so far.
void append(const PlotTarget& to, PlotSet& set, std::span<const std::byte> values) {
  const auto whole = static_cast<std::size_t>(set.chunk_bytes);
  std::vector<std::span<const std::byte>> chunks;
  std::vector<std::byte> first = std::exchange(set.rest, {});
  if (!first.empty()) {
    const std::size_t n = std::min(whole - first.size(), values.size());
    first.insert(first.end(), values.begin(), values.begin() + n);
    values = values.subspan(n);
    chunks.emplace_back(first);
  }
  for (; values.size() >= whole; values = values.subspan(whole)) chunks.push_back(values.first(whole));
  if (!first.empty() && first.size() < whole) {
    set.rest = std::move(first);
    return;
  }
  write_chunks(to, set, chunks);
  set.rest.assign(values.begin(), values.end());
}

}  // namespace

void finish_set(const PlotTarget& to, PlotSet& set) {
  if (!set.rest.empty()) {
    set.rest.resize(set.chunk_bytes);  // what is beyond the end of the dataset is not read
    const std::span<const std::byte> last[1] = {set.rest};
    write_chunks(to, set, last);
  }
  check(set.data.close(), "finish the values", to.path);
}

void write_round(const PlotTarget& to, PlotSet& set, const PlotOrder& order, const PlotRound& round,
                 const void* values) {
  if (set.chunk_bytes > 0) {  // all boxes are own ones: a round follows the one before it in the file
    const std::int64_t bytes = round.cells * set.shape.per_cell * value_bytes(set.shape);
    append(to, set, {static_cast<const std::byte*>(values), static_cast<std::size_t>(bytes)});
    require_written(to.comm, to.path);
    return;
  }
  Handle transfer(check(H5Pcreate(H5P_DATASET_XFER), "prepare writing", to.path), H5Pclose);
  check(H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE), "prepare writing", to.path);
  Handle space(check(H5Dget_space(set.data), "describe the values", to.path), H5Sclose);
  const hsize_t size[1] = {extent(std::max<std::int64_t>(1, round.cells * set.shape.per_cell))};
  Handle memory = hdf5::simple_space(size, to.path);
  if (round.cells == 0) check(H5Sselect_none(memory), "select the values", to.path);
  select_round(to, set, order, round, space);
  require_written(to.comm, to.path);  // metadata that one rank could not write, and would read again inside H5Dwrite
  const herr_t done =
      H5Dwrite(set.data, set.shape.flags ? H5T_NATIVE_UINT8 : H5T_NATIVE_FLOAT, memory, space, transfer, values);
  require_written(to.comm, to.path);  // the next round may read a compressed chunk again; on all ranks
  check(done, "write the values", to.path);
}

}  // namespace karst
