// SPDX-License-Identifier: BSD-3-Clause
// Problems for tests of the multigrid: geometries with the two-point operator on them.
#pragma once

#include "solvers/conjugate_gradients.hpp"
#include "support/level_cases.hpp"

namespace karst::test {

enum class Walls { neumann, dirichlet };

/// Neumann walls between two ends of fixed value (a pressure), or Dirichlet walls and Neumann ends (a velocity).
inline TwoPointProblem problem_with(Walls walls) {
  TwoPointProblem problem;
  if (walls == Walls::dirichlet)
    problem.wall = [](int, int, const VofMoments& vof) { return 1.0 / wall_distance(vof); };
  else
    problem.dirichlet_side[0] = problem.dirichlet_side[1] = true;
  return problem;
}

/// Overlapping spheres of porosity 0.35, open at the ends of x, periodic in y and z.
inline LevelGeometry packing_level(const Comm& comm, int n, int box, double radius = 5.0,
                                   KeepPores keep = KeepPores::connected) {
  const int spheres = static_cast<int>(1.05 * n * n * n / (4.19 * radius * radius * radius));
  const auto phi = packing(spheres, radius, n, true);
  return std::move(single_level(comm, *phi, {Index::all(n), {false, true, true}}, box, keep).geometry);
}

/// Values in [-1/2, 1/2) that depend on the place of a VoF alone.
inline void fill_random(const LevelGraph& graph, Field& x, std::uint64_t seed = 0) {
  const Box domain = graph.layout().domain().box();
  for (int b = 0; b < x.n_local(); ++b) {
    const BoxGraph g = graph.box(b);
    int last = -1;
    std::uint64_t piece = 0;
    for_each_vof(g, [&](int vof, int cell) {
      piece = cell == last ? piece + 1 : 0;
      last = cell;
      const auto place = static_cast<std::uint64_t>(domain.offset(g.cells.cell(cell)));
      x.box(b)[static_cast<std::size_t>(vof)] = Random(seed + 64 * place + piece)() - 0.5;
    });
  }
}

/// Iterations of conjugate gradients from 0 to 1e-8 for random values times `size` as right-hand side.
inline int iterations(const Comm& comm, const LevelGeometry& geometry, const TwoPointProblem& problem,
                      double size = 1.0, const MultigridOptions& options = {}) {
  const TwoPointLevel level = make_two_point_level(geometry, problem);
  GraphMultigrid multigrid(comm, level, options);
  Field b(geometry.graph), x(geometry.graph);
  fill_random(geometry.graph, b);
  for (int box = 0; box < b.n_local(); ++box)
    for (double& v : b.own(box)) v *= size;
  return solve_cg(comm, multigrid, b, x, 1e-8, 100).iterations;
}

}  // namespace karst::test
