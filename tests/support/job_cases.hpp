// SPDX-License-Identifier: BSD-3-Clause
// A job and what it runs in.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
  JobCase(const GridOptions& cells, const LevelSet& walls, const Comm& of = Comm::world())
      : comm(of), grid(cells), geometry(build_geometry(comm, grid, walls, KeepPores::all)) {
    services.files.path = [this](const std::string& name) { return folder.path() + "/" + name; };
  }
  JobCase(const JobCase&) = delete;
  JobCase& operator=(const JobCase&) = delete;

  Comm comm;
  PetscSession petsc;
  SharedDirectory folder{comm};
  Config config;
  GridOptions grid;
  Geometry geometry;
  RunServices services;
  JobContext context{comm, config, grid, test::ground_on(comm, geometry), services};
};

/// Spheres of one mineral, "grain".
inline std::unique_ptr<LevelSet> grains(std::initializer_list<Sphere> all) {
  LevelSetParts parts;
  for (const Sphere& sphere : all) parts.push_back(of_mineral(make_level_set(sphere), 0));
  return union_of_solids(std::move(parts), {"grain"});
}

/// In every step a component of concentration 1 at most is conserved and stays in its bounds.
/// @param columns  of transport.csv
inline void expect_conserved_and_bounded(const std::map<std::string, std::vector<double>>& columns,
                                         const std::string& component) {
  for (const double x : columns.at(component + "_imbalance")) EXPECT_LT(x, 1e-12);
  for (const double x : columns.at(component + "_min")) EXPECT_GE(x, -1e-13);
  for (const double x : columns.at(component + "_max")) EXPECT_LE(x, 1.0 + 1e-13);
}

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
