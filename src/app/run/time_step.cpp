// SPDX-License-Identifier: BSD-3-Clause
#include "app/run/time_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "base/file/log.hpp"

namespace karst {

namespace {

constexpr int most_halvings = 3;  ///< of a step that fails

/// All make a step, or all are as before: then what failed.
std::optional<std::string> try_step(const Together& jobs, double dt) {
  for (std::size_t i = 0; i < jobs.size(); ++i) try {
      jobs[i]->step(dt);
    } catch (const StepFailed& e) {  // on all ranks
      for (std::size_t tried = i + 1; tried > 0; --tried) jobs[tried - 1]->go_back();
      return e.what();
    }
  return {};
}

}  // namespace

void make_step(const Together& jobs, Clock& clock) {
  double longest = std::numeric_limits<double>::infinity();
  for (const auto& job : jobs) longest = std::min(longest, job->longest_step());
  clock.limit(longest);
  for (int halvings = 0;; ++halvings) {
    const std::optional<std::string> failure = try_step(jobs, clock.dt());
    if (!failure) break;
    if (halvings == most_halvings)
      throw CannotGoOn(fmt::format("the step after t = {:g} s failed, also with a length of {:g} s: {}", clock.time(),
                                   clock.dt(), *failure));
    log_info("The step after t = {:g} s is repeated with half its length, {:g} s: {}", clock.time(), 0.5 * clock.dt(),
             *failure);
    clock.limit(0.5 * clock.dt());
  }
  for (const auto& job : jobs) job->accept();
}

}  // namespace karst
