// SPDX-License-Identifier: BSD-3-Clause
// Timers of all threads and ranks brought together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/comm/comm.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/comm/timer_node.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

using detail::TimerNode;

/// What one thread, or several added up, measured at one path.
struct Sample {
  std::int64_t calls = 0;
  double seconds = 0;
  Traffic sent{};
};

/// Measurements of this rank: by path (names joined by newlines, parents first), then by thread.
struct Measured {
  std::vector<std::string> paths;
  std::unordered_map<std::string, std::vector<Sample>> samples;
  std::unordered_map<std::string, detail::StepSums> in_steps;  // of the calling thread
  std::int64_t steps = 0;
  double tick = 0.0;  // [s]
};

void collect(const TimerNode& node, const std::string& path, std::size_t thread, const TimerNode* running,
             Measured& out) {
  const detail::Ticks now = detail::ticks_now();
  for (const auto& c : node.children) {
    const std::string child = path.empty() ? c->name : path + '\n' + c->name;
    auto [at, added] = out.samples.try_emplace(child);
    if (added) out.paths.push_back(child);
    if (at->second.size() <= thread) at->second.resize(thread + 1);
    Sample& s = at->second[thread];
    s.calls = c->calls;
    s.seconds = static_cast<double>(c->time) * out.tick;
    s.sent = c->sent;
    for (const TimerNode* r = running; r != nullptr; r = r->parent) {
      if (r != c.get()) continue;
      s.seconds += static_cast<double>(now - c->begin) * out.tick;
      s.sent += traffic() - c->sent_before;
      ++s.calls;
    }
    if (thread == 0) out.in_steps[child] = c->in_steps;
    collect(*c, child, thread, running, out);
  }
}

Measured measured_here() {
  Measured all;
  all.tick = detail::tick();
  const detail::TimerTree& mine = detail::tree_of_this_thread();
  all.steps = mine.steps;
  collect(mine.root, "", 0, mine.current, all);
  std::size_t thread = 1;
  for (const auto& t : detail::timer_trees()) {
    if (t.get() != &mine) collect(t->root, "", thread++, nullptr, all);
  }
  return all;
}

std::string parent_of(const std::string& path) {
  const std::size_t end = path.rfind('\n');
  return end == std::string::npos ? "" : path.substr(0, end);
}

/// The paths of all ranks: those of rank 0, then the others', each list in its own order. Collective.
std::vector<std::string> all_paths(const Comm& comm, const std::vector<std::string>& mine) {
  std::string text = join(mine, "\t");
  comm.broadcast(text);
  std::vector<std::string> paths = text.empty() ? std::vector<std::string>{} : split(text, '\t');
  std::string extra;
  for (const std::string& p : mine) {
    if (std::find(paths.begin(), paths.end(), p) == paths.end()) extra += p + '\t';
  }
  const std::vector<char> extras = comm.all_gather(std::span<const char>(extra.data(), extra.size()));
  for (const std::string& p : split(std::string_view(extras.data(), extras.size()), '\t')) {
    if (!p.empty() && std::find(paths.begin(), paths.end(), p) == paths.end()) paths.push_back(p);
  }
  return paths;
}

/// Depth-first order, children in order of first appearance. Returns positions in paths.
std::vector<std::size_t> depth_first(const std::vector<std::string>& paths) {
  std::unordered_map<std::string, std::vector<std::size_t>> children;
  for (std::size_t i = 0; i < paths.size(); ++i) children[parent_of(paths[i])].push_back(i);
  std::vector<std::size_t> order, stack(children[""].rbegin(), children[""].rend());
  while (!stack.empty()) {
    order.push_back(stack.back());
    stack.pop_back();
    const auto& below = children[paths[order.back()]];
    stack.insert(stack.end(), below.rbegin(), below.rend());
  }
  return order;
}

}  // namespace

