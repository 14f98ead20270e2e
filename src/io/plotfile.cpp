// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/discard_writes.hpp"
#include "io/plot_parts.hpp"
#include "io/plot_set.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

void check_description(const Comm& comm, const std::string& path, const PlotDescription& plot) {
  require(std::isfinite(plot.cell_width) && plot.cell_width > 0, "plotfile {}: cell width {}, must be positive", path,
          plot.cell_width);
  require(!plot.levels.empty(), "plotfile {}: no level to write", path);
  require(!plot.arrays.empty(), "plotfile {}: no array to write; name at least one", path);
  require(plot.compression >= 0 && plot.compression <= 9, "plotfile {}: compression {}, allowed 0 to 9", path,
          plot.compression);
  require(plot.parts >= 1, "plotfile {}: {} parts; allowed 1 or more", path, plot.parts);
  for (std::size_t l = 0; l < plot.levels.size(); ++l) {
    require(plot.levels[l]->n_boxes() > 0, "plotfile {}: level {} has no box", path, l);
    require(plot.levels[l]->n_ranks() == comm.size(),
            "plotfile {}: level {} is distributed over {} ranks, this run has {}", path, l, plot.levels[l]->n_ranks(),
            comm.size());
  }
  std::vector<std::string> names = component_names(plot.arrays);
  std::sort(names.begin(), names.end());
  for (std::size_t n = 0; n < names.size(); ++n) {
    require(!names[n].empty() && names[n] != "." && names[n].find('/') == std::string::npos,
            "plotfile {}: component name '{}'; it must not be empty or hold a '/'", path, names[n]);
    require(names[n] != "vtkGhostType", "plotfile {}: a component is named vtkGhostType, as the flags of hidden cells",
            path);
    require(n == 0 || names[n] != names[n - 1], "plotfile {}: two components are named '{}'", path, names[n]);
  }
}

void write_root(const PlotTarget& to) {
  const PlotDescription& plot = to.plot;
  hdf5::put_number(to.file, "time", plot.time, to.path);
  hdf5::put_int(to.file, "iteration", plot.step, to.path);
  hdf5::put_text(to.file, "title", plot.title, to.path);
  hdf5::put_text(to.file, "karst_version", plot.version, to.path);
  const hsize_t three[1] = {3};
  const Index& cells = plot.levels[0]->domain().cells;
  const int n[3] = {cells[0], cells[1], cells[2]};
  hdf5::put(to.file, "domain_cells", H5T_NATIVE_INT, hdf5::simple_space(three, to.path), n, to.path);
  if (plot.region) {
    const Index &lo = plot.region->lo, &hi = plot.region->hi;
    const int ends[6] = {lo[0], hi[0] - 1, lo[1], hi[1] - 1, lo[2], hi[2] - 1};
    const hsize_t six[1] = {6};
    hdf5::put(to.file, plot_region, H5T_NATIVE_INT, hdf5::simple_space(six, to.path), ends, to.path);
  }
  if (plot.coarsening > 1) hdf5::put_int(to.file, "coarsening", plot.coarsening, to.path);
  hdf5::put_text(to.file, "time_units", "s", to.path);
  hdf5::put_text(to.file, "length_units", "m", to.path);
  if (plot.chombo) write_chombo_root(to);
}

Handle write_vtk_root(const PlotTarget& to) {
  Handle group = hdf5::create_group(to.file, "VTKHDF", to.path);
  const hsize_t two[1] = {2}, three[1] = {3};
  const std::int64_t version[2] = {1, 0};
  const double origin[3] = {0.0, 0.0, 0.0};
  hdf5::put(group, "Version", H5T_NATIVE_INT64, hdf5::simple_space(two, to.path), version, to.path);
  hdf5::put(group, "Origin", H5T_NATIVE_DOUBLE, hdf5::simple_space(three, to.path), origin, to.path);
  hdf5::put_text(group, "Type", "OverlappingAMR", to.path);
  hdf5::put_text(group, "GridDescription", "XYZ", to.path);
  return group;
}

