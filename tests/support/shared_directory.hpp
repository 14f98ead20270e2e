// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/comm/comm.hpp"

namespace karst::test {

/// An empty directory that all ranks know, removed at the end. Collective.
class SharedDirectory {
 public:
  explicit SharedDirectory(const Comm& comm) : comm_(comm) {
    if (comm.rank() == 0) {
      path_ = (std::filesystem::temp_directory_path() / "karst_test_XXXXXX").string();
      if (!mkdtemp(path_.data())) path_.clear();
    }
    comm.broadcast(path_);
  }
  SharedDirectory(const SharedDirectory&) = delete;
  SharedDirectory& operator=(const SharedDirectory&) = delete;
  ~SharedDirectory() {
    comm_.any(false);  // nobody uses it any more
    std::error_code ignored;
    if (comm_.rank() == 0) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  Comm comm_;
  std::string path_;
};

}  // namespace karst::test
