// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "base/comm/comm.hpp"
#include "base/file/atomic_file.hpp"

namespace karst {

/// Reserves disk space before HDF5 writes, so that a full disk is detected by Karst and not inside MPI-IO: Open MPI 4.1
/// returns success for a collective write that hit a full disk, and HDF5 cannot close a file it could not write. Where
/// the file system cannot reserve, its free space is compared instead.
class Reservation {
 public:
  /// Opens the temporary file on rank 0. Throws Error on all ranks. Collective.
  Reservation(const Comm& comm, const AtomicFile& target);
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();
  /// Reserves this number of bytes after the current end of the file. Throws Error on all ranks with the system's
  /// reason. Collective.
  void reserve(std::int64_t bytes);
  /// Releases the space reserved after the end of the closed file; returns its size [bytes]. Throws Error on all ranks.
  /// Collective.
  std::int64_t finish();

 private:
  void reserve_here(std::int64_t bytes) const;
  const Comm& comm_;
  std::string path_;
  int file_ = -1;  ///< descriptor on rank 0
};

}  // namespace karst
