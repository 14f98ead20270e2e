// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/job/exchange.hpp"
#include "base/core/text.hpp"

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

bool gives_any(const Job& giver, const std::vector<ExchangeName>& wanted) {
  return std::ranges::any_of(giver.gives, [&](ExchangeName what) { return std::ranges::count(wanted, what) > 0; });
}

/// It takes of one of them, step by step.
bool goes_with(const Job& job, std::span<const Job> others, const Config& config) {
  const std::vector<ExchangeName> wanted = job.takes(config);
  return job.in_time(config) && std::ranges::any_of(others, [&](const Job& other) {
           return other.in_time(config) && gives_any(other, wanted);
         });
}

}  // namespace

std::vector<Job> in_order(std::vector<Job> jobs, const Config& config) {
  std::vector<Job> ordered;
  std::size_t together = 0;  // where those begin that go with the last one
  while (!jobs.empty()) {
    const auto ready = [&](const Job& job) {
      return std::ranges::none_of(jobs, [&](const Job& other) {
        return other.word.name != job.word.name && gives_any(other, job.takes(config));
      });
    };
    auto next = std::ranges::find_if(jobs, [&](const Job& job) {
      return ready(job) && goes_with(job, std::span(ordered).subspan(together), config);
    });
    if (next == jobs.end()) {
      together = ordered.size();
      next = std::ranges::find_if(jobs, ready);
    }
    require(next != jobs.end(),
            "{}: it takes what another job gives, which takes what this one gives; none can be first",
            jobs.front().word.name);
    ordered.push_back(std::move(*next));
    jobs.erase(next);
  }
  return ordered;
}

std::size_t n_together(std::span<const Job> jobs, const Config& config) {
  std::size_t n = 1;
  while (n < jobs.size() && goes_with(jobs[n], jobs.first(n), config)) ++n;
  return n;
}

std::vector<ExchangeName> taken_by(std::span<const Job> jobs, const Config& config) {
  std::vector<ExchangeName> all;
  for (const Job& job : jobs) std::ranges::copy(job.takes(config), std::back_inserter(all));
  return all;
}

std::vector<std::string> not_given(std::span<const Job> jobs, const Config& config) {
  Messages found;
  for (const Job& job : jobs)
    for (const ExchangeName what : job.takes(config))
      if (std::ranges::none_of(jobs, [&](const Job& other) { return gives_any(other, {what}); }))
        found.add("{}: it needs the {}, which no job that the deck requests computes", job.word.name, name_of(what));
  return found;
}

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

std::shared_ptr<const Sample> sample_between(const Reservoirs& reservoirs, const GridOptions& grid,
                                             const GeometryReport& report) {
  Index before{};
  before[reservoirs.axis] = reservoirs.cells;
  return std::make_shared<const Sample>(Sample{grid, report, before});
}

std::string reservoirs_text(const Sample& sample, const GridOptions& domain, const GeometryStatistics& of_domain) {
  int axis = 0;
  while (sample.before[axis] == 0) ++axis;
  return fmt::format(
      "With reservoirs of {} cells before and behind it along {} the domain of this run has {} x {} x {} cells, {} of "
      "them with fluid; it begins {:.6g} m before the sample\n",
      sample.before[axis], axis_names[axis], domain.cells[0], domain.cells[1], domain.cells[2],
      grouped(of_domain.sum(&LevelReport::vofs)), sample.before[axis] * domain.cell_width());
}

}  // namespace karst
