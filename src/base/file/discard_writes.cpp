// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/discard_writes.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace karst {

void discard_writes(int descriptor) {
  const int nowhere = ::memfd_create("karst unfinished file", MFD_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, descriptor);
  ::close(nowhere);
}

void discard_writes(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string wanted = fs::weakly_canonical(path, ignored).string();
  if (wanted.empty()) return;
  constexpr std::string_view removed = " (deleted)";  // what Linux writes behind the name then
  const auto is_meant = [&](std::string open) {
    if (open.ends_with(removed)) open.resize(open.size() - removed.size());
    return open == wanted || (open.starts_with(wanted + '.') && open.ends_with(".tmp"));
  };
  std::vector<int> found;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename().string();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number >= 0 && is_meant(fs::read_symlink(entry.path(), ignored).string())) found.push_back(number);
  }
  for (const int number : found) discard_writes(number);
}

}  // namespace karst
