// SPDX-License-Identifier: BSD-3-Clause
// A job and what it runs in.
#pragma once

#include "app/job/run_services.hpp"
#include "app/run/simulation.hpp"
#include "eb/shapes/shapes.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::test {

struct JobCase {
  JobCase(const GridOptions& cells, const LevelSet& walls)
      : grid(cells), geometry(build_geometry(comm, grid, walls, KeepPores::all)) {
    services.files.path = [this](const std::string& name) { return folder.path() + "/" + name; };
  }
  JobCase(const JobCase&) = delete;
  JobCase& operator=(const JobCase&) = delete;

  Comm comm = Comm::world();
  PetscSession petsc;
  SharedDirectory folder{comm};
  Config config;
  GridOptions grid;
  Geometry geometry;
  RunServices services;
  JobContext context{comm, config, grid, test::ground_on(comm, geometry), services};
};

/// A channel of 20 × 8 × 1 cells of 1 m with a disc of 3 m, water pushed in on -x at 4 µm/s; refined: cells of half the
/// width from the middle of the disc on for 8 m.
struct DiscInChannel : JobCase {
  DiscInChannel(FlowModel model, bool refined)
      : JobCase(cells(refined), *make_level_set(Cylinder{{{6, 3.9, 0}}, 1.5})) {
    config.flow.model = model;
    config.flow.estimate_error = false;
    config.flow.tolerance = 1e-9;
    config.flow.axes = {0};
    config.flow.inlets.emplace_back();
    config.flow.inlets[0].velocity = 4e-6;
  }
  static GridOptions cells(bool refined) {
    const GridOptions grid = diffusion_grid({20, 8, 1}, {false, false, true});
    return refined ? refined_in(grid, 1, {8, 0, 0}, {16, 8, 1}) : grid;
  }
};

}  // namespace karst::test
