// SPDX-License-Identifier: BSD-3-Clause
// Inertia on all grid levels: Advection on each in units of its own cell width h_l, where what is called inertia is
// h_l times that in units of h0. Across a face between two levels both carry the same: the flux of the fine face and
// the mean of its cell and ghost,
//
//   fine row      1/κ F (u_ghost - u) / 2              coarse row    -1/κ Σ_fine faces F / 4 (ū - u),  ū: that mean
//
// so that what leaves a level enters the other.
#pragma once

#include "ins/operator/advection.hpp"
#include "ins/operator/stokes_levels.hpp"

namespace karst {

/// As Advection, over the vectors of StokesLevels.
class AdvectionLevels {
 public:
  /// The operator must outlive it. Not collective.
  explicit AdvectionLevels(StokesLevels& op);

  /// y += factor (u·∇)u, drive in units of h0. Collective.
  void add(double factor, const FlowValues& u, const StokesDrive& drive, std::span<Quad> y);
  /// Not collective.
  void keep(const FlowValues& u, const StokesDrive& drive);
  /// Collective.
  void add_linearised(double factor, const FlowValues& u, std::span<Quad> y);

  /// An earlier flow and its weight.
  struct Past {
    double weight = 0.0;
    const PastFlow* flow = nullptr;
  };
  /// Fluxes through the extra faces of values that the operator was applied to, where the PastFlow that
  /// StokesLevels::keep() made of them has its velocities. Not collective.
  void extra_fluxes(const FlowValues& u, PastFlow& to) const;
  /// Keeps the fluxes Σ weight F of two earlier flows for add_carried(). Allocates nothing. Not collective.
  /// @return largest part of its volume that flows out of a cell [velocity / h0], of this rank. What leaves a coarse
  ///         cell towards a finer level does not count: the fine cells there pass on more
  double keep_fluxes(const std::array<Past, 2>& flows);
  /// y += factor (w·∇)v, w: the kept fluxes, v: values that the operator was applied to. Allocates nothing. Collective.
  void add_carried(double factor, const FlowValues& v, std::span<Quad> y);

  const Advection& level(int l) const { return levels_[l]; }
  /// As StokesPreconditioner::follow() takes them.
  std::vector<const Advection*> levels() const;
  std::int64_t bytes() const;  ///< of this rank

 private:
  /// Through a fine face: the flux of the present values and that of the kept ones, and the momentum.
  struct Carried {
    double flux = 0.0, kept = 0.0;
    Vec3 momentum;
  };
  StokesDrive here(int l, const StokesDrive& drive) const;
  double kept_flux(int l, const StokesOperator::LevelGhost& g) const;
  template <class Make, class Gained>
  void hand_back(double factor, std::span<Quad> y, Make&& carried, Gained&& gained);

  StokesLevels* op_;
  std::vector<Advection> levels_;
  Array<Carried> carried_;  // by the coupling
};

}  // namespace karst
