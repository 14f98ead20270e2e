// SPDX-License-Identifier: BSD-3-Clause
// Inertia of a flow, (w·∇)u at the centres of the flow cells, in units of the cell width:
//
//   1/κ Σ_faces [ F (u_neighbour - u) / 2 + δ ]       F: the continuity flux of w out of the cell, extra faces
//   included
//
// κ: volume of the cell including merged pieces. Where Σ F = 0 the first part is Σ F (u + u_neighbour) / (2 κ):
// momentum that leaves a cell enters its neighbour, and advection neither produces nor dissipates energy at any cell
// Reynolds number (Morinishi, Lund, Vasilyev & Moin, J. Comput. Phys. 143 (1998) 90). It is second-order accurate: with
// F the mean of w over the face, its Taylor series at the centre of a cell is
//
//   (w·∇)u + Σ_d [ w_d ∂³_d u / 6 + ∂_d w_d ∂²_d u / 4 + ∂²_d w_d ∂_d u / 12 + Δw_d ∂_d u / 24 ]  + fourth order,
//
// and δ is the flux that cancels these terms, the same for both cells of a face, out of v towards n:
//
//   δ = - [ W_n ∂²_d u_n + W_v ∂²_d u_v + (W_n - W_v) (u_n - u_v) ] / 12 - a (K_n + K_v) (u_n + u_v) / 96
//
// W: w_d of a cell outward through the face, times the open fraction common to both its faces of direction d; a: open
// fraction of the face; K: Δw_d with the sign of W. With ∂²_d u_n = the slope of the next face - that of this one, the
// bracket is W_n (slope of the face beyond n) - W_v (slope of the face before v): the contributions of neighbouring
// faces to each other have opposite signs, so it produces no energy, either. K does produce energy, of fourth order
// where the cells resolve the flow, and so do the ends of rows of cells at walls. Where the cells do not resolve the
// flow, this would exceed the dissipation by friction: K counts only in cells whose faces are all fully open, and K
// and, at ends of rows, W are bounded by a cell Reynolds number (advection_kernels.hpp). Next to walls ∂²_d u is that
// of the parabolas of the momentum rows (flow_rows.hpp); ghosts behind domain faces have the curvature of their cells.
// Extra faces have no δ. Faces between levels advect the mean of the fine cell and its ghost, which produces energy as
// well; the part of their flux beyond another bound advects the upwind velocity. See docs/decisions/044.
//
// On a domain face (u_neighbour + u) / 2 is replaced by the velocity that is advected through it: the prescribed one at
// an inlet, u where the fluid leaves, u / 2 where it comes back in through an outlet. The last one makes the inflow of
// energy F (u · u / 2 - |u|² / 2) = 0, as if the fluid had been at rest and p were its total pressure (Braack & Mucha,
// J. Comput. Math. 32 (2014) 507).
#pragma once

#include "ins/operator/stokes_operator.hpp"

namespace karst {

/// The fluxes through the faces of one level that advect momentum.
struct AdvectingFluxes {
  explicit AdvectingFluxes(const StokesOperator& op);
  Array<std::array<float, 6>> sides;  ///< F out of the own VoFs; 0 through extra faces
  Array<float> extra;                 ///< of the FlowExtra, by their place among those of the level
  std::int64_t bytes() const { return static_cast<std::int64_t>(sides.bytes() + extra.bytes()); }
};

/// A flow on one level about which the equations are linearised, or which is known before the solve. All cells with
/// halo and ghosts.
struct BaseFlow {
  explicit BaseFlow(const StokesOperator& op);
  BasicField<Values<6>> carrying;  ///< W, without sign, and K
  BasicField<Values<12>> carried;  ///< u, ∂²_x u, ∂²_y u, ∂²_z u; without components until Advection::set_base()
  AdvectingFluxes fluxes;
  std::int64_t bytes() const { return static_cast<std::int64_t>(carrying.bytes() + carried.bytes()) + fluxes.bytes(); }
};

class Advection {
 public:
  /// The operator must outlive it. Not collective.
  explicit Advection(const StokesOperator& op);

