// SPDX-License-Identifier: BSD-3-Clause
// The single fluxes -β ∂φ/∂n area whose sums are the rows of an EllipticOperator: through every face of the composite
// grid and through every piece of wall, values of the boundary conditions included. With b the right-hand side of these
// values,
//
//   a κ V φ_v + Σ_faces flux out + wall flux out = (A φ - b)_v     in every balance, to round-off.
//
// An isolated fragment with a host ("joined orphan", row_maker.hpp) has no separate balance: the row of its host sums
// its faces and its wall. Here its net inflow leaves through the face on the way to its host, so its own sum is 0 and
// that of the host is (A φ - b)_host: planes through any faces have the same flux, wherever the fragments are.
#pragma once

#include <vector>

#include "fields/face_field.hpp"
#include "fields/wall_field.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/elliptic/face_stencils.hpp"

namespace karst {

class EllipticFluxes {
 public:
  /// The operator must outlive it; changes of its coefficients are taken into account. Throws Error if the operator was
  /// constructed without Faces::keep, and for WallForm::lines on several levels: a coarse row there uses the existing
  /// fine faces in place of those that walls close. Collective.
  explicit EllipticFluxes(EllipticOperator& op);

  /// Fluxes in units of β h0 φ. Allocates memory only at the first call. Collective.
  /// @param x      own unknowns
  /// @param faces  on the operator's composite grid; halo slots are not filled
  /// @param wall   likewise, one component: OUT of the fluid
  void find(std::span<const double> x, FaceField& faces, WallField& wall);
  std::int64_t bytes() const;  ///< of this rank, without the stencils that the operator keeps

 private:
  struct Window;
  Window open(const FluxWindow& window, FaceField& faces, WallField& wall) const;
  void follow_operator();
  void set_cells(std::span<const double> x);
  void find_plain(FaceField& faces);
  void find_plain(int level, int box, FaceField& faces) const;
  void find_listed(std::size_t window, std::span<const double> x, const Window& to) const;
  void close_orphans(std::span<const double> x, FaceField& faces, WallField& wall);

  EllipticOperator* op_;
  const FaceStencils* stencils_ = nullptr;
  int version_ = -1;
  CellField cells_;                          // values; then the sums of fluxes around isolated fragments
  std::vector<HaloExchange<double>> halos_;  // per level
  RemoteValues<double> remote_, foreign_orphans_;
  std::vector<double> damped_, taken_per_value_;  // per wall with a rate: its damped area, and that times the rate
  std::vector<double> taken_up_;                  // by joined orphans, at their unknowns
  bool any_ways_ = false;                         // on any rank
};

}  // namespace karst