/// More than the root of the file takes.
std::int64_t root_bytes(const PlotDescription& plot) {
  return (std::int64_t{32} << 10) + std::ssize(component_names(plot.arrays)) * 1024 +
         static_cast<std::int64_t>(plot.title.size() + plot.version.size());
}

/// Has fill(target) write into a new file, which returns the group VTKHDF, and closes it. Collective.
template <class Fill>
void fill_file(const Comm& comm, const AtomicFile& target, const PlotDescription& plot, Reservation& room,
               std::int64_t metadata, Handle& file, Fill&& fill) {
  const std::string& path = target.path();
  DiscardUnfinished unfinished(target.temporary());
  const auto n_components = static_cast<int>(component_names(plot.arrays).size());
  Handle vtk = fill(PlotTarget{comm, plot, n_components, file, path, room, metadata});
  check(vtk.close(), "finish the levels", path);
  hdf5::finish_file(comm, file, path);
  unfinished.finished();
}

/// Everything between opening and closing of a plotfile in one file. Collective.
void write_all(const Comm& comm, const AtomicFile& target, const PlotDescription& plot, Reservation& room) {
  const std::string& path = target.path();
  std::vector<PlotOrder> orders;
  std::int64_t metadata = root_bytes(plot);
  for (const Layout* layout : plot.levels) {
    orders.emplace_back(*layout, comm.rank());
    metadata += frame_bytes(plot, *layout) + table_bytes(plot, orders.back());
  }
  room.reserve(metadata);
  Handle file = hdf5::create_shared_file(comm, target.temporary(), path, H5P_DEFAULT);
  fill_file(comm, target, plot, room, metadata, file, [&](const PlotTarget& to) {
    write_root(to);
    Handle vtk = write_vtk_root(to);
    for (int l = 0; l < static_cast<int>(plot.levels.size()); ++l)
      write_level_values(to, write_level_frame(to, vtk, l, orders[l]), l, orders[l]);
    return vtk;
  });
}

/// Parts of a plotfile, seen from a rank.
struct Parts {
  int n, rank;
  std::vector<int> of_ranks;  ///< the part of each rank
  std::vector<int> ranks;     ///< of the own part
  std::string id;
};

/// The boxes of the own part. Collective, on the ranks of comm.
void write_part(const Comm& comm, const AtomicFile& target, const PlotDescription& plot, Reservation& room,
                const Parts& parts) {
  const std::string& path = target.path();
  std::vector<PlotOrder> orders;
  std::int64_t metadata = root_bytes(plot);
  for (const Layout* layout : plot.levels) {
    orders.emplace_back(*layout, parts.rank, parts.ranks);
    metadata += table_bytes(plot, orders.back());
  }
  room.reserve(metadata);
  Handle file = hdf5::create_shared_file(comm, target.temporary(), path, H5P_DEFAULT);
  fill_file(comm, target, plot, room, metadata, file, [&](const PlotTarget& to) {
    hdf5::put_text(file, parts_id, parts.id, path);
    Handle vtk = hdf5::create_group(file, "VTKHDF", path);
    for (int l = 0; l < static_cast<int>(plot.levels.size()); ++l)
      if (orders[l].n_cells() > 0) write_level_values(to, create_level_groups(to, vtk, l), l, orders[l]);
    return vtk;
  });
}

