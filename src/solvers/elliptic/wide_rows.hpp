// SPDX-License-Identifier: BSD-3-Clause
// Rows that are not the plain seven points, of all levels of a rank. They are grouped in windows (boxes), sorted by
// length inside a window and stored in slices of 8 rows, entry by entry across the slice, so that a processor works on
// 8 rows at a time ("sliced ELLPACK": Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401). Entries beyond the end of
// a row have weight 0; the last slice of a window repeats its last row.
#pragma once

#include <span>
#include <vector>

#include "base/memory.hpp"
#include "fields/remote_values.hpp"
#include "solvers/elliptic/stencil.hpp"

namespace karst {

class WideRows {
 public:
  using Row = std::pair<std::int32_t, Stencil>;  ///< own unknown, merged stencil

  WideRows() = default;
  /// @param rows     by increasing own unknown
  /// @param windows  first own unknown of each window, increasing, and the end
  /// @param remote   holds every unknown of other ranks that the rows read
  /// @param damping  per row, of relax()
  WideRows(const std::vector<Row>& rows, std::span<const std::int32_t> windows, const CompositeNumbering& numbering,
           const RemoteUnknowns& remote, std::span<const double> damping);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(row_.size()); }
  std::int32_t row(std::int64_t r) const { return row_[static_cast<std::size_t>(r)]; }  ///< increasing
  /// Calls f(column, weight) for the entries of row r, columns by increasing global number. A column is an own unknown,
  /// or n_own + a place among the remote values.
  template <class F>
  void for_each_entry(std::int64_t r, F&& f) const {
    const auto i = static_cast<std::size_t>(r);
    for (std::size_t k = 0; k < length_[i]; ++k) {
      const std::size_t at = static_cast<std::size_t>(first_[i]) + height * k;
      f(column_[at], weight_[at]);
    }
  }
  bool reads_remote(std::size_t window) const { return remote_[window] != 0; }

  /// y_row = Σ weight x_column for the rows of a window.
  /// @param x       own unknowns (n_own)
  /// @param remote  values of other ranks
  void apply(std::size_t window, std::span<const double> x, std::span<const double> remote, double* y) const;
  /// A damped Jacobi step in two parts: first the corrections c_row = damping / d (b_row - Σ weight x_column) of all
  /// windows, then x_row += c_row. d is the diagonal, or half of Σ |weight| where that is larger (damping < 1): no row
  /// is amplified, whatever the signs of its weights.
  void find_corrections(std::size_t window, std::span<const double> b, std::span<const double> x,
                        std::span<const double> remote);
  void correct(std::size_t window, std::span<double> x) const;
  std::int64_t bytes() const;

 private:
  static constexpr std::size_t height = 8;
  void set_slice(std::span<const Row* const> rows, std::size_t slice, const CompositeNumbering& numbering,
                 const RemoteUnknowns& remote);
  /// f(slice, sums of its rows) for the slices of a window.
  template <class F>
  void sum_rows(std::size_t window, std::span<const double> x, std::span<const double> remote, F&& f) const;

  Array<std::int32_t> row_, first_;     // per row: unknown, first entry
  Array<std::uint16_t> length_;         // per row
  std::vector<std::size_t> slices_{0};  // first slice of each window, and the end
  std::vector<std::uint8_t> remote_;    // per window
  Array<std::int32_t> entries_;         // first entry of each slice, and the end
  Array<std::int32_t> lane_;            // per lane: unknown
  Array<std::int32_t> column_;
  Array<double> weight_;
  Array<float> relaxation_;   // per lane: damping / d; 0 in lanes that repeat a row
  Array<double> correction_;  // per lane
};

}  // namespace karst
