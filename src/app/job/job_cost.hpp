// SPDX-License-Identifier: BSD-3-Clause
// What a job costs, apart from what it does: estimates need nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace karst {

class Ground;
struct Config;
struct GridOptions;

/// A grid that a job solves on, for estimates before anything is built.
struct PlannedGrid {
  std::string name;             ///< "cells 2 times as wide"; empty: the grid of the deck
  double width = 1.0;           ///< of its cells over those of the deck
  int reservoir = 0, axis = 0;  ///< cells of free fluid on both ends along the axis
  bool builds = false;          ///< a geometry of its own, beside that of the run
  double iterations = 0.0;      ///< of all its solves, which share one set-up
  int solves = 1;               ///< they come one after the other
};

/// Bytes of a part of a run: so many of each VoF, irregular VoF and value stored of a field (halo included).
struct BytesPer {
  double fluid = 0.0, irregular = 0.0, slot = 0.0;
};

/// What a job will do, as far as the deck tells. The bytes are measured (docs/performance.md).
struct JobPlan {
  std::vector<PlannedGrid> grids;
  BytesPer solve;          ///< while it solves, without the geometry
  double kept = 0.0;       ///< stays until the end of the run [bytes per VoF]
  double more_work = 1.0;  ///< as many iterations may be needed as planned, times this
};

/// How fast a job is on this machine, with these threads: seconds per unit of work of set-up, and per VoF and
/// iteration.
struct JobPace {
  double setup = 0.0, iteration = 0.0;
};

/// What a job took for a small problem, to find its pace [s].
struct JobTrial {
  double setup = 0.0, solves = 0.0;
  int iterations = 1;
};

struct JobCost {
  /// As far as the deck tells, before anything is built. Not collective.
  JobPlan (*plan)(const Config&, const GridOptions&);
  double irregular_setup = 5.0;  ///< more work of its set-up on an irregular cell than on another, which is 1
  /// Solves on a periodic geometry of cells of width 1, as long as it takes to time it. Collective; a PetscSession
  /// lives.
  JobTrial (*trial)(const std::shared_ptr<const Ground>&);
  JobPace usual_pace;  ///< of one thread, on the runs of docs/performance.md: where only ratios count
  /// Fields of a word of output.plot that it makes: one per axis, component ...
  int (*n_fields)(const Config&, PlotField) = [](const Config&, PlotField) { return 0; };

  /// Of its set-up, in the unit of JobPace::setup.
  /// @param irregular  those of the fluid cells that are
  double setup_work(double fluid, double irregular) const { return fluid + irregular_setup * irregular; }
};

}  // namespace karst
