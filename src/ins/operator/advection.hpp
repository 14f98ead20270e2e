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

/// What flows through the faces of one level and carries momentum along.
struct AdvectingFluxes {
  explicit AdvectingFluxes(const StokesOperator& op);
  Array<std::array<float, 6>> sides;  ///< F out of the own VoFs; 0 through extra faces
  Array<float> extra;                 ///< of the FlowExtra, by their place among those of the level
  std::int64_t bytes() const { return static_cast<std::int64_t>(sides.bytes() + extra.bytes()); }
};

/// A flow on one level to linearise about.
struct BaseFlow {
  explicit BaseFlow(const StokesOperator& op);
  QuadField values;  ///< with halo and ghosts
  AdvectingFluxes fluxes;
  std::int64_t bytes() const { return static_cast<std::int64_t>(values.bytes()) + fluxes.bytes(); }
};

class Advection {
 public:
  /// The operator must outlive it. Not collective.
  explicit Advection(const StokesOperator& op);

  /// y += factor (u·∇)u over the own VoFs, u: values that the operator was applied to with this drive. Allocates
  /// nothing. Not collective.
  void add(double factor, const LevelValues& u, const StokesDrive& drive, std::span<Quad> y) const;

  /// Makes values that the operator was applied to with this drive a flow to linearise about. Allocates nothing. Not
  /// collective.
  void set_base(const LevelValues& u, const StokesDrive& drive, BaseFlow& to) const;

  /// y += factor [(u·∇)v + (v·∇)u], v: values that the operator was applied to without a drive: the derivative of add()
  /// at u. Allocates nothing. Not collective.
  void add_linearised(double factor, const BaseFlow& u, const LevelValues& v, std::span<Quad> y) const;

  /// What flows through the faces of an earlier flow, as StokesOperator::face_velocities() has made it.
  struct Past {
    double weight = 0.0;
    const std::array<double, 6>* velocities = nullptr;
    const float* extra = nullptr;
  };
  /// The fluxes Σ weight F of two earlier flows. Allocates nothing. Not collective.
  /// @return largest sum of what flows out of a cell over κ, of this rank
  double combine(const std::array<Past, 2>& flows, AdvectingFluxes& to) const;
  /// y += factor (w·∇)v, v: values that the operator was applied to; with the fluxes of v it is add(). Allocates
  /// nothing. Not collective.
  void add_carried(double factor, const AdvectingFluxes& w, const LevelValues& v, std::span<Quad> y) const;

  double per_volume(std::size_t vof) const { return double{inverse_volume_[vof]}; }  ///< 1/κ of an own VoF

  std::int64_t bytes() const { return static_cast<std::int64_t>(inverse_volume_.bytes()); }  ///< of this rank

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
  Array<float> inverse_volume_;  // 1 / κ of the own VoFs
  std::vector<End> ends_;
  std::vector<std::int64_t> ends_begin_{0};  // n_local + 1
};

}  // namespace karst
