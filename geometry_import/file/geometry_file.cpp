// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/file/geometry_file.hpp"

#include <array>
#include <cassert>
#include <filesystem>
#include <mutex>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/file/provenance.hpp"
#include "geometry_import/read/h5.hpp"

namespace karst {
namespace {

std::mutex one_at_a_time;  // HDF5 is not built thread-safe

h5::Handle open_attribute(hid_t file, const std::string& path, const char* name) {
  return {h5::check(H5Aopen(file, name, H5P_DEFAULT), path, fmt::format("read the attribute {}", name)), H5Aclose};
}

double read_number(hid_t file, const std::string& path, const char* name) {
  const h5::Handle attribute = open_attribute(file, path, name);
  double value = 0;
  h5::check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), path, fmt::format("read the attribute {}", name));
  return value;
}

std::string read_text(hid_t file, const std::string& path, const char* name) {
  const h5::Handle attribute = open_attribute(file, path, name);
  const h5::Handle type(h5::check(H5Aget_type(attribute), path, fmt::format("read the attribute {}", name)), H5Tclose);
  require(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0,
          "{}: the attribute {} is not a string of fixed length; the file is damaged, import the image again", path,
          name);
  std::string text(H5Tget_size(type), '\0');
  h5::check(H5Aread(attribute, type, text.data()), path, fmt::format("read the attribute {}", name));
  return text.substr(0, text.find('\0'));
}

h5::Handle open_data(hid_t file, const std::string& path, const char* name, std::array<hsize_t, 3>& size) {
  require(H5Lexists(file, name, H5P_DEFAULT) > 0, "{}: has no data set {}; the file is damaged, import the image again",
          path, name);
  h5::Handle data(h5::check(H5Dopen2(file, name, H5P_DEFAULT), path, fmt::format("open the data set {}", name)),
                  H5Dclose);
  const h5::Handle space(h5::check(H5Dget_space(data), path, fmt::format("open the data set {}", name)), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  require(rank == 3, "{}: the data set {} has {} dimensions instead of 3", path, name, rank);
  H5Sget_simple_extent_dims(space, size.data(), nullptr);
  for (const hsize_t n : size)
    require(n > 0 && n < 0x7fffffff, "{}: the data set {} has the size {} x {} x {}", path, name, size[2], size[1],
            size[0]);
  return data;
}

void read(hid_t data, const std::string& path, const Index& lo, const Index& size, hid_t type, void* into) {
  std::array<hsize_t, 3> start{}, count{};
  for (int d = 0; d < 3; ++d) {
    assert(lo[d] >= 0 && size[d] > 0);
    start[2 - d] = static_cast<hsize_t>(lo[d]);
    count[2 - d] = static_cast<hsize_t>(size[d]);
  }
  const h5::Handle memory(h5::check(H5Screate_simple(3, count.data(), nullptr), path, "read a block"), H5Sclose);
  const h5::Handle space(h5::check(H5Dget_space(data), path, "read a block"), H5Sclose);
  h5::check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), path,
            "read a block");
  h5::check(H5Dread(data, type, memory, space, H5P_DEFAULT, into), path, "read a block");
}

}  // namespace

struct GeometryFile::State {
  std::string path;
  h5::Handle file, level_set, phase, wall_distance, nodes;
};