namespace {

/// Statistics of all paths over all samples.
struct Statistics {
  std::vector<double> seconds, squares, samples, largest, smallest_negated;
  std::vector<std::int64_t> calls, messages, bytes, collectives;
};

std::vector<Sample> samples_at(const Measured& here, const std::string& path) {
  const auto found = here.samples.find(path);
  return found == here.samples.end() ? std::vector<Sample>(1) : found->second;
}

/// 1 for paths that ran on several threads of any rank. Collective.
std::vector<double> find_threaded(const Comm& comm, const Measured& here, const std::vector<std::string>& paths) {
  std::vector<double> threaded;
  for (const std::string& p : paths) {
    const std::vector<Sample> s = samples_at(here, p);
    const auto ran = std::count_if(s.begin(), s.end(), [](const Sample& x) { return x.calls > 0; });
    threaded.push_back(ran > 1 ? 1.0 : 0.0);
  }
  comm.max(std::span(threaded));
  return threaded;
}

/// Collective.
Statistics reduce(const Comm& comm, const Measured& here, const std::vector<std::string>& paths) {
  const std::vector<double> threaded = find_threaded(comm, here, paths);
  Statistics all;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::vector<Sample> samples = samples_at(here, paths[i]);
    if (threaded[i] == 0.0) {
      Sample total;
      for (const Sample& x : samples) {
        total.calls += x.calls;
        total.seconds += x.seconds;
        total.sent += x.sent;
      }
      samples = {total};
    } else if (std::ssize(samples) < n_threads()) {
      samples.resize(n_threads());
    }
    Sample sum;
    double squares = 0.0, largest = 0.0, smallest = samples.front().seconds;
    for (const Sample& x : samples) {
      sum.calls += x.calls;
      sum.seconds += x.seconds;
      sum.sent += x.sent;
      squares += x.seconds * x.seconds;
      largest = std::max(largest, x.seconds);
      smallest = std::min(smallest, x.seconds);
    }
    all.calls.push_back(sum.calls);
    all.messages.push_back(sum.sent.messages);
    all.bytes.push_back(sum.sent.bytes);
    all.collectives.push_back(sum.sent.collectives);
    all.seconds.push_back(sum.seconds);
    all.squares.push_back(squares);
    all.samples.push_back(static_cast<double>(samples.size()));
    all.largest.push_back(largest);
    all.smallest_negated.push_back(-smallest);
  }
  for (auto* sum : {&all.seconds, &all.squares, &all.samples}) comm.sum(std::span(*sum));
  for (auto* sum : {&all.calls, &all.messages, &all.bytes, &all.collectives}) comm.sum(std::span(*sum));
  for (auto* max : {&all.largest, &all.smallest_negated}) comm.max(std::span(*max));
  return all;
}

/// By path. Collective.
std::vector<StepSpread> reduce_steps(const Comm& comm, const Measured& here, const std::vector<std::string>& paths) {
  const std::int64_t samples = comm.sum(here.steps), steps = comm.max(here.steps);
  std::vector<StepSpread> spreads(paths.size());
  if (samples == 0) return spreads;
  std::vector<double> sums, scatter, most, least_negated;
  for (const std::string& path : paths) {
    const auto found = here.in_steps.find(path);
    const detail::StepSums s = found == here.in_steps.end() ? detail::StepSums{} : found->second;
    const double n = std::max(1.0, static_cast<double>(here.steps)), tick = here.tick;
    sums.push_back(s.sum * tick);
    scatter.push_back(std::max(0.0, s.squares - s.sum * s.sum / n) * tick * tick);
    most.push_back(static_cast<double>(s.most) * tick);
    least_negated.push_back(s.steps < here.steps ? 0.0 : -static_cast<double>(s.least) * tick);
  }
  for (auto* sum : {&sums, &scatter}) comm.sum(std::span(*sum));
  for (auto* max : {&most, &least_negated}) comm.max(std::span(*max));
  const auto n = static_cast<double>(samples), freedoms = std::max(1.0, n - comm.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const double mean = sums[i] / n;
    spreads[i] = {steps, -least_negated[i], mean, most[i], mean > 0.0 ? std::sqrt(scatter[i] / freedoms) / mean : 0.0};
  }
  return spreads;
}

}  // namespace

