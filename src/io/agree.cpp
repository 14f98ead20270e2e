// SPDX-License-Identifier: BSD-3-Clause
#include "io/agree.hpp"

#include <exception>
#include <string>

#include "base/core/error.hpp"

namespace karst {

void agree(const Comm& comm, const std::function<void()>& f) {
  std::string text;
  bool failed = false;
  try {
    f();
  } catch (const std::exception& e) {
    failed = true;
    text = e.what();
  }
  const std::int64_t first = comm.min(std::int64_t{failed ? comm.rank() : comm.size()});
  if (first == comm.size()) return;
  comm.broadcast(text, static_cast<int>(first));
  throw Error(text);
}

}  // namespace karst
