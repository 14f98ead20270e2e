// SPDX-License-Identifier: BSD-3-Clause
// The part of a plotfile that yt reads; see plotfile.hpp.
#include <cmath>

#include "io/plot_set.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

namespace {

constexpr double centimetres = 100.0;  // per metre

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
      offsets.push_back(offsets.back() + box.count() * to.n_components);
    }
  }
  const hsize_t n[1] = {static_cast<hsize_t>(layout.n_boxes())}, ends[1] = {n[0] + 1};
  write_list(to, group, "boxes", box_type(to.path), n, boxes.data());
  write_list(to, group, "Processors", H5T_NATIVE_INT, n, owners.data());
  write_list(to, group, "data:offsets=0", H5T_NATIVE_INT64, ends, offsets.data());
}

}  // namespace

void write_chombo_root(const PlotTarget& to) {
  const PlotDescription& plot = to.plot;
  hdf5::put_text(to.file, "filetype", "VanillaAMRFileType", to.path);
  hdf5::put_int(to.file, "num_levels", static_cast<int>(plot.levels.size()), to.path);
  hdf5::put_int(to.file, "max_level", static_cast<int>(plot.levels.size()) - 1, to.path);
  hdf5::put_int(to.file, "num_components", to.n_components, to.path);
  int c = 0;
  for (const std::string& name : component_names(plot.arrays))
    hdf5::put_text(to.file, "component_" + std::to_string(c++), name, to.path);
  Handle global = hdf5::create_group(to.file, "Chombo_global", to.path);
  hdf5::put_int(global, "SpaceDim", 3, to.path);
  hdf5::put_number(global, "testReal", 0.0, to.path);
}

Handle write_chombo_level(const PlotTarget& to, int level, const PlotOrder& order) {
  const Layout& layout = *to.plot.levels[level];
  Handle group = hdf5::create_group(to.file, "level_" + std::to_string(level), to.path);
  hdf5::put_number(group, "dx", centimetres * std::ldexp(to.plot.cell_width, -level), to.path);
  hdf5::put_text(group, "dx_units", "cm", to.path);
  hdf5::put_number(group, "dt", 0.0, to.path);
  hdf5::put_number(group, "time", to.plot.time, to.path);
  hdf5::put_int(group, "ref_ratio", 2, to.path);
  Handle scalar(check(H5Screate(H5S_SCALAR), "describe a box", to.path), H5Sclose);
  const ChomboBox domain = chombo_box(layout.domain().box());
  hdf5::put(group, "prob_domain", box_type(to.path), scalar, &domain, to.path);
  for (int d = 0; d < 3; ++d)
    hdf5::put_int(group, "is_periodic_" + std::to_string(d), layout.domain().periodic[d] ? 1 : 0, to.path);

  Handle about = hdf5::create_group(group, "data_attributes", to.path);
  hdf5::put_int(about, "comps", to.n_components, to.path);
  put_triple(about, "ghost", 0, to.path);
  put_triple(about, "outputGhost", 0, to.path);
  hdf5::put_text(about, "objectType", "FArrayBox", to.path);
  write_boxes(to, group, layout, order);
  return group;
}

}  // namespace karst
