// SPDX-License-Identifier: BSD-3-Clause
// Stokes flow through periodic arrays of boxes. Lengths in cells, viscosity 1, unit force.
#pragma once

#include "ins/upscale/wall_drag.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::test {

/// The distance from one box per period of n cells; with a direction of one cell it is a square prism along that.
inline DistanceFunction periodic_box(const Index& n, const Vec3& low, const Vec3& high) {
  const Vec3 middle = 0.5 * (low + high), half = 0.5 * (high - low);
  return DistanceFunction([=](const Vec3& p) {
    double squares = 0.0, inside = -1e30;
    for (int d = 0; d < 3; ++d) {
      if (n[d] == 1) continue;
      const double a = p[d] - middle[d], q = std::abs(a - n[d] * std::round(a / n[d])) - half[d];
      squares += std::pow(std::max(q, 0.0), 2);
      inside = std::max(inside, q);
    }
    return inside > 0.0 ? std::sqrt(squares) : inside;
  });
}

struct BoxFlow {
  Vec3 permeability;  ///< over the period squared
  double drag;        ///< over the drive
  int iterations;
};

/// Flow along an axis around a cube of 7/16 of the period of n cells in 3-D, or a square prism where a direction has
/// one cell.
/// @param offset  of its middle from that of the period
/// @param shrunk  what each face is moved inwards
inline BoxFlow flow_around_box(const Comm& comm, const Index& cells, int axis, const Vec3& offset, double shrunk = 0.0,
                               double tolerance = 1e-8) {
  const double n = std::max({cells[0], cells[1], cells[2]});
  const Vec3 middle = Vec3::all(0.5 * n) + offset, half = Vec3::all(7.0 * n / 32.0 - shrunk);
  const Geometry geometry =
      build_geometry(comm, flow_grid(cells), periodic_box(cells, middle - half, middle + half), KeepPores::all);
  StokesOptions options;
  options.krylov.tolerance = tolerance;
  StokesSolver solver(test::composite_on(comm, geometry), {}, options);
  StokesDrive drive;
  drive.force[axis] = 1.0;
  const StokesReport r = solver.solve(drive);
  const WallDrag drag = wall_drag(solver.op(), solver.values(), drive, {axis, 0, cells[axis]});
  return {(1.0 / (n * n)) * r.velocity, (drag.pressure[axis] + drag.viscous[axis]) / drag.drive[axis],
          r.krylov.iterations};
}

/// k / L² of square prisms and of cubes of 7/16 of the period L. Prisms: this solver on 128², 256² and 512² with walls
/// on cell faces, extrapolated with the powers of the edge, 1.089 and 1.817 around it, 4/3 and 2 along it; staggered
/// grids of 128² and 192² came to 0.019127 and 0.03869. Cubes: means over ten places on the grid of 32³, 48³ and 64³,
/// extrapolated with h²; without edge rows 32³ to 96³ with walls on cell faces came to 0.05040 with h^1.09 and h² and
/// to 0.05043 with one free power.
inline constexpr double prism_across = 0.0191309, prism_along = 0.0386926, cube = 0.05042;

/// 40 places on the grid that fill it evenly, ties included.
inline Vec3 place_on_grid(int i) {
  return {i / 40.0, std::fmod(0.6 + 17.0 * i / 40.0, 1.0), std::fmod(0.35 + 9.0 * i / 40.0, 1.0)};
}

}  // namespace karst::test
