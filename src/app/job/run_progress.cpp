// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/run_progress.hpp"

#include <csignal>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/math/no_number.hpp"

namespace karst {

namespace {

constexpr double longest_wait = 0.95;  // of the time expected of a part that does not tell how far it is

}  // namespace

void RunClock::expect(const std::vector<RunPart>& parts) {
  auto next = parts.begin();
  if (current_ > 0) {
    next = std::ranges::find(parts, parts_[current_ - 1].stage, &RunPart::stage);
    next = next == parts.end() ? parts.begin() : next + 1;
  }
  parts_.resize(current_);
  parts_.insert(parts_.end(), next, parts.end());
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
  auto next = parts_.begin() + current_;
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
  return done < least * (done + expected) ? no_number : seconds;
}

double RunClock::part(double now) {
  const double rest = left(now), gone = current_ == 0 ? 0.0 : now - first_;
  if (std::isfinite(rest) && gone + rest > 0.0) shown_ = std::max(shown_, gone / (gone + rest));
  return shown_;
}

void RunProgress::follow(const Comm& comm, std::vector<RunPart> parts) {
  clock_ = RunClock(std::move(parts));
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

void RunProgress::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
  line_.clear();
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

void RunProgress::begin(const std::string& stage, const std::string& what) {
  const std::lock_guard lock(mutex_);
  clock_.begin(stage, line_.now());
  what_ = what;
  note_.clear();
}

void RunProgress::tell(double fraction, const std::string& what, const std::string& note) {
  const std::lock_guard lock(mutex_);
  clock_.set_fraction(fraction);
  what_ = what;
  note_ = note;
}

}  // namespace karst
