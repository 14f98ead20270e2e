// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/hdf5_meaning.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "geometry_import/read/h5.hpp"
#include "geometry_import/read/hdf5_text.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

constexpr hsize_t most_numbers = 1 << 24;  // of what is no voxels

/// Points of a dimension, as a scale of NetCDF or EMD states them.
struct Axis {
  std::string name, unit;
  double step = 0;  ///< in `unit`; 0: not stated
  bool uneven = false;
};

/// Numbers; nothing when there are none of this name.
std::optional<std::vector<double>> number_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const h5::Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const h5::Handle space(H5Aget_space(attribute), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 1 || count > 16) return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0) return {};
  return values;
}

/// Distance of points that are equally far apart, to 0.1 %, as a step of the axis.
void set_step(hid_t scale, hsize_t expected, Axis& axis) {
  const h5::Handle space(H5Dget_space(scale), H5Sclose);
  const h5::Handle type(H5Dget_type(scale), H5Tclose);
  const H5T_class_t kind = H5Tget_class(type);
  if (H5Sget_simple_extent_ndims(space) != 1 ||
      H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(expected) || expected < 2 ||
      expected > most_numbers || (kind != H5T_FLOAT && kind != H5T_INTEGER))
    return;
  std::vector<double> at(expected);
  if (H5Dread(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, at.data()) < 0) return;
  const double step = (at.back() - at.front()) / static_cast<double>(expected - 1);
  axis.uneven = !(step != 0 && std::isfinite(step));
  for (std::size_t n = 1; n < at.size() && !axis.uneven; ++n)
    axis.uneven = !(std::abs(at[n] - at[n - 1] - step) <= 1e-3 * std::abs(step));
  if (!axis.uneven) axis.step = std::abs(step);
}

/// A dimension of NetCDF-4 as its scale describes it.
Axis axis_of(hid_t scale, const std::string& name, hsize_t size, const std::string& path) {
  Axis axis{name, text_attribute(scale, "units", path).value_or(""), 0, false};
  // A dimension without coordinates has a scale that says so, of zeros.
  if (text_attribute(scale, "NAME", path)
          .value_or("")
          .starts_with("This is a netCDF dimension but not a netCDF variable"))
    return axis;
  set_step(scale, size, axis);
  return axis;
}

/// What is known of the axes of a data set while groups are searched for their scales.
struct Search {
  hobj_ref_t data = 0;
  const std::vector<hsize_t>& size;
  const std::string& path;
  std::vector<std::optional<Axis>> axes;
  std::string error;  ///< no exception goes through HDF5
};

/// Of a scale of NetCDF-4: it lists where it is used. (The list of the data set itself would lead through the heap of
/// the file, where HDF5 crashes if the file is damaged.)
herr_t note_scale(hid_t group, const char* name, const H5L_info_t*, void* into) {
  constexpr hssize_t most = 1 << 16;
  struct Use {
    hobj_ref_t data;
    int dimension;
  };
  auto& search = *static_cast<Search*>(into);
  const h5::Handle scale(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
  if (scale < 0 || H5Iget_type(scale) != H5I_DATASET || H5Aexists(scale, "REFERENCE_LIST") <= 0) return 0;
  const h5::Handle list(H5Aopen(scale, "REFERENCE_LIST", H5P_DEFAULT), H5Aclose);
  const h5::Handle type(H5Aget_type(list), H5Tclose), space(H5Aget_space(list), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 1 || count > most || H5Tget_class(type) != H5T_COMPOUND) return 0;
  const h5::Handle wanted(H5Tcreate(H5T_COMPOUND, sizeof(Use)), H5Tclose);
  H5Tinsert(wanted, "dataset", HOFFSET(Use, data), H5T_STD_REF_OBJ);
  H5Tinsert(wanted, "dimension", HOFFSET(Use, dimension), H5T_NATIVE_INT);
  std::vector<Use> uses(static_cast<std::size_t>(count));
  if (H5Aread(list, wanted, uses.data()) < 0) return 0;
  try {
    for (const Use& use : uses)
      if (use.data == search.data && use.dimension >= 0 && use.dimension < static_cast<int>(search.size.size()))
        search.axes[use.dimension] = axis_of(scale, name, search.size[use.dimension], search.path);
  } catch (const Error& e) {
    search.error = e.what();
  }
  return 0;
}

/// The group that a data set lies in.
std::string group_of(hid_t data) {
  std::string name(1024, '\0');
  name.resize(std::clamp<ssize_t>(H5Iget_name(data, name.data(), name.size()), 0, 1023));
  return name.substr(0, name.rfind('/') + 1) + ".";
}

/// Axes of the dimensions by the scales of NetCDF-4, in the group of the data or in that of the file; empty unless all
/// are known.
std::vector<Axis> netcdf_axes(hid_t file, hid_t data, const std::vector<hsize_t>& size, const std::string& path) {
  Search search{0, size, path, std::vector<std::optional<Axis>>(size.size()), {}};
  if (H5Aexists(data, "DIMENSION_LIST") <= 0 || H5Rcreate(&search.data, data, ".", H5R_OBJECT, -1) < 0) return {};
  for (const std::string& name : {std::string("/"), group_of(data)}) {
    const h5::Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
    if (group >= 0) H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, note_scale, &search);
  }
  require(search.error.empty(), "{}", search.error);
  std::vector<Axis> axes;
  for (const auto& axis : search.axes)
    if (axis) axes.push_back(*axis);
  return axes.size() == size.size() ? axes : std::vector<Axis>{};
}

