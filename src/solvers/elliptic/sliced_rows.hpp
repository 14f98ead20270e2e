// SPDX-License-Identifier: BSD-3-Clause
// Rows of a sparse operator in slices of 16, entry by entry across the slice, so that 16 rows are processed at a time
// ("sliced ELLPACK": Kreutzer et al., SIAM J. Sci. Comput. 36 (2014) C401). Rows are grouped in windows and sorted by
// their length inside a window. Entries beyond the end of a row have weight 0; the last slice of a window repeats its
// last row.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/comm/memory.hpp"

namespace karst {

inline constexpr std::size_t slice_height = 16;

/// Rows of one window as lists, the input of SlicedRows.
template <class Column>
struct RowList {
  std::vector<Column> row;             ///< place of each row in the window
  std::vector<std::int32_t> begin{0};  ///< first entry of each row, and the end
  std::vector<Column> column;
  std::vector<float> weight;
  std::vector<float> diagonal;  ///< per row
  std::size_t size() const { return row.size(); }
  void end_row(Column place, float d) {
    row.push_back(place);
    begin.push_back(static_cast<std::int32_t>(column.size()));
    diagonal.push_back(d);
  }
  void clear() {
    row.clear();
    begin.assign(1, 0);
    column.clear();
    weight.clear();
    diagonal.clear();
  }
};

/// One slice: `width` entries of each of its 16 rows.
template <class Column>
struct Slice {
  int width;
  const Column* column;   ///< 16 width, entry by entry
  const float* weight;    ///< 16 width
  const Column* row;      ///< 16: place in the window
  const float* diagonal;  ///< 16
  const float* inverse;   ///< 16: 1 / diagonal, 0 where the diagonal is 0
};

template <class Column>
class SlicedRows {
 public:
  SlicedRows() = default;
  /// Allocates windows of known numbers of slices and entries (of slices: width x 16).
  SlicedRows(std::span<const std::int64_t> slices, std::span<const std::int64_t> entries);

  /// Numbers of slices and entries of a window.
  struct Size {
    std::int64_t slices = 0, entries = 0;
  };
  static Size size_of(const RowList<Column>& rows);
  void set(std::size_t window, const RowList<Column>& rows);
  /// Sets the diagonals of a window to shift(row) + Σ of the row's weights + more(row), row: index in the window.
  template <class F, class G>
  void set_diagonals(std::size_t window, F&& shift, G&& more);

  template <class F>
  void for_each_slice(std::size_t window, F&& f) const {
    std::int64_t entry = entry_begin_[window];
    for (std::int64_t s = slice_begin_[window]; s < slice_begin_[window + 1]; ++s) {
      const int width = width_[s];
      const std::int64_t lane = s * static_cast<std::int64_t>(slice_height);
      f(Slice<Column>{width, column_.data() + entry, weight_.data() + entry, row_.data() + lane,
                      diagonal_.data() + lane, inverse_.data() + lane});
      entry += width * static_cast<std::int64_t>(slice_height);
    }
  }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(column_.bytes() + weight_.bytes() + row_.bytes() + diagonal_.bytes() +
                                     inverse_.bytes() + width_.bytes() +
                                     (slice_begin_.capacity() + entry_begin_.capacity()) * sizeof(std::int64_t));
  }

 private:
  static std::vector<std::int32_t> by_length(const RowList<Column>& rows);

  std::vector<std::int64_t> slice_begin_{0}, entry_begin_{0};  // per window, and the end
  Array<Column> column_, row_;
  Array<float> weight_;
  Array<std::uint16_t> width_;
  Array<float> diagonal_, inverse_;
};

