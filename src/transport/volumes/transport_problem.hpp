// SPDX-License-Identifier: BSD-3-Clause
// The transport problem. For each component, with a given flow u,
//
//   ∂c/∂t + ∇·(u c - D ∇c) = s - λ c            in the fluid
//   -D ∂c/∂n = k (c - c_eq)                     at the wall, n out of the fluid; k = 0: sealed
//
// and on each side of the domain a concentration where the flow enters, which on `fixed` sides holds for diffusion,
// too.
//
// Lengths are in units of the level-0 cell width h0, times in any unit of the caller, concentrations in any: D in
// h0²/time, k in h0/time, λ in 1/time, s in concentration/time, fluxes of the flow in h0³/time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "solvers/elliptic/elliptic_problem.hpp"

namespace karst {

/// A side of the domain for one component.
struct ScalarSide {
  enum class Kind : std::uint8_t {
    open,  ///< no diffusion through it; inflow has the value, outflow that of the fluid there
    fixed  ///< the value is the concentration on it
  };
  Kind kind = Kind::open;
  /// Value at a position [h0] and a time; empty: 0. Called from several threads. The inflow through an open side in a
  /// step has the mean of the values just after its beginning and just before its end, or `mean` of these times.
  std::function<double(const Vec3& x, double t)> value;
  std::function<double(double from, double to)> mean{};  ///< of a value that is the same everywhere; may be empty
};

/// Times just after the beginning and just before the end of a step. Values on domain faces are evaluated there, as
/// they may jump between two steps.
inline double just_after(double t, double dt) { return t + std::max(1e-9 * dt, 4e-15 * (std::abs(t) + dt)); }
inline double just_before_end(double t, double dt) { return t + dt - std::max(1e-9 * dt, 4e-15 * (std::abs(t) + dt)); }

struct ScalarWall {
  double rate = 0.0;         ///< k >= 0
  double equilibrium = 0.0;  ///< c_eq
};

struct ScalarComponent {
  std::string name = "c";
  /// Components of one group share the factors of the limiter, so that sums of them remain sums; empty: separate
  /// factors, and bitwise the same result for any other components.
  std::string group;
  double diffusivity = 0.0, decay = 0.0, source = 0.0;
  std::array<ScalarSide, 6> sides;  ///< -x +x -y +y -z +z; unused where the domain is periodic
  /// Per piece of wall, evaluated once; empty: sealed. Walls react only with components that diffuse.
  std::function<ScalarWall(const WallPiece& piece)> wall;
};

inline std::array<bool, 6> fixed_sides(const ScalarComponent& c) {
  std::array<bool, 6> fixed{};
  for (std::size_t s = 0; s < 6; ++s) fixed[s] = c.sides[s].kind == ScalarSide::Kind::fixed;
  return fixed;
}

/// All errors of components, one sentence each; empty if there is none.
std::vector<std::string> mistakes(const std::vector<ScalarComponent>& components);

struct TransportOptions {
  /// Largest |Σ flow| of a volume over what it exchanges (FlowContinuity). The remaining divergence is removed from the
  /// fluxes before they are used (it would violate the bounds); above this value the flow is rejected.
  double allowed_divergence = 1e-2;
  bool from_other_grid = false;  ///< the fluxes were continuous on another grid: Gaps::in_places
  double tolerance = 1e-8;       ///< of the implicit stages of diffusion, relative to the change of the step
  int max_iterations = 300;
  bool limit = true;  ///< false: second-order fluxes without limiter; for tests
};

}  // namespace karst
