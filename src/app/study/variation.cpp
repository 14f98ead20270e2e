// SPDX-License-Identifier: BSD-3-Clause
#include "app/study/variation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

constexpr double least_part = 0.01;     ///< of the longest phase, to be shown
constexpr std::int64_t most_named = 8;  ///< steps in a line

/// Paths of all runs, those of the first one first.
std::vector<std::vector<std::string>> paths_of(const std::vector<Json>& timers) {
  std::vector<std::vector<std::string>> paths;
  for (const Json& run : timers)
    for (const Json& timer : run.at("timers"))
      if (const auto path = timer.at("path").get<std::vector<std::string>>();
          std::ranges::find(paths, path) == paths.end())
        paths.push_back(path);
  return paths;
}

/// The timer of a run; null where it did not run.
Json timer_at(const Json& run, const std::vector<std::string>& path) {
  for (const Json& timer : run.at("timers"))
    if (timer.at("path").get<std::vector<std::string>>() == path) return timer;
  return {};
}

PhaseVariation phase_of(const std::vector<Json>& timers, const std::vector<std::string>& path) {
  PhaseVariation phase{path, {}};
  std::vector<double> seconds;
  const auto n = static_cast<double>(timers.size());
  for (const Json& run : timers) {
    const Json timer = timer_at(run, path);
    seconds.push_back(timer.is_null() ? 0.0 : timer.at("most_s").get<double>());
    if (timer.is_null()) continue;
    phase.cov_of_ranks_and_threads += timer.at("cov").get<double>() / n;
    if (timer.contains("in_steps")) phase.cov_of_steps += timer.at("in_steps").at("cov").get<double>() / n;
  }
  phase.runs = spread_of(seconds);
  return phase;
}

StepVariation steps_of(const Json& run, const StepRange& range) {
  const Json& steps = run.at("steps");
  const auto first = steps.at("first").get<std::int64_t>();
  const auto all = steps.at("seconds").get<std::vector<double>>();
  const std::int64_t begin = std::max(range.first, first), end = std::min(range.last + 1, first + std::ssize(all));
  require(begin < end, "--steps {}:{}: the runs made steps {} to {}; choose steps in this range", range.first,
          range.last, first, first + std::ssize(all) - 1);
  const std::vector<double> chosen(all.begin() + (begin - first), all.begin() + (end - first));
  StepVariation found{spread_of(chosen), {}};
  for (std::int64_t n = begin; n < end; ++n)
    if (all[n - first] > long_step * found.seconds.median) found.long_steps.push_back(n);
  return found;
}

std::vector<std::int64_t> often_long(const std::vector<StepVariation>& runs) {
  std::map<std::int64_t, std::size_t> times;
  for (const StepVariation& run : runs)
    for (const std::int64_t n : run.long_steps) ++times[n];
  std::vector<std::int64_t> often;
  for (const auto& [n, k] : times)
    if (2 * k > runs.size()) often.push_back(n);
  return often;
}

std::string named(const std::vector<std::int64_t>& steps) {
  std::vector<std::string> words;
  for (const std::int64_t n : steps)
    if (std::ssize(words) < most_named) words.push_back(fmt::format("{}", n));
  return steps.empty() ? "none" : join(words) + (std::ssize(steps) > most_named ? " ..." : "");
}

}  // namespace

Variation variation_of(const std::vector<Json>& timers, const StepRange& steps) {
  Variation variation;
  variation.runs = static_cast<int>(timers.size());
  for (const auto& path : paths_of(timers)) variation.phases.push_back(phase_of(timers, path));
  if (std::ranges::all_of(timers, [](const Json& run) { return run.contains("steps"); }))
    for (const Json& run : timers) variation.steps.push_back(steps_of(run, steps));
  variation.often_long = often_long(variation.steps);
  return variation;
}

std::string variation_json(const Variation& variation) {
  Json json{{"runs", variation.runs}, {"phases", Json::array()}, {"steps", Json::array()}};
  for (const PhaseVariation& phase : variation.phases)
    json["phases"].push_back({{"path", phase.path},
                              {"seconds", to_json(phase.runs)},
                              {"cov_of_ranks_and_threads", phase.cov_of_ranks_and_threads},
                              {"cov_of_steps", phase.cov_of_steps}});
  for (const StepVariation& run : variation.steps)
    json["steps"].push_back({{"number", run.seconds.n}, {"seconds", to_json(run.seconds)}, {"long", run.long_steps}});
  json["long_in_most_runs"] = variation.often_long;
  return json.dump(2) + '\n';
}

std::string variation_text(const Variation& variation) {
  const bool in_steps = !variation.steps.empty();
  constexpr const char* head = "{:40} {:>10} {:>10} {:>10} {:>8} {:>9}{}\n";
  std::string text = fmt::format(fmt::runtime(head), "phase", "mean [s]", "least", "most", "CoV runs", "CoV ranks",
                                 in_steps ? " CoV steps" : "");
  double longest = 0.0;
  for (const PhaseVariation& phase : variation.phases) longest = std::max(longest, phase.runs.mean);
  for (const PhaseVariation& phase : variation.phases) {
    if (phase.runs.mean < least_part * longest) continue;
    text +=
        fmt::format("{:40} {:>10.4g} {:>10.4g} {:>10.4g} {:>7.1f}% {:>8.1f}%",
                    std::string(2 * (phase.path.size() - 1), ' ') + phase.path.back(), phase.runs.mean,
                    phase.runs.least, phase.runs.most, 100.0 * phase.runs.cov, 100.0 * phase.cov_of_ranks_and_threads);
    text += phase.cov_of_steps > 0.0 ? fmt::format(" {:>8.1f}%\n", 100.0 * phase.cov_of_steps) : "\n";
  }
  text += "\nTimes of the slowest rank or thread. CoV: standard deviation over mean.\n";
  if (!in_steps) return text;
  text += fmt::format("\n{:>4} {:>8} {:>10} {:>10} {:>10} {:>10} {:>8}  longer than {} medians\n", "run", "steps",
                      "mean [s]", "least", "median", "most", "CoV", long_step);
  int number = 0;
  for (const StepVariation& run : variation.steps)
    text += fmt::format("{:>4} {:>8} {:>10.4g} {:>10.4g} {:>10.4g} {:>10.4g} {:>7.1f}%  {}\n", ++number, run.seconds.n,
                        run.seconds.mean, run.seconds.least, run.seconds.median, run.seconds.most,
                        100.0 * run.seconds.cov, named(run.long_steps));
  return text + fmt::format("Long in most of the runs: {}\n", named(variation.often_long));
}

}  // namespace karst
