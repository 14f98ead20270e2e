// SPDX-License-Identifier: BSD-3-Clause
// The only OpenMP of the project. An exception thrown by a body is rethrown on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace karst {

int n_threads();
void set_n_threads(int n);
int thread_number();

/// f(i) for i in [0, n), equal contiguous shares per thread.
template <class F>
void parallel_for(std::int64_t n, F&& f);

/// f(i) for i in [0, n), handed out one by one: for work of uneven cost (boxes).
template <class F>
void parallel_for_dynamic(std::int64_t n, F&& f);

/// Σ f(i), added in an order that depends on n alone, never on the number of threads.
template <class F>
double parallel_sum(std::int64_t n, F&& f);

template <class F>
double parallel_max(std::int64_t n, F&& f);

}  // namespace karst
