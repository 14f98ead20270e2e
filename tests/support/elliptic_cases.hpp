// SPDX-License-Identifier: BSD-3-Clause
// Elliptic problems of known solution.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include "eb/geometry.hpp"
#include "eb/shapes/combine.hpp"
#include "eb/shapes/shapes.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/krylov/krylov.hpp"
#include "support/geometry_cases.hpp"

namespace karst::test {

/// A solution on the unit cube and what follows from it.
struct Exact {
  std::function<double(const Vec3&)> value;
  std::function<Vec3(const Vec3&)> gradient;
  std::function<double(const Vec3&)> laplacian;
};

/// sin(2x + 0.3) cos(1.5y - 0.2) e^0.7z
inline Exact wavy() {
  const auto f = [](const Vec3& x) {
    return std::sin(2 * x[0] + 0.3) * std::cos(1.5 * x[1] - 0.2) * std::exp(0.7 * x[2]);
  };
  const auto g = [f](const Vec3& x) {
    const double e = std::exp(0.7 * x[2]);
    return Vec3{2 * std::cos(2 * x[0] + 0.3) * std::cos(1.5 * x[1] - 0.2) * e,
                -1.5 * std::sin(2 * x[0] + 0.3) * std::sin(1.5 * x[1] - 0.2) * e, 0.7 * f(x)};
  };
  return {f, g, [f](const Vec3& x) { return (-4.0 - 2.25 + 0.49) * f(x); }};
}

/// 0.3x - 0.5y + 0.8z + sin(πx) sin(πy) sin(πz): no second derivative across the ends of the cube
inline Exact flat_at_ends() {
  const auto waves = [](const Vec3& x) {
    constexpr double pi = std::numbers::pi;
    return std::pair{Vec3{std::sin(pi * x[0]), std::sin(pi * x[1]), std::sin(pi * x[2])},
                     pi * Vec3{std::cos(pi * x[0]), std::cos(pi * x[1]), std::cos(pi * x[2])}};
  };
  const Vec3 slope{0.3, -0.5, 0.8};
  return {[=](const Vec3& x) {
            const auto [s, c] = waves(x);
            return dot(slope, x) + s[0] * s[1] * s[2];
          },
          [=](const Vec3& x) {
            const auto [s, c] = waves(x);
            return slope + Vec3{c[0] * s[1] * s[2], s[0] * c[1] * s[2], s[0] * s[1] * c[2]};
          },
          [=](const Vec3& x) {
            const auto [s, c] = waves(x);
            return -3.0 * std::numbers::pi * std::numbers::pi * s[0] * s[1] * s[2];
          }};
}

/// A fluid in the unit cube, and its wall normal (into the fluid) as a function of position.
struct Shape {
  std::function<std::unique_ptr<LevelSet>(int n)> level_set;  ///< in cells of a cube of n
  std::function<Vec3(const Vec3&)> normal;
};

inline const Vec3 sphere_center{0.513, 0.487, 0.502};

inline Shape outside_sphere(double radius = 0.3) {
  return {[=](int n) {
            return make_level_set(Sphere{n * sphere_center, n * radius});
          },
          [=](const Vec3& x) {
            const Vec3 r = x - sphere_center;
            return (1.0 / norm(r)) * r;
          }};
}

inline Shape inside_sphere(double radius = 0.4) {
  return {[=](int n) {
            return complement(make_level_set(Sphere{n * sphere_center, n * radius}));
          },
          [=](const Vec3& x) {
            const Vec3 r = x - sphere_center;
            return (-1.0 / norm(r)) * r;
          }};
}

inline Shape inside_tube(double radius = 0.3) {
  Vec3 axis{1, 2, 6};
  axis *= 1.0 / norm(axis);
  return {[=](int n) {
            return complement(make_level_set(Cylinder{frame_along(n * sphere_center, axis), n * radius}));
          },
          [=](const Vec3& x) {
            Vec3 r = x - sphere_center;
            r -= dot(r, axis) * axis;
            return (-1.0 / norm(r)) * r;
          }};
}

inline Shape tilted_slit(double half = 0.17) {
  Vec3 normal{0.6, 0.64, 0.48};
  normal *= 1.0 / norm(normal);
  return {[=](int n) {
            LevelSetParts walls;
            walls.push_back(make_level_set(HalfSpace{n * (sphere_center - half * normal), normal}));
            walls.push_back(make_level_set(HalfSpace{n * (sphere_center + half * normal), -normal}));
            return union_of_solids(std::move(walls));
          },
          [=](const Vec3& x) { return dot(x - sphere_center, normal) < 0.0 ? normal : -normal; }};
}

/// The problem whose solution is `exact`, on a cube of n level-0 cells: conditions of these kinds with fitting values.
struct Manufactured {
  EllipticProblem problem;
  Exact exact;
  int n = 0;
  double value(const Vec3& x) const { return exact.value((1.0 / n) * x); }
  double source(const Vec3& x) const {
    return problem.a * value(x) - problem.beta * exact.laplacian((1.0 / n) * x) / (double(n) * n);
  }
};

inline ConditionAt fitting(const Exact& exact, int n, double beta, BoundaryKind kind, double rate,
                           const std::function<Vec3(const Vec3&)>& into_fluid) {
  return [=](const Vec3& x) {
    const Vec3 y = (1.0 / n) * x;
    const double value = exact.value(y), flux = -beta / n * dot(exact.gradient(y), into_fluid(y));
    switch (kind) {
      case BoundaryKind::dirichlet:
        return dirichlet(value);
      case BoundaryKind::neumann:
        return neumann(flux);
      case BoundaryKind::robin:
        return robin(rate / n, flux + rate / n * value);
    }
    return Condition{};
  };
}

inline Manufactured manufactured(const Exact& exact, const Shape& shape, int n, BoundaryKind wall, BoundaryKind sides,
                                 double rate = 2.0) {
  Manufactured m;
  m.exact = exact;
  m.n = n;
  for (int side = 0; side < 6; ++side) {
    Vec3 in;
    in[direction_of(side)] = is_high(side) ? -1.0 : 1.0;
    m.problem.sides[side] = fitting(exact, n, 1.0, sides, rate, [in](const Vec3&) { return in; });
  }
  m.problem.wall = fitting(exact, n, 1.0, wall, rate, shape.normal);
  return m;
}

struct Errors {
  double largest = 0.0, mean = 0.0;
};

/// Largest and volume-weighted mean error over all ranks.
inline Errors errors_of(const EllipticOperator& op, std::span<const double> x, const Manufactured& m,
                        bool free_constant) {
  const std::vector<Vec3> at = op.positions();
  const std::vector<double> volume = op.volumes();
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < at.size(); ++i) {
    sums[0] += volume[i] * (x[i] - m.value(at[i]));
    sums[1] += volume[i];
  }
  op.comm().sum(std::span(sums));
  const double shift = free_constant ? sums[0] / sums[1] : 0.0;
  Errors e;
  double sum = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double error = std::abs(x[i] - m.value(at[i]) - shift);
    e.largest = std::max(e.largest, error);
    sum += volume[i] * error;
  }
  e.largest = op.comm().max(e.largest);
  e.mean = op.comm().sum(sum) / sums[1];
  return e;
}

