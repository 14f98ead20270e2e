// SPDX-License-Identifier: BSD-3-Clause
// Stencils of the single fluxes whose sums are the rows: data for EllipticFluxes, stored by an EllipticOperator on
// request. Between two VoFs of which the high one is regular a flux is a plain difference and has no stencil; its VoF
// has a bit instead.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fields/composite.hpp"
#include "fields/remote_values.hpp"
#include "solvers/elliptic/boundary_terms.hpp"
#include "solvers/elliptic/row_makers.hpp"

namespace karst {

/// Position of a flux in the fields of its box; the value is `sign` x the flux out of the VoF.
struct FluxPlace {
  enum class Kind : std::uint8_t { primary, extra, coarse_fine, wall };
  Kind kind;
  std::uint8_t direction = 0;  ///< of a primary face
  std::int8_t sign = 1;
  std::int32_t
      at;  ///< slot; number among the extra faces, or irregular rows, of the box; among the faces of two levels
};

/// The box whose fluxes are listed together; box -1: faces between `level` and the next finer one.
struct FluxWindow {
  std::int32_t level, box;
};

/// A face on the way from an isolated fragment to its host.
struct WayToHost {
  FluxWindow window;
  FluxPlace place;
  std::vector<GlobalNumber> behind;  ///< the fragment, and those whose way to their host passes through it
};

/// An own isolated fragment whose balance is in the row of a host.
struct JoinedOrphan {
  FluxWindow window;
  std::int32_t vof, row;  ///< in its box
  std::int32_t unknown;
};

/// Fluxes of one window during set-up.
struct ListedFluxes {
  FluxWindow window;
  std::vector<FluxPlace> places;   ///< per flux
  std::vector<std::int32_t> ends;  ///< per flux: end of its terms
  std::vector<StencilTerm> terms;
  BoundaryTerms boundary;  ///< rows: number of the flux
  std::vector<WayToHost> ways;
  std::vector<JoinedOrphan> orphans;
  /// Moves a flux into this object; `row` is unspecified afterwards. The terms of a wall with a rate are those of the
  /// value there, without a factor.
  void add(Row& row, const FluxPlace& place, const Geometry& geometry);
};

/// Lists the fluxes of a box: faces next to walls and domain faces, walls, faces from isolated fragments to hosts.
/// @param made        stencils that the rows of the box have read
/// @param[out] plain  per own VoF of the box, 0 before: bit d: the low face in direction d is plain
/// @param take        appends the fluxes of an irregular VoF that is not at an end of the domain if they are known
void list_fluxes(const Composite& grid, const RowMakers& makers, int level, int box, MadeFaces& made,
                 std::span<std::uint8_t> plain, const std::function<bool(int vof)>& take, ListedFluxes& out);

struct FaceStencils {
  std::vector<std::vector<std::uint8_t>> plain;  ///< per level and own VoF: see list_fluxes()
  std::vector<FluxWindow> windows;
  /// Per window, and the end: first flux, first term of `boundary`.
  std::vector<std::int32_t> fluxes_begin, sides_begin, walls_begin, robin_begin;
  Array<FluxPlace> places;            ///< per flux
  Array<std::int32_t> entries_begin;  ///< per flux, and the end
  Array<std::int32_t> columns;        ///< own unknown, or n_own + a place among the remote ones
  Array<double> weights;
  BoundaryTerms boundary;            ///< rows: number of the flux; by increasing row
  std::vector<GlobalNumber> remote;  ///< unknowns of other ranks
  std::vector<WayToHost> ways;
  std::vector<JoinedOrphan> orphans;

  std::int64_t bytes() const;
};

/// Levels may be listed in any order; clears the lists. Collective.
FaceStencils gather_fluxes(const Composite& grid, std::vector<ListedFluxes>& lists,
                           std::vector<std::vector<std::uint8_t>>&& plain);

}  // namespace karst
