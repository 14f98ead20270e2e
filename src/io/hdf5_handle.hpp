// SPDX-License-Identifier: BSD-3-Clause
// Owning handles of HDF5 objects, and HDF5 errors as karst::Error.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/comm/comm.hpp"

namespace karst::hdf5 {

/// From the first of these on HDF5 prints nothing on this thread, its end included, where it may be unable to close
/// what it could not write; the innermost message goes into our own errors instead.
struct Quiet {
  Quiet();
};

/// "HDF5: <innermost message>; <what the system said>" of the last failed call on this thread, and forgets it.
std::string last_error();

/// Throws the Error of a failed call. A new file under this path is given up.
[[noreturn]] void fail(std::string_view what, std::string_view path);

/// Returns result if it is not negative, otherwise throws Error("cannot {what} in {path}: {reason}").
template <class R>
R check(R result, std::string_view what, std::string_view path) {
  if (result < 0) fail(what, path);
  return result;
}

/// Owns one HDF5 object. Closing it in the destructor ignores errors; close() reports them.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Handle(Handle&& o) noexcept;
  Handle& operator=(Handle&& o) noexcept;
  ~Handle();
  operator hid_t() const { return id_; }
  herr_t close();  ///< negative if HDF5 failed; the handle is empty afterwards

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// A new file that all ranks write together; an existing one is replaced.
/// @param temporary  the file
/// @param path       its name in messages
/// @param creation   property list; H5P_DEFAULT
/// Throws Error. Collective.
Handle create_shared_file(const Comm& comm, const std::string& temporary, std::string_view path, hid_t creation);

/// Flushes the file, because all operations that can fail must come before it is closed, and closes it. Throws Error
/// naming the path, on all ranks also when only one of them could not write (base/file/mpi_files.hpp). Collective on
/// the ranks of comm, which opened the file.
void finish_file(const Comm& comm, Handle& file, std::string_view path);

// Each throws Error naming the path when HDF5 fails. Collective when the object belongs to a file opened by all ranks.
Handle create_group(hid_t parent, const std::string& name, std::string_view path);
/// Properties of a new data set: without the time of its creation, so that the same values are the same bytes.
Handle set_properties(std::string_view path);
Handle simple_space(std::span<const hsize_t> sizes, std::string_view path);
/// Attributes; a text becomes a string of fixed length (what yt and VTK read alike).
void put_text(hid_t object, const std::string& name, std::string_view text, std::string_view path);
void put_int(hid_t object, const std::string& name, int value, std::string_view path);
void put_number(hid_t object, const std::string& name, double value, std::string_view path);
void put(hid_t object, const std::string& name, hid_t type, hid_t space, const void* value, std::string_view path);

}  // namespace karst::hdf5
