// SPDX-License-Identifier: BSD-3-Clause
// What every process in time leaves of its steps (decision 051): histories, states for charts, frames of animations,
// its progress, and checkpoints.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/job/files_in_time.hpp"
#include "app/output/field_view.hpp"
#include "app/output/moving_picture.hpp"
#include "base/file/growing_file.hpp"

namespace karst {

/// What was recorded up to a step, as far as a checkpoint holds it.
struct RecordedSteps {
  int steps = 0;
  double time = 0.0;   ///< at the end of the last step [s]
  int next_state = 1;  ///< number of the next state for charts, of some hundred in a run
  int next_frame = 0;  ///< number of the next frame, of most_frames
};
struct Recorded : RecordedSteps {
  std::vector<PlaneFrames> frames;  ///< per animated field
  FilesInTime files;
};

/// As JSON, every bit of every number, and back.
Json recorded_json(const Recorded& recorded);
/// @param[in,out] recorded  with the names of the histories. Throws Error: other histories.
void take_recorded(const Json& json, Recorded& recorded);

/// Records a process in time. What is recorded within a step, as of sub-steps, stays only if that is accepted:
///
///   Recorder recorder(run, "flow", {{"history.csv", header}});
///   recorder.begin();  // or recorder.go_on(json) of one before it
///   recorder.hold();   // before a step; then drop() after one that failed
///   after each step:
///     recorder.release();
///     recorder.append("history.csv", line);
///     if (recorder.take_step(time, part, last)) states.push_back(state);
///     if (recorder.frame_due(part)) recorder.add_frame(view, {"speed"}, axis);
///     recorder.tell(part, note);
class Recorder {
 public:
  /// A file that grows by lines, and its first one.
  struct History {
    std::string name, header;
  };
  /// @param process  its name in messages and checkpoints
  Recorder(const JobContext& run, std::string process, const std::vector<History>& histories);

  /// Steps of the run; 0: not known in advance. Then charts have states by the part of the time that has gone.
  /// @param first_state  number of the first state; 0: the first step has one, else it may be left out
  void expect(double n_steps, int first_state = 1);
  const Recorded& recorded() const { return recorded_; }
  FilesInTime& files() { return recorded_.files; }

  const std::string& process() const { return process_; }

  /// Begins the histories, on rank 0, where the run has files. Throws the same Error on all ranks. Collective.
  void begin();
  /// Goes on where another one was; its histories are in place. The same otherwise.
  /// @param recorded  its json()
  void go_on(const Json& recorded);
  Json json() const { return recorded_json(recorded_); }
  /// For a checkpoint: json() has the histories from now on, and copies of plotfiles are beside it. Where that fails,
  /// says so and returns false. Collective.
  bool keep_files();
  /// Puts histories and plotfiles of a checkpoint where the run writes. Throws Error on rank 0 alone: a copy is missing
  /// or damaged. Not collective.
  void bring_files(const Json& recorded) const;

  /// What is recorded from here on waits for release(), or goes by drop(). Not collective.
  void hold();
  void release();
  /// All is as at hold().
  void drop();

  /// To a history; on rank 0, where it is open. Not collective.
  void append(const std::string& history, const std::string& lines);
  /// Ends the histories, which are written whole then. Throws the same Error on all ranks: not all could be.
  /// Collective.
  void close();

  /// Counts a step that ends at this time [s], a part of the run. True: charts show its state, as they do of some
  /// hundred steps, evenly distributed, and of the last one.
  bool take_step(double time, double part, bool last);
  /// Shows "PROCESS, step 3 of 20" with the note; not of what waits.
  /// @param more    behind the number of the step
  /// @param detail  for the log alone, some twenty times in a run; empty: no lines in the log
  void tell(double part, const std::string& note, const std::string& more = "", const std::string& detail = "");

  /// The next of most_frames is due where `done` of `all` has gone.
  bool frame_due(double done, double all = 1.0) const { return most_frames * done >= recorded_.next_frame * all; }
  /// Where there are n_stills frames alone: the next one, as above, the last at the end.
  bool still_due(double done, double all = 1.0) const {
    return n_stills * done >= (recorded_.next_frame + 1) * all * (1.0 - 1e-9);
  }
  /// A frame per field: its plane through the middle along the axis. Collective.
  void add_frame(const FieldView& view, std::span<const std::string> fields, int axis);
  /// Where it is not known how many steps there will be: whether the last step is one of those evenly distributed.
  /// @param most  frames of the run
  bool step_frame_due(int most) const { return recorded_.steps % steps_per_frame(most) == 0; }
  /// Such a frame, for which every second one of those before is dropped when there are too many. Collective.
  void add_step_frame(const FieldView& view, std::span<const std::string> fields, int axis, int most);
  /// Leaves out frames that were due before this part of the run.
  void skip_frames(double part);
  /// The animation of a field as a file and, on rank 0, as a figure; nothing without frames. Collective.
  /// @param figure  its key; empty: none
  void leave_animation(std::size_t field, const PlaneLook& look, const std::string& file, const std::string& figure,
                       Figures& figures) const;
  /// The same of other frames.
  void leave_animation(const PlaneFrames& frames, const PlaneLook& look, const std::string& file,
                       const std::string& figure, Figures& figures) const;

 private:
  struct OpenHistory {
    std::string header;
    GrowingFile file{};     ///< on rank 0
    std::string waiting{};  ///< lines, between hold() and release()
  };
  /// Of Recorded, at hold().
  struct Held : RecordedSteps {
    std::vector<std::size_t> n_frames;  ///< per animated field
  };
  void open(bool goes_on);
  std::string title() const;
  /// A power of two.
  int steps_per_frame(int most) const;

  const JobContext& run_;
  std::string process_;
  std::map<std::string, OpenHistory> histories_;
  Recorded recorded_;
  Held held_;
  bool holds_ = false;
  double n_steps_ = 0.0, next_log_ = 0.0;
};

}  // namespace karst
