// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

#include "base/comm/comm.hpp"
#include "base/core/error.hpp"

namespace karst {

/// Runs f on every rank; if it throws on any, all ranks throw Error with the text of the lowest such rank. f must not
/// communicate, except for calls that fail either on all ranks or on none. Collective.
template <class F>
void fail_together(const Comm& comm, F&& f) {
  std::string text;
  std::int64_t failed = comm.size();
  try {
    f();
  } catch (const std::exception& e) {
    text = e.what();
    failed = comm.rank();
  }
  const std::int64_t first = comm.min(failed);
  if (first == comm.size()) return;
  comm.broadcast(text, static_cast<int>(first));
  throw Error(text);
}

}  // namespace karst
