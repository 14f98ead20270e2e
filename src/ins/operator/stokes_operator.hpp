// SPDX-License-Identifier: BSD-3-Clause
// The discrete Stokes operator (flow_rows.hpp) on one grid level, matrix-free, velocity and pressure of a VoF
// interleaved:
//
//   K (u, p) = ( -Δu + ∇p,  -Σ_faces flux out )
//
// in units of the level's cell width h and viscosity 1. Two passes over the boxes: the first computes the momentum rows
// and ũ = u + t ∇p, the second the continuity rows from ũ and p. Values of other levels are not filled here
// (level_coupling.hpp).
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/comm/comm.hpp"
#include "fields/composite.hpp"
#include "grid/halo_exchange.hpp"
#include "ins/operator/float_quad.hpp"
#include "ins/operator/flow_rows.hpp"
#include "ins/operator/time_term.hpp"

namespace karst {

class StokesOperator;

/// A flow on one level, and the results of the passes of the operator.
/// @tparam Q  Quad, or FloatQuad: half the memory, for what need not be exact
template <class Q>
struct BasicLevelValues {
  explicit BasicLevelValues(const StokesOperator& op);
  BasicField<Q> x;             ///< velocity and pressure: the caller sets own VoFs, all others are filled
  BasicField<Q> mean;          ///< ũ and p of momentum_pass(), with halo and ghosts
  std::vector<double> beyond;  ///< pressure one cell beyond each level ghost; to be set with x at its slot
  /// ∂²_d of the velocity along the grid lines of direction d, and of Δu the component d in cells whose faces are all
  /// fully open, 0 in others; Advection computes it with halo and level ghosts. No components until then.
  QuadField curvature;
  std::vector<Vec3> along;  ///< of continuity_pass(), per own box: Σ over the faces of a direction of the flux
  /// Σ along, with half the weight for domain faces: divided by the number of all cells it is the mean superficial
  /// velocity. Of this rank.
  Vec3 flow() const;
  std::int64_t bytes() const;
};
using LevelValues = BasicLevelValues<Quad>;
/// Rows that go with values of this type; anything that becomes such a span may be given.
template <class Q>
using RowsOf = std::span<std::type_identity_t<Q>>;

class StokesOperator {
 public:
  /// A ghost across a face to the next coarser level.
  struct LevelGhost {
    std::int32_t box;
    std::uint16_t slot, vof;
    std::uint16_t opposite;  ///< slot across the other side of the VoF
    std::uint8_t side;       ///< of the VoF
    float area, bend;        ///< of the face, as in FlowRow
    float here, there;       ///< ∂p of the VoF = here (p_slot - p) + there (p_opposite - p)
  };

  /// A ghost behind a domain face.
  struct Ghost {
    std::uint16_t slot, vof;
    std::uint8_t side;
    /// Profile of the domain face where the grid line of the cell meets it; its mean over the open face, times area /
    /// (area in single precision).
    double point = 1.0, mean = 1.0;
  };
  /// A no-slip domain face beside a flow cell: contribution of the wall velocity to its momentum row.
  struct EndWall {
    std::uint16_t vof;
    std::uint8_t side;
    float viscous;  ///< weight of that velocity, as FlowRow::viscous
  };

  /// Of a level of the grid. Collective.
  StokesOperator(std::shared_ptr<const Composite> composite, int level, const FlowSides& sides, FlowRows rows);
  StokesOperator(const StokesOperator&) = delete;
  StokesOperator& operator=(const StokesOperator&) = delete;

  const Comm& comm() const { return composite_->comm(); }
  const LevelGeometry& geometry() const { return *geometry_; }
  const FlowRows& rows() const { return rows_; }
  const FlowSides& sides() const { return sides_; }
  /// VoFs under a finer level: not unknowns, their rows are 0.
  std::span<const std::uint16_t> covered_in(int box) const { return composite_->covered_in(geometry_->level, box); }
  std::int64_t n_own() const { return geometry_->graph.vof_begin(geometry_->graph.n_local()); }

  /// Whether an own VoF without a FlowRow has flow: a cell with fully open faces on all sides.
  bool is_plain(std::size_t vof) const { return plain_[vof] != 0; }
  /// y = K u - b over the own VoFs, box after box; b: contribution of the driving force. Allocates nothing. Collective.
  template <class Q>
  void apply(BasicLevelValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive = {}, const LevelTime& time = {}) const {
    momentum_pass(u, y, drive, time);
    continuity_pass(u, y, drive, time);
  }
  /// The two passes of apply(), with a rate of change in time where its shift is not 0. Collective.
  template <class Q>
  void momentum_pass(BasicLevelValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive, const LevelTime& time = {}) const;
  template <class Q>
  void continuity_pass(BasicLevelValues<Q>& u, RowsOf<Q> y, const StokesDrive& drive, const LevelTime& time = {}) const;
  /// ∂p over the own VoFs. Allocates nothing. Collective.
  template <class Q>
  void pressure_gradient(BasicLevelValues<Q>& u, std::span<std::array<float, 3>> gradient) const;

