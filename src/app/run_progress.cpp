// SPDX-License-Identifier: BSD-3-Clause
#include "app/run_progress.hpp"

#include <csignal>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/source.hpp"
#include "base/parallel.hpp"

namespace karst {

namespace {

// Seconds of one thread per voxel or cell, measured on the quickstart and on rocks of 160³ voxels. All on the same
// machine: their ratios count.
constexpr double import_per_voxel = 15e-6, geometry_per_cell = 14e-6, flow_per_fluid_cell = 60e-6,
                 diffusion_per_fluid_cell = 30e-6, output_per_fluid_cell = 6e-6;
constexpr double picture = 1.0, picture_per_fluid_cell = 9e-6;  // of the flow along an axis
constexpr double finished_tolerance = 1e-8;                     // of these times
constexpr double twice_as_wide = 0.2, three_times = 0.08;       // of the work on the cells asked for, set-up included
constexpr double longest_wait = 0.95;  // of the time expected of a part that does not tell how far it is

/// Solves of the flow: each axis, then pictures, and the same on wider cells and with moved walls.
void add_flow(const Config& config, double solve, double pictures, std::vector<RunPart>& parts) {
  const FlowOptions& flow = config.flow;
  const double work = solve * std::log(flow.tolerance) / std::log(finished_tolerance);
  for (std::size_t axis = 0; axis < flow.axes.size(); ++axis) {
    parts.push_back({"flow", work});
    if (flow.model == FlowModel::steady)
      for (std::size_t step = 0; step < flow.steps.size(); ++step) parts.push_back({"flow", 2.0 * work});
  }
  std::vector<double> again;
  if (flow.estimate_error) again = {twice_as_wide * work, three_times * work};
  if (flow.uncertainty) again.insert(again.end(), {work, work});
  double before = pictures * static_cast<double>(flow.axes.size());  // what the next part begins with
  for (const double seconds : again)
    for (std::size_t axis = 0; axis < flow.axes.size(); ++axis)
      parts.push_back({"flow", seconds + std::exchange(before, 0.0)});
  parts.push_back({"flow", before});
}

}  // namespace

RunSize size_before(const Config& config, double workers) {
  constexpr double usual_porosity = 0.3, usual_voxels = 1e6;
  const auto count = [](const Index& n) { return double{1} * n[0] * n[1] * n[2]; };
  RunSize size;
  size.workers = workers;
  size.voxels = count(config.import.size);
  std::error_code problem;
  const std::filesystem::path image = std::filesystem::path(config.geometry.directory) / config.geometry.image;
  const auto bytes = std::filesystem::file_size(image, problem);
  if (size.voxels <= 0.0) size.voxels = problem ? usual_voxels : static_cast<double>(bytes);
  size.cells = config.cells_given ? count(config.grid.cells) : size.voxels;
  size.fluid = usual_porosity * size.cells;
  return size;
}

RunSize size_of(const GeometryStatistics& s) {
  const Index& n = s.report.levels.at(0).cells;
  return {0.0, double{1} * n[0] * n[1] * n[2], static_cast<double>(s.sum(&LevelReport::vofs_composite)),
          static_cast<double>(s.workers)};
}

std::vector<RunPart> parts_of_run(const Config& config, const RunSize& size) {
  std::vector<RunPart> parts;
  const auto seconds = [&](double per, double count) { return per * count / size.workers; };
  if (needs_import(config)) parts.push_back({"import", seconds(import_per_voxel, size.voxels)});
  parts.push_back({"geometry", seconds(geometry_per_cell, size.cells)});
  if (config.flow.model != FlowModel::none)
    add_flow(config, seconds(flow_per_fluid_cell, size.fluid),
             seconds(1.0, picture + picture_per_fluid_cell * size.fluid), parts);
  for (std::size_t axis = 0; axis < config.diffusion.axes.size(); ++axis)
    parts.push_back({"diffusion", seconds(diffusion_per_fluid_cell, size.fluid)});
  parts.push_back({"output", seconds(output_per_fluid_cell, size.fluid)});
  return parts;
}

void RunClock::expect(const std::vector<RunPart>& parts) {
  const std::size_t n = std::min(parts.size(), parts_.size());
  for (std::size_t p = current_; p < n; ++p) parts_[p].seconds = parts[p].seconds;
}

void RunClock::end(double now) {
  if (current_ == 0) return;
  const RunPart& part = parts_[current_ - 1];
  auto found = std::ranges::find(done_, part.stage, &std::pair<std::string, Done>::first);
  if (found == done_.end()) found = done_.insert(done_.end(), {part.stage, {}});
  found->second.expected += part.seconds;
  found->second.taken += now - begun_;
}

void RunClock::begin(const std::string& stage, double now) {
  end(now);
  if (current_ == 0) first_ = now;
  auto next = parts_.begin() + static_cast<std::ptrdiff_t>(current_);
  const auto found = std::ranges::find(next, parts_.end(), stage, &RunPart::stage);
  if (found != parts_.end())
    next = parts_.erase(next, found);  // left out
  else
    next = parts_.insert(next, {stage, 0.0});
  current_ = static_cast<std::size_t>(next - parts_.begin()) + 1;
  begun_ = now;
  fraction_ = 0.0;
}

double RunClock::fraction(double now) const {
  if (current_ == 0) return 0.0;
  const RunPart& part = parts_[current_ - 1];
  double taken = 0.0, expected = 0.0;
  for (const auto& [stage, done] : done_)
    if (done.expected > 0.0) taken += done.taken, expected += done.expected;
  const double wanted = part.seconds * (expected > 0.0 ? taken / expected : 1.0);
  const double waited = wanted > 0.0 ? std::min((now - begun_) / wanted, longest_wait) : 0.0;
  return fraction_ > 0.0 ? fraction_ : waited;
}

RunClock::Done RunClock::done_of(const std::string& stage, double now) const {
  Done sum;
  for (const auto& [name, done] : done_)
    if (stage.empty() || name == stage) sum.expected += done.expected, sum.taken += done.taken;
  if (current_ > 0 && (stage.empty() || parts_[current_ - 1].stage == stage)) {
    sum.expected += fraction(now) * parts_[current_ - 1].seconds;
    sum.taken += now - begun_;
  }
  return sum;
}

double RunClock::ratio(const std::string& stage, double now) const {
  const Done own = done_of(stage, now), all = done_of("", now);
  if (own.expected > 0.0) return own.taken / own.expected;
  return all.expected > 0.0 ? all.taken / all.expected : 1.0;
}

double RunClock::left(double now) const {
  constexpr double least = 0.01;  // of the run
  double seconds = 0.0, expected = 0.0, done = done_of("", now).expected;
  for (std::size_t p = current_ == 0 ? 0 : current_ - 1; p < parts_.size(); ++p) {
    const bool runs = p + 1 == current_;
    const double rest = parts_[p].seconds * (runs ? 1.0 - fraction(now) : 1.0);
    expected += rest;
    seconds += rest * ratio(parts_[p].stage, now);
  }
  return done < least * (done + expected) ? std::numeric_limits<double>::quiet_NaN() : seconds;
}

double RunClock::part(double now) {
  const double rest = left(now), gone = current_ == 0 ? 0.0 : now - first_;
  if (std::isfinite(rest) && gone + rest > 0.0) shown_ = std::max(shown_, gone / (gone + rest));
  return shown_;
}

RunProgress::RunProgress(const Comm& comm, std::vector<RunPart> parts, ProgressOutput output)
    : clock_(std::move(parts)), line_(std::move(output)) {
  if (comm.rank() != 0) return;
  sigset_t all, before;  // signals are for the threads of the run
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, std::chrono::milliseconds(100), [this] { return ended_; })) show();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RunProgress::~RunProgress() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RunProgress::show() {
  if (what_.empty() || !line_.is_due()) return;
  const double now = line_.now();
  line_.write({clock_.part(now), clock_.left(now), what_, note_});
}

void RunProgress::expect(const std::vector<RunPart>& parts) {
  const std::lock_guard lock(mutex_);
  clock_.expect(parts);
}

void RunProgress::begin(const std::string& stage, const std::string& what) {
  const std::lock_guard lock(mutex_);
  clock_.begin(stage, line_.now());
  what_ = what;
  note_.clear();
}

std::unique_ptr<RunProgress> follow_run(const Comm& comm, const Config& config) {
  const auto workers = static_cast<double>(comm.sum(std::int64_t{n_threads()}));
  auto progress = std::make_unique<RunProgress>(comm, parts_of_run(config, size_before(config, workers)));
  if (needs_import(config)) progress->begin("import", "import");
  return progress;
}

void RunProgress::tell(double fraction, const std::string& what, const std::string& note) {
  const std::lock_guard lock(mutex_);
  clock_.set_fraction(fraction);
  what_ = what;
  note_ = note;
}

}  // namespace karst
