// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/hdf5_text.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

#include "base/core/error.hpp"
#include "geometry_import/read/h5.hpp"

namespace karst {
namespace {

constexpr std::size_t longest_text = 1 << 20;  // [bytes]
constexpr unsigned time_of_text = 10;          // to read one [s]

/// Reads a text of variable length and writes it into a pipe; ends the process.
[[noreturn]] void read_and_end(hid_t attribute, hid_t type, int pipe) {
  for (const int s : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM}) ::signal(s, SIG_DFL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::alarm(time_of_text);
  char* text = nullptr;
  const hid_t memory = H5Tget_native_type(type, H5T_DIR_ASCEND);
  if (H5Aread(attribute, memory, static_cast<void*>(&text)) < 0) ::_exit(1);
  std::string_view rest = text != nullptr ? text : "";
  while (!rest.empty()) {
    const ssize_t written = ::write(pipe, rest.data(), rest.size());
    if (written <= 0) ::_exit(1);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  ::_exit(0);
}

/// In a process of its own: these texts lie in the heap of the file, where HDF5 1.10 crashes or hangs if it is damaged.
std::string variable_text(hid_t attribute, hid_t type, const std::string& what) {
  std::array<int, 2> ends{};
  require(::pipe(ends.data()) == 0, "{} cannot be read: no pipe", what);
  const pid_t child = ::fork();
  if (child == 0) read_and_end(attribute, type, ends[1]);
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; child > 0 && text.size() < longest_text && (n = ::read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = -1;
  if (child > 0) ::waitpid(child, &status, 0);
  require(status == 0, "{} is damaged", what);
  return text;
}

}  // namespace

std::optional<std::string> text_attribute(hid_t object, const char* name, const std::string& path) {
  if (H5Aexists(object, name) <= 0) return {};
  const h5::Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const h5::Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (type < 0 || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return {};
  if (H5Tis_variable_str(type) > 0) return variable_text(attribute, type, path + ": the text of its attribute " + name);
  if (H5Tget_size(type) > longest_text) return {};
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

}  // namespace karst
