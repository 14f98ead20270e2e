// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile.hpp"

#include <algorithm>
#include <cmath>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "io/agree.hpp"
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

Handle create_file(const Comm& comm, const std::string& temporary, const std::string& path) {
  Handle access(check(H5Pcreate(H5P_FILE_ACCESS), "prepare the file", path), H5Pclose);
  check(H5Pset_fapl_mpio(access, comm.handle(), MPI_INFO_NULL), "prepare the file", path);
  check(H5Pset_coll_metadata_write(access, true), "prepare the file", path);
  return {check(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create the file", path), H5Fclose};
}

/// More than the root of the file takes.
std::int64_t root_bytes(const PlotDescription& plot) {
  return (std::int64_t{32} << 10) + std::ssize(component_names(plot.arrays)) * 1024 +
         static_cast<std::int64_t>(plot.title.size() + plot.version.size());
}

/// Everything between opening and closing. Collective.
void write_all(const Comm& comm, const AtomicFile& target, const PlotDescription& plot, Reservation& room) {
  const std::string& path = target.path();
  std::vector<PlotOrder> orders;
  std::int64_t metadata = root_bytes(plot);
  for (const Layout* layout : plot.levels) {
    orders.emplace_back(*layout, comm.rank());
    metadata += metadata_bytes(plot, *layout, orders.back());
  }
  room.reserve(metadata);
  Handle file = create_file(comm, target.temporary(), path);
  const auto n_components = static_cast<int>(component_names(plot.arrays).size());
  const PlotTarget to{comm, plot, n_components, file, path, room, metadata};
  write_root(to);
  Handle vtk = write_vtk_root(to);
  for (int l = 0; l < static_cast<int>(plot.levels.size()); ++l) write_level(to, vtk, l, orders[l]);
  check(vtk.close(), "finish the levels", path);
  check(file.close(), "finish the file", path);
}

PlotSize sizes(const PlotDescription& plot, std::int64_t file_bytes) {
  PlotSize size;
  size.file_bytes = file_bytes;
  const auto value = static_cast<std::int64_t>(sizeof(float) * component_names(plot.arrays).size());
  for (const Layout* level : plot.levels)
    for (std::int64_t b = 0; b < level->n_boxes(); ++b) size.box_bytes += value * level->box(b).count();
  size.dense_bytes = value * plot.levels.back()->domain().box().count();
  return size;
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
  AtomicFile target(comm, path);
  Reservation room(comm, target);
  agree(comm, [&] { write_all(comm, target, plot, room); });
  const std::int64_t file_bytes = room.finish();
  target.commit();
  return sizes(plot, file_bytes);
}

}  // namespace karst
