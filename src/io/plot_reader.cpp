// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_reader.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <filesystem>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "io/hdf5_handle.hpp"
#include "io/plot_parts.hpp"
#include "io/plotfile.hpp"

namespace karst {

using hdf5::check;
using hdf5::Handle;

struct PlotReader::File {
  hdf5::Quiet quiet;
  Handle file;
  struct Level {
    std::vector<Handle> arrays;
    Handle hidden;  ///< empty in older files
  };
  std::vector<Level> levels;
  /// Array and column of each component.
  struct Place {
    std::size_t array;
    std::int64_t column, n_columns;
  };
  std::vector<Place> components;
  std::vector<std::string> arrays;  ///< of every level
};

namespace {

constexpr const char* hidden_name = "vtkGhostType";
constexpr int largest_box = 1024;  ///< cells along a direction; Karst writes boxes of 32 at most

Handle open_attribute(hid_t object, const std::string& name, const std::string& path) {
  return {check(H5Aopen(object, name.c_str(), H5P_DEFAULT), "read " + name, path), H5Aclose};
}

Handle open_group(hid_t object, const std::string& name, const std::string& path) {
  return {check(H5Gopen2(object, name.c_str(), H5P_DEFAULT), "read " + name, path), H5Gclose};
}

Handle open_set(hid_t object, const std::string& name, const std::string& path) {
  return {check(H5Dopen2(object, name.c_str(), H5P_DEFAULT), "read " + name, path), H5Dclose};
}

/// HDF5 converts what a damaged file says without asking whether it fits: kind and number of values are checked first.
void require_values(hid_t type, hid_t space, H5T_class_t kind, hssize_t n, const std::string& name,
                    const std::string& path) {
  require(H5Tget_class(type) == kind && (n < 0 || H5Sget_simple_extent_npoints(space) == n),
          "{}: {} is not as in a plotfile of karst; the file is damaged or from another program", path, name);
}

/// @param n  numbers wanted
void read_numbers(hid_t object, const std::string& name, hid_t as, H5T_class_t kind, hssize_t n, void* to,
                  const std::string& path) {
  const Handle attribute = open_attribute(object, name, path);
  const Handle type(check(H5Aget_type(attribute), "read " + name, path), H5Tclose);
  const Handle space(check(H5Aget_space(attribute), "read " + name, path), H5Sclose);
  require_values(type, space, kind, n, name, path);
  check(H5Aread(attribute, as, to), "read " + name, path);
}

/// Opens a list of numbers whose values all stand in the file.
Handle open_numbers(hid_t object, const std::string& name, H5T_class_t kind, const std::string& path) {
  Handle set = open_set(object, name, path);
  const Handle type(check(H5Dget_type(set), "read " + name, path), H5Tclose);
  const Handle space(check(H5Dget_space(set), "read " + name, path), H5Sclose);
  require_values(type, space, kind, -1, name, path);
  const Handle creation(check(H5Dget_create_plist(set), "read " + name, path), H5Pclose);
  const auto n = static_cast<double>(check(H5Sget_simple_extent_npoints(space), "read " + name, path));
  require(H5Pget_layout(creation) != H5D_CONTIGUOUS ||
              n * static_cast<double>(H5Tget_size(type)) <= static_cast<double>(H5Dget_storage_size(set)),
          "{}: {} is cut short; the file is damaged", path, name);
  return set;
}

bool has_attribute(hid_t object, const char* name) { return H5Aexists(object, name) > 0; }

/// Empty when there is none.
std::string text(hid_t object, const std::string& name, const std::string& path) {
  if (!has_attribute(object, name.c_str())) return {};
  const Handle attribute = open_attribute(object, name, path);
  const Handle type(check(H5Aget_type(attribute), "read " + name, path), H5Tclose);
  const Handle space(check(H5Aget_space(attribute), "read " + name, path), H5Sclose);
  constexpr std::size_t longest = 1 << 20;
  require_values(type, space, H5T_STRING, 1, name, path);
  require(H5Tis_variable_str(type) == 0 && H5Tget_size(type) <= longest,
          "{}: {} is not a text as in a plotfile of karst; the file is damaged or from another program", path, name);
  std::string value(H5Tget_size(type), '\0');
  check(H5Aread(attribute, type, value.data()), "read " + name, path);
  value = value.substr(0, value.find('\0'));
  return value == " " ? std::string() : value;  // HDF5 has no text of no length
}

/// HDF5 shows zeros where a part is not found, so all must be there, and belong to this plotfile.
void require_parts(hid_t root, const std::string& path) {
  if (!has_attribute(root, parts_number)) return;
  namespace fs = std::filesystem;
  int n = 0;
  read_numbers(root, parts_number, H5T_NATIVE_INT, H5T_INTEGER, 1, &n, path);
  const std::string names = text(root, parts_names, path), id = text(root, parts_id, path);
  for (int k = 1; k <= n; ++k) {
    const std::string name = names + std::to_string(k);
    fs::path part = fs::path(path).parent_path() / name;
    std::error_code ignored;
    if (!fs::exists(part, ignored)) part = fs::canonical(path).parent_path() / name;  // a link to the plotfile
    require(
        fs::is_regular_file(part, ignored),
        "{}: its values are in {} parts, of which {} is missing; put {}1 to {}{} and the plotfile into one directory",
        path, n, part.string(), names, names, n);
    const Handle file(check(H5Fopen(part.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open the part", part.string()),
                      H5Fclose);
    require(text(file, parts_id, part.string()) == id,
            "{}: {} is a part of another plotfile; use the parts written with this one", path, part.string());
  }
}

/// Level-0 cells. Older files hold them as the domain of the Chombo layout alone.
Index domain_cells(hid_t file, const std::string& path) {
  if (has_attribute(file, "domain_cells")) {
    std::array<int, 3> n{};
    read_numbers(file, "domain_cells", H5T_NATIVE_INT, H5T_INTEGER, 3, n.data(), path);
    return {n[0], n[1], n[2]};
  }
  std::array<int, 3> last{};
  const Handle type(check(H5Tcreate(H5T_COMPOUND, sizeof(last)), "prepare reading", path), H5Tclose);
  for (std::size_t d = 0; d < 3; ++d)
    check(H5Tinsert(type, (std::string("hi_") + "ijk"[d]).c_str(), d * sizeof(int), H5T_NATIVE_INT), "prepare reading",
          path);
  const Handle level = open_group(file, "level_0", path);
  read_numbers(level, "prob_domain", type, H5T_COMPOUND, 1, last.data(), path);
  return {last[0] + 1, last[1] + 1, last[2] + 1};
}

/// Names of the members of a group, sorted.
std::vector<std::string> members(hid_t group, const std::string& path) {
  std::vector<std::string> names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return herr_t{0};
  };
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names), "list the arrays", path);
  return names;
}

std::vector<hsize_t> sizes_of(hid_t set, const std::string& path) {
  const Handle space(check(H5Dget_space(set), "read", path), H5Sclose);
  std::vector<hsize_t> sizes(check(H5Sget_simple_extent_ndims(space), "read", path));
  check(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), "read", path);
  return sizes;
}

}  // namespace

