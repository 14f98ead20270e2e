// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/wide_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace karst {

namespace {

/// Of the Jacobi step. Iterations of a packing (64^3, two ends): 0.7 15, 0.8 13, 0.9 12, 1 13.
constexpr double damping_of_balances = 0.9;

}  // namespace

std::vector<GlobalNumber> foreign_unknowns(std::span<const RowLists> boxes, const CompositeNumbering& numbering) {
  std::vector<std::vector<GlobalNumber>> of_box(boxes.size());
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) {
    for (const StencilTerm& t : boxes[b].terms)
      if (!numbering.is_own(t.unknown)) of_box[b].push_back(t.unknown);
  });
  std::vector<GlobalNumber> all;
  for (const auto& some : of_box) all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// Rows [begin, end) of a box.
struct WideRows::Window {
  const RowLists* rows;
  std::size_t begin, end;
  std::size_t first;   ///< of its rows among those of all windows
  std::size_t number;  ///< among the windows
  std::size_t slice;   ///< its first one
};

std::vector<WideRows::Window> WideRows::divide(std::span<const RowLists> boxes, std::size_t at_most) {
  std::vector<Window> windows;
  std::size_t n = 0;
  for (const RowLists& rows : boxes) {
    std::size_t begin = 0;
    do {
      const std::size_t end = rows.size() - begin > at_most ? begin + at_most : rows.size();
      windows.push_back({&rows, begin, end, n, windows.size(), slices_.back()});
      n += end - begin;
      slices_.push_back(slices_.back() + (end - begin + height - 1) / height);
      begin = end;
    } while (begin < rows.size());
  }
  return windows;
}

WideRows::WideRows(std::span<const RowLists> boxes, std::size_t at_most, const CompositeNumbering& numbering,
                   const RemoteUnknowns& remote) {
  const std::vector<Window> windows = divide(boxes, at_most);
  std::size_t n_rows = 0;
  std::int64_t n_terms = 0;
  for (const RowLists& rows : boxes) {
    n_rows += rows.size();
    n_terms += std::ssize(rows.varying);
  }
  row_ = {n_rows, Purpose::stencils};
  place_ = {n_rows, Purpose::stencils};
  length_ = {n_rows, Purpose::stencils};
  remote_.resize(windows.size());
  entries_ = {slices_.back() + 1, Purpose::stencils};
  parallel_for_dynamic(std::ssize(windows), [&](std::int64_t w) { sort(windows[w]); });
  std::int64_t n = 0;
  for (std::size_t s = 0; s < slices_.back(); ++s) {
    const std::int32_t width = entries_[s];
    entries_[s] = static_cast<std::int32_t>(n);
    n += std::int64_t{height} * width;
    require(n < std::numeric_limits<std::int32_t>::max(),
            "operator: more than 2^31 entries on one rank; use more ranks");
  }
  entries_[slices_.back()] = static_cast<std::int32_t>(n);
  terms_begin_ = {n_rows + 1, Purpose::stencils};
  terms_begin_[0] = 0;
  for (std::size_t b = 0, r = 0; b < boxes.size(); ++b)
    for (std::size_t i = 0; i < boxes[b].size(); ++i, ++r)
      terms_begin_[r + 1] = terms_begin_[r] + static_cast<std::int32_t>(boxes[b].varying_of(i).size());
  terms_ = {static_cast<std::size_t>(n_terms), Purpose::stencils};
  lane_ = {height * slices_.back(), Purpose::stencils};
  column_ = {static_cast<std::size_t>(n), Purpose::stencils};
  weight_ = {static_cast<std::size_t>(n), Purpose::stencils};
  relaxation_ = {lane_.size(), Purpose::solver, 0.0F};
  correction_ = {lane_.size(), Purpose::solver, 0.0};
  parallel_for_dynamic(std::ssize(windows), [&](std::int64_t w) { set_window(windows[w], numbering, remote); });
}

/// Gives the rows their lanes, and the slices their widths.
void WideRows::sort(const Window& window) {
  std::vector<std::size_t> order;
  for (std::size_t i = window.begin; i < window.end; ++i) order.push_back(i);
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return window.rows->terms_of(i).size(); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t row = window.first + order[i] - window.begin;
    row_[row] = window.rows->number[order[i]];
    place_[row] = static_cast<std::int32_t>(window.slice * height + i);
    length_[row] = static_cast<std::uint16_t>(window.rows->terms_of(order[i]).size());
    if (i % height == 0) entries_[window.slice + i / height] = length_[row];
  }
}

