// SPDX-License-Identifier: BSD-3-Clause
// One progress over a whole run: its parts with the seconds that they are expected to take, of which ratios count
// alone.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/file/log.hpp"

namespace karst {

/// A piece of a run.
struct RunPart {
  std::string stage;     ///< import, geometry, a job (each of its solves is a part), output
  double seconds = 1.0;  ///< that it is expected to take
};

/// How far a run has come and how long the rest takes: parts that are done correct the times expected of those to come,
/// first of the same stage. Pure arithmetic, no clock.
class RunClock {
 public:
  explicit RunClock(std::vector<RunPart> parts = {}) : parts_(std::move(parts)) {}
  /// What comes behind the first part of the stage that runs takes the place of all that is still to come.
  void expect(const std::vector<RunPart>& parts);
  /// Ends the part that runs and begins the next one of the stage; those between are left out. Parts that nobody
  /// expected count with the time that they take.
  void begin(const std::string& stage, double now);
  /// Of the part that runs, 0 to 1; 0: not known, the time expected of it tells.
  void set_fraction(double fraction) { fraction_ = fraction; }
  /// Of the run; never falls.
  double part(double now);
  /// Seconds until the end; NaN while too little is done to tell.
  double left(double now) const;

 private:
  struct Done {
    double expected = 0.0, taken = 0.0;
  };
  Done done_of(const std::string& stage, double now) const;  ///< all stages: ""
  double ratio(const std::string& stage, double now) const;
  double fraction(double now) const;
  void end(double now);

  std::vector<RunPart> parts_;
  std::vector<std::pair<std::string, Done>> done_;  ///< by stage
  std::size_t current_ = 0;                         ///< its index + 1; 0: none has begun
  double begun_ = 0.0, first_ = 0.0, fraction_ = 0.0, shown_ = 0.0;
};

/// Shows it while the run goes on, by a thread of its own on rank 0, so that the line moves in long steps, too. The
/// functions may be called on every rank; none is collective.
class RunProgress {
 public:
  /// Shows nothing until follow().
  RunProgress() = default;
  RunProgress(const Comm& comm, std::vector<RunPart> parts, ProgressOutput output = ProgressOutput::standard())
      : line_(std::move(output)) {
    follow(comm, std::move(parts));
  }
  ~RunProgress() { end(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  void follow(const Comm& comm, std::vector<RunPart> parts);
  /// Clears the line, and shows and tells nothing from now on.
  void end();
  /// Also tells somebody, every second and on rank 0: from a thread of its own, until end().
  void tell_also(std::function<void(const ProgressState&)> somebody);
  void expect(const std::vector<RunPart>& parts);
  /// @param what  is said of it
  void begin(const std::string& stage, const std::string& what);
  void tell(double fraction, const std::string& what, const std::string& note);

 private:
  void show();

  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  RunClock clock_;
  std::string what_, note_;
  std::function<void(const ProgressState&)> somebody_;
  double next_ = 0.0;  ///< when somebody is told
  Progress line_;
  std::thread thread_;  ///< rank 0
};

}  // namespace karst
