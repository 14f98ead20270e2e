// SPDX-License-Identifier: BSD-3-Clause
// Irregular rows, which are not the seven-point stencil, of all levels of a rank. They are grouped in windows (boxes),
// sorted by length inside a window and stored in slices of 8 rows, entry by entry across the slice, so that 8 rows are
// processed at a time ("sliced ELLPACK": Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401). Entries beyond the end
// of a row have weight 0; the last slice of a window repeats its last row.
//
// Some weights depend on coefficients that can change: weight = fixed part + Σ coefficient x factor. The zeroth-order
// term is such a coefficient, and so is the uptake of a reacting wall per value at the wall.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/comm/memory.hpp"
#include "fields/remote_values.hpp"
#include "solvers/elliptic/stencil.hpp"

namespace karst {

/// Part of the weight of an unknown in a row: coefficient x factor.
struct VaryingTerm {
  GlobalNumber unknown;
  std::int32_t coefficient;
  double factor;
};

/// Rows to be stored, one after another: those of a box.
struct RowLists {
  std::vector<std::int32_t> number;    ///< own unknown, or the index of a result; increasing
  std::vector<StencilTerm> terms;      ///< merged; they hold the unknowns of the varying terms, too
  std::vector<VaryingTerm> varying;    ///< by increasing coefficient
  std::vector<std::int64_t> begin{0};  ///< per row: first of its terms, and the end
  std::vector<std::int64_t> varying_begin{0};

  std::size_t size() const { return number.size(); }
  std::span<const StencilTerm> terms_of(std::size_t row) const {
    return std::span(terms).subspan(begin[row], begin[row + 1] - begin[row]);
  }
  std::span<const VaryingTerm> varying_of(std::size_t row) const {
    return std::span(varying).subspan(varying_begin[row], varying_begin[row + 1] - varying_begin[row]);
  }
  /// Ends a row whose terms have been appended.
  void end_row(std::int32_t of) {
    number.push_back(of);
    begin.push_back(std::ssize(terms));
    varying_begin.push_back(std::ssize(varying));
  }
};

/// Unknowns of other ranks in these rows, in any order, repeated or not. Threaded; not collective.
std::vector<GlobalNumber> foreign_unknowns(std::span<const RowLists> boxes, const CompositeNumbering& numbering);

class WideRows {
 public:
  WideRows() = default;
  /// All coefficients are 0 at first.
  /// @param boxes    by increasing number
  /// @param at_most  rows of a window: those of a box make one or more
  /// @param remote   contains every unknown of other ranks that the rows read
  WideRows(std::span<const RowLists> boxes, std::size_t at_most, const CompositeNumbering& numbering,
           const RemoteUnknowns& remote);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(row_.size()); }
  std::int64_t n_windows() const { return std::ssize(remote_); }
  std::int32_t row(std::int64_t r) const { return row_[r]; }  ///< increasing
  std::int64_t first_from(std::int32_t number) const {        ///< first row of this number or a larger one
    return std::lower_bound(row_.begin(), row_.end(), number) - row_.begin();
  }
  /// Calls f(column, factor) for the terms of coefficient 0 in a row.
  template <class F>
  void for_each_first(std::int64_t r, F&& f) const {
    for (std::int32_t t = terms_begin_[r]; t < terms_begin_[r + 1] && terms_[t].coefficient == 0; ++t)
      f(column_[terms_[t].entry], terms_[t].factor);
  }
  /// Σ of the factors of coefficient 0 in a row.
  double factors_of_first(std::int64_t r) const;
  /// Σ factor x column over the terms of coefficient 0 in a row.
  double times_first(std::int64_t r, std::span<const double> x, std::span<const double> remote) const;
  /// Updates the weights to these coefficients. Threaded.
  void set_coefficients(std::span<const double> coefficients);
  /// Calls f(column, weight) for the entries of row r, columns by increasing global number. A column is an own unknown,
  /// or n_own + an index among the remote values.
  template <class F>
  void for_each_entry(std::int64_t r, F&& f) const {
    const std::size_t first = entry(r, 0);
    for (std::size_t k = 0; k < length_[r]; ++k) f(column_[first + height * k], weight_[first + height * k]);
  }
  /// Appends the rows [begin, end), which read own unknowns alone, as they were before coefficients were set.
  /// @param number  the own unknown now of one of these rows
  /// @param first   global number of own unknown 0 now
  template <class Number>
  void read_back(std::int64_t begin, std::int64_t end, GlobalNumber first, Number&& number, RowLists& to) const;
  bool reads_remote(std::size_t window) const { return remote_[window] != 0; }

