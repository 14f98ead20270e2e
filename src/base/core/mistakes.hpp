// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "base/core/error.hpp"

namespace karst {

/// What is wrong with an input, so that all of it is reported at once.
class Mistakes {
 public:
  /// Notes the formatted text unless ok.
  template <class... A>
  void need(bool ok, fmt::format_string<A...> text, A&&... a) {
    if (!ok) add(fmt::format(text, std::forward<A>(a)...));
  }
  /// Notes the Error that a call throws.
  template <class F>
  void attempt(F&& call) {
    try {
      call();
    } catch (const Error& e) {
      add(e.what());
    }
  }
  /// Throws Error with all texts, one per line, if there are any.
  void finish() const {
    if (!texts_.empty()) throw Error(texts_);
  }

 private:
  void add(const std::string& text) { texts_ += (texts_.empty() ? "" : "\n") + text; }
  std::string texts_;
};

}  // namespace karst