void WideRows::set_lane(std::size_t lane, std::int32_t number, std::span<const StencilTerm> terms,
                        const CompositeNumbering& numbering, const RemoteUnknowns& remote) {
  const std::size_t slice = lane / height, first = entries_[slice] + lane % height;
  const std::size_t width = (entries_[slice + 1] - entries_[slice]) / height;
  lane_[lane] = number;
  for (std::size_t k = 0; k < width; ++k) {
    const bool past = k >= terms.size();
    const GlobalNumber g = terms.empty() ? numbering.first() : terms[past ? 0 : k].unknown;
    column_[first + k * height] =
        static_cast<std::int32_t>(numbering.is_own(g) ? g - numbering.first() : numbering.n_own() + remote.place(g));
    weight_[first + k * height] = past ? 0.0 : terms[k].weight;
  }
}

void WideRows::set_window(const Window& window, const CompositeNumbering& numbering, const RemoteUnknowns& remote) {
  const std::size_t last = window.slice * height + (window.end - window.begin) - 1;  // repeated in what is left
  bool reads_remote = false;
  for (std::size_t i = window.begin; i < window.end; ++i) {
    const std::size_t row = window.first + i - window.begin;
    const std::span<const StencilTerm> terms = window.rows->terms_of(i);
    set_lane(place_[row], row_[row], terms, numbering, remote);
    if (std::cmp_equal(place_[row], last))
      for (std::size_t lane = last + 1; lane % height != 0; ++lane) set_lane(lane, row_[row], terms, numbering, remote);
    reads_remote =
        reads_remote || !std::ranges::all_of(terms, [&](const StencilTerm& t) { return numbering.is_own(t.unknown); });
    std::int32_t term = terms_begin_[row];
    for (const VaryingTerm& t : window.rows->varying_of(i)) {
      const auto k = std::ranges::lower_bound(terms, t.unknown, {}, &StencilTerm::unknown) - terms.begin();
      terms_[term++] = {static_cast<std::int32_t>(entry(row, k)), t.coefficient, t.factor};
    }
    set_relaxation(row);
  }
  remote_[window.number] = reads_remote ? 1 : 0;
}

double WideRows::factors_of_first(std::int64_t r) const {
  double sum = 0.0;
  for_each_first(r, [&](std::int32_t, double factor) { sum += factor; });
  return sum;
}

double WideRows::times_first(std::int64_t r, std::span<const double> x, std::span<const double> remote) const {
  double sum = 0.0;
  for_each_first(r, [&](std::int32_t column, double factor) {
    const std::size_t c = column;
    sum += factor * (c < x.size() ? x[c] : remote[c - x.size()]);
  });
  return sum;
}

void WideRows::set_coefficients(std::span<const double> coefficients) {
  if (fixed_.size() == 0) {
    fixed_ = {terms_.size(), Purpose::stencils};
    for (std::size_t t = 0; t < terms_.size(); ++t) fixed_[t] = weight_[terms_[t].entry];
  }
  parallel_for(n_rows(), [&](std::int64_t i) {
    const std::size_t begin = terms_begin_[i], end = terms_begin_[i + 1];
    for (std::size_t t = begin; t < end; ++t) weight_[terms_[t].entry] = fixed_[t];
    for (std::size_t t = begin; t < end; ++t)
      weight_[terms_[t].entry] += coefficients[terms_[t].coefficient] * terms_[t].factor;
    set_relaxation(i);
  });
  for (std::size_t s = 0; s + 1 < entries_.size(); ++s)
    for (std::size_t l = 1; l < height; ++l) {
      if (lane_[s * height + l] != lane_[s * height + l - 1]) continue;  // else a repeated row
      for (std::size_t e = entries_[s] + l; std::cmp_less(e, entries_[s + 1]); e += height) weight_[e] = weight_[e - 1];
    }
}

void WideRows::set_relaxation(std::size_t row) {
  double diagonal = 0.0, sum = 0.0;
  for_each_entry(static_cast<std::int64_t>(row), [&](std::int32_t column, double weight) {
    sum += std::abs(weight);
    if (column == row_[row]) diagonal = weight;
  });
  const bool balance = terms_begin_[row] < terms_begin_[row + 1];
  const double damping = balance ? damping_of_balances : 1.0, d = balance ? std::max(diagonal, 0.5 * sum) : diagonal;
  // 0: a VoF without any face
  relaxation_[place_[row]] = d > 0.0 ? static_cast<float>(damping / d) : 0.0F;
}

