// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/mpi_files.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

/// Of this process; files are written one after the other, by one thread.
std::string& first_failure() {
  static std::string reason;
  return reason;
}

/// @param result  of a call of MPI that began with errno = 0
void keep(int result, const char* what) {
  if (result == MPI_SUCCESS || !first_failure().empty()) return;
  const int system = errno;
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  PMPI_Error_string(result, text.data(), &length);
  first_failure() = fmt::format("{}: {}", what, text.data());
  if (system != 0) first_failure() += "; " + std::generic_category().message(system);
}

/// A call that writes: one that wrote less than it was to (Open MPI 4.1 may call that a success) has failed, and its
/// status says that all was written, which HDF5 asks for.
/// @param call  (MPI_Status*) -> result
template <class Call>
int written(int count, MPI_Datatype type, MPI_Status* status, Call&& call) {
  MPI_Status own;
  MPI_Status* const of_call = status == MPI_STATUS_IGNORE ? &own : status;
  PMPI_Status_set_elements_x(of_call, MPI_BYTE, 0);
  errno = 0;
  const int result = call(of_call);
  MPI_Count size = 0, done = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Get_elements_x(of_call, MPI_BYTE, &done);
  if (result == MPI_SUCCESS && done == count * size) return MPI_SUCCESS;
  keep(result == MPI_SUCCESS ? MPI_ERR_IO : result, "writing");
  PMPI_Status_set_elements_x(of_call, MPI_BYTE, count * size);
  return MPI_SUCCESS;
}

template <class Call>
int changed(const char* what, Call&& call) {
  errno = 0;
  keep(call(), what);
  return MPI_SUCCESS;
}

}  // namespace

void forget_failed_writes() { first_failure().clear(); }

void require_written(const Comm& comm, std::string_view path) {
  fail_together(comm, [&] {
    const std::string reason = std::exchange(first_failure(), {});
    require(reason.empty(), "{}: cannot be written: {}", path, reason);
  });
}

}  // namespace karst

extern "C" {

int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file) {
  const int result = PMPI_File_open(comm, name, mode, info, file);
  const int failed = result != MPI_SUCCESS ? 1 : 0;
  int on_any = 0;
  PMPI_Allreduce(&failed, &on_any, 1, MPI_INT, MPI_MAX, comm);
  // What this rank opened is left open: closing it would wait for those that have nothing to close.
  return failed ? result : on_any ? MPI_ERR_IO : MPI_SUCCESS;
}

int MPI_File_close(MPI_File* file) {
  return karst::changed("closing", [&] { return PMPI_File_close(file); });
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  return karst::changed("setting the size", [&] { return PMPI_File_set_size(file, size); });
}

int MPI_File_sync(MPI_File file) {
  return karst::changed("flushing it to disk", [&] { return PMPI_File_sync(file); });
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* bytes, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return karst::written(count, type, status,
                        [&](MPI_Status* s) { return PMPI_File_write_at(file, at, bytes, count, type, s); });
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* bytes, int count, MPI_Datatype type,
                          MPI_Status* status) {
  return karst::written(count, type, status,
                        [&](MPI_Status* s) { return PMPI_File_write_at_all(file, at, bytes, count, type, s); });
}

}  // extern "C"
