// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/wide_rows.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace karst {

WideRows::WideRows(const std::vector<std::pair<std::int32_t, Stencil>>& rows, const CompositeNumbering& numbering,
                   const RemoteValues& remote) {
  std::size_t n = 0;
  for (const auto& [number, stencil] : rows) n += stencil.terms.size();
  require(n < std::numeric_limits<std::int32_t>::max(), "operator: more than 2^31 entries on one rank; use more ranks");
  row_ = {rows.size(), Purpose::stencils};
  begin_ = {rows.size() + 1, Purpose::stencils};
  column_ = {n, Purpose::stencils};
  weight_ = {n, Purpose::stencils};
  std::size_t at = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    row_[r] = rows[r].first;
    begin_[r] = static_cast<std::int32_t>(at);
    for (const StencilTerm& t : rows[r].second.terms) {
      column_[at] = static_cast<std::int32_t>(
          numbering.is_own(t.unknown) ? t.unknown - numbering.first() : numbering.n_own() + remote.place(t.unknown));
      weight_[at++] = t.weight;
    }
  }
  begin_[rows.size()] = static_cast<std::int32_t>(at);
}

std::int64_t WideRows::lower(std::int32_t number) const {
  return std::lower_bound(row_.begin(), row_.end(), number) - row_.begin();
}

void WideRows::apply(std::int64_t first, std::int64_t last, std::span<const double> x, std::span<const double> remote,
                     double* y) const {
  const auto n_own = static_cast<std::int32_t>(x.size());
  const double *own = x.data(), *far = remote.data();
  const std::int32_t *column = column_.data(), *bounds = begin_.data();
  const double* weight = weight_.data();
  for (std::int64_t r = first; r < last; ++r) {
    double sum = 0.0;
    for (std::int32_t e = bounds[r]; e < bounds[r + 1]; ++e) {
      const std::int32_t c = column[e];
      sum += weight[e] * (c < n_own ? own[c] : far[c - n_own]);
    }
    y[row_[static_cast<std::size_t>(r)]] = sum;
  }
}

std::int64_t WideRows::bytes() const {
  return static_cast<std::int64_t>(row_.bytes() + begin_.bytes() + column_.bytes() + weight_.bytes());
}

}  // namespace karst
