// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/job.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace karst {

std::span<const Job> jobs() {
  static const std::array all{flow_job(), diffusion_job()};
  return all;
}

std::vector<Job> asked_jobs(const Config& config) {
  std::vector<Job> asked;
  std::string ways;
  for (const Job& job : jobs()) {
    if (job.is_asked(config)) asked.push_back(job);
    ways += fmt::format("\n  {:<12}{}", job.name, job.asked_by);
  }
  require(
      !asked.empty(),
      "karst run: the deck asks for nothing to compute. What asks for a job:{}\n`karst geometry` cuts the grid alone",
      ways);
  return asked;
}

void check_jobs(const JobContext& context) {
  std::vector<std::string> found;
  for (const Job& job : jobs())
    if (job.is_asked(context.config)) std::ranges::copy(job.mistakes(context), std::back_inserter(found));
  require(found.empty(), "{}", join(found, "\n"));
}

}  // namespace karst