/// What shows all parts as one. By one process.
void write_whole(const AtomicFile& target, const PlotDescription& plot, Reservation& room, const Parts& parts) {
  const Comm comm = Comm::self();
  const std::string& path = target.path();
  std::vector<PlotOrder> orders;
  std::vector<PartRuns> runs;
  std::int64_t metadata = root_bytes(plot);
  for (const Layout* layout : plot.levels) {
    orders.emplace_back(*layout, parts.rank);
    runs.push_back(part_runs(*layout, parts.of_ranks));
    metadata += frame_bytes(plot, *layout) + view_bytes(plot, runs.back());
  }
  room.reserve(metadata);
  Handle file(
      check(H5Fcreate(target.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create the file", path),
      H5Fclose);
  fill_file(comm, target, plot, room, metadata, file, [&](const PlotTarget& to) {
    write_root(to);
    put_parts(to, parts.n, parts.id);
    Handle vtk = write_vtk_root(to);
    for (int l = 0; l < static_cast<int>(plot.levels.size()); ++l)
      write_level_views(to, write_level_frame(to, vtk, l, orders[l]), l, orders[l], runs[l]);
    return vtk;
  });
}

PlotSize sizes(const PlotDescription& plot, std::int64_t file_bytes, int parts) {
  PlotSize size;
  size.parts = parts;
  size.file_bytes = file_bytes;
  const auto value = static_cast<std::int64_t>(sizeof(float) * component_names(plot.arrays).size());
  for (const Layout* level : plot.levels)
    for (std::int64_t b = 0; b < level->n_boxes(); ++b) size.box_bytes += value * level->box(b).count();
  const std::int64_t coarse = plot.region ? plot.region->count() : plot.levels[0]->domain().box().count();
  size.dense_bytes = value * (coarse << 3 * (std::ssize(plot.levels) - 1));
  return size;
}

/// What all parts of a plotfile share, seen from a rank. Collective.
Parts prepare_parts(const Comm& comm, int n) {
  Parts parts{n, comm.rank(), parts_of_ranks(comm.machines(), n), {}, {}};
  for (int r = 0; r < comm.size(); ++r)
    if (parts.of_ranks[r] == parts.of_ranks[comm.rank()]) parts.ranks.push_back(r);
  std::random_device random;
  parts.id = fmt::format("parts:{:08x}{:08x}", random(), random());
  comm.broadcast(parts.id);
  return parts;
}

PlotSize write_in_parts(const Comm& comm, const std::string& path, const PlotDescription& plot) {
  const Parts parts = prepare_parts(comm, std::min(plot.parts, comm.size()));
  const int mine = parts.of_ranks[comm.rank()];
  const Comm group = comm.part(parts.n, mine);
  std::optional<AtomicFile> part, whole;
  std::int64_t bytes = 0;
  fail_together(comm, [&] {
    part.emplace(group, part_name(path, mine + 1));
    Reservation room(group, *part);
    fail_together(group, [&] { write_part(group, *part, plot, room, parts); });
    const std::int64_t size = room.finish();
    if (group.rank() == 0) bytes += size;
  });
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    const Comm self = Comm::self();
    whole.emplace(self, path);
    Reservation room(self, *whole);
    write_whole(*whole, plot, room, parts);
    bytes += room.finish();
  });
  fail_together(comm, [&] { part->commit(); });
  fail_together(comm, [&] {
    if (whole) whole->commit();
  });
  return sizes(plot, comm.sum(bytes), parts.n);
}

}  // namespace

std::vector<std::string> component_names(std::span<const PlotArray> arrays) {
  std::vector<std::string> names;
  for (const PlotArray& a : arrays)
    if (a.is_vector)
      for (const char* end : {"_x", "_y", "_z"}) names.push_back(a.name + end);
    else
      names.push_back(a.name);
  return names;
}

PlotSize write_plotfile(const Comm& comm, const std::string& path, const PlotDescription& plot) {
  check_description(comm, path, plot);
  const hdf5::Quiet quiet;
  if (plot.parts > 1 && comm.size() > 1) return write_in_parts(comm, path, plot);
  AtomicFile target(comm, path);
  Reservation room(comm, target);
  fail_together(comm, [&] { write_all(comm, target, plot, room); });
  const std::int64_t file_bytes = room.finish();
  target.commit();
  return sizes(plot, file_bytes, 1);
}

}  // namespace karst
