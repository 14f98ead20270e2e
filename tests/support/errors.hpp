// SPDX-License-Identifier: BSD-3-Clause
// The text of an Error, and what stands in it.
#pragma once

#include <string>
#include <string_view>

#include "base/core/error.hpp"

namespace karst::test {

/// The text of the Error that f throws; empty when it throws none. Other exceptions pass.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace karst::test