/// Axes of EMD, as tomviz writes it: dim1, dim2, ... beside the data, with `name` and `units` (`[n_m]`).
std::vector<Axis> emd_axes(hid_t file, hid_t data, const std::vector<hsize_t>& size, const std::string& path) {
  const h5::Handle group(H5Gopen2(file, group_of(data).c_str(), H5P_DEFAULT), H5Gclose);
  if (group < 0 || H5Aexists(group, "emd_group_type") <= 0) return {};
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < size.size(); ++d) {
    const std::string dimension = fmt::format("dim{}", d + 1);
    if (H5Lexists(group, dimension.c_str(), H5P_DEFAULT) <= 0) return {};
    const h5::Handle scale(H5Dopen2(group, dimension.c_str(), H5P_DEFAULT), H5Dclose);
    if (scale < 0) return {};
    Axis axis{text_attribute(scale, "name", path).value_or(""), text_attribute(scale, "units", path).value_or(""), 0,
              false};
    std::erase_if(axis.unit, [](char c) { return c == '[' || c == ']' || c == '_'; });
    set_step(scale, size[d], axis);
    axes.push_back(axis);
  }
  return axes;
}

/// 0, 1, 2 for x, y, z when the name says so: x, xdim, tomo_xdim, nx; else nothing.
std::optional<int> direction_named(const std::string& name) {
  std::string text = lower_case(name);
  std::ranges::replace(text, '-', '_');
  std::vector<std::string> words = split(text, '_');
  std::ranges::reverse(words);
  for (const std::string& word : words)
    for (int d = 0; d < 3; ++d) {
      const std::string letter(1, "xyz"[d]);
      for (const std::string& form :
           {letter, letter + "dim", "dim" + letter, "n" + letter, letter + "axis", letter + "size", letter + "pos"})
        if (word == form) return d;
    }
  return {};
}

std::string names_of(const std::vector<Axis>& axes) {
  std::vector<std::string> names;
  for (const Axis& axis : axes) names.push_back(axis.name);
  return join(names);
}

/// The last dimension is x, unless all are named, or those that are named say otherwise: then it is unclear.
Hdf5Axes order_of(const std::vector<Axis>& axes, std::size_t rank, ImageInfo& info) {
  Hdf5Axes usual{-1, -1, -1}, named{-1, -1, -1};
  for (std::size_t n = 0; n < rank; ++n) usual[n] = static_cast<int>(rank - 1 - n);
  std::size_t found = 0;
  bool differs = false;
  for (std::size_t n = 0; n < axes.size(); ++n) {
    const std::optional<int> d = direction_named(axes[n].name);
    if (!d) continue;
    found += named[*d] < 0;
    named[*d] = static_cast<int>(n);
    differs = differs || usual[*d] != static_cast<int>(n);
  }
  if (!differs) return usual;
  require(rank == 3 && found == 3,
          "{}: its axes are called {}: which of them is x, which y and which z is unclear; save the array as (z, y, x)",
          info.path, names_of(axes));
  info.notes.push_back(fmt::format("its axes are called {}: they are taken in the order z, y, x", names_of(axes)));
  return named;
}

/// Widths from the steps of the axes.
void set_steps(const std::vector<Axis>& axes, const Hdf5Axes& order, ImageInfo& info) {
  std::vector<Axis> along;
  for (const int n : order)
    if (n >= 0) along.push_back(axes[n]);
  const auto uneven = std::ranges::find(along, true, &Axis::uneven);
  if (uneven != along.end()) info.voxel_note = fmt::format("its coordinate {} is not uniform", uneven->name);
  if (uneven != along.end() || along[0].step == 0 || along[1].step == 0) return;
  info.z_assumed = along.size() < 3 || along[2].step == 0;
  if (info.z_assumed) along.resize(2), along.push_back(along[0]);
  Vec3 widths;
  bool known = true;
  for (int d = 0; d < 3; ++d) {
    const double metres = metres_of(along[d].unit);
    widths[d] = along[d].step * (metres > 0 ? metres : 1);
    known = known && metres > 0;
    if (metres == 0 && along[d].unit != along[0].unit) {
      info.voxel_note = fmt::format("its coordinates have the units \"{}\" and \"{}\"", along[0].unit, along[d].unit);
      return;
    }
  }
  set_spacing(info, widths, known ? 1 : 0);
  if (!known && !along[0].unit.empty()) info.notes.push_back(fmt::format("its unit \"{}\" is unknown", along[0].unit));
}