GeometryFile::GeometryFile(const std::string& path) : state_(std::make_unique<State>()) {
  const std::lock_guard lock(one_at_a_time);
  const h5::Quiet quiet;
  std::error_code ignored;
  require(std::filesystem::exists(path, ignored), "{}: no such file", path);
  state_->path = path;
  state_->file = h5::Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  require(state_->file >= 0, "{}: is not a geometry file (not HDF5); create one with karst import", path);
  const bool ours = H5Aexists(state_->file, "karst_geometry") > 0;
  require(ours, "{}: is an HDF5 file but not a geometry file; create one with karst import", path);
  const double version = read_number(state_->file, path, "karst_geometry");
  require(version == geometry_format_version,
          "{}: is a geometry file of version {}, this program reads version {}; import the image again", path, version,
          geometry_format_version);
  std::array<hsize_t, 3> size{}, phase_size{};
  state_->level_set = open_data(state_->file, path, "level_set", size);
  state_->phase = open_data(state_->file, path, "phase", phase_size);
  require(size == phase_size, "{}: level_set and phase differ in size; the file is damaged, import the image again",
          path);
  if (H5Lexists(state_->file, "wall_distance", H5P_DEFAULT) > 0) {
    std::array<hsize_t, 3> distance_size{};
    state_->wall_distance = open_data(state_->file, path, "wall_distance", distance_size);
    require(size == distance_size,
            "{}: level_set and wall_distance differ in size; the file is damaged, import the image again", path);
  }
  if (H5Aexists(state_->file, "nodes") > 0) {
    info_.nodes = static_cast<int>(read_number(state_->file, path, "nodes"));
    std::array<hsize_t, 3> nodes{};
    state_->nodes = open_data(state_->file, path, "level_set_nodes", nodes);
    for (int d = 0; d < 3; ++d)
      require(info_.nodes > 0 && nodes[d] == static_cast<hsize_t>(info_.nodes) * size[d] + 1,
              "{}: level_set_nodes has {} nodes along {}, which do not fit {} voxels with {} nodes each; the file is "
              "damaged, write it again",
              path, nodes[d], axis_names[2 - d], size[d], info_.nodes);
  }
  info_.voxels = {static_cast<int>(size[2]), static_cast<int>(size[1]), static_cast<int>(size[0])};
  info_.voxel = read_number(state_->file, path, "voxel");
  require(info_.voxel > 0, "{}: the voxel width in the file is {} m; it must be positive", path, info_.voxel);
  info_.porosity = read_number(state_->file, path, "porosity");
  info_.level_set_porosity = read_number(state_->file, path, "level_set_porosity");
  info_.steepest = read_number(state_->file, path, "steepest");
  info_.threshold = read_number(state_->file, path, "threshold");
  info_.provenance = read_text(state_->file, path, "provenance");
  info_.found = findings(info_.provenance, path);
  if (H5Aexists(state_->file, "phases") > 0) {
    info_.phases = phases_from_json(read_text(state_->file, path, "phases"), path);
    info_.smoothing = read_number(state_->file, path, "smoothing");
  }
}

GeometryFile::~GeometryFile() {
  const std::lock_guard lock(one_at_a_time);
  state_.reset();
}
GeometryFile::GeometryFile(GeometryFile&&) noexcept = default;
GeometryFile& GeometryFile::operator=(GeometryFile&&) noexcept = default;

void GeometryFile::read_block(const Index& lo, const Index& size, float* phi) const {
  const std::lock_guard lock(one_at_a_time);
  const h5::Quiet quiet;
  read(state_->level_set, state_->path, lo, size, H5T_NATIVE_FLOAT, phi);
}

void GeometryFile::read_nodes(const Index& lo, const Index& size, float* phi) const {
  const std::lock_guard lock(one_at_a_time);
  const h5::Quiet quiet;
  require(state_->nodes >= 0, "{}: contains no level set at nodes", state_->path);
  read(state_->nodes, state_->path, lo, size, H5T_NATIVE_FLOAT, phi);
}

void GeometryFile::read_phase(const Index& lo, const Index& size, std::uint8_t* phase) const {
  const std::lock_guard lock(one_at_a_time);
  const h5::Quiet quiet;
  read(state_->phase, state_->path, lo, size, H5T_NATIVE_UINT8, phase);
}

void GeometryFile::read_wall_distance(const Index& lo, const Index& size, float* distance) const {
  const std::lock_guard lock(one_at_a_time);
  const h5::Quiet quiet;
  require(state_->wall_distance >= 0, "{}: contains no distances to the wall; import the image again", state_->path);
  read(state_->wall_distance, state_->path, lo, size, H5T_NATIVE_FLOAT, distance);
}

bool is_geometry_file(const std::string& path) {
  const std::lock_guard lock(one_at_a_time);
  const h5::Quiet quiet;
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return file >= 0 && H5Aexists(file, "karst_geometry") > 0;
}

}  // namespace karst
