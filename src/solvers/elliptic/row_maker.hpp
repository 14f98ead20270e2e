// SPDX-License-Identifier: BSD-3-Clause
// Rows of the operator next to walls: the unknowns that they read, and their weights. All other rows are the
// seven-point stencil. Two forms:
//
// lines, the ghost-fluid form (the whole wall is Dirichlet): seven points on the grid lines; where the line from a cell
// centre meets the wall
//   after θ h, the neighbour is the wall value at that distance: weight 1/θ instead of 1. Symmetric, an M-matrix,
//   second order in
//   φ (Gibou, Fedkiw, Cheng & Kang, J. Comput. Phys. 176 (2002) 205). Faces count as fully open. A VoF that does not
//   contain its
//   cell centre (an isolated fragment, "orphan") has the value of the wall at its wall centroid and is decoupled.
// fluxes, the finite-volume form (all others): control volumes, a κ V φ - Σ_faces α flux - wall flux, every flux the
// same number for both sides:
//   - between two cell centres: differences across the surrounding faces, interpolated linearly so that the flux is
//   that at the
//     centroid of the face (for linear gradients exact);
//   - slivers (faces of merged pieces): the same from the pair of neighbours on the nearest grid line;
//   - other faces (of isolated fragments): φ_n - φ_v + G·(e - L), with least-squares gradients G, L from value to value
//   and e the
//     step across the face: exact for linear φ, and as stiff as the two-point operator;
//   - Neumann wall: as given. Robin: a_w (value - rate φ_I) / (1 + rate d/β), φ_I = φ_v + G·(x_I - x_v) on the normal
//     line through the wall centroid, as far from the wall (d) as the value of the VoF. Dirichlet: a_w β (value at the
//     foot of the perpendicular - φ_v) / d;
//   - where the wall has a flux, an isolated fragment that is not fixed by a Dirichlet boundary has a host: the VoF
//   across its
//     largest face that contains its cell centre, or the host of that across its largest face. The row of the host
//     includes its
//     balance (sources, wall, other faces); its value is that of the polynomial through the unknowns around the host.
//     In a separate balance the wall flux would be divided by its tiny apertures.
#pragma once

#include <cstdint>

#include "fields/vof_lookup.hpp"
#include "solvers/elliptic/elliptic_problem.hpp"
#include "solvers/elliptic/face_betas.hpp"
#include "solvers/elliptic/made_faces.hpp"
#include "solvers/elliptic/stencil.hpp"

namespace karst {

/// How often each method was used, for the report.
struct RowCounts {
  std::int64_t wide_rows = 0, entries = 0;
  std::int64_t faces_at_centroid = 0;  ///< fluxes interpolated to the centroid of a cut face in both directions
  std::int64_t faces_extrapolated = 0, faces_one_way = 0, faces_at_center = 0;  ///< its fall-backs
  std::int64_t faces_from_beside = 0;       ///< slivers of merged pieces: from the neighbours on the nearest grid line
  std::int64_t faces_tight = 0;             ///< between VoFs in contacts and throats: plain differences
  std::int64_t faces_slanted = 0;           ///< between values that are not neighbours on a grid line
  std::int64_t faces_without_gradient = 0;  ///< of these: plain differences
  std::int64_t faces_too_stiff = 0;         ///< of these: plain differences, because the corrections would be too large
  std::int64_t walls_without_gradient = 0;  ///< Robin: the value of the VoF itself
  std::int64_t walls_without_plane = 0;     ///< walls that face each other in one VoF: distance volume / area
  std::int64_t walls_near = 0;              ///< distance to the wall raised to the smallest one
  std::int64_t lines_without_wall = 0;      ///< wall assumed at half a cell
  std::int64_t orphans_pinned = 0;          ///< lines: isolated fragments with the wall's value
  std::int64_t orphans_joined = 0;          ///< fluxes: isolated fragments whose balance is in the row of their host
  std::int64_t orphans_at_end = 0;  ///< of these: value between that of a fixed domain face and that of the host
  std::int64_t orphans_alone = 0;   ///< fluxes: isolated fragments with their own balance
  std::int64_t level_faces = 0, level_faces_closed = 0;  ///< between levels; of these without a coarse VoF behind
  RowCounts& operator+=(const RowCounts& o);
};

inline constexpr double least_line = 1e-4;  ///< lines: smallest θ of a wall on a grid line

enum class WallForm : std::uint8_t { lines, fluxes };

/// Contribution of a wall with the rate r to a row: area / (1 + r / exchange) (r φ_I - value), φ_I the stencil's value.
struct RobinWall {
  std::size_t term = 0;  ///< index among the wall terms: the one of its value
  double area = 0.0, exchange = 0.0, rate = 0.0;
  Stencil value_at_wall;
  double damped_area() const { return area / (1.0 + rate / exchange); }
};

/// A row during set-up: stencil, a times `volume`, and walls with rates.
struct Row {
  std::int32_t number = 0;  ///< own unknown
  bool orphan = false;      ///< the VoF does not contain its cell centre
  Stencil stencil;
  Stencil volume;  ///< in h0³; its sum multiplies a source; empty: no balance (fragments with a fixed value or a host)
  std::vector<SideTerm> sides;
  std::vector<WallTerm> walls;
  std::vector<RobinWall> robin;
  void clear() {  ///< keeps the allocated memory
    number = 0;
    orphan = false;
    stencil.terms.clear();
    volume.terms.clear();
    sides.clear();
    walls.clear();
    robin.clear();
  }
};

/// Throws Error if the smallest rate of a wall is negative.
void require_rate(double least);

/// The piece of wall of a VoF, evaluated at a position on it [h0].
WallPiece wall_piece(const VofMoments& moments, int level, std::int64_t row, const WallParts& parts,
                     const Vec3& position);

/// Creates the rows of one level; it is constant and may be used by several threads.
class RowMaker {
 public:
  /// @param betas  on faces; nullptr: problem.beta
  RowMaker(const VofLookup& vofs, const EllipticProblem& problem, const FaceBetas* betas, WallForm form);