  /// y += factor (u·∇)u over the own VoFs, u: values that the operator was applied to with this drive. W and K are
  /// bounded as with an inertia of |factor|, in units of the level. Sets the curvature of u. Allocates only its array,
  /// at the first call. Collective.
  void add(double factor, LevelValues& u, const StokesDrive& drive, std::span<Quad> y) const;

  /// Sets the flow about which the equations are linearised: values that the operator was applied to with this driving
  /// force. inertia: |factor| of add(). As add(). Collective.
  void set_base(double inertia, LevelValues& u, const StokesDrive& drive, BaseFlow& to) const;

  /// y += factor [(u·∇)v + (v·∇)u], v: values that the operator was applied to without a drive: the derivative of add()
  /// at u, which was kept with an inertia of |factor|. As add(). Collective.
  void add_linearised(double factor, const BaseFlow& u, LevelValues& v, std::span<Quad> y) const;

  /// Fluxes through the faces of an earlier flow, from StokesOperator::face_velocities().
  struct Past {
    double weight = 0.0;
    const std::array<double, 6>* velocities = nullptr;
    const float* extra = nullptr;
  };
  /// The fluxes Σ weight F of two earlier flows. Allocates nothing. Not collective.
  /// @return largest outflow of a cell / κ, of this rank
  double combine(const std::array<Past, 2>& flows, AdvectingFluxes& to) const;
  /// Sets the advecting velocity in the cells from values that the operator was applied to with this driving force. As
  /// set_base(). Collective.
  void set_carrying(double inertia, LevelValues& w, const StokesDrive& drive, BaseFlow& to) const;
  /// y += factor (w·∇)v, v: values that the operator was applied to with this drive; if v is also the advecting flow,
  /// set with an inertia of |factor|, this is add(). As add(). Collective.
  void add_carried(double factor, const BaseFlow& w, LevelValues& v, const StokesDrive& drive, std::span<Quad> y) const;

  /// F of a stored flow through a face between levels, out of the fine VoF.
  double flux_through(const StokesOperator::LevelGhost& g, const BaseFlow& w) const;
  double per_volume(std::size_t vof) const { return double{inverse_volume_[vof]}; }  ///< 1/κ of an own VoF

  /// Open fraction of the cells along each direction, with halo and ghosts: the smaller one of their two faces; that of
  /// the open face if the other is closed, with a negative sign if a wall closes it.
  const BasicField<Values<3>>& aperture() const { return aperture_; }
  /// Of this rank.
  std::int64_t bytes() const { return static_cast<std::int64_t>(inverse_volume_.bytes() + aperture_.bytes()); }

 private:
  /// An open domain face where the advected velocity is not (u_neighbour + u) / 2.
  struct End {
    std::uint16_t vof, slot;
    std::uint8_t side;
    bool given;        ///< the ghost has the velocity of the domain face; otherwise inflow comes from rest
    float area, bend;  ///< as in FlowRow
  };
  void find_ends(int box);
  void find_apertures();
  std::span<const End> ends_of(int box) const {
    return std::span(ends_).subspan(ends_begin_[box], ends_begin_[box + 1] - ends_begin_[box]);
  }
  template <class Cell>
  void for_cells(int box, Cell&& cell) const;
  enum class Carries : std::uint8_t { no, yes };
  void find_curvature(int box, LevelValues& u, const StokesDrive& drive, Carries carries) const;
  void fill_ghosts(int box, QuadField& curvature) const;
  template <class OfBox>
  void with_curvature(LevelValues& u, const StokesDrive& drive, Carries carries, OfBox&& of_box) const;
  template <class Carrying, class Carried, class Deciding>
  void carry(int box, double factor, const Carrying& w, const Carried& u, const Deciding& deciding,
             std::span<Quad> y) const;

  const StokesOperator* op_;
  Array<float> inverse_volume_;  // 1 / κ of the own VoFs
  BasicField<Values<3>> aperture_;
  std::vector<End> ends_;
  std::vector<std::int64_t> ends_begin_{0};  // n_local + 1
  mutable HaloExchange<Quad> halo_;          // its buffers
};

}  // namespace karst