  /// y_row = Σ weight x_column for the rows of a window. Here and below C values are interleaved: component c of number
  /// i at C i + c (instantiated for 1 to 4).
  /// @param x       own unknowns (C n_own)
  /// @param remote  values of other ranks
  template <int C>
  void apply(std::size_t window, std::span<const double> x, std::span<const double> remote, double* y) const;
  /// A damped Jacobi step in two parts: first the corrections c_row = damping / d (b_row - Σ weight x_column) of all
  /// windows, then x_row += c_row. d is the diagonal, or half of Σ |weight| where that is larger: no row is amplified
  /// for any signs of its weights. Rows without coefficient 0 (not balances) are solved for their own values.
  template <int C>
  void find_corrections(std::size_t window, std::span<const double> b, std::span<const double> x,
                        std::span<const double> remote);
  template <int C>
  void correct(std::size_t window, std::span<double> x) const;
  /// Allocates the corrections of C values per row, to be called before find_corrections(); one is always allocated.
  void make_room(int C);
  std::int64_t bytes() const;

 private:
  static constexpr std::size_t height = 8;
  struct Window;
  std::vector<Window> divide(std::span<const RowLists> boxes, std::size_t at_most);
  void sort(const Window& window);
  void set_lane(std::size_t lane, std::int32_t number, std::span<const StencilTerm> terms,
                const CompositeNumbering& numbering, const RemoteUnknowns& remote);
  void set_window(const Window& window, const CompositeNumbering& numbering, const RemoteUnknowns& remote);
  void set_relaxation(std::size_t row);
  /// Index of entry k of a row.
  std::size_t entry(std::size_t row, std::size_t k) const {
    const std::size_t at = place_[row];
    return entries_[at / height] + at % height + height * k;
  }
  /// f(slice, sums of its rows) for the slices of a window.
  template <int C, class F>
  void sum_rows(std::size_t window, std::span<const double> x, std::span<const double> remote, F&& f) const;

  /// Part of a weight.
  struct Term {
    std::int32_t entry, coefficient;
    double factor;
  };
  Array<std::int32_t> row_, place_;  // per row: unknown, lane
  Array<std::uint16_t> length_;      // per row
  Array<Term> terms_;
  Array<std::int32_t> terms_begin_;  // per row, and the end
  Array<double> fixed_;  // per term: the fixed part of its weight; allocated when coefficients are first set
  std::vector<std::size_t> slices_{0};  // first slice of each window, and the end
  std::vector<std::uint8_t> remote_;    // per window
  Array<std::int32_t> entries_;         // first entry of each slice, and the end
  Array<std::int32_t> lane_;            // per lane: unknown
  Array<std::int32_t> column_;
  Array<double> weight_;
  Array<float> relaxation_;   // per lane: damping / d; 0 in lanes that repeat a row
  Array<double> correction_;  // per lane and component
};

template <class Number>
void WideRows::read_back(std::int64_t begin, std::int64_t end, GlobalNumber first, Number&& number,
                         RowLists& to) const {
  for (std::int64_t r = begin; r < end; ++r) {
    const std::size_t start = to.terms.size(), at = entry(r, 0);
    for_each_entry(r, [&](std::int32_t column, double weight) {
      to.terms.push_back({first + number(column), weight});
    });
    for (std::int32_t t = terms_begin_[r]; t < terms_begin_[r + 1]; ++t) {
      const Term& term = terms_[t];
      StencilTerm& of = to.terms[start + (term.entry - at) / height];
      if (fixed_.size() > 0) of.weight = fixed_[t];
      to.varying.push_back({of.unknown, term.coefficient, term.factor});
    }
    to.end_row(number(row_[r]));
  }
}

}  // namespace karst
