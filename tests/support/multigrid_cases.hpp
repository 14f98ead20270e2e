// SPDX-License-Identifier: BSD-3-Clause
// Problems for tests of the multigrid: geometries with the two-point operator on them.
#pragma once

#include <numeric>

#include "support/conjugate_gradients.hpp"
#include "support/level_cases.hpp"

namespace karst::test {

enum class Walls { neumann, dirichlet };

/// Neumann walls between two ends of fixed value (a pressure), or Dirichlet walls and Neumann ends (a velocity).
inline EllipticProblem problem_with(Walls walls) {
  EllipticProblem problem;
  const auto fixed = [](const Vec3&) { return dirichlet(0.0); };
  if (walls == Walls::dirichlet)
    problem.wall = fixed;
  else
    problem.sides[0] = problem.sides[1] = fixed;
  return problem;
}

/// Overlapping spheres of porosity 0.35, open at the ends of x, periodic in y and z.
inline LevelGeometry packing_level(const Comm& comm, int n, int box, double radius = 5.0,
                                   KeepPores keep = KeepPores::connected) {
  const int spheres = static_cast<int>(1.05 * n * n * n / (4.19 * radius * radius * radius));
  const auto phi = packing(spheres, radius, n, true);
  return std::move(single_level(comm, *phi, {Index::all(n), {false, true, true}}, box, keep).geometry);
}

/// Two slits 1.5 cells wide that cross at an angle, in solid.
inline std::unique_ptr<LevelSet> crossing_slits(double n) {
  LevelSetParts walls;
  for (const Vec3& normal : {Vec3{0.2, 1.0, 0.31}, Vec3{0.17, -0.4, 1.0}})
    walls.push_back(complement(plate(Vec3::all(0.5 * n), normal, 1.5)));
  return intersection_of_solids(std::move(walls));
}

/// Values in [-1/2, 1/2) per unknown that depend on the place of the VoF alone.
inline std::vector<double> random_values(std::span<const TwoPointLevel> levels, std::uint64_t seed = 0) {
  std::vector<double> x;
  for (const TwoPointLevel& level : levels) {
    const LevelGraph& graph = level.geometry->graph;
    const Box domain = graph.layout().domain().box();
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph g = graph.box(b);
      const auto covered = level.covered_in(b);
      int last = -1;
      std::uint64_t piece = 0;
      for_each_vof(g, [&](int vof, int cell) {
        piece = cell == last ? piece + 1 : 0;
        last = cell;
        if (std::ranges::binary_search(covered, static_cast<std::uint16_t>(vof))) return;
        const auto place = static_cast<std::uint64_t>(domain.offset(g.cells.cell(cell)));
        x.push_back(Random(seed + 64 * place + 8 * static_cast<std::uint64_t>(level.geometry->level) + piece)() - 0.5);
      });
    }
  }
  return x;
}

inline double dot(const Comm& comm, const std::vector<double>& a, const std::vector<double>& b) {
  return comm.sum(std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
}

/// A right-hand side that is nearly white and has a solution also where pores without a fixed value make A singular:
/// A M r for random values r.
inline std::vector<double> solvable_values(GraphMultigrid& multigrid, std::span<const TwoPointLevel> levels) {
  std::vector<double> r = random_values(levels), z(r.size());
  multigrid.apply(r, z);
  multigrid.product(z, r);
  return r;
}

/// Iterations of conjugate gradients from 0 to 1e-8 for such a right-hand side times `size`.
inline int iterations(const Comm& comm, std::span<const TwoPointLevel> levels, double size = 1.0,
                      const MultigridOptions& options = {}) {
  GraphMultigrid multigrid(comm, levels, options);
  std::vector<double> b = solvable_values(multigrid, levels), x(b.size());
  for (double& v : b) v *= size;
  return solve_cg(comm, multigrid, b, x, 1e-8, 100).iterations;
}
inline int iterations(const Comm& comm, const LevelGeometry& geometry, const EllipticProblem& problem,
                      double size = 1.0, const MultigridOptions& options = {}) {
  const TwoPointLevel level = make_two_point_level(comm, geometry, problem);
  return iterations(comm, std::span(&level, 1), size, options);
}

}  // namespace karst::test
