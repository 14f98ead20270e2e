// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/plain_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/core/error.hpp"

namespace karst {

std::string special_file(const std::string& path) {
  struct stat now {};
  if (::lstat(path.c_str(), &now) != 0 || S_ISREG(now.st_mode)) return "";
  if (S_ISLNK(now.st_mode)) return "a symbolic link";
  if (S_ISDIR(now.st_mode)) return "a folder";
  if (S_ISFIFO(now.st_mode)) return "a pipe";
  return S_ISSOCK(now.st_mode) ? "a socket" : "a device";
}

std::optional<std::string> plain_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  struct stat now {};
  bool good = ::fstat(file, &now) == 0 && S_ISREG(now.st_mode);
  std::string text;
  std::array<char, 65536> part{};
  while (good) {
    const ssize_t n = ::read(file, part.data(), part.size());
    if (n == 0) break;
    if (n > 0) text.append(part.data(), n);
    good = n > 0 || errno == EINTR;
  }
  ::close(file);
  if (!good) return {};
  return text;
}

int open_plain_file(const std::string& path, bool keep, const std::string& name) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  struct stat now {};
  bool good = file >= 0 && ::fstat(file, &now) == 0 && S_ISREG(now.st_mode);
  if (good && !keep) good = ::ftruncate(file, 0) == 0;
  if (!good) {
    const int code = errno;
    if (file >= 0) ::close(file);
    const std::string special = special_file(path);
    throw Error(special.empty() ? fmt::format("{}: cannot be written: {}", name, std::strerror(code))
                                : fmt::format("{}: is {}; only a regular file is written", name, special));
  }
  return file;
}

}  // namespace karst
