// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "base/deck/deck.hpp"
#include "support/errors.hpp"

namespace karst::test {

/// What read(in, options) reads from a text, and what is wrong with it.
template <class Options, class Read>
std::pair<Options, std::string> read_options(const std::string& text, Read&& read) {
  Options options;
  std::string wrong = error_of([&] {
    Reader in = Reader::from_text(text);
    read(in, options);
    in.finish();
  });
  return {std::move(options), std::move(wrong)};
}

}  // namespace karst::test