void PlotReader::read_level(int level) {
  const std::string name = "VTKHDF/Level" + std::to_string(level);
  const Handle group = open_group(file_->file, name, path_);
  const Handle list = open_numbers(group, "AMRBox", H5T_INTEGER, path_);
  const std::vector<hsize_t> sizes = sizes_of(list, path_);
  require(sizes.size() == 2 && sizes[1] == 6, "{}: {}/AMRBox holds no boxes", path_, name);
  std::vector<int> corners(sizes[0] * 6);
  check(H5Dread(list, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, corners.data()), "read boxes", path_);
  boxes_.emplace_back();
  first_.push_back({0});
  for (std::size_t b = 0; b < sizes[0]; ++b) {
    const int* c = corners.data() + 6 * b;
    for (int d = 0; d < 3; ++d)
      require(0 <= c[2 * d] && c[2 * d] <= c[2 * d + 1] && c[2 * d + 1] - c[2 * d] < largest_box,
              "{}: box {} of {}/AMRBox reaches from {} to {} along {}; the file is damaged", path_, b, name, c[2 * d],
              c[2 * d + 1], axis_names[d]);
    const Box box = Box{{c[0], c[2], c[4]}, {c[1] + 1, c[3] + 1, c[5] + 1}}.shifted(-low_ * (1 << level));
    require(!is_region_ || std::ranges::all_of(box.lo.v, [](int n) { return n >= 0; }),
            "{}: box {} of {}/AMRBox is not in the region of the file; the file is damaged", path_, b, name);
    boxes_.back().push_back(box);
    first_.back().push_back(first_.back().back() + boxes_.back().back().count());
  }
  const Handle cell_data = open_group(group, "CellData", path_);
  File::Level& sets = file_->levels.emplace_back();
  std::vector<std::string> names;
  for (const std::string& array : members(cell_data, path_)) {
    Handle set = open_numbers(cell_data, array, array == hidden_name ? H5T_INTEGER : H5T_FLOAT, path_);
    const std::vector<hsize_t> size = sizes_of(set, path_);
    require(!size.empty() && size.size() <= 2 && size[0] == static_cast<hsize_t>(first_.back().back()),
            "{}: {}/CellData/{} has not one row per cell of its boxes", path_, name, array);
    const bool vector = size.size() == 2 && size[1] != 1;
    require(!vector || (size[1] == 3 && array != hidden_name), "{}: {}/CellData/{} has {} columns, not 1 or 3", path_,
            name, array, size.back());
    if (array == hidden_name) {
      sets.hidden = std::move(set);
      continue;
    }
    if (level == 0) {
      const std::int64_t n = size.size() == 2 ? static_cast<std::int64_t>(size[1]) : 1;
      for (std::int64_t c = 0; c < n; ++c) {
        components_.push_back(n == 1 ? array : array + '_' + axis_names[c]);
        units_.push_back(text(set, "units", path_));
        file_->components.push_back({sets.arrays.size(), c, n});
      }
    }
    sets.arrays.push_back(std::move(set));
    names.push_back(array + (vector ? "/3" : ""));
  }
  require(level == 0 || names == file_->arrays, "{}: {} has other arrays than level 0; the file is damaged", path_,
          name);
  file_->arrays = std::move(names);
}