template <int C, class F>
void WideRows::sum_rows(std::size_t window, std::span<const double> x, std::span<const double> remote, F&& f) const {
  const auto n_own = static_cast<std::int32_t>(x.size() / C);
  const double *own = x.data(), *far = remote.data();
  const bool all_own = remote_[window] == 0;
  for (std::size_t s = slices_[window]; s < slices_[window + 1]; ++s) {
    const std::size_t begin = entries_[s], end = entries_[s + 1];
    const std::int32_t* column = column_.data() + begin;
    const double *weight = weight_.data() + begin, *last = weight_.data() + end;
    std::array<double, height * C> sum{};
    const auto add = [&](std::size_t l, const double* value) {
      for (std::size_t c = 0; c < C; ++c) sum[l * C + c] += weight[l] * value[c];
    };
    if (all_own) {
#ifdef __AVX512F__
      if constexpr (C == 1) {
        __m512d sums = _mm512_setzero_pd();
        for (; weight != last; weight += height, column += height) {
          const __m256i index = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
          const __m512d value = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xff, index, own, sizeof(double));
          sums = _mm512_add_pd(sums, _mm512_mul_pd(_mm512_loadu_pd(weight), value));
        }
        _mm512_storeu_pd(sum.data(), sums);
      }
#endif
      for (; weight != last; weight += height, column += height)
        for (std::size_t l = 0; l < height; ++l) add(l, own + C * std::int64_t{column[l]});
    } else {
      for (; weight != last; weight += height, column += height)
        for (std::size_t l = 0; l < height; ++l)
          add(l, column[l] < n_own ? own + C * std::int64_t{column[l]} : far + C * std::int64_t{column[l] - n_own});
    }
    f(s, sum);
  }
}

template <int C>
void WideRows::apply(std::size_t window, std::span<const double> x, std::span<const double> remote, double* y) const {
  sum_rows<C>(window, x, remote, [&](std::size_t slice, const std::array<double, height * C>& sum) {
    const std::int32_t* lane = lane_.data() + slice * height;
    for (std::size_t l = 0; l < height; ++l)
      for (std::size_t c = 0; c < C; ++c) y[C * std::int64_t{lane[l]} + static_cast<std::int64_t>(c)] = sum[l * C + c];
  });
}

void WideRows::make_room(int C) {
  const std::size_t needed = lane_.size() * C;
  if (correction_.size() < needed) correction_ = {needed, Purpose::stencils, 0.0};
}

template <int C>
void WideRows::find_corrections(std::size_t window, std::span<const double> b, std::span<const double> x,
                                std::span<const double> remote) {
  sum_rows<C>(window, x, remote, [&](std::size_t slice, const std::array<double, height * C>& sum) {
    for (std::size_t l = 0; l < height; ++l) {
      const std::size_t at = slice * height + l;
      const double* right = b.data() + C * std::int64_t{lane_[at]};
      for (std::size_t c = 0; c < C; ++c)
        correction_[at * C + c] = double{relaxation_[at]} * (right[c] - sum[l * C + c]);
    }
  });
}

template <int C>
void WideRows::correct(std::size_t window, std::span<double> x) const {
  for (std::size_t at = slices_[window] * height; at < slices_[window + 1] * height; ++at)
    for (std::size_t c = 0; c < C; ++c) x[C * std::int64_t{lane_[at]} + c] += correction_[at * C + c];
}

template void WideRows::apply<1>(std::size_t, std::span<const double>, std::span<const double>, double*) const;
template void WideRows::apply<2>(std::size_t, std::span<const double>, std::span<const double>, double*) const;
template void WideRows::apply<3>(std::size_t, std::span<const double>, std::span<const double>, double*) const;
template void WideRows::apply<4>(std::size_t, std::span<const double>, std::span<const double>, double*) const;
template void WideRows::find_corrections<1>(std::size_t, std::span<const double>, std::span<const double>,
                                            std::span<const double>);
template void WideRows::find_corrections<2>(std::size_t, std::span<const double>, std::span<const double>,
                                            std::span<const double>);
template void WideRows::find_corrections<3>(std::size_t, std::span<const double>, std::span<const double>,
                                            std::span<const double>);
template void WideRows::find_corrections<4>(std::size_t, std::span<const double>, std::span<const double>,
                                            std::span<const double>);
template void WideRows::correct<1>(std::size_t, std::span<double>) const;
template void WideRows::correct<2>(std::size_t, std::span<double>) const;
template void WideRows::correct<3>(std::size_t, std::span<double>) const;
template void WideRows::correct<4>(std::size_t, std::span<double>) const;

std::int64_t WideRows::bytes() const {
  return static_cast<std::int64_t>(row_.bytes() + place_.bytes() + length_.bytes() + terms_.bytes() +
                                   terms_begin_.bytes() + fixed_.bytes() + entries_.bytes() + lane_.bytes() +
                                   column_.bytes() + weight_.bytes() + relaxation_.bytes() + correction_.bytes() +
                                   8 * slices_.size() + remote_.size());
}

}  // namespace karst