/// Neumann conditions all around that fit the linear function g·x exactly: on the wall the flux through the wall's area
/// vector of each VoF. The geometry must be on one rank's own or seen as a whole by `comm`.
inline EllipticProblem fits_linear(const Comm& comm, const Geometry& geometry, const Vec3& g) {
  EllipticProblem problem;
  for (int side = 0; side < 6; ++side) {
    const double flux = (is_high(side) ? 1.0 : -1.0) * g[direction_of(side)];
    problem.sides[side] = [flux](const Vec3&) { return neumann(flux); };
  }
  struct Wall {
    Vec3 at;
    double flux;
  };
  std::vector<Wall> walls;
  for (const LevelGeometry& level : geometry.levels)
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      for (int r = 0; r < graph.n_irregular; ++r) {
        const VofMoments& m = level.box(b).moments[r];
        if (m.wall_area <= 0.0) continue;
        const Index c = graph.cells.cell(graph.row_cell[r]);
        walls.push_back({std::ldexp(1.0, -level.level) * (Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} + m.wall_centroid),
                         -dot(g, m.wall) / m.wall_area});
      }
    }
  walls = comm.all_gather<Wall>(std::span<const Wall>(walls));
  std::ranges::sort(walls, {}, &Wall::at);
  problem.wall = [walls](const Vec3& x) {
    const auto at = std::ranges::lower_bound(walls, x - Vec3{1e-9, 0.0, 0.0}, {}, &Wall::at);
    const Wall* best = nullptr;
    for (auto w = at; w != walls.end() && w->at[0] < x[0] + 1e-9; ++w)
      if (best == nullptr || norm(w->at - x) < norm(best->at - x)) best = &*w;
    return neumann(best->flux);
  };
  return problem;
}

/// Conditions of all kinds, varying over the wall.
inline EllipticProblem mixed_problem() {
  EllipticProblem p;
  p.a = 0.3;
  p.beta = 1.7;
  p.sides[0] = [](const Vec3& x) { return dirichlet(x[1]); };
  p.sides[3] = [](const Vec3&) { return robin(0.4, 1.0); };
  p.wall = [](const Vec3& x) {
    if (x[0] < 8.0) return robin(2.0, 0.5);
    return x[1] < 8.0 ? dirichlet(1.0) : neumann(0.2);
  };
  return p;
}

/// Eight grains in 16³ cells, a part of them finer.
inline Geometry packing_geometry(const Comm& comm, bool periodic, int levels = 1) {
  const auto phi = test::packing(8, 4.2, 16, periodic);
  GridOptions grid = grid_of(16, 1, periodic);
  grid.levels = levels;
  if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.0, 0.0, 0.0}, {0.5, 0.5, 1.0}, 0});
  if (levels > 2) grid.refine.push_back({2, Refinement::Where::region, {0.1, 0.1, 0.1}, {0.2, 0.2, 0.4}, 0});
  return build_geometry(comm, grid, *phi, KeepPores::all);
}

/// A value per unknown that depends on its place alone.
inline std::vector<double> noise(const EllipticOperator& op) {
  std::vector<double> x;
  for (const Vec3& p : op.positions()) x.push_back(std::sin(12.9 * p[0] + 78.2 * p[1] - 37.7 * p[2]));
  return x;
}

inline double largest(const Comm& comm, std::span<const double> x) {
  double m = 0.0;
  for (const double v : x) m = std::max(m, std::abs(v));
  return comm.max(m);
}

/// Solves to 1e-11.
inline std::vector<double> solve(EllipticOperator& op, const Manufactured& m) {
  std::vector<double> source, b(op.numbering().n_own()), x(b.size());
  for (const Vec3& at : op.source_points()) source.push_back(m.source(at));
  op.right_side(source, b);
  KrylovSolver solver(op, {"manufactured", "manufactured_", 1e-11, 500, 1.0});
  solver.solve(b, x);
  return x;
}

}  // namespace karst::test
