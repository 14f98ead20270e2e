// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/wide_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace karst {

WideRows::WideRows(const std::vector<Row>& rows, std::span<const std::int32_t> windows,
                   const CompositeNumbering& numbering, const RemoteUnknowns& remote, std::span<const double> damping)
    : row_(rows.size(), Purpose::stencils),
      first_(rows.size(), Purpose::stencils),
      length_(rows.size(), Purpose::stencils) {
  std::vector<std::vector<const Row*>> sorted;  // rows of each slice
  std::vector<std::size_t> place(rows.size());  // slot of each row: slice * height + lane
  std::size_t r = 0;
  for (std::size_t w = 0; w + 1 < windows.size(); ++w) {
    const std::size_t begin = r;
    for (; r < rows.size() && rows[r].first < windows[w + 1]; ++r) row_[r] = rows[r].first;
    std::vector<std::size_t> order;
    for (std::size_t i = begin; i < r; ++i) order.push_back(i);
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return rows[i].second.terms.size(); });
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i % height == 0) sorted.emplace_back();
      place[order[i]] = (sorted.size() - 1) * height + i % height;
      sorted.back().push_back(&rows[order[i]]);
    }
    slices_.push_back(sorted.size());
    remote_.push_back(std::any_of(order.begin(), order.end(), [&](std::size_t i) {
      return std::ranges::any_of(rows[i].second.terms,
                                 [&](const StencilTerm& t) { return !numbering.is_own(t.unknown); });
    }));
  }
  std::size_t n = 0;
  entries_ = {sorted.size() + 1, Purpose::stencils};
  for (std::size_t s = 0; s < sorted.size(); ++s) {
    entries_[s] = static_cast<std::int32_t>(n);
    n += height * sorted[s].front()->second.terms.size();
    require(n < std::numeric_limits<std::int32_t>::max(),
            "operator: more than 2^31 entries on one rank; use more ranks");
  }
  entries_[sorted.size()] = static_cast<std::int32_t>(n);
  lane_ = {height * sorted.size(), Purpose::stencils};
  column_ = {n, Purpose::stencils};
  weight_ = {n, Purpose::stencils};
  for (std::size_t s = 0; s < sorted.size(); ++s) set_slice(sorted[s], s, numbering, remote);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    first_[i] = entries_[place[i] / height] + static_cast<std::int32_t>(place[i] % height);
    length_[i] = static_cast<std::uint16_t>(rows[i].second.terms.size());
  }
  relaxation_ = {lane_.size(), Purpose::solver, 0.0F};
  correction_ = {lane_.size(), Purpose::solver, 0.0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double diagonal = 0.0, sum = 0.0;
    for (const StencilTerm& t : rows[i].second.terms) {
      sum += std::abs(t.weight);
      if (t.unknown == numbering.first() + rows[i].first) diagonal = t.weight;
    }
    const double d = damping[i] < 1.0 ? std::max(diagonal, 0.5 * sum) : diagonal;
    relaxation_[place[i]] = d > 0.0 ? static_cast<float>(damping[i] / d) : 0.0F;  // 0: a VoF without any face
  }
}

void WideRows::set_slice(std::span<const Row* const> rows, std::size_t slice, const CompositeNumbering& numbering,
                         const RemoteUnknowns& remote) {
  const auto first = static_cast<std::size_t>(entries_[slice]);
  const std::size_t width = (static_cast<std::size_t>(entries_[slice + 1]) - first) / height;
  for (std::size_t l = 0; l < height; ++l) {
    const auto& [number, stencil] = *rows[std::min(l, rows.size() - 1)];
    lane_[slice * height + l] = number;
    for (std::size_t k = 0; k < width; ++k) {
      const bool past = k >= stencil.terms.size();
      const GlobalNumber g = past ? numbering.first() + number : stencil.terms[k].unknown;
      column_[first + k * height + l] =
          static_cast<std::int32_t>(numbering.is_own(g) ? g - numbering.first() : numbering.n_own() + remote.place(g));
      weight_[first + k * height + l] = past ? 0.0 : stencil.terms[k].weight;
    }
  }
}

template <class F>
void WideRows::sum_rows(std::size_t window, std::span<const double> x, std::span<const double> remote, F&& f) const {
  const auto n_own = static_cast<std::int32_t>(x.size());
  const double *own = x.data(), *far = remote.data();
  const bool all_own = remote_[window] == 0;
  for (std::size_t s = slices_[window]; s < slices_[window + 1]; ++s) {
    const auto begin = static_cast<std::size_t>(entries_[s]), end = static_cast<std::size_t>(entries_[s + 1]);
    const std::int32_t* column = column_.data() + begin;
    const double *weight = weight_.data() + begin, *last = weight_.data() + end;
    std::array<double, height> sum{};
    if (all_own) {
#ifdef __AVX512F__
      __m512d sums = _mm512_setzero_pd();
      for (; weight != last; weight += height, column += height) {
        const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
        const __m512d value = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, index, own, sizeof(double));
        sums = _mm512_add_pd(sums, _mm512_mul_pd(_mm512_loadu_pd(weight), value));
      }
      _mm512_storeu_pd(sum.data(), sums);
#else
      for (; weight != last; weight += height, column += height)
        for (std::size_t l = 0; l < height; ++l) sum[l] += weight[l] * own[column[l]];
#endif
    } else {
      for (; weight != last; weight += height, column += height)
        for (std::size_t l = 0; l < height; ++l)
          sum[l] += weight[l] * (column[l] < n_own ? own[column[l]] : far[column[l] - n_own]);
    }
    f(s, sum);
  }
}

void WideRows::apply(std::size_t window, std::span<const double> x, std::span<const double> remote, double* y) const {
  sum_rows(window, x, remote, [&](std::size_t slice, const std::array<double, height>& sum) {
    const std::int32_t* lane = lane_.data() + slice * height;
    for (std::size_t l = 0; l < height; ++l) y[lane[l]] = sum[l];
  });
}

void WideRows::find_corrections(std::size_t window, std::span<const double> b, std::span<const double> x,
                                std::span<const double> remote) {
  sum_rows(window, x, remote, [&](std::size_t slice, const std::array<double, height>& sum) {
    for (std::size_t l = 0; l < height; ++l) {
      const std::size_t at = slice * height + l;
      correction_[at] = double{relaxation_[at]} * (b[static_cast<std::size_t>(lane_[at])] - sum[l]);
    }
  });
}

void WideRows::correct(std::size_t window, std::span<double> x) const {
  for (std::size_t at = slices_[window] * height; at < slices_[window + 1] * height; ++at)
    x[static_cast<std::size_t>(lane_[at])] += correction_[at];
}

std::int64_t WideRows::bytes() const {
  return static_cast<std::int64_t>(row_.bytes() + first_.bytes() + length_.bytes() + entries_.bytes() + lane_.bytes() +
                                   column_.bytes() + weight_.bytes() + relaxation_.bytes() + correction_.bytes() +
                                   8 * slices_.size() + remote_.size());
}

}  // namespace karst
