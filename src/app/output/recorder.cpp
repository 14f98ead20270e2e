// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/job/run_services.hpp"
#include "base/comm/fail_together.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

constexpr double most_states = 400.0;  ///< for charts
constexpr double lines_in_log = 20.0;

}  // namespace

Json recorded_json(const Recorded& recorded) {
  Json json{{"steps", recorded.steps},           {"time", recorded.time},   {"next_state", recorded.next_state},
            {"next_frame", recorded.next_frame}, {"frames", Json::array()}, {"files", files_json(recorded.files)}};
  for (const PlaneFrames& frames : recorded.frames) json["frames"].push_back(frames_json(frames));
  return json;
}

void take_recorded(const Json& json, Recorded& recorded) {
  recorded.steps = json.at("steps");
  recorded.time = json.at("time");
  recorded.next_state = json.at("next_state");
  recorded.next_frame = json.at("next_frame");
  recorded.frames.clear();
  for (const Json& frames : json.at("frames")) recorded.frames.push_back(frames_of(frames));
  take_files(json.at("files"), recorded.files);
}

Recorder::Recorder(const JobContext& run, std::string process, const std::vector<History>& histories)
    : run_(run), process_(std::move(process)) {
  for (const History& h : histories) {
    recorded_.files.histories.push_back(h.name);
    histories_.try_emplace(h.name, h.header);
  }
}

void Recorder::expect(double n_steps, int first_state) {
  n_steps_ = n_steps;
  if (recorded_.steps == 0) recorded_.next_state = first_state;
}

void Recorder::open(bool goes_on) {
  const ResultFiles& results = run_.services.files;
  for (auto& [name, history] : histories_) {
    fail_together(run_.comm, [&] {
      if (run_.comm.rank() == 0 && results.written()) history.file.open(results.path(name), goes_on);
    });
    if (!goes_on) history.file.append(history.header);
  }
}

void Recorder::begin() { open(false); }

void Recorder::go_on(const Json& recorded) {
  fail_together(run_.comm, [&] { take_recorded(recorded, recorded_); });
  open(true);
}

void Recorder::close() {
  for (auto& [name, history] : histories_) fail_together(run_.comm, [&] { history.file.finish(); });
}

void Recorder::hold() {
  holds_ = true;
  static_cast<RecordedSteps&>(held_) = recorded_;
  held_.n_frames.clear();
  for (const PlaneFrames& frames : recorded_.frames) held_.n_frames.push_back(frames.values.size());
}

void Recorder::release() {
  holds_ = false;
  for (auto& [name, history] : histories_) {
    history.file.append(history.waiting);
    history.waiting.clear();
  }
}

void Recorder::drop() {
  holds_ = false;
  for (auto& [name, history] : histories_) history.waiting.clear();
  static_cast<RecordedSteps&>(recorded_) = held_;
  recorded_.frames.resize(held_.n_frames.size());
  for (std::size_t i = 0; i < held_.n_frames.size(); ++i) recorded_.frames[i].keep(held_.n_frames[i]);
}

void Recorder::append(const std::string& history, const std::string& lines) {
  OpenHistory& to = histories_.at(history);
  if (holds_)
    to.waiting += lines;
  else
    to.file.append(lines);
}

bool Recorder::take_step(double time, double part, bool last) {
  ++recorded_.steps;
  recorded_.time = time;
  const bool due = n_steps_ > 0.0 ? recorded_.steps >= std::ceil(n_steps_ / most_states * recorded_.next_state)
                                  : most_states * part >= recorded_.next_state;
  if (due || last) ++recorded_.next_state;
  return due || last;
}

std::string Recorder::title() const {
  return fmt::format("{}, step {}", process_, recorded_.steps) +
         (n_steps_ > 0.0 ? fmt::format(" of {:.0f}", n_steps_) : "");
}

void Recorder::tell(double part, const std::string& note, const std::string& more, const std::string& detail) {
  if (holds_) return;
  run_.services.progress.tell(part, title() + more, note);
  if (detail.empty() || part < next_log_) return;
  log_detail("{}: {}; {}", title(), note, detail);
  next_log_ = part + 1.0 / lines_in_log;
}

void Recorder::add_frame(const FieldView& view, std::span<const std::string> fields, int axis) {
  recorded_.frames.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (const auto place = view.find(fields[i]))
      recorded_.frames[i].add(middle_plane(run_.comm, view, {&*place, 1}, across(view.cells, axis)), recorded_.time);
  ++recorded_.next_frame;
}

int Recorder::steps_per_frame(int most) const {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(recorded_.steps / most + 1)));
}

void Recorder::add_step_frame(const FieldView& view, std::span<const std::string> fields, int axis, int most) {
  const int steps = steps_per_frame(most);
  const auto n_before = static_cast<std::size_t>((recorded_.steps + steps - 1) / steps);  // of those that stay
  for (PlaneFrames& frames : recorded_.frames)
    while (frames.values.size() > n_before) frames.thin();
  add_frame(view, fields, axis);
}

void Recorder::skip_frames(double part) {
  recorded_.next_frame = std::max(recorded_.next_frame, static_cast<int>(part * most_frames) + 1);
}

void Recorder::leave_animation(std::size_t field, const PlaneLook& look, const std::string& file,
                               const std::string& figure, Figures& figures) const {
  if (field < recorded_.frames.size()) leave_animation(recorded_.frames[field], look, file, figure, figures);
}

void Recorder::leave_animation(const PlaneFrames& frames, const PlaneLook& look, const std::string& file,
                               const std::string& figure, Figures& figures) const {
  std::string picture;
  if (run_.comm.rank() == 0) {
    if (!figure.empty()) figures[figure] = moving_figure(frames, look);
    picture = moving_picture(frames, look.low, look.high);
  }
  run_.services.files.write(run_.comm, file, picture);
}

bool Recorder::keep_files() {
  const auto flush = [this] {
    for (auto& [name, history] : histories_) history.file.flush();
  };
  return karst::keep_files(run_, process_, flush, recorded_.files);
}

void Recorder::bring_files(const Json& recorded) const {
  FilesInTime files = recorded_.files;
  take_files(recorded.at("files"), files);
  karst::bring_files(run_, files);
}

}  // namespace karst
