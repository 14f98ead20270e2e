// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/growing_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/core/error.hpp"
#include "base/file/plain_file.hpp"

namespace karst {

GrowingFile::~GrowingFile() {
  if (file_ >= 0) ::close(file_);
}

void GrowingFile::open(const std::string& path, bool go_on, const std::string& name) {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  name_ = name.empty() ? path : name;
  waiting_.clear();
  written_ = 0;
  file_ = open_plain_file(path, go_on, name_);
  const off_t end = ::lseek(file_, 0, SEEK_END);
  require(end >= 0, "{}: cannot be written: {}", name_, std::strerror(errno));
  written_ = end;
}

/// The reason why not all of it is in the file; 0: all is.
int GrowingFile::write_waiting() {
  while (!waiting_.empty()) {
    const ssize_t n = ::pwrite(file_, waiting_.data(), waiting_.size(), written_);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    written_ += n;
    waiting_.erase(0, n);
  }
  return 0;
}

void GrowingFile::append(std::string_view text) {
  if (file_ < 0) return;
  waiting_ += text;
  write_waiting();
}

void GrowingFile::flush() {
  if (file_ < 0) return;
  const int problem = write_waiting();
  require(problem == 0, "{}: cannot be written: {}; its last {} bytes are missing", name_, std::strerror(problem),
          waiting_.size());
}

void GrowingFile::finish() {
  if (file_ < 0) return;
  flush();
  const int problem = ::close(std::exchange(file_, -1)) == 0 ? 0 : errno;
  require(problem == 0 || problem == EINTR, "{}: cannot be written: {}", name_, std::strerror(problem));
}

}  // namespace karst
