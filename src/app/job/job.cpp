// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/job.hpp"

#include <algorithm>
#include <utility>

namespace karst {

namespace {

class OneStep final : public Process {
 public:
  OneStep(const JobContext& context, JobResult (*run)(const JobContext&)) : context_(context), run_(run) {}
  void step(double) override { result_ = run_(context_); }
  JobResult report() override { return std::move(result_); }

 private:
  const JobContext& context_;
  JobResult (*run_)(const JobContext&);
  JobResult result_;
};

}  // namespace

std::vector<JobComponent> asked_of(const Config& config, std::vector<JobComponent> components) {
  std::erase_if(components,
                [&](const JobComponent& c) { return std::ranges::count(config.output.plot, c.field) == 0; });
  return components;
}

std::unique_ptr<Process> one_step(const JobContext& context, JobResult (*run)(const JobContext&)) {
  return std::make_unique<OneStep>(context, run);
}

int n_plotted(const Config& config, std::span<const Job> jobs) {
  auto n = static_cast<int>(plot_components(config.output.plot).size());
  for (const PlotField field : config.output.plot) {
    const PlotWord& word = word_of(field);
    for (const Job& job : jobs)
      if (job.word.name == word.job || job.word.name == word.or_job)
        n += (word.is_vector ? 3 : 1) * job.cost.n_fields(config, field);
  }
  return n;
}

}  // namespace karst