std::vector<TimerRow> collect_timers(const Comm& comm) {
  const Measured here = measured_here();
  const std::vector<std::string> paths = all_paths(comm, here.paths);
  const Statistics all = reduce(comm, here, paths);
  const std::vector<StepSpread> in_steps = reduce_steps(comm, here, paths);
  std::vector<TimerRow> rows;
  std::unordered_map<std::string, double> mean_of;
  for (const std::size_t i : depth_first(paths)) {
    TimerRow row;
    row.name = paths[i].substr(paths[i].rfind('\n') + 1);
    row.depth = static_cast<int>(std::count(paths[i].begin(), paths[i].end(), '\n'));
    row.calls = all.calls[i];
    row.samples = static_cast<std::int64_t>(all.samples[i]);
    row.min = -all.smallest_negated[i];
    row.mean = all.seconds[i] / all.samples[i];
    row.max = all.largest[i];
    const double variance = std::max(0.0, all.squares[i] / all.samples[i] - row.mean * row.mean);
    row.cov = row.mean > 0.0 ? std::sqrt(variance) / row.mean : 0.0;
    row.messages = static_cast<double>(all.messages[i]) / comm.size();
    row.bytes = static_cast<double>(all.bytes[i]) / comm.size();
    row.collectives = static_cast<double>(all.collectives[i]) / comm.size();
    row.step = in_steps[i];
    mean_of[paths[i]] = row.mean;
    const auto parent = mean_of.find(parent_of(paths[i]));
    row.part = parent == mean_of.end() ? 1.0 : (parent->second > 0.0 ? row.mean / parent->second : 0.0);
    rows.push_back(row);
  }
  return rows;
}

namespace {

std::string indented(const TimerRow& r) { return std::string(2 * r.depth, ' ') + r.name; }

std::size_t width_of_names(const std::vector<TimerRow>& rows) {
  std::size_t width = 5;
  for (const TimerRow& r : rows) width = std::max(width, indented(r).size());
  return width;
}

}  // namespace

std::string timer_table(const std::vector<TimerRow>& rows) {
  const std::size_t width = width_of_names(rows);
  const bool sent = std::ranges::any_of(rows, [](const TimerRow& r) { return r.messages + r.collectives > 0.0; });
  std::string text = fmt::format("{:<{}} {:>10} {:>11} {:>11} {:>11} {:>6} {:>9}{}\n", "timer", width, "calls", "min",
                                 "mean", "max", "CoV", "of parent", sent ? "  messages    MB sent    collectives" : "");
  for (const TimerRow& r : rows) {
    text += fmt::format("{:<{}} {:>10} {:>11} {:>11} {:>11} {:>6.2f} {:>7.1f} %", indented(r), width, r.calls,
                        format_seconds(r.min), format_seconds(r.mean), format_seconds(r.max), r.cov, 100.0 * r.part);
    if (sent) text += fmt::format("{:>10.0f} {:>10.3f} {:>14.0f}", r.messages, 1e-6 * r.bytes, r.collectives);
    text += '\n';
  }
  return text;
}

std::string step_table(const std::vector<TimerRow>& rows) {
  const std::size_t width = width_of_names(rows);
  std::string text;
  for (const TimerRow& r : rows) {
    const StepSpread& s = r.step;
    if (s.max == 0.0) continue;
    if (text.empty())
      text = fmt::format("{:<{}} {:>11} {:>11} {:>11} {:>6}\n", fmt::format("in {} steps", s.steps), width, "min",
                         "mean", "max", "CoV");
    text += fmt::format("{:<{}} {:>11} {:>11} {:>11} {:>6.2f}\n", indented(r), width, format_seconds(s.min),
                        format_seconds(s.mean), format_seconds(s.max), s.cov);
  }
  return text;
}

}  // namespace karst
