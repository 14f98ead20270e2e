// SPDX-License-Identifier: BSD-3-Clause
// Inertia on all grid levels: Advection on each in units of its cell width h_l, in which the inertia is h_l times that
// in units of h0. Both levels have the same flux through a face between them: the flux of the fine face times the mean
// of its cell and ghost, and its δ with the second differences of the cell,
//
//   fine row   1/κ [ F (u_ghost - u) / 2 + δ ]         coarse row   -1/κ Σ_fine faces [ F (ū - u) + δ ] / 4,  ū: that
//   mean
//
// so that momentum that leaves one level enters the other.
#pragma once

#include "ins/operator/advection.hpp"
#include "ins/operator/stokes_levels.hpp"

namespace karst {

/// Storage per level for a BaseFlow.
template <class T>
std::vector<T> on_each_level(const StokesLevels& op) {
  std::vector<T> all;
  all.reserve(op.n_levels());
  for (int l = 0; l < op.n_levels(); ++l) all.emplace_back(op.level(l));
  return all;
}

/// As Advection, over the vectors of StokesLevels; flows to linearise about and fluxes per level.
class AdvectionLevels {
 public:
  /// The operator must outlive it. Not collective.
  explicit AdvectionLevels(StokesLevels& op);

  // As those of Advection. Collective.
  /// y += factor (u·∇)u, drive in units of h0.
  void add(double factor, FlowValues& u, const StokesDrive& drive, std::span<Quad> y);
  void set_base(double inertia, FlowValues& u, const StokesDrive& drive, std::span<BaseFlow> to) const;
  void add_linearised(double factor, std::span<const BaseFlow> u, FlowValues& v, std::span<Quad> y);

  /// An earlier flow and its weight.
  struct Past {
    double weight = 0.0;
    const PastFlow* flow = nullptr;
  };
  /// The fluxes Σ weight F of two earlier flows. Allocates nothing. Not collective.
  /// @return largest outflow of a cell in parts of its volume [velocity / h0], of this rank. Outflow of a coarse
  ///         cell towards a finer level does not count: the ratio is larger in the fine cells there
  double combine(const std::array<Past, 2>& flows, std::span<BaseFlow> to) const;
  /// Sets the advecting velocity in the cells. Collective.
  void set_carrying(double inertia, FlowValues& w, const StokesDrive& drive, std::span<BaseFlow> to) const;
  /// y += factor (w·∇)v, drive in units of h0. Collective.
  void add_carried(double factor, std::span<const BaseFlow> w, FlowValues& v, const StokesDrive& drive,
                   std::span<Quad> y);

  const Advection& level(int l) const { return levels_[l]; }
  std::int64_t bytes() const;  ///< of this rank

 private:
  /// Through a fine face: the flux of the present values, the advecting flux, and the momentum.
  struct Carried {
    double flux = 0.0, carrying = 0.0;
    Vec3 momentum;
  };
  StokesDrive here(int l, const StokesDrive& drive) const;
  template <class Make, class Gained>
  void hand_back(double factor, std::span<Quad> y, Make&& carried, Gained&& gained);

  StokesLevels* op_;
  std::vector<Advection> levels_;
  Array<Carried> carried_;  // by the coupling
};

/// Data that momentum balances need in addition to the flow, of all VoFs; valid until the next solve.
struct MomentumRows {
  std::span<const Quad> advection;             ///< inertia (w·∇)u in units of the level; empty: creeping flow
  std::span<const std::array<float, 3>> rate;  ///< ∂u/∂t [ν / h0²]; empty: steady
};

}  // namespace karst
