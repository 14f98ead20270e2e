// SPDX-License-Identifier: BSD-3-Clause
// A data set of an HDF5 file, read plane by plane; the last axis is x unless the file names its axes otherwise, two
// axes are one plane.
#include <algorithm>
#include <array>
#include <climits>
#include <utility>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/h5.hpp"
#include "geometry_import/read/hdf5_meaning.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

constexpr std::size_t largest_cache = std::size_t{1} << 30;  // bytes of chunks kept

struct DataSet {
  std::string name;
  std::vector<hsize_t> size;
};

std::vector<hsize_t> size_of(hid_t data) {
  const h5::Handle space(H5Dget_space(data), H5Sclose);
  const int rank = space < 0 ? 0 : H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> size(std::max(rank, 0));
  if (rank > 0) H5Sget_simple_extent_dims(space, size.data(), nullptr);
  return size;
}

herr_t note_data_set(hid_t group, const char* name, const H5L_info_t*, void* into) {
  const h5::Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
  if (object < 0)
    static_cast<std::vector<DataSet>*>(into)->push_back({std::string("/") + name + ": cannot be opened", {}});
  if (object >= 0 && H5Iget_type(object) == H5I_DATASET)
    static_cast<std::vector<DataSet>*>(into)->push_back({std::string("/") + name, size_of(object)});
  return 0;
}

std::string list_of(const std::vector<DataSet>& sets) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t n = 0; n < std::min(sets.size(), most); ++n) {
    text += (n > 0 ? ", " : "") + sets[n].name;
    if (sets[n].size.empty()) continue;
    text += " (";
    for (std::size_t d = 0; d < sets[n].size.size(); ++d)
      text += (d > 0 ? " x " : "") + std::to_string(sets[n].size[d]);
    text += ")";
  }
  if (sets.size() > most) text += fmt::format(" and {} more", sets.size() - most);
  return sets.empty() ? "no data set" : text;
}

/// The only data set of three dimensions, or else the only one of two.
std::string choose(hid_t file, const std::string& path) {
  std::vector<DataSet> all;
  h5::check(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, note_data_set, &all), path, "list the data sets");
  for (const std::size_t rank : {3, 2}) {
    const auto fits = [rank](const DataSet& s) { return s.size.size() == rank; };
    const auto n = std::count_if(all.begin(), all.end(), fits);
    if (n == 1) return std::find_if(all.begin(), all.end(), fits)->name;
    if (n > 1) break;
  }
  throw Error(
      fmt::format("{}: specify the data set, for example {}:/data; the file contains {}", path, path, list_of(all)));
}

VoxelType type_of(hid_t native, const std::string& path) {
  const H5T_class_t kind = H5Tget_class(native);
  const std::size_t bytes = H5Tget_size(native);
  if (kind == H5T_FLOAT && bytes == 4) return VoxelType::float32;
  if (kind == H5T_FLOAT && bytes == 8) return VoxelType::float64;
  const bool integer = kind == H5T_INTEGER, truth = kind == H5T_ENUM && bytes == 1;
  require((integer && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) || truth,
          "{}: its values are of {} bytes and HDF5 class {}; bool, integers of 1, 2, 4 or 8 bytes and floating point "
          "numbers of 4 or 8 are read",
          path, bytes, static_cast<int>(kind));
  const bool sign = integer && H5Tget_sign(native) == H5T_SGN_2;
  if (bytes == 1) return sign ? VoxelType::int8 : VoxelType::uint8;
  if (bytes == 2) return sign ? VoxelType::int16 : VoxelType::uint16;
  if (bytes == 8) return sign ? VoxelType::int64 : VoxelType::uint64;
  return sign ? VoxelType::int32 : VoxelType::uint32;
}

Index voxels_of(const std::vector<hsize_t>& size, const std::string& path) {
  require(size.size() == 2 || size.size() == 3, "{}: has {} dimensions; two or three (z, y, x) are needed", path,
          size.size());
  Index voxels = Index::all(1);
  for (std::size_t d = 0; d < size.size(); ++d) {
    require(size[d] > 0 && size[d] <= INT_MAX, "{}: has {} entries in dimension {}; 1 to {} are allowed", path, size[d],
            d, INT_MAX);
    voxels[static_cast<int>(size.size() - 1 - d)] = static_cast<int>(size[d]);
  }
  return voxels;
}

