// SPDX-License-Identifier: BSD-3-Clause
// Inertia of a steady flow, (u·∇)u at the centres of the flow cells, in units of the cell width:
//
//   1/κ Σ_faces F (u_neighbour - u) / 2        F: the flux of continuity out of the cell, extra faces included
//
// κ: volume of the cell with the pieces that joined it. Where Σ F = 0 this is Σ F (u + u_neighbour) / (2 κ): what
// leaves a cell enters its neighbour, and flow that is carried makes and takes no energy, Σ κ u·(u·∇)u = 0, whatever
// the cell Reynolds number (Morinishi, Lund, Vasilyev & Moin, J. Comput. Phys. 143 (1998) 90). Second order: u is small
// next to walls, so the means of F and u there, first order, weigh little. docs/measurements/012 has the figures.
//
// On an end of the domain (u_neighbour + u) / 2 becomes the velocity that is carried through it: the given one where a
// velocity is given, u where the fluid leaves, u / 2 where it comes back in through an outlet. The last one makes the
// energy that comes in F (u · u / 2 - |u|² / 2) = 0, as if the fluid had been at rest and p were its total pressure
// (Braack & Mucha, J. Comput. Math. 32 (2014) 507).
#pragma once

#include "ins/operator/stokes_operator.hpp"

namespace karst {

class Advection {
 public:
  /// The operator must outlive it. Not collective.
  explicit Advection(const StokesOperator& op);

  /// y += factor (u·∇)u over the own VoFs, u: values that the operator was applied to with this drive. Allocates
  /// nothing. Not collective.
  void add(double factor, const LevelValues& u, const StokesDrive& drive, std::span<Quad> y) const;

  /// Keeps values that the operator was applied to with this drive as the flow to linearise about. Allocates nothing.
  /// Not collective.
  void keep(const LevelValues& u, const StokesDrive& drive);

  /// y += factor [(u·∇)v + (v·∇)u], u: what was kept, v: values that the operator was applied to without a drive: the
  /// derivative of add(). Allocates nothing. Not collective.
  void add_linearised(double factor, const LevelValues& v, std::span<Quad> y) const;

  /// What flows through the faces of an earlier flow: of the own VoFs what StokesOperator::face_velocities() made of
  /// it, of the FlowExtra extra_fluxes().
  struct Past {
    double weight = 0.0;
    const std::array<double, 6>* velocities = nullptr;
    const float* extra = nullptr;
  };
  /// Fluxes through the FlowExtra of values that the operator was applied to.
  /// @param velocities  what StokesOperator::face_velocities() made of them
  void extra_fluxes(const LevelValues& u, std::span<const double> velocities, std::span<float> to) const;
  /// Keeps the fluxes Σ weight F of two earlier flows for add_carried() and inflow(); flow() stays what it is.
  /// Allocates nothing. Not collective.
  /// @return largest sum of what flows out of a cell over κ, of this rank
  double keep_fluxes(const std::array<Past, 2>& flows);
  /// y += factor (w·∇)v, w: the kept fluxes, v: values that the operator was applied to; with the fluxes of v it is
  /// add(). Allocates nothing. Not collective.
  void add_carried(double factor, const LevelValues& v, std::span<Quad> y) const;

  /// Of what was kept, per own VoF: what flows in through a side, over κ; 0 through extra faces.
  float inflow(std::size_t vof, std::size_t side) const { return -inverse_volume_[vof] * fluxes_[vof][side]; }
  /// What was kept: the flux out of an own VoF through a side.
  double kept_flux(std::size_t vof, std::size_t side) const { return double{fluxes_[vof][side]}; }
  /// The same of a FlowExtra, by its place among those of the level.
  double kept_extra(std::size_t e) const { return double{extra_fluxes_[e]}; }
  double per_volume(std::size_t vof) const { return double{inverse_volume_[vof]}; }  ///< 1/κ of an own VoF
  /// What was kept, with halo and ghosts.
  const QuadField& flow() const { return flow_; }

  std::int64_t bytes() const;  ///< of this rank

 private:
  /// An open face on an end where (u_neighbour + u) / 2 is not what is carried.
  struct End {
    std::uint16_t vof, slot;
    std::uint8_t side;
    bool given;        ///< the ghost has the velocity of the end; else what comes in was at rest
    float area, bend;  ///< as in FlowRow
  };
  void find_ends(int box);
  template <class Cell, class Extra, class AtEnd>
  void for_faces(const LevelValues& u, const Vec3& force, Cell&& cell, Extra&& extra, AtEnd&& at_end) const;
  template <class Cell>
  void for_cells(Cell&& cell) const;

  const StokesOperator* op_;
  QuadField flow_;                      // u, with halo and ghosts
  Array<std::array<float, 6>> fluxes_;  // F out of the own VoFs
  Array<float> extra_fluxes_;           // of the FlowExtra
  Array<float> inverse_volume_;         // 1 / κ of the own VoFs
  std::vector<End> ends_;
  std::vector<std::int64_t> ends_begin_{0};  // n_local + 1
};

/// What momentum balances of a step in time need besides its flow, on one level.
struct MomentumOfStep {
  const Advection* carried = nullptr;            ///< holds the fluxes that carried momentum; none: creeping flow
  std::span<const std::array<float, 3>> rate{};  ///< ∂u/∂t of the own VoFs [ν / h0²]; empty: steady
};

}  // namespace karst
