// SPDX-License-Identifier: BSD-3-Clause
// Rows, boundary terms and fluxes of single boxes during set-up, and those that are taken from an operator before
// (decisions 079 and 090).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fields/same_boxes.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/elliptic/face_stencils.hpp"

namespace karst {

/// Of a box.
struct EllipticOperator::BoxRows {
  RowLists rows;
  BoundaryTerms boundary;
  std::vector<std::uint8_t> flags;
  MethodsOfRows methods;
  RowCounts counts;
};

/// Of a box, from the operator before: all rows, or one by one.
class EllipticOperator::BoxBefore {
 public:
  BoxBefore(const OperatorBefore& before, const EllipticOperator& now, int level, int box);

  /// Nothing within reach of its rows has changed.
  bool is_whole() const { return is_whole_; }
  void take_rows(BoxRows& out);
  void take_fluxes(std::span<std::uint8_t> plain, ListedFluxes& out) const;

  /// Appends the row of an irregular unknown without fluxes between levels if it is known to be as before. To be called
  /// by increasing unknown.
  bool take_row(std::int32_t number, BoxRows& out);
  /// Appends the fluxes of an irregular VoF whose row has been taken. To be called by increasing VoF, out.window is
  /// set.
  bool take_fluxes_of(int vof, ListedFluxes& out);
  /// @param rows   those of the box
  /// @param known  per own unknown; set in this box
  void tell_known(const RowLists& rows, std::span<KnownRow> known) const;

 private:
  void append_rows(std::int64_t begin, std::int64_t end, const BoundaryTerms::Sizes& first,
                   const BoundaryTerms::Sizes& last, BoxRows& out) const;
  void append_fluxes(std::int32_t begin, std::int32_t end, const BoundaryTerms::Sizes& first,
                     const BoundaryTerms::Sizes& last, ListedFluxes& out) const;
  void append_terms(const BoundaryTerms& from, const BoundaryTerms::Sizes& begin, const BoundaryTerms::Sizes& end,
                    BoundaryTerms& to) const;
  std::int32_t place_now(std::int32_t place) const;
  std::size_t window_of_fluxes() const;
  int vof_of(const FluxPlace& place) const;

  const OperatorBefore& before_;
  const EllipticOperator& now_;
  const EllipticOperator* op_;  // before; nullptr: nothing is taken
  int level_, box_;
  SameBoxes::Box was_;
  bool is_whole_ = false;
  std::int32_t number_begin_ = 0;  // first own unknown now
  // Where the next row and the next flux of those before may be.
  std::int64_t row_ = 0, method_ = 0;
  BoundaryTerms::Sizes row_terms_, flux_terms_;
  std::int32_t flux_ = 0;
  std::vector<std::uint8_t> taken_;  // per own unknown of the box
};

}  // namespace karst
