// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: the process dies by SIGKILL instead of the n-th renaming or removal of a file, n from KILL_AT. With
// FAIL_AT that call fails instead (EIO). Counted are all from the first renaming of a file whose name ends as KILL_FROM
// says, among them those of the MPI library, which are not the same everywhere; or, at the same moment on any machine,
// only renamings of files whose names end as KILL_OF or whose new names end as KILL_INTO says.
#include <dlfcn.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
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

/// Counts the call; true when it is to fail.
/// @param to  the new name; empty: the file is removed
bool strike(const std::string& from, const std::string& to) {
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

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
int rename(const char* from, const char* to) noexcept {
  return strike(from, to) ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept { return strike(path, "") ? -1 : next<int(const char*)>("unlink")(path); }
int remove(const char* path) noexcept { return strike(path, "") ? -1 : next<int(const char*)>("remove")(path); }
}