  /// Profile of the value of a domain face; 1 everywhere unless set. Returns its integral over the open faces of the
  /// own VoFs there, and their area [h0²].
  /// @param width  of the level's cells [h0]
  std::array<double, 2> set_profile(int side, double width, const EndProfile& profile);

  /// Fluxes through the primary faces of the level, as FaceField::primary() has them, of values that were applied with
  /// this drive. Not collective.
  /// @param unit  factor on velocity times h²
  void face_fluxes(const LevelValues& u, const Vec3& force, double unit, Field& fluxes) const;
  /// The same with a rate of change in time, to the bit as face_velocities() has it.
  /// @param time  a > 0
  void face_fluxes(const LevelValues& u, const Vec3& force, const LevelTime& time, double unit, Field& fluxes) const;
  /// The same of an earlier flow, from the velocities that face_velocities() made of it.
  void face_fluxes(std::span<const std::array<double, 6>> velocities, double unit, Field& fluxes) const;

  /// Box after box; empty on the coarsest level.
  std::span<const LevelGhost> level_ghosts() const { return level_ghosts_; }
  std::span<const LevelGhost> level_ghosts_of(int box) const {
    return std::span(level_ghosts_)
        .subspan(level_ghost_begin_[box], level_ghost_begin_[box + 1] - level_ghost_begin_[box]);
  }
  std::span<const Ghost> ghosts_of(int box) const {
    return std::span(ghosts_).subspan(ghost_begin_[box], ghost_begin_[box + 1] - ghost_begin_[box]);
  }
  std::span<const EndWall> end_walls_of(int box) const {
    return std::span(end_walls_).subspan(end_wall_begin_[box], end_wall_begin_[box + 1] - end_wall_begin_[box]);
  }
  /// The flux out of the VoF towards a level ghost. As face_fluxes().
  template <class Q>
  double level_flux(const BasicLevelValues<Q>& u, const LevelGhost& ghost, const Vec3& force,
                    const LevelTime& time = {}) const;
  /// Face data of this flow for LevelTime::Past, from values that were applied with this driving force and time; may
  /// replace an earlier flow of `time`. Not collective.
  /// @param[out] faces   per own VoF
  /// @param[out] extra   per FlowExtra
  /// @param[out] fluxes  through the FlowExtra, parallel to it
  void face_velocities(const LevelValues& u, const Vec3& force, const LevelTime& time,
                       std::span<std::array<double, 6>> faces, std::span<double> extra, std::span<float> fluxes) const;

  /// The flux through an extra face, out of its VoF.
  double extra_flux(const LevelValues& u, int box, const FlowExtra& face, const Vec3& force) const;
  /// The same with a rate of change in time, in single precision as face_velocities() has it.
  float extra_flux(const LevelValues& u, int box, const FlowExtra& face, const Vec3& force,
                   const LevelTime& time) const;

  /// 1 / diagonal of the momentum row; 1/6 in regular cells. Halo and ghosts filled.
  const FloatField& inverse_diagonal() const { return t_; }
  std::int64_t bytes() const;  ///< of this rank

 private:
  void find_ghosts();
  void find_end_walls(int box, const BoxGraph& graph);
  template <class Q>
  void move_end_walls(int box, const StokesDrive& drive, Q* y) const;
  void limit_bends();
  void find_level_ghosts(int box, const BoxGraph& graph);
  template <class Q>
  void fill_level_ghosts(int box, BasicLevelValues<Q>& u, const LevelTime& time) const;
  template <class Q>
  void fill_ghosts(int box, Q* x, const EndGhosts& ends, double Ghost::*profile) const;
  template <bool unsteady, class Q>
  void momentum(int box, BasicLevelValues<Q>& u, const Vec3& force, const LevelTime& time, Q* y) const;
  template <bool unsteady, class Q>
  Vec3 continuity(int box, const BasicLevelValues<Q>& u, const Vec3& force, const LevelTime& time, Q* y) const;
  template <class Q>
  HaloExchange<Q>& halo_of() const {
    if constexpr (std::is_same_v<Q, Quad>)
      return halo_;
    else
      return float_halo_;
  }
  LevelTime of_box(const LevelTime& time, int box) const;
  template <class Flux>
  void list_primary(double unit, Field& fluxes, Flux&& flux) const;

  std::shared_ptr<const Composite> composite_;
  const LevelGeometry* geometry_;
  FlowSides sides_;
  FlowRows rows_;
  std::vector<Ghost> ghosts_;
  std::vector<std::int64_t> ghost_begin_;  // n_local + 1
  std::vector<LevelGhost> level_ghosts_;
  std::vector<std::int64_t> level_ghost_begin_;  // n_local + 1
  std::vector<EndWall> end_walls_;
  std::vector<std::int64_t> end_wall_begin_;  // n_local + 1
  FloatField t_;
  mutable HaloExchange<Quad> halo_;  // its buffers
  mutable HaloExchange<FloatQuad> float_halo_;
  Array<std::uint8_t> plain_;  // per own VoF: no row
};

}  // namespace karst