PlotReader::PlotReader(const std::string& path) : file_(std::make_unique<File>()), path_(path) {
  require(std::filesystem::is_regular_file(path), "{}: there is no such file", path);
  file_->file = Handle(check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open the plotfile", path), H5Fclose);
  const hid_t root = file_->file;
  require(H5Lexists(root, "VTKHDF", H5P_DEFAULT) > 0 && H5Lexists(root, "VTKHDF/Level0", H5P_DEFAULT) > 0,
          "{}: is HDF5 but not a plotfile; give one written by karst", path);
  require_parts(root, path);
  title_ = text(root, "title", path);
  if (has_attribute(root, "time")) read_numbers(root, "time", H5T_NATIVE_DOUBLE, H5T_FLOAT, 1, &time_, path);
  cells_ = domain_cells(root, path);
  if (has_attribute(root, plot_region)) {
    std::array<int, 6> ends{};
    read_numbers(root, plot_region, H5T_NATIVE_INT, H5T_INTEGER, 6, ends.data(), path);
    is_region_ = true;
    for (int d = 0; d < 3; ++d) {
      const int first = ends[2 * d], last = ends[2 * d + 1];
      require(0 <= first && first <= last && last < cells_[d],
              "{}: its region reaches from cell {} to cell {} along {}, and its domain has {}; the file is damaged",
              path, first, last, axis_names[d], cells_[d]);
      low_[d] = first;
      cells_[d] = last - first + 1;
    }
  }
  std::array<double, 3> spacing{};
  const Handle coarsest = open_group(root, "VTKHDF/Level0", path);
  read_numbers(coarsest, "Spacing", H5T_NATIVE_DOUBLE, H5T_FLOAT, 3, spacing.data(), path);
  cell_width_ = spacing[0];
  require(cell_width_ > 0.0 && std::isfinite(cell_width_), "{}: Spacing is {} m; the file is damaged", path,
          cell_width_);
  for (int l = 0; H5Lexists(root, ("VTKHDF/Level" + std::to_string(l)).c_str(), H5P_DEFAULT) > 0; ++l) read_level(l);
}

PlotReader::~PlotReader() = default;
PlotReader::PlotReader(PlotReader&&) noexcept = default;

void PlotReader::read(int level, std::size_t box, std::size_t component, std::span<float> cells) const {
  assert(static_cast<std::int64_t>(cells.size()) == boxes_[level][box].count());
  const File::Place& at = file_->components[component];
  const Handle& data = file_->levels[level].arrays[at.array];
  const Handle space(check(H5Dget_space(data), "read values", path_), H5Sclose);
  const hsize_t first[2] = {static_cast<hsize_t>(first_[level][box]), static_cast<hsize_t>(at.column)};
  const hsize_t count[2] = {cells.size(), 1};
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, count, nullptr), "read values", path_);
  const Handle memory = hdf5::simple_space({count, 1}, path_);
  check(H5Dread(data, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, cells.data()), "read values", path_);
}

void PlotReader::read_hidden(int level, std::size_t box, std::span<std::uint8_t> cells) const {
  const Handle& data = file_->levels[level].hidden;
  if (data < 0) {
    std::ranges::fill(cells, std::uint8_t{0});
    return;
  }
  const Handle space(check(H5Dget_space(data), "read hidden cells", path_), H5Sclose);
  const auto first = static_cast<hsize_t>(first_[level][box]);
  const hsize_t count[1] = {cells.size()};
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, count, nullptr), "read hidden cells", path_);
  const Handle memory = hdf5::simple_space(count, path_);
  check(H5Dread(data, H5T_NATIVE_UINT8, memory, space, H5P_DEFAULT, cells.data()), "read hidden cells", path_);
}

}  // namespace karst
