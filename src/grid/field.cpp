// SPDX-License-Identifier: BSD-3-Clause
#include "grid/field.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

/// Σ term(i) with eight running sums, so that it is neither serial nor reordered by the compiler.
template <class F>
double sum_of(std::size_t n, F&& term) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sums[l] += term(i + l);
  for (; i < n; ++i) sums[i % lanes] += term(i);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace

template <class T>
BasicField<T>::BasicField(const LevelGraph& graph, int n_components, Purpose purpose)
    : slots_(graph.slots()), n_components_(n_components) {
  require(n_components >= 1, "field: {} components; at least 1 is needed", n_components);
  values_ = Array<T>(n_components * n_slots(), purpose);
  parallel_for_shares(slots_->begin, [&](std::int64_t b) {
    for (int c = 0; c < n_components_; ++c) std::ranges::fill(box(static_cast<int>(b), c), T{0});
  });
}

template <class T>
void BasicField<T>::fill(T value) {
  parallel_for(n_local(), [&](std::int64_t b) {
    for (int c = 0; c < n_components_; ++c) {
      const std::span<T> all = box(static_cast<int>(b), c);
      std::ranges::fill(all.first(all.size() - 1), value);
    }
  });
}

template <class T>
double local_dot(const BasicField<T>& a, const BasicField<T>& b, int component) {
  assert(a.slots() == b.slots());
  return parallel_sum(a.n_local(), [&](std::int64_t box) {
    const auto x = a.own(static_cast<int>(box), component), y = b.own(static_cast<int>(box), component);
    return sum_of(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]) * static_cast<double>(y[i]); });
  });
}

template <class T>
double local_sum(const BasicField<T>& a, int component) {
  return parallel_sum(a.n_local(), [&](std::int64_t box) {
    const auto x = a.own(static_cast<int>(box), component);
    return sum_of(x.size(), [&](std::size_t i) { return static_cast<double>(x[i]); });
  });
}

template <class T>
double local_max_norm(const BasicField<T>& a, int component) {
  const double largest = parallel_max(a.n_local(), [&](std::int64_t box) {
    double m = 0.0;
    for (const T x : a.own(static_cast<int>(box), component)) {
      const double size = std::abs(static_cast<double>(x));
      m = size > m || std::isnan(size) ? size : m;
      if (std::isnan(m)) break;
    }
    return m;
  });
  return largest < 0.0 ? 0.0 : largest;
}

template class BasicField<double>;
template class BasicField<float>;
template class BasicField<Quad>;
template class BasicField<Values<2>>;
template class BasicField<Values<3>>;
template class BasicField<Values<4>>;
template class BasicField<Values<6>>;
template class BasicField<Values<12>>;
template class BasicField<std::int32_t>;
template class BasicField<std::int64_t>;
template class BasicField<std::uint8_t>;
template double local_dot(const BasicField<double>&, const BasicField<double>&, int);
template double local_dot(const BasicField<float>&, const BasicField<float>&, int);
template double local_sum(const BasicField<double>&, int);
template double local_sum(const BasicField<float>&, int);
template double local_max_norm(const BasicField<double>&, int);
template double local_max_norm(const BasicField<float>&, int);

}  // namespace karst