/// Opens the data set with a cache that holds the chunks of a plane, so that each is read once when planes come in
/// order.
h5::Handle open_with_cache(hid_t file, const std::string& name, h5::Handle data) {
  const std::vector<hsize_t> size = size_of(data);
  const h5::Handle made(H5Dget_create_plist(data), H5Pclose);
  if (size.size() != 3 || made < 0 || H5Pget_layout(made) != H5D_CHUNKED) return data;
  std::array<hsize_t, 3> chunk{};
  if (H5Pget_chunk(made, 3, chunk.data()) != 3) return data;
  const h5::Handle type(H5Dget_type(data), H5Tclose);
  std::size_t chunks = 1, bytes = H5Tget_size(type) * chunk[0];
  for (std::size_t d = 1; d < 3; ++d) {
    chunks *= (size[d] + chunk[d] - 1) / chunk[d];
    bytes *= (size[d] + chunk[d] - 1) / chunk[d] * chunk[d];
  }
  const h5::Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(access, 100 * chunks + 1, std::min(std::max(bytes, std::size_t{1} << 20), largest_cache), 1.0);
  data.close();
  return {H5Dopen2(file, name.c_str(), access), H5Dclose};
}

/// Throws Error for numbers that fill only a part of their bytes, and for floating point numbers of a kind of their
/// own.
void check_type(hid_t type, const std::string& path) {
  const H5T_class_t kind = H5Tget_class(type);
  const bool whole = H5Tget_offset(type) == 0 && H5Tget_precision(type) == 8 * H5Tget_size(type);
  bool usual = kind == H5T_ENUM || whole;
  if (kind == H5T_FLOAT)
    usual = H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0 ||
            H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0;
  require(usual,
          "{}: its values are numbers of {} bits from bit {} on in {} bytes; only numbers that fill their bytes are "
          "supported",
          path, H5Tget_precision(type), H5Tget_offset(type), H5Tget_size(type));
}

/// Throws Error when the file is longer than HDF5 wrote it: what comes in between moves everything behind it.
void check_length(hid_t file, const std::string& path) {
  haddr_t end = 0;
  hsize_t user = 0;
  const h5::Handle made(h5::check(H5Fget_create_plist(file), path, "read its properties"), H5Pclose);
  h5::check(H5Fget_eoa(file, &end), path, "read its length");
  h5::check(H5Pget_userblock(made, &user), path, "read its length");
  const auto found = static_cast<hsize_t>(bytes_in(path));
  require(
      found == end || found == end + user,
      "{}: is damaged, or was not closed by the program that wrote it: it has {} bytes, but {} according to its header",
      path, found, end + user);
}

/// Throws Error when the data set went through a filter that HDF5 does not have here.
void check_filters(hid_t data, const std::string& path) {
  const h5::Handle made(h5::check(H5Dget_create_plist(data), path, "read its properties"), H5Pclose);
  for (unsigned n = 0; static_cast<int>(n) < H5Pget_nfilters(made); ++n) {
    unsigned flags = 0, settings = 0;
    std::size_t count = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter = H5Pget_filter2(made, n, &flags, &count, nullptr, name.size(), name.data(), &settings);
    require(filter >= 0 && H5Zfilter_avail(filter) > 0,
            "{}: is compressed by the filter {} ({}), which is not available in this HDF5 library; save it with gzip "
            "or uncompressed",
            path, filter, name.data());
  }
}

/// Throws Error when voxels were never written or are said to lie behind the file: HDF5 would give its fill value for
/// them.
void check_written(hid_t data, const std::vector<hsize_t>& size, const std::string& path) {
  const h5::Handle made(h5::check(H5Dget_create_plist(data), path, "read its properties"), H5Pclose);
  if (H5Pget_layout(made) != H5D_CHUNKED) {
    const h5::Handle type(h5::check(H5Dget_type(data), path, "read its type"), H5Tclose);
    double bytes = static_cast<double>(H5Tget_size(type));
    for (const hsize_t n : size) bytes *= static_cast<double>(n);
    require(static_cast<double>(H5Dget_storage_size(data)) == bytes, "{}: its voxels need {} bytes, {} were written",
            path, bytes, H5Dget_storage_size(data));
    if (H5Pget_layout(made) != H5D_CONTIGUOUS || H5Pget_external_count(made) > 0) return;
    const double end = static_cast<double>(H5Dget_offset(data)) + bytes;
    require(end <= static_cast<double>(bytes_in(split_array(path).first)),
            "{}: its voxels end at byte {}, beyond the end of the file", path, end);
    return;
  }
  std::array<hsize_t, 3> chunk{};
  hsize_t held = 0, needed = 1;
  const int rank = H5Pget_chunk(made, 3, chunk.data());
  const h5::Handle space(h5::check(H5Dget_space(data), path, "count its chunks"), H5Sclose);
  h5::check(H5Dget_num_chunks(data, space, &held), path, "count its chunks");
  for (std::size_t d = 0; d < size.size() && rank == static_cast<int>(size.size()); ++d)
    needed *= (size[d] + chunk[d] - 1) / std::max<hsize_t>(chunk[d], 1);
  require(held == needed, "{}: {} of its {} chunks were never written: their voxels are missing", path, needed - held,
          needed);
}

