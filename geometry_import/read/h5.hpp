// SPDX-License-Identifier: BSD-3-Clause
// HDF5 objects that close themselves, and its errors as karst::Error. Inside geometry_import only.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace karst::h5 {

/// Throws Error("PATH: cannot WHAT: the innermost message of HDF5").
[[noreturn]] void fail(const std::string& path, const std::string& what);

/// Returns the result when it is not negative, else fails.
template <class R>
R check(R result, const std::string& path, const std::string& what) {
  if (result < 0) fail(path, what);
  return result;
}

/// From the first of these on HDF5 prints nothing on this thread, its end included.
struct Quiet {
  Quiet();
};

class Handle {
 public:
  using Closer = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& o) noexcept : id_(std::exchange(o.id_, -1)), closer_(o.closer_) {}
  Handle& operator=(Handle&& o) noexcept {
    std::swap(id_, o.id_);
    std::swap(closer_, o.closer_);
    return *this;
  }
  ~Handle() { close(); }
  operator hid_t() const { return id_; }
  herr_t close() {
    const hid_t id = std::exchange(id_, -1);
    return id >= 0 ? closer_(id) : 0;
  }

 private:
  hid_t id_ = -1;
  Closer closer_ = nullptr;
};

}  // namespace karst::h5
