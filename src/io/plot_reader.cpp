// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_reader.hpp"

#include <array>
#include <cassert>
#include <filesystem>

#include "base/error.hpp"
#include "io/hdf5_handle.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

struct PlotReader::File {
  hdf5::Quiet quiet;
  Handle file;
  std::vector<Handle> values;  ///< data set of each level
};

namespace {

Handle open_attribute(hid_t object, const std::string& name, const std::string& path) {
  return {check(H5Aopen(object, name.c_str(), H5P_DEFAULT), "read " + name, path), H5Aclose};
}

template <class T>
T number(hid_t object, const std::string& name, hid_t type, const std::string& path) {
  T value{};
  check(H5Aread(open_attribute(object, name, path), type, &value), "read " + name, path);
  return value;
}

std::string text(hid_t object, const std::string& name, const std::string& path) {
  const Handle attribute = open_attribute(object, name, path);
  const Handle type(check(H5Aget_type(attribute), "read " + name, path), H5Tclose);
  require(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0,
          "{}: {} is no text; give a plotfile of karst", path, name);
  std::string value(H5Tget_size(type), '\0');
  check(H5Aread(attribute, type, value.data()), "read " + name, path);
  return value.substr(0, value.find('\0'));
}

struct Record {
  int lo[3], hi[3];
};

/// First and last cells of boxes, as the file holds them.
Handle record_type(const std::string& path) {
  Handle type(check(H5Tcreate(H5T_COMPOUND, sizeof(Record)), "prepare reading", path), H5Tclose);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::string letter(1, "ijk"[d]);
    check(H5Tinsert(type, ("lo_" + letter).c_str(), HOFFSET(Record, lo) + d * sizeof(int), H5T_NATIVE_INT),
          "prepare reading", path);
    check(H5Tinsert(type, ("hi_" + letter).c_str(), HOFFSET(Record, hi) + d * sizeof(int), H5T_NATIVE_INT),
          "prepare reading", path);
  }
  return type;
}

Box box_of(const Record& r) { return {{r.lo[0], r.lo[1], r.lo[2]}, {r.hi[0] + 1, r.hi[1] + 1, r.hi[2] + 1}}; }

template <class T>
std::vector<T> list(hid_t group, const char* name, hid_t type, const std::string& path) {
  const Handle data(check(H5Dopen2(group, name, H5P_DEFAULT), std::string("read ") + name, path), H5Dclose);
  const Handle space(check(H5Dget_space(data), "read", path), H5Sclose);
  std::vector<T> values(static_cast<std::size_t>(check(H5Sget_simple_extent_npoints(space), "read", path)));
  check(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), std::string("read ") + name, path);
  return values;
}

}  // namespace

PlotReader::PlotReader(const std::string& path) : file_(std::make_unique<File>()), path_(path) {
  require(std::filesystem::is_regular_file(path), "{}: there is no such file", path);
  file_->file = Handle(check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open the plotfile", path), H5Fclose);
  const hid_t root = file_->file;
  require(H5Aexists(root, "num_levels") > 0 && H5Aexists(root, "component_0") > 0,
          "{}: is HDF5 but no plotfile; give one written by karst", path);
  const int n_components = number<int>(root, "num_components", H5T_NATIVE_INT, path);
  for (int c = 0; c < n_components; ++c) components_.push_back(text(root, "component_" + std::to_string(c), path));
  const int n_levels = number<int>(root, "num_levels", H5T_NATIVE_INT, path);
  const Handle record = record_type(path);
  for (int l = 0; l < n_levels; ++l) {
    const Handle level(check(H5Gopen2(root, ("level_" + std::to_string(l)).c_str(), H5P_DEFAULT), "read a level", path),
                       H5Gclose);
    if (l == 0) {
      cell_width_ = number<double>(level, "dx", H5T_NATIVE_DOUBLE, path);
      Record domain{};
      check(H5Aread(open_attribute(level, "prob_domain", path), record, &domain), "read prob_domain", path);
      cells_ = box_of(domain).hi;
    }
    boxes_.emplace_back();
    for (const Record& r : list<Record>(level, "boxes", record, path)) boxes_.back().push_back(box_of(r));
    offsets_.push_back(list<std::int64_t>(level, "data:offsets=0", H5T_NATIVE_INT64, path));
    require(offsets_.back().size() == boxes_.back().size() + 1, "{}: {} boxes, but {} places of their values", path,
            boxes_.back().size(), offsets_.back().size());
    file_->values.emplace_back(check(H5Dopen2(level, "data:datatype=0", H5P_DEFAULT), "read values", path), H5Dclose);
  }
}

PlotReader::~PlotReader() = default;
PlotReader::PlotReader(PlotReader&&) noexcept = default;

void PlotReader::read(int level, std::size_t box, std::size_t component, std::span<float> cells) const {
  const auto l = static_cast<std::size_t>(level);
  assert(static_cast<std::int64_t>(cells.size()) == boxes_[l][box].count());
  const Handle& data = file_->values[l];
  const Handle space(check(H5Dget_space(data), "read values", path_), H5Sclose);
  const hsize_t first = static_cast<hsize_t>(offsets_[l][box]) + component * cells.size(), count = cells.size();
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr), "read values", path_);
  const Handle memory = hdf5::simple_space({&count, 1}, path_);
  check(H5Dread(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, cells.data()), "read values", path_);
}

}  // namespace karst
