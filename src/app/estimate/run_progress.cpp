// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/run_progress.hpp"

#include <csignal>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "app/deck/plot_words.hpp"
#include "app/deck/source.hpp"
#include "app/estimate/time_estimate.hpp"

namespace karst {

namespace {

constexpr double longest_wait = 0.95;  // of the time expected of a part that does not tell how far it is

constexpr double usual_porosity = 0.3, usual_irregular = 0.4;  // of the cells, of the VoFs
constexpr double usual_voxels = 1e6;                           // of an image that is not there

/// The solves of a job, grid by grid; the first on a grid has its set-up, and the pictures come with what follows.
void add_job(const Config& config, const Job& job, const RunSize& size, std::vector<RunPart>& parts) {
  const std::string name(job.word.name);
  double before = 0.0;  // what the next part begins with
  for (const PlannedGrid& g : job.cost.plan(config, size.grid).grids) {
    const GridSeconds s = grid_seconds(usual_geometry_pace, job.cost, job.cost.usual_pace, g, size.counts, size.grid);
    before += s.geometry + s.setup;
    for (int solve = 0; solve < g.solves; ++solve)
      parts.push_back({name, std::exchange(before, 0.0) + s.solves / g.solves});
    before += s.pictures;
  }
  parts.push_back({name, before});
}

}  // namespace

RunSize size_before(const Config& config) {
  const auto count = [](const Index& n) { return double{1} * n[0] * n[1] * n[2]; };
  RunSize size;
  size.voxels = count(config.import.size);
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(image_path(config), problem);
  if (size.voxels <= 0.0) size.voxels = problem ? usual_voxels : static_cast<double>(bytes);
  size.grid = config.grid;
  const int width = 2 * std::max(1, static_cast<int>(std::cbrt(size.voxels) / 2.0));
  if (!config.cells_given) size.grid.cells = count(config.import.size) > 0.0 ? config.import.size : Index::all(width);
  GridCounts& c = size.counts;
  c.box_cells = count(size.grid.cells);
  c.boxes = c.box_cells / std::pow(size.grid.box, 3);
  c.fluid = usual_porosity * c.box_cells;
  c.irregular = c.cut = usual_irregular * c.fluid;
  return size;
}

RunSize size_of(const GeometryStatistics& s, const GridOptions& grid) {
  RunSize size;
  size.grid = grid;
  GridCounts& c = size.counts;
  c.boxes = static_cast<double>(s.sum(&LevelReport::boxes));
  c.box_cells = c.boxes * std::pow(grid.box, 3);
  c.fluid = static_cast<double>(s.sum(&LevelReport::vofs));
  c.irregular = static_cast<double>(s.sum(&LevelReport::irregular));
  c.cut = static_cast<double>(s.sum(&CutCounts::cells_cut));
  return size;
}

std::vector<RunPart> parts_of_run(const Config& config, const std::vector<Job>& jobs, const RunSize& size) {
  std::vector<RunPart> parts;
  if (needs_import(config)) parts.push_back({"import", usual_import_per_voxel * size.voxels});
  parts.push_back({"geometry", geometry_seconds(usual_geometry_pace, size.counts)});
  double iteration = 0.0;
  int n_components = static_cast<int>(plot_components(config.output.plot).size());
  for (const Job& job : jobs) {
    add_job(config, job, size, parts);
    iteration = std::max(iteration, job.cost.usual_pace.iteration);
    n_components += job.cost.n_components(config);
  }
  parts.push_back({"output", plotfile_seconds(usual_geometry_pace, iteration, n_components, size.counts)});
  return parts;
}

void RunClock::expect(const std::vector<RunPart>& parts) {
  auto next = parts.begin();
  if (current_ > 0) {
    next = std::ranges::find(parts, parts_[current_ - 1].stage, &RunPart::stage);
    next = next == parts.end() ? parts.begin() : next + 1;
  }
  parts_.resize(current_);
  parts_.insert(parts_.end(), next, parts.end());
}

void RunClock::repeat(const std::vector<RunPart>& parts) {
  parts_.resize(current_);
  if (current_ > 0) parts_.back().seconds *= fraction_;
  parts_.insert(parts_.end(), parts.begin(), parts.end());
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
  const double now = line_.now();
  const bool tells = somebody_ && now >= next_;
  if (what_.empty() || !(tells || line_.is_due())) return;
  const ProgressState state{clock_.part(now), clock_.left(now), what_, note_};
  if (tells) {
    somebody_(state);
    next_ = now + 1.0;
  }
  if (line_.is_due()) line_.write(state);
}

void RunProgress::tell_also(std::function<void(const ProgressState&)> somebody) {
  const std::lock_guard lock(mutex_);
  somebody_ = std::move(somebody);
}

void RunProgress::expect(const std::vector<RunPart>& parts) {
  const std::lock_guard lock(mutex_);
  clock_.expect(parts);
}

void RunProgress::repeat(const std::vector<RunPart>& parts) {
  const std::lock_guard lock(mutex_);
  clock_.repeat(parts);
}

void RunProgress::begin(const std::string& stage, const std::string& what) {
  const std::lock_guard lock(mutex_);
  clock_.begin(stage, line_.now());
  what_ = what;
  note_.clear();
}

std::unique_ptr<RunProgress> follow_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs) {
  auto progress = std::make_unique<RunProgress>(comm, parts_of_run(config, jobs, size_before(config)));
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
