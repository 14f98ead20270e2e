// SPDX-License-Identifier: BSD-3-Clause
// Memory bandwidth of this machine: a_i = b_i + s c_i (the triad of STREAM), arrays far larger than the cache, with the
// memory pages of fields. The reference for every sweep.
//   bench_triad [MiB per array = 256]
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/file/run_guarded.hpp"

namespace {

using namespace karst;

constexpr std::int64_t block = 1 << 16;  // values handed to a thread at a time

/// Best of several rounds [GB/s], counting 24 bytes per value, as STREAM does.
double triad(int threads, std::int64_t n_blocks) {
  set_n_threads(threads);
  const std::size_t n = n_blocks * block;
  Array<double> a(n, Purpose::fields), b(n, Purpose::fields), c(n, Purpose::fields);
  const auto fill = [&](std::int64_t i) {  // first touch by the thread that works on it
    for (std::size_t k = static_cast<std::size_t>(i * block); k < static_cast<std::size_t>((i + 1) * block); ++k)
      a[k] = 0.0, b[k] = 1.0, c[k] = 2.0;
  };
  parallel_for(n_blocks, fill);
  double best = 1e30;
  for (int round = 0; round < 15; ++round) {
    const auto start = std::chrono::steady_clock::now();
    parallel_for(n_blocks, [&](std::int64_t i) {
      double* __restrict to = a.data() + i * block;
      const double *x = b.data() + i * block, *y = c.data() + i * block;
      for (std::int64_t k = 0; k < block; ++k) to[k] = x[k] + 3.0 * y[k];
    });
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  require(a[n / 2] == 7.0, "the triad gave {} instead of 7", a[n / 2]);
  return 24.0 * static_cast<double>(n) / best * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  return run_guarded(argc, argv, [&](const Comm&) {
    const std::int64_t mib = argc > 1 ? std::atoi(argv[1]) : 256;
    for (const int threads : {1, 2})
      fmt::print("{} thread(s): triad {:.2f} GB/s, three arrays of {} MiB\n", threads,
                 triad(threads, mib * (1 << 20) / (8 * block)), mib);
  });
}
