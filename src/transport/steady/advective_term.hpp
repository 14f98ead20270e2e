// SPDX-License-Identifier: BSD-3-Clause
// The advective term of a given flow in the operator of steady transport over the own unknowns:
//
//   (T c)_v = s Σ_faces Q_f c_f     Q_f volume flux out of v [h0²],   c_f = c_u + g_u · (x_f - x_u),  u upwind of f
//
// with the fluxes and gradients of scalar_grid.hpp: in regular cells half of the difference between both sides, which
// gives Fromm's scheme (J. Comput. Phys. 3 (1968) 176): second order, linear in c, and for any wave 1/2 to 3/2 times
// the first-order upwind form, which is used in the preconditioner. Where the flow's fluxes add up to 0 in every VoF, T
// 1 = 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/memory.hpp"
#include "solvers/elliptic/elliptic_problem.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

class AdvectiveTerm {
 public:
  /// @param grid  of the flow's composite; must outlive the term, which uses its exchange
  /// @param flow  volume fluxes [h0²]; not needed afterwards
  /// @param given  sides whose values take part in gradients
  /// Collective.
  AdvectiveTerm(ScalarGrid& grid, FaceField& flow, const GivenSides& given = {});

  /// Sets s, initially 1: a flow that differs only in its speed.
  void set_scale(double s) { scale_ = s; }
  double scale() const { return scale_; }
  /// Sets the inflow values through sides with Dirichlet conditions; inflow through all others has the value of the
  /// volume behind. Without this call the latter holds everywhere.
  void set_ends(const std::array<ConditionAt, 6>& sides);

  /// y += T c, without the inflow of given values, for C interleaved vectors (component m of unknown i at C i + m;
  /// instantiated for 1 and 3); each is bitwise the same as alone. Allocates memory only at the first call. Collective.
  template <int C = 1>
  void add(std::span<const double> c, std::span<double> y);
  /// b -= T 0: the inflow of given values. Collective.
  void right_side(std::span<double> b);
  /// Σ of s Q_f c_f through three planes, each from the unknowns before it to those behind it; the latter select which
  /// of three fields is advected there. Collective.
  /// @param c      three fields side by side, own unknowns
  /// @param sides  per own unknown, three bits per plane: 0, `before`, or `behind` + the field
  std::array<double, 3> through_planes(std::span<const double> c, std::span<const std::uint16_t> sides);
  static constexpr unsigned before = 1, behind = 2;
  /// s Σ Q_f c_f out of the domain through one of its sides, given values included. Collective.
  double out_of(int side, std::span<const double> c);
  std::span<const double> flow() const { return flow_.span(); }
  ScalarGrid& grid() { return grid_; }
  std::int64_t bytes() const;  ///< of this rank, without the grid

 private:
  void make_room(int n);
  template <int C>
  void find_fluxes(std::span<const double> c, double given);

  ScalarGrid& grid_;
  std::span<const Vec3> weights_;  // of gradients
  double scale_ = 1.0;
  std::vector<std::uint8_t> fixed_;  // per face on an end of the domain: its value is given
  std::vector<double> given_;
  Array<double> flow_, values_, flux_, sums_;  // all but the first with room for as many vectors as there were
  std::array<Array<double>, 3> gradient_;
  int room_ = 0;
};

}  // namespace karst