  WallForm form() const { return form_; }
  /// Row of an own VoF that is an unknown, without the fluxes between levels.
  /// @param between_levels  bit s: side s has such fluxes
  /// @param made  of the box that contains v
  /// @param[out] row  overwritten
  void make(VofName v, std::int32_t number, unsigned between_levels, MadeFaces& made, RowCounts& counts,
            Row& row) const;
  /// The row that contains the balance of a VoF: its own or that of its host; no_unknown if it has none (lines:
  /// isolated fragments).
  GlobalNumber balance_row(VofName v) const;
  /// Whether a face towards the coarser level has a flux (lines: there is no wall before the ghost).
  bool crosses_levels(VofName v, const ListedFace& face) const;
  /// β of the face of a VoF across a side towards a neighbour: see FaceBetas::of().
  double beta_at(VofName v, int side, VofName neighbour) const;

  // Adds the flux out of a VoF through one of its faces, or its wall, to a row.
  void add_face(VofName v, const SharedFace& face, int side, Row& row, MadeFaces& made, RowCounts& counts) const;
  void add_domain_face(VofName v, const ListedFace& face, double aperture, Row& row) const;
  void add_wall_flux(VofName v, Row& row, MadeFaces& made, RowCounts& counts) const;
  enum class LineEnd { vof, domain, wall };
  /// Lines: the same along the grid line from a VoF that contains its cell centre; returns where the line ends.
  LineEnd add_line(VofName v, int side, Row& row, RowCounts& counts) const;

  /// Fluxes: index among the shared faces of an isolated fragment of the one towards its host or another fragment of
  /// the same host; -1: it has its own balance.
  int face_to_host(VofName v) const { return host(v).face; }

 private:
  void add_lines(VofName v, unsigned between_levels, Row& row, RowCounts& counts) const;
  void add_fluxes(VofName v, Row& row, MadeFaces& made, RowCounts& counts) const;
  void face_difference(const SharedFace& face, MadeFaces& made, FaceDifference& result) const;
  Stencil slanted_difference(const SharedFace& face, MadeFaces& made, FaceDifference& told) const;
  /// From its neighbours, and theirs where a direction is not resolved.
  VofGradient gradient(VofName v) const;
  struct Host {
    VofName name = no_face;
    Vec3 distance;  ///< from the value of the host to that of the fragment, in h
    int face = -1;  ///< index of the face on the way among the shared faces of the fragment
  };
  /// Side of the domain with a fixed value on the largest such face of a VoF; -1: none.
  int fixed_end(VofName v) const;
  bool needs_host(VofName v) const;
  Host host(VofName v, int depth = 0) const;
  void add_joined(VofName v, Row& row, MadeFaces& made, RowCounts& counts) const;
  bool interpolate_to_end(VofName v, const Host& host, Row& row) const;
  void extrapolate(VofName v, const Host& host, Row& row) const;
  /// Two unknowns on a grid line, and the position of the face's centroid relative to this line.
  struct Pair {
    VofName low = no_face, high = no_face;
    Vec3 offset;
  };
  bool is_tight(VofName v) const;
  Pair nearest_pair(const SharedFace& face) const;
  Pair pair_beside(const Pair& pair, int direction, int towards) const;
  double wall_beta(VofName v) const;
  Vec3 position(VofName v, const Vec3& in_cell) const;
  Condition wall_condition(VofName v) const;
  void add_wall_term(VofName v, double weight, const Vec3& at, Row& row) const;
  void add_difference(VofName from, VofName to, double weight, Stencil& stencil) const;

  const VofLookup& vofs_;
  const EllipticProblem& problem_;
  const FaceBetas* betas_;
  WallForm form_;
  double h_;
};

}  // namespace karst