class Hdf5Image : public ImageFile {
 public:
  Hdf5Image(ImageInfo description, const Hdf5Axes& axes, h5::Handle file, h5::Handle data, h5::Handle native)
      : ImageFile(std::move(description)),
        axes_(axes),
        file_(std::move(file)),
        data_(std::move(data)),
        native_(std::move(native)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    const h5::Quiet quiet;
    const std::string& path = info().path;
    const auto nx = static_cast<hsize_t>(info().size[0]), ny = static_cast<hsize_t>(info().size[1]);
    const h5::Handle space(h5::check(H5Dget_space(data_), path, "read a plane"), H5Sclose);
    if (axes_[2] >= 0) {
      std::array<hsize_t, 3> start{}, count{};
      start[axes_[2]] = static_cast<hsize_t>(z);
      count[axes_[2]] = 1;
      count[axes_[1]] = ny;
      count[axes_[0]] = nx;
      h5::check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), path,
                "read a plane");
    }
    const bool rows = axes_[1] < axes_[0];
    const std::array<hsize_t, 2> plane{rows ? ny : nx, rows ? nx : ny};
    const h5::Handle memory(h5::check(H5Screate_simple(2, plane.data(), nullptr), path, "read a plane"), H5Sclose);
    plane_.resize(values.size() * bytes_of(info().type));
    h5::check(H5Dread(data_, native_, memory, space, H5P_DEFAULT, plane_.data()), path,
              fmt::format("read plane {}", z));
    if (rows) return to_float(plane_.data(), info().type, values);
    columns_.resize(values.size());
    to_float(plane_.data(), info().type, columns_);
    for (hsize_t y = 0; y < ny; ++y)
      for (hsize_t x = 0; x < nx; ++x) values[y * nx + x] = columns_[x * ny + y];
  }

  Hdf5Axes axes_;
  h5::Handle file_, data_, native_;
  std::vector<char> plane_;
  std::vector<float> columns_;  ///< of a plane whose y is faster than x
};

}  // namespace

std::unique_ptr<ImageFile> open_hdf5(const std::string& path) {
  const h5::Quiet quiet;
  auto [file_name, name] = split_array(path);
  h5::Handle file(H5Fopen(file_name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file < 0) h5::fail(file_name, "open it as HDF5");
  check_length(file, file_name);
  if (name.empty()) {
    require(H5Aexists(file, "karst_geometry") <= 0, "{}: is already an imported geometry file; use it in a deck",
            file_name);
    name = choose(file, file_name);
  }
  h5::Handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (data < 0) {
    std::vector<DataSet> all;
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, note_data_set, &all);
    throw Error(fmt::format("{}: has no data set {}; it has {}", file_name, name, list_of(all)));
  }
  ImageInfo info;
  info.path = file_name + ":" + name;
  info.format = "HDF5";
  const std::vector<hsize_t> size = size_of(data);
  const Index stored = voxels_of(size, info.path);
  const std::string place = info.path;
  const Hdf5Axes axes = read_hdf5_meaning(file, data, size, info);  // info.path may become what the image was before
  const auto along = [&](int d) { return axes[d] < 0 ? 1 : stored[static_cast<int>(size.size()) - 1 - axes[d]]; };
  info.size = {along(0), along(1), along(2)};
  const h5::Handle type(h5::check(H5Dget_type(data), place, "read its type"), H5Tclose);
  h5::Handle native(h5::check(H5Tget_native_type(type, H5T_DIR_ASCEND), place, "read its type"), H5Tclose);
  info.type = type_of(native, place);
  check_type(type, place);
  check_filters(data, place);
  check_written(data, size, place);
  data = open_with_cache(file, name, std::move(data));
  if (data < 0) h5::fail(place, "open it");
  return std::make_unique<Hdf5Image>(std::move(info), axes, std::move(file), std::move(data), std::move(native));
}

}  // namespace karst
