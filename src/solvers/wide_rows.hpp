// SPDX-License-Identifier: BSD-3-Clause
// Rows that are not the plain seven points: one CSR structure of arrays for all levels of a rank, sorted by unknown.
#pragma once

#include <span>
#include <vector>

#include "base/memory.hpp"
#include "solvers/remote_values.hpp"
#include "solvers/stencil.hpp"

namespace karst {

class WideRows {
 public:
  WideRows() = default;
  /// @param rows     merged stencils, by increasing own unknown: (own unknown, stencil)
  /// @param remote   holds every unknown of other ranks that they read
  WideRows(const std::vector<std::pair<std::int32_t, Stencil>>& rows, const CompositeNumbering& numbering,
           const RemoteValues& remote);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(row_.size()); }
  std::int64_t n_entries() const { return static_cast<std::int64_t>(column_.size()); }
  /// First row of an unknown >= number.
  std::int64_t lower(std::int32_t number) const;
  std::int32_t row(std::int64_t r) const { return row_[static_cast<std::size_t>(r)]; }
  /// Columns of a row: own unknowns, then n_own + places among the remote values.
  std::span<const std::int32_t> columns(std::int64_t r) const { return column_.span().subspan(begin(r), length(r)); }
  std::span<const double> weights(std::int64_t r) const { return weight_.span().subspan(begin(r), length(r)); }

  /// y_row = Σ weight x_column for rows [first, last).
  /// @param x       own unknowns (n_own)
  /// @param remote  values of other ranks
  void apply(std::int64_t first, std::int64_t last, std::span<const double> x, std::span<const double> remote,
             double* y) const;
  std::int64_t bytes() const;

 private:
  std::size_t begin(std::int64_t r) const { return static_cast<std::size_t>(begin_[static_cast<std::size_t>(r)]); }
  std::size_t length(std::int64_t r) const { return begin(r + 1) - begin(r); }

  Array<std::int32_t> row_, begin_, column_;
  Array<double> weight_;
};

}  // namespace karst
