// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace karst {

/// Bad input or environment. The text says what, where, the value, what is allowed and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Error with the formatted text unless ok. Always on; bugs of ours are assert()ed instead.
template <class... A>
void require(bool ok, fmt::format_string<A...> text, A&&... a) {
  if (!ok) throw Error(fmt::format(text, std::forward<A>(a)...));
}

}  // namespace karst
