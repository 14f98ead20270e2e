// SPDX-License-Identifier: BSD-3-Clause
// Values of long arrays set and copied by all threads; of new arrays most of the time is that of the system, which
// clears the pages.
#pragma once

#include <algorithm>
#include <span>

#include "base/comm/parallel.hpp"

namespace karst {

namespace detail {

/// f(first, n) for stretches of [0, n), as many as there is work for.
template <class F>
void for_stretches(std::int64_t n, F&& f) {
  constexpr std::int64_t longest = 1 << 15;
  parallel_for((n + longest - 1) / longest,
               [&](std::int64_t i) { f(i * longest, std::min(longest, n - i * longest)); });
}

}  // namespace detail

template <class T>
void parallel_fill(std::span<T> to, T value) {
  detail::for_stretches(std::ssize(to),
                        [&](std::int64_t first, std::int64_t n) { std::fill_n(to.data() + first, n, value); });
}

/// @param[out] to  from.size() and more, elsewhere
template <class T>
void parallel_copy(std::span<const T> from, std::span<T> to) {
  detail::for_stretches(std::ssize(from), [&](std::int64_t first, std::int64_t n) {
    std::copy_n(from.data() + first, n, to.data() + first);
  });
}

}  // namespace karst
