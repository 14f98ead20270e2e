// SPDX-License-Identifier: BSD-3-Clause
// What `karst run` can be asked to compute, and how a deck asks for it.
#pragma once

#include <span>
#include <string_view>

namespace karst {

struct Config;

struct JobWord {
  std::string_view name;
  std::string_view asked_by;  ///< what in a deck asks for it
  bool (*is_asked)(const Config&);
};

/// Of all jobs, in the order in which they run.
std::span<const JobWord> job_words();
/// One of them, which there has to be.
const JobWord& job_word(std::string_view name);

}  // namespace karst
