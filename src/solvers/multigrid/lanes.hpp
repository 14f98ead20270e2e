// SPDX-License-Identifier: BSD-3-Clause
// Loads and stores of 16 scattered values at a time. Compilers turn the plain loops into single loads; where the
// processor has gather instructions these are used explicitly (a third of the time of a row less, see
// docs/decisions/008).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "solvers/elliptic/sliced_rows.hpp"
#include "solvers/elliptic/values.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace karst {

struct alignas(64) Lanes {
  std::array<float, slice_height> v;
};

#ifdef __AVX512F__
namespace detail {
inline constexpr __mmask16 all_lanes = 0xffff;  // masked forms: gcc 12 warns of the others' undefined operands
inline __m512i indices(const std::uint16_t* p) {
  return _mm512_maskz_cvtepu16_epi32(all_lanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
inline __m512i indices(const std::int32_t* p) { return _mm512_loadu_si512(p); }
template <class I>
inline __m512 gather(const float* from, const I* index) {
  return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), all_lanes, indices(index), from, sizeof(float));
}
}  // namespace detail

template <class I>
inline Lanes take(const float* from, const I* index) {
  Lanes lanes;
  _mm512_store_ps(lanes.v.data(), detail::gather(from, index));
  return lanes;
}
template <class I>
inline void put(const Lanes& lanes, const I* index, float* to) {
  _mm512_i32scatter_ps(to, detail::indices(index), _mm512_load_ps(lanes.v.data()), sizeof(float));
}
/// Σ w_vn x_n of the 16 rows of a slice.
template <class Column>
inline Lanes weighted_sum(const Slice<Column>& slice, const float* x) {
  __m512 sum = _mm512_setzero_ps();
  const Column* column = slice.column;
  const float* weight = slice.weight;
  for (int k = 0; k < slice.width; ++k, column += slice_height, weight += slice_height)
    sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_loadu_ps(weight), detail::gather(x, column)));
  Lanes lanes;
  _mm512_store_ps(lanes.v.data(), sum);
  return lanes;
}
#else
template <class I>
inline Lanes take(const float* from, const I* index) {
  Lanes lanes;
  for (std::size_t l = 0; l < slice_height; ++l) lanes.v[l] = from[index[l]];
  return lanes;
}
template <class I>
inline void put(const Lanes& lanes, const I* index, float* to) {
  for (std::size_t l = 0; l < slice_height; ++l) to[index[l]] = lanes.v[l];
}
template <class Column>
inline Lanes weighted_sum(const Slice<Column>& slice, const float* x) {
  Lanes sum{};
  const Column* column = slice.column;
  const float* weight = slice.weight;
  for (int k = 0; k < slice.width; ++k, column += slice_height, weight += slice_height)
    for (std::size_t l = 0; l < slice_height; ++l) sum.v[l] += weight[l] * x[column[l]];
  return sum;
}
#endif

namespace kernels {

/// Σ w_vn x_n of four rows of a slice, C numbers per node.
template <int C, class Column>
inline FewRows<C> weighted_sums(const Slice<Column>& slice, std::size_t first, const float* x) {
  FewRows<C> sum{};
  const Column* column = slice.column + first;
  const float* weight = slice.weight + first;
  for (int k = 0; k < slice.width; ++k, column += slice_height, weight += slice_height)
    for (std::size_t r = 0; r < rows_at_once; ++r) sum[r] += weight[r] * load<C>(x + std::size_t{C} * column[r]);
  return sum;
}

}  // namespace kernels

}  // namespace karst
