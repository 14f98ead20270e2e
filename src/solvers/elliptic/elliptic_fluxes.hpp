// SPDX-License-Identifier: BSD-3-Clause
// The fluxes -β ∂φ/∂n area that the rows of an EllipticOperator sum, each by itself: through every face of the
// composite grid and through every piece of wall, values of the conditions included. With b those values' right-hand
// side,
//
//   a κ V φ_v + Σ_faces flux out + wall flux out = (A φ - b)_v     in every balance, to round-off.
//
// A joined orphan (row_maker.hpp) has no balance of its own: its host's row sums its faces and its wall. Here all that
// it takes up leaves it through the face on the way to its host, so its own sum is 0 and the host's is (A φ - b)_host:
// planes through any faces carry the same flux, wherever the orphans lie.
#pragma once

#include <vector>

#include "fields/face_field.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

class RowMakers;

class EllipticFluxes {
 public:
  /// Makes the stencils of the faces next to walls, ends and levels again, about the work of the operator. The operator
  /// must outlive it; changes of its coefficients are followed. Throws Error for WallForm::lines on several levels: a
  /// coarse row there counts the fine faces that exist for those that walls close. Collective.
  explicit EllipticFluxes(EllipticOperator& op);

  /// Fluxes in units of β h0 φ.
  /// @param x      own unknowns
  /// @param faces  on the operator's composite grid; halo slots are not filled
  /// @param wall   per level one number per irregular VoF, parallel to LevelGeometry::moments: OUT of the fluid
  /// Collective.
  void find(std::span<const double> x, FaceField& faces, std::vector<std::vector<double>>& wall);
  std::int64_t bytes() const;  ///< of this rank

 private:
  enum class Kind : std::uint8_t { primary, extra, coarse_fine, wall };
  /// Where a flux goes: sign x what leaves the VoF.
  struct Target {
    Kind kind;
    std::uint8_t level, direction;
    std::int8_t sign;
    std::int64_t place;
  };
  struct FluxRow {
    Row row;
    Target target;
  };
  /// A face on the way from an orphan to its host: `target` loses what its orphans and those behind them take up.
  struct Way {
    Target target;
    std::vector<GlobalNumber> behind;
  };
  /// A VoF whose faces are listed.
  struct Place {
    int level, box, vof;
    VofName name;
    std::array<std::uint16_t, 6> slots;
    std::int64_t extra;  ///< place of its first extra face
  };
  struct OfBox;
  void list_box(RowMakers& makers, int level, int b, OfBox& out);
  /// Of a VoF with an extra face of number `extra` of its own, or a primary one.
  Target target_of(const Place& at, int side, int extra) const;
  void list_faces(RowMakers& makers, const Place& at, bool ends_only, OfBox& out);
  void list_lines(RowMakers& makers, const Place& at, OfBox& out);
  void list_ways(RowMakers& makers, const Place& at, OfBox& out);
  void list_coarse_fine(RowMakers& makers, int level, OfBox& out);
  void store(std::vector<OfBox>& boxes);
  void follow_operator();
  void find_plain(std::span<const double> x, FaceField& faces);
  void close_orphans(std::span<const double> x, FaceField& faces, std::vector<std::vector<double>>& wall);
  double& value_at(const Target& t, FaceField& faces, std::vector<std::vector<double>>& wall) const;

  EllipticOperator* op_;
  int version_ = -1;
  std::vector<std::vector<std::uint8_t>> plain_;  // per level and own VoF: bit d: low face of two whole sides
  CellField cells_, sums_;
  WideRows rows_;
  BoundaryTerms boundary_;
  std::vector<Target> targets_;  // per row
  std::int64_t n_windows_ = 0;
  std::vector<double> result_;
  RemoteValues<double> remote_, taken_up_;
  std::vector<Way> ways_;
  bool any_ways_ = false;  // on any rank
};

}  // namespace karst
