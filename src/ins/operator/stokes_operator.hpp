// SPDX-License-Identifier: BSD-3-Clause
// The discrete Stokes operator (flow_rows.hpp) on one grid level, free of matrices, velocity and pressure of a VoF side
// by side:
//
//   K (u, p) = ( -Δu + ∇p,  -Σ_faces flux out )
//
// in units of the level's cell width h and viscosity 1. Two passes over the boxes: the first makes the momentum rows
// and ũ = u + t ∇p, the second the continuity rows from ũ and p. What lies on other levels is not filled here
// (level_coupling.hpp).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/comm.hpp"
#include "fields/composite.hpp"
#include "grid/halo_exchange.hpp"
#include "ins/operator/flow_rows.hpp"
#include "ins/operator/time_term.hpp"

namespace karst {

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
    double beyond = 0.0;     ///< pressure one cell beyond the ghost; to be set with values() at the slot
  };

  /// Of a level of the grid. Collective.
  StokesOperator(std::shared_ptr<const Composite> composite, int level, const FlowSides& sides, FlowRows rows);
  StokesOperator(const StokesOperator&) = delete;
  StokesOperator& operator=(const StokesOperator&) = delete;

  const Comm& comm() const { return composite_->comm(); }
  const LevelGeometry& geometry() const { return *geometry_; }
  const FlowRows& rows() const { return rows_; }
  const FlowSides& sides() const { return sides_; }
  /// VoFs under a finer level: no unknowns, their rows are 0.
  std::span<const std::uint16_t> covered_in(int box) const { return composite_->covered_in(geometry_->level, box); }
  std::int64_t n_own() const { return geometry_->graph.vof_begin(geometry_->graph.n_local()); }

  /// Velocity and pressure that the operator is applied to: own VoFs are the caller's to set, all else is filled here.
  QuadField& values() { return x_; }
  const QuadField& values() const { return x_; }
  /// ũ and p of the last apply(), with halo and ghosts.
  const QuadField& steady_values() const { return w_; }
  /// An own VoF without a FlowRow that carries flow: a cell with whole faces on all sides.
  bool is_plain(std::size_t vof) const { return plain_[vof] != 0; }
  /// y = K values() over the own VoFs, box after box. Allocates nothing. Collective.
  void apply(std::span<Quad> y) { apply(y, {}); }
  /// The same less what a drive adds: y = K values() - b. Collective.
  void apply(std::span<Quad> y, const StokesDrive& drive, const LevelTime& time = {}) {
    momentum_pass(y, drive, time);
    continuity_pass(y, drive, time);
  }
  /// The two passes of apply(), with a rate of change in time where its shift is not 0. Collective.
  void momentum_pass(std::span<Quad> y, const StokesDrive& drive, const LevelTime& time = {});
  void continuity_pass(std::span<Quad> y, const StokesDrive& drive, const LevelTime& time = {});
  /// ∂p of values() over the own VoFs. Allocates nothing. Collective.
  void pressure_gradient(std::span<std::array<float, 3>> gradient);
  /// Σ over the faces of each direction of the flux of the last apply(), faces on ends of the domain counted half: over
  /// the number of all cells it is the mean superficial velocity. Of this rank. Not collective.
  Vec3 local_flow() const;
  /// Adds a flux times its place to local_flow(). Not thread-safe.
  void add_flow(int box, const Vec3& flow) { flow_[static_cast<std::size_t>(box)] += flow; }

  /// How the value of an end is spread over it; 1 everywhere unless set.
  /// @param width  of the level's cells [h0]
  void set_profile(int side, double width, const EndProfile& profile);

  /// Fluxes through the primary faces of the level, as FaceField::primary() has them. Follows an apply() with the same
  /// values and drive. Not collective.
  /// @param unit  of the fluxes: what the velocity times h² is multiplied with
  void face_fluxes(const Vec3& force, double unit, Field& fluxes) const;

  /// Box after box; empty on the coarsest level.
  std::span<LevelGhost> level_ghosts() { return level_ghosts_; }
  std::span<const LevelGhost> level_ghosts_of(int box) const {
    const auto b = static_cast<std::size_t>(box);
    return std::span(level_ghosts_)
        .subspan(static_cast<std::size_t>(level_ghost_begin_[b]),
                 static_cast<std::size_t>(level_ghost_begin_[b + 1] - level_ghost_begin_[b]));
  }
  /// The flux out of the VoF towards a level ghost. As face_fluxes().
  double level_flux(const LevelGhost& ghost, const Vec3& force, const LevelTime& time = {}) const;
  /// What LevelTime::Past wants to know of the faces of this flow later. Follows an apply() with the same values, drive
  /// and time; may replace a past of `time`. Not collective.
  /// @param[out] faces  per own VoF
  /// @param[out] extra  per FlowExtra
  void face_velocities(const Vec3& force, const LevelTime& time, std::span<std::array<double, 6>> faces,
                       std::span<double> extra) const;

  /// The same through an extra face, out of its VoF.
  double extra_flux(int box, const FlowExtra& face, const Vec3& force) const;

  /// 1 / diagonal of the momentum row; 1/6 in regular cells. Halo and ghosts filled.
  const FloatField& inverse_diagonal() const { return t_; }
  std::int64_t bytes() const;  ///< of this rank

 private:
  /// Behind an end of the domain.
  struct Ghost {
    std::uint16_t slot, vof;
    std::uint8_t side;
    /// Profile of the end where the grid line of the cell meets it; mean over the open face, times its area over that
    /// in single precision.
    double point = 1.0, mean = 1.0;
  };
  void find_ghosts();
  void limit_bends();
  void find_level_ghosts(int box, const BoxGraph& graph);
  void fill_level_ghosts(int box);
  void fill_ghosts(int box, Quad* x, const EndGhosts& ends, double Ghost::*profile) const;
  template <bool unsteady>
  void momentum(int box, const Vec3& force, const LevelTime& time, Quad* y);
  template <bool unsteady>
  Vec3 continuity(int box, const Vec3& force, const LevelTime& time, Quad* y) const;
  LevelTime of_box(const LevelTime& time, int box) const;

  std::shared_ptr<const Composite> composite_;
  const LevelGeometry* geometry_;
  FlowSides sides_;
  FlowRows rows_;
  std::vector<Ghost> ghosts_;
  std::vector<std::int64_t> ghost_begin_;  // n_local + 1
  std::vector<LevelGhost> level_ghosts_;
  std::vector<std::int64_t> level_ghost_begin_;  // n_local + 1
  FloatField t_;
  QuadField x_, w_;  // w: ũ and p
  HaloExchange<Quad> halo_;
  Array<std::uint8_t> plain_;  // per own VoF: no row
  std::vector<Vec3> flow_;     // per own box, of the last apply()
};

}  // namespace karst