template <class Column>
SlicedRows<Column>::SlicedRows(std::span<const std::int64_t> slices, std::span<const std::int64_t> entries) {
  for (const std::int64_t n : slices) slice_begin_.push_back(slice_begin_.back() + n);
  for (const std::int64_t n : entries) entry_begin_.push_back(entry_begin_.back() + n);
  const std::size_t n_slices = slice_begin_.back();
  const std::size_t n_entries = entry_begin_.back();
  column_ = Array<Column>(n_entries, Purpose::solver);
  weight_ = Array<float>(n_entries, Purpose::solver);
  width_ = Array<std::uint16_t>(n_slices, Purpose::solver);
  row_ = Array<Column>(n_slices * slice_height, Purpose::solver);
  diagonal_ = Array<float>(n_slices * slice_height, Purpose::solver);
  inverse_ = Array<float>(n_slices * slice_height, Purpose::solver);
}

/// Rows by increasing length, rows of one length in their order: a counting sort.
template <class Column>
std::vector<std::int32_t> SlicedRows<Column>::by_length(const RowList<Column>& rows) {
  const std::size_t n = rows.size();
  std::int32_t longest = 0;
  for (std::size_t r = 0; r < n; ++r) longest = std::max(longest, rows.begin[r + 1] - rows.begin[r]);
  std::vector<std::int32_t> first(longest + 2), order(n);
  for (std::size_t r = 0; r < n; ++r) ++first[rows.begin[r + 1] - rows.begin[r] + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::size_t r = 0; r < n; ++r) order[first[rows.begin[r + 1] - rows.begin[r]]++] = static_cast<std::int32_t>(r);
  return order;
}

template <class Column>
typename SlicedRows<Column>::Size SlicedRows<Column>::size_of(const RowList<Column>& rows) {
  const std::vector<std::int32_t> order = by_length(rows);
  Size size;
  for (std::size_t s = 0; s < order.size(); s += slice_height) {
    const std::size_t longest = order[std::min(s + slice_height, order.size()) - 1];
    ++size.slices;
    size.entries += static_cast<std::int64_t>(slice_height) * (rows.begin[longest + 1] - rows.begin[longest]);
  }
  return size;
}

template <class Column>
void SlicedRows<Column>::set(std::size_t window, const RowList<Column>& rows) {
  const std::vector<std::int32_t> order = by_length(rows);
  std::size_t lane = slice_begin_[window] * slice_height;
  std::size_t entry = entry_begin_[window];
  for (std::size_t s = 0; s < order.size(); s += slice_height) {
    const std::size_t longest = order[std::min(s + slice_height, order.size()) - 1];
    const std::size_t width = rows.begin[longest + 1] - rows.begin[longest];
    width_[lane / slice_height] = static_cast<std::uint16_t>(width);
    for (std::size_t l = 0; l < slice_height; ++l, ++lane) {
      const std::size_t r = order[std::min(s + l, order.size() - 1)];
      row_[lane] = rows.row[r];
      diagonal_[lane] = rows.diagonal[r];
      inverse_[lane] = rows.diagonal[r] > 0.0F ? 1.0F / rows.diagonal[r] : 0.0F;
      const std::size_t begin = rows.begin[r], end = rows.begin[r + 1];
      for (std::size_t k = 0; k < width; ++k) {
        const bool inside = begin + k < end;
        column_[entry + k * slice_height + l] =
            inside ? rows.column[begin + k] : (begin < end ? rows.column[begin] : Column{0});
        weight_[entry + k * slice_height + l] = inside ? rows.weight[begin + k] : 0.0F;
      }
    }
    entry += width * slice_height;
  }
}

template <class Column>
template <class F, class G>
void SlicedRows<Column>::set_diagonals(std::size_t window, F&& shift, G&& more) {
  std::size_t lane = slice_begin_[window] * slice_height;
  for_each_slice(window, [&](const Slice<Column>& slice) {
    for (std::size_t l = 0; l < slice_height; ++l, ++lane) {
      double diagonal = shift(slice.row[l]);
      for (int k = 0; k < slice.width; ++k) diagonal += slice.weight[k * slice_height + l];
      diagonal_[lane] = static_cast<float>(diagonal) + more(slice.row[l]);
      inverse_[lane] = diagonal_[lane] > 0.0F ? 1.0F / diagonal_[lane] : 0.0F;
    }
  });
}

}  // namespace karst
