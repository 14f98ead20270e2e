// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the programs that damage what Karst reads.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <span>

#include "base/file/run_guarded.hpp"

namespace karst::test {

/// The i-th of the arguments of a program as a number.
inline std::size_t number_or(std::span<char* const> arguments, std::size_t i, std::size_t otherwise) {
  return arguments.size() > i ? static_cast<std::size_t>(std::strtoull(arguments[i], nullptr, 10)) : otherwise;
}

/// Prints how often each outcome was found.
inline void print_outcomes(std::span<const std::size_t> found, std::span<const char* const> names) {
  for (std::size_t o = 0; o < found.size(); ++o)
    fmt::print("{} {}{}", found[o], names[o], o + 1 < found.size() ? ", " : "\n");
}

/// The exit status: 1 if outcomes from this one on were found. Prints their number.
inline int status_of(std::span<const std::size_t> found, std::size_t first_failure) {
  std::size_t failures = 0;
  for (const std::size_t n : found.subspan(first_failure)) failures += n;
  fmt::print("{} failures\n", failures);
  return failures == 0 ? 0 : 1;
}

/// The main function of a program whose run_all(arguments) returns its exit status.
inline int run_damage(int argc, char** argv, int (*run_all)(std::span<char*>)) {
  return run_guarded(argc, argv, [&](const Comm&) {
    const int status = run_all({argv, static_cast<std::size_t>(argc)});
    if (status != 0) throw ExitStatus{status};
  });
}

}  // namespace karst::test
