// SPDX-License-Identifier: BSD-3-Clause
// What EllipticOperator lists of its boxes beside the stencils: where the values of a halo come from, and which of the
// boundary terms are whose and which walls others ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solvers/elliptic/boundary_terms.hpp"
#include "solvers/elliptic/row_maker.hpp"

namespace karst {

/// Values around the own boxes of a level.
struct OperatorHalo {
  /// halo[to + t] = x[from + t] for count values of own unknowns.
  struct Stretch {
    std::int32_t from;
    std::uint16_t to, count;
  };
  /// A single halo value of any kind.
  struct Single {
    std::int32_t from;
    std::uint16_t to;
  };
  /// A ghost behind a domain face: x_slot = factor x_vof.
  struct DomainGhost {
    std::uint16_t slot, vof;
    double factor;
  };

  std::size_t first_window = 0;  ///< of the wide rows: one per own box
  std::vector<Stretch> stretches;
  std::vector<Single> singles;
  std::vector<std::int64_t> stretch_begin{0}, single_begin{0};  ///< n_local + 1
  std::vector<std::int32_t> halo;        ///< per halo VoF of the own boxes: own unknown, n_own + remote place, or -1
  std::vector<std::int64_t> halo_begin;  ///< n_local + 1
  std::vector<DomainGhost> ghosts;
  std::vector<std::int64_t> ghost_begin;  ///< n_local + 1
};

/// What an operator keeps of a row beside its stencil.
namespace row_flags {
constexpr std::uint8_t orphan = 1, between_levels = 2;  ///< the latter: has fluxes through faces to another level
}

/// Which methods rows have used: for each row numbers in the order of for_each_count(), one for each time.
struct MethodsOfRows {
  std::vector<std::uint8_t> method;
  std::vector<std::uint16_t> n;  ///< per row

  void append(const RowCounts& row);
  void append(const MethodsOfRows& all);
};

/// Boundary terms and counts of a box.
struct TermsOfBox {
  BoundaryTerms::Sizes begin, end;
  std::int64_t first_method;
  RowCounts counts;
};

/// A piece of wall of this rank whose values rows of other ranks need.
struct AskedWall {
  int level;
  std::int64_t row;
};

}  // namespace karst