/// voxel_size_xyz with voxel_unit, of the data set or the file, as tomography in NetCDF states them.
bool read_voxel_size(hid_t file, hid_t data, ImageInfo& info) {
  for (const hid_t owner : {data, file})
    for (const char* name : {"voxel_size_xyz", "voxel_size"}) {
      const std::optional<std::vector<double>> w = number_attribute(owner, name);
      if (!w) continue;
      const auto unit = text_attribute(data, "voxel_unit", info.path),
                 of_file = text_attribute(file, "voxel_unit", info.path);
      require(w->size() == 1 || w->size() == 3, "{}: its attribute {} has {} numbers; 1 or 3 are needed", info.path,
              name, w->size());
      const Vec3 widths{w->front(), (*w)[w->size() == 3], w->back()};
      set_spacing(info, widths, metres_of(unit.value_or(of_file.value_or(""))));
      return true;
    }
  return false;
}

/// Mango writes images in blocks of planes, a file each.
void require_whole_image(hid_t file, hid_t data, const std::vector<hsize_t>& size, const std::string& path) {
  for (const hid_t owner : {data, file})
    if (const auto total = number_attribute(owner, "zdim_total"); total && size.size() == 3)
      require(
          static_cast<double>(size[0]) == total->front(),
          "{}: has {} of {:g} planes of an image in blocks: put all of its files into one folder and import the folder "
          "(`karst import`)",
          path, size[0], total->front());
}

/// Widths in the attribute element_size_um (z, y, x) that ilastik and Fiji write.
void read_element_size(hid_t data, ImageInfo& info) {
  const std::optional<std::vector<double>> w = number_attribute(data, "element_size_um");
  if (w && w->size() == 3) {
    set_spacing(info, {(*w)[2], (*w)[1], (*w)[0]}, 1e-6);
  } else {
    info.voxel_note = "its attribute element_size_um does not consist of three numbers";
  }
}

/// What karst.formats found in a file of another format.
void read_karst_image(const std::string& text, ImageInfo& info) {
  try {
    const Json about = Json::parse(text);
    info.path = about.at("path").get<std::string>();
    info.format = about.at("format").get<std::string>();
    info.notes = about.at("notes").get<std::vector<std::string>>();
    info.labels_only = about.at("labels").get<std::string>();
    info.voxel_note = about.at("note").get<std::string>();
    if (!about.at("black").is_null()) info.black = about.at("black").get<double>();
    if (about.at("widths").is_null()) return;
    const auto [x, y, z] = about.at("widths").get<std::array<double, 3>>();
    const Json& unit = about.at("unit");
    set_spacing(info, {x, y, z}, unit.is_null() ? 0 : unit.get<double>());
  } catch (const JsonError& e) {
    throw Error(fmt::format("{}: its attribute karst_image is damaged: {}", info.path, e.what()));
  }
}

}  // namespace

Hdf5Axes read_hdf5_meaning(hid_t file, hid_t data, const std::vector<hsize_t>& size, ImageInfo& info) {
  if (const auto about = text_attribute(data, "karst_image", info.path)) {
    read_karst_image(*about, info);
    return order_of({}, size.size(), info);
  }
  require_whole_image(file, data, size, info.path);
  std::vector<Axis> axes = netcdf_axes(file, data, size, info.path);
  if (!axes.empty()) info.format = "NetCDF-4";
  if (axes.empty()) axes = emd_axes(file, data, size, info.path);
  const Hdf5Axes order = order_of(axes, size.size(), info);
  if (H5Aexists(data, "element_size_um") > 0) {
    read_element_size(data, info);
  } else if (!read_voxel_size(file, data, info) && !axes.empty()) {
    set_steps(axes, order, info);
  }
  if (H5Aexists(data, "MATLAB_class") > 0) {
    info.format = "MATLAB 7.3";
    info.notes.emplace_back(
        "of the MATLAB array A(i, j, k) the first index is x, the second y, the third z. If its first index is the row "
        "of a picture, as imread gives them, `axes = yxz` exchanges x and y");
  }
  for (const char* scaling : {"scale_factor", "add_offset"})
    if (const auto value = number_attribute(data, scaling))
      info.notes.push_back(fmt::format("its {} {:g} is not applied: values are as stored", scaling, value->front()));
  return order;
}

}  // namespace karst
