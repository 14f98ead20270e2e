// SPDX-License-Identifier: BSD-3-Clause
// Several interleaved numbers per node, for solves with one operator and several right-hand sides.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "grid/field.hpp"

#ifdef __AVX512VL__
#include <immintrin.h>
#endif

namespace karst {

/// The C numbers of a node: a plain float for C = 1.
template <int C>
using NodeValue = std::conditional_t<C == 1, float, Values<C>>;

/// The numbers of an array of nodes, one node after the other.
inline float* numbers(float* x) { return x; }
inline const float* numbers(const float* x) { return x; }
template <int C>
float* numbers(Values<C>* x) {
  return x->v.data();
}
template <int C>
const float* numbers(const Values<C>* x) {
  return x->v.data();
}

namespace kernels {

/// Up to four numbers in one vector register.
using Few = float __attribute__((vector_size(16)));

inline constexpr std::size_t rows_at_once = 4;
template <int C>
using FewRows = std::array<Few, rows_at_once>;

/// Loads the C numbers from here on and nothing beyond them.
template <int C>
inline Few load(const float* from) {
  static_assert(C >= 1 && C <= 4);
  if constexpr (C == 1) return Few{*from};
#ifdef __AVX512VL__
  return _mm_maskz_loadu_ps((1U << C) - 1U, from);
#else
  Few x{};
  for (int c = 0; c < C; ++c) x[c] = from[c];
  return x;
#endif
}
template <int C>
inline void store(const Few& x, float* to) {
  if constexpr (C == 1) {
    *to = x[0];
    return;
  }
#ifdef __AVX512VL__
  _mm_mask_storeu_ps(to, (1U << C) - 1U, x);
#else
  for (int c = 0; c < C; ++c) to[c] = x[c];
#endif
}

}  // namespace kernels
}  // namespace karst
