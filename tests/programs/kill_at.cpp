// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded: the process dies by SIGKILL instead of the n-th renaming or removal of a file, n from KILL_AT,
// counted from the first renaming of a file whose name ends as KILL_FROM says. With FAIL_AT that call fails instead
// (EIO).
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

/// Counts the call; true when it is to fail.
bool strike(const char* from) {
  static const long kill_at = number_of("KILL_AT"), fail_at = number_of("FAIL_AT");
  static const std::string begin = std::getenv("KILL_FROM") == nullptr ? "" : std::getenv("KILL_FROM");
  static long count = 0;
  if (count == 0 && !std::string(from).ends_with(begin)) return false;
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
  return strike(from) ? -1 : next<int(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) noexcept { return strike(path) ? -1 : next<int(const char*)>("unlink")(path); }
int remove(const char* path) noexcept { return strike(path) ? -1 : next<int(const char*)>("remove")(path); }
}
