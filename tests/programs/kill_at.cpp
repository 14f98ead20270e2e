// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: the process dies by SIGKILL instead of the n-th renaming or removal of a file, n from KILL_AT. With
// FAIL_AT that call fails instead (EIO). Counted are all from the first renaming of a file whose name ends as KILL_FROM
// says, among them those of the MPI library, which are not the same everywhere; or, at the same moment on any machine,
// only renamings of files whose names end as KILL_OF or whose new names end as KILL_INTO says.
//
// With FAIL_IN, a text in the paths that are meant, all that changes files there is counted in place of these: opening
// for writing, writes, fsync, ftruncate, fallocate, close, renaming, removal, new folders. FAIL_AT of them fails, and
// those behind it up to FAIL_TIMES (1) in all, with the number FAIL_ERRNO (EIO), on rank FAIL_RANK (all). FAIL_LOG is a
// file that takes a line for each.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

long number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atol(text);
}

std::string text_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? "" : text;
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

using Write = ssize_t(int, const void*, size_t);
using Open = int(const char*, int, ...);

/// A line of FAIL_LOG, by calls that are not counted.
void log_change(long n, const char* what, const std::string& path) {
  static const std::string log = text_of("FAIL_LOG");
  if (log.empty()) return;
  const int file = next<Open>("open")(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  const std::string line = std::to_string(n) + ' ' + what + ' ' + path + '\n';
  if (file < 0 || next<Write>("write")(file, line.data(), line.size()) < 0) return;
  next<int(int)>("close")(file);
}

/// Counts what changes a file below FAIL_IN; true when it is to fail, with errno set.
bool change_fails(const char* what, const std::string& path) {
  static const std::string in = text_of("FAIL_IN"), rank = text_of("FAIL_RANK"), here = text_of("OMPI_COMM_WORLD_RANK");
  static const long fail_at = number_of("FAIL_AT"), times = std::max(number_of("FAIL_TIMES"), 1L),
                    number = number_of("FAIL_ERRNO") > 0 ? number_of("FAIL_ERRNO") : EIO;
  static std::atomic<long> count{0};
  if (in.empty() || path.find(in) == std::string::npos || (!rank.empty() && rank != here)) return false;
  const long n = ++count;
  const int before = errno;
  log_change(n, what, path);
  const bool fails = fail_at > 0 && n >= fail_at && n < fail_at + times;
  errno = fails ? static_cast<int>(number) : before;
  return fails;
}

/// Of what a descriptor leads to.
bool change_fails(const char* what, int file) {
  static const bool on = std::getenv("FAIL_IN") != nullptr;
  if (!on) return false;
  std::array<char, 4096> path{};
  const ssize_t n = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path.data(), path.size() - 1);
  return n > 0 && change_fails(what, std::string(path.data(), static_cast<std::size_t>(n)));
}

constexpr int writing = O_CREAT | O_WRONLY | O_RDWR;

/// Counts the call; true when it is to fail.
/// @param to  the new name; empty: the file is removed
bool strike(const std::string& from, const std::string& to) {
  static const bool changes = std::getenv("FAIL_IN") != nullptr;
  if (changes) return change_fails(to.empty() ? "remove" : "rename", to.empty() ? from : to);
  static const long kill_at = number_of("KILL_AT"), fail_at = number_of("FAIL_AT");
  static const std::string begin = text_of("KILL_FROM"), of = text_of("KILL_OF"), into = text_of("KILL_INTO");
  static long count = 0;
  if (!of.empty() || !into.empty()) {
    if (to.empty() || !from.ends_with(of) || !to.ends_with(into)) return false;
  } else if (count == 0 && !from.ends_with(begin)) {
    return false;
  }
  ++count;
  if (count == kill_at) raise(SIGKILL);
  if (count == fail_at) errno = EIO;
  return count == fail_at;
}

/// Opens by the library's function of this name.
int open_as(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & writing) != 0 && change_fails("open", std::string(path))) return -1;
  return next<Open>(name)(path, flags, mode);
}

}  // namespace

extern "C" {
int rename(const char* from, const char* to) noexcept {
  return strike(from, to) ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept { return strike(path, "") ? -1 : next<int(const char*)>("unlink")(path); }
int remove(const char* path) noexcept { return strike(path, "") ? -1 : next<int(const char*)>("remove")(path); }
int mkdir(const char* path, mode_t mode) noexcept {
  return change_fails("mkdir", std::string(path)) ? -1 : next<int(const char*, mode_t)>("mkdir")(path, mode);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return change_fails("unlinkat", folder) ? -1 : next<int(int, const char*, int)>("unlinkat")(folder, path, flags);
}
int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return open_as("open64", path, flags, mode);
}
ssize_t write(int file, const void* bytes, size_t n) {
  return file > 2 && change_fails("write", file) ? -1 : next<Write>("write")(file, bytes, n);
}
ssize_t pwrite(int file, const void* bytes, size_t n, off_t at) {
  return change_fails("pwrite", file) ? -1
                                      : next<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, bytes, n, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t n, off64_t at) {
  return change_fails("pwrite", file)
             ? -1
             : next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64")(file, bytes, n, at);
}
ssize_t writev(int file, const iovec* parts, int n) {
  return change_fails("writev", file) ? -1 : next<ssize_t(int, const iovec*, int)>("writev")(file, parts, n);
}
ssize_t pwritev(int file, const iovec* parts, int n, off_t at) {
  return change_fails("pwritev", file) ? -1
                                       : next<ssize_t(int, const iovec*, int, off_t)>("pwritev")(file, parts, n, at);
}
int fsync(int file) { return change_fails("fsync", file) ? -1 : next<int(int)>("fsync")(file); }
int fdatasync(int file) { return change_fails("fdatasync", file) ? -1 : next<int(int)>("fdatasync")(file); }
int ftruncate(int file, off_t size) noexcept {
  return change_fails("ftruncate", file) ? -1 : next<int(int, off_t)>("ftruncate")(file, size);
}
int ftruncate64(int file, off64_t size) noexcept {
  return change_fails("ftruncate", file) ? -1 : next<int(int, off64_t)>("ftruncate64")(file, size);
}
int fallocate(int file, int mode, off_t at, off_t size) {
  return change_fails("fallocate", file) ? -1 : next<int(int, int, off_t, off_t)>("fallocate")(file, mode, at, size);
}
/// The descriptor is closed all the same, as the system does it.
int close(int file) {
  int flags = ::fcntl(file, F_GETFL);
  const bool fails = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && change_fails("close", file);
  const int number = errno, result = next<int(int)>("close")(file);
  if (fails) errno = number;
  return fails ? -1 : result;
}
}
