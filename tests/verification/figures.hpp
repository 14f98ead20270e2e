// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the verification programs: order of convergence, requirements on figures, and exit status.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <compare>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/file/json.hpp"
#include "base/file/run_guarded.hpp"
#include "solvers/krylov/petsc_session.hpp"

namespace karst {

// Figures compare as the numbers they are.
template <class T>
requires std::is_arithmetic_v<T> std::partial_ordering operator<=>(const Json& figure, T bound) {
  return figure.get<double>() <=> static_cast<double>(bound);
}
template <class T>
requires std::is_arithmetic_v<T>
bool operator==(const Json& figure, T number) { return figure.get<double>() == static_cast<double>(number); }

/// Order of convergence between the last two entries of a list, whose `cells` count across a length.
inline double last_order(const Json& rows, const char* error, const char* cells = "cells") {
  const Json &a = rows[rows.size() - 2], &b = rows.back();
  return std::log(std::abs(a[error].get<double>() / b[error].get<double>())) /
         std::log(b[cells].get<double>() / a[cells].get<double>());
}

/// What is asked of the figures, and was missed.
class Asked {
 public:
  /// @param what  a sentence, or the figures themselves
  template <class What>
  void operator()(bool met, const What& what) {
    if (met) return;
    if constexpr (std::is_convertible_v<const What&, std::string_view>)
      missed_.emplace_back(what);
    else
      missed_.push_back(what.dump());
  }
  const std::vector<std::string>& missed() const { return missed_; }

 private:
  std::vector<std::string> missed_;
};

/// Prints the figures, and what they miss to stderr: then the program ends with status 1. The same on all ranks.
inline void print_figures(const Comm& comm, const Json& figures, const Asked& asked) {
  if (comm.rank() == 0) {
    fmt::print("{}\n", figures.dump(1));
    for (const std::string& what : asked.missed()) fmt::print(stderr, "missed: {}\n", what);
  }
  if (!asked.missed().empty()) throw ExitStatus{1};
}

inline bool asks_for_all(int argc, char** argv) { return argc > 1 && std::string_view(argv[1]) == "--full"; }

/// The main function of a program: run(comm, full); full: by the argument --full.
template <class Run>
int run_small_or_all(int argc, char** argv, Run&& run) {
  return run_guarded(argc, argv, [&](const Comm& comm) { run(comm, asks_for_all(argc, argv)); });
}

/// The main function of a program: prints measure(comm, full), of which asked(figures, full) asks something; full: by
/// the argument --full.
template <class Measure, class Ask>
int run_verification(int argc, char** argv, Measure&& measure, Ask&& asked) {
  return run_small_or_all(argc, argv, [&](const Comm& comm, bool full) {
    const PetscSession petsc;
    Json all = measure(comm, full);
    const Asked missed = asked(all, full);
    print_figures(comm, all, missed);
  });
}

}  // namespace karst
