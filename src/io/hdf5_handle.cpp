// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5_handle.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/core/error.hpp"
#include "base/file/discard_writes.hpp"
#include "base/file/mpi_files.hpp"

namespace karst::hdf5 {

Quiet::Quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

namespace {

herr_t take_text(unsigned, const H5E_error2_t* error, void* into) {
  auto& text = *static_cast<std::string*>(into);
  if (error->desc && *error->desc) {
    if (!text.empty()) text += "; ";
    text += error->desc;
  }
  return text.size() > 200 ? 1 : 0;  // the innermost messages say what happened, the outer ones only who called
}

}  // namespace

std::string last_error() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_text, &text);
  H5Eclear2(H5E_DEFAULT);
  return "HDF5: " + (text.empty() ? std::string("no reason given") : text);
}

void fail(std::string_view what, std::string_view path) {
  discard_writes(std::string(path));  // else what is open of it could not be closed
  throw Error(fmt::format("cannot {} in {}: {}", what, path, last_error()));
}

Handle::Handle(Handle&& o) noexcept : id_(std::exchange(o.id_, H5I_INVALID_HID)), close_(o.close_) {}

Handle& Handle::operator=(Handle&& o) noexcept {
  std::swap(id_, o.id_);
  std::swap(close_, o.close_);
  return *this;
}

Handle::~Handle() { close(); }

herr_t Handle::close() {
  const hid_t id = std::exchange(id_, H5I_INVALID_HID);
  return id >= 0 && close_ ? close_(id) : 0;
}

Handle create_shared_file(const Comm& comm, const std::string& temporary, std::string_view path, hid_t creation) {
  forget_failed_writes();
  Handle access(check(H5Pcreate(H5P_FILE_ACCESS), "prepare the file", path), H5Pclose);
  check(H5Pset_fapl_mpio(access, comm.handle(), MPI_INFO_NULL), "prepare the file", path);
  check(H5Pset_coll_metadata_write(access, true), "prepare the file", path);
  return {check(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, creation, access), "create the file", path), H5Fclose};
}

void finish_file(const Comm& comm, Handle& file, std::string_view path) {
  const herr_t flushed = H5Fflush(file, H5F_SCOPE_GLOBAL);
  require_written(comm, path);  // before a check that may fail on one rank alone
  check(flushed, "finish the file", path);
  const herr_t closed = file.close();
  require_written(comm, path);
  check(closed, "finish the file", path);
}

Handle create_group(hid_t parent, const std::string& name, std::string_view path) {
  return {check(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create group " + name, path),
          H5Gclose};
}

Handle set_properties(std::string_view path) {
  Handle list(check(H5Pcreate(H5P_DATASET_CREATE), "prepare an array", path), H5Pclose);
  check(H5Pset_obj_track_times(list, false), "prepare an array", path);
  return list;
}

Handle simple_space(std::span<const hsize_t> sizes, std::string_view path) {
  return {check(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), "describe an array", path),
          H5Sclose};
}

void put(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value, std::string_view path) {
  Handle attribute(
      check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), "create attribute " + name, path),
      H5Aclose);
  check(H5Awrite(attribute, type, value), "write attribute " + name, path);
}

void put_text(hid_t object, const std::string& name, std::string_view text, std::string_view path) {
  const std::string value = text.empty() ? std::string(1, ' ') : std::string(text);
  Handle type(check(H5Tcopy(H5T_C_S1), "describe a text", path), H5Tclose);
  check(H5Tset_size(type, value.size()), "describe a text", path);
  check(H5Tset_strpad(type, H5T_STR_NULLPAD), "describe a text", path);
  Handle space(check(H5Screate(H5S_SCALAR), "describe a text", path), H5Sclose);
  put(object, name, type, space, value.data(), path);
}

void put_int(hid_t object, const std::string& name, int value, std::string_view path) {
  Handle space(check(H5Screate(H5S_SCALAR), "describe a number", path), H5Sclose);
  put(object, name, H5T_NATIVE_INT, space, &value, path);
}

void put_number(hid_t object, const std::string& name, double value, std::string_view path) {
  Handle space(check(H5Screate(H5S_SCALAR), "describe a number", path), H5Sclose);
  put(object, name, H5T_NATIVE_DOUBLE, space, &value, path);
}

}  // namespace karst::hdf5
