// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients preconditioned by the graph multigrid alone, without PETSc: what tests of the multigrid and
// benchmarks count its iterations with.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "solvers/krylov/dot.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"

namespace karst::test {

struct CgResult {
  int iterations = 0;
  double relative_residual = 0.0;  ///< |b - A x| / |b| in the 2-norm, by the recurrence
};

class ConjugateGradients {
 public:
  ConjugateGradients(const Comm& comm, GraphMultigrid& multigrid)
      : comm_(comm),
        multigrid_(multigrid),
        n_(multigrid.n_unknowns()),
        r_(static_cast<std::size_t>(n_), Purpose::solver),
        z_(static_cast<std::size_t>(n_), Purpose::solver),
        p_(static_cast<std::size_t>(n_), Purpose::solver),
        q_(static_cast<std::size_t>(n_), Purpose::solver) {
    over_blocks([&](std::int64_t first, std::int64_t n) {
      std::fill_n(p_.data() + first, n, 0.0);
      return 0.0;
    });
  }

  CgResult solve(std::span<const double> b, std::span<double> x, double tolerance, int max_iterations) {
    const double size = std::sqrt(dot(b.data(), b.data()));
    double left = first_residual(b, x);
    multigrid_.set_sizes({left / std::sqrt(static_cast<double>(multigrid_.nodes()[0]))});
    CgResult result;
    double rz = 0.0;
    while (!(left <= tolerance * size)) {  // also when it is not a number
      require(result.iterations < max_iterations && std::isfinite(left),
              "conjugate gradients: not converged, residual {:.2e} of the right-hand side after {} iterations, {:.0e} "
              "is asked; raise the number of iterations or look at the problem",
              left / size, result.iterations, tolerance);
      multigrid_.apply(r_.span(), z_.span());
      const Timer timer("krylov");
      const double next = dot(r_.data(), z_.data());
      turn(rz == 0.0 ? 0.0 : next / rz);
      rz = next;
      multigrid_.product(p_.span(), q_.span());
      left = advance(rz / dot(p_.data(), q_.data()), x);
      ++result.iterations;
    }
    result.relative_residual = size > 0.0 ? left / size : 0.0;
    return result;
  }

 private:
  static constexpr std::int64_t block = 4096;  // unknowns that a thread works on at a time

  /// Σ f(first, n) over blocks and ranks.
  template <class F>
  double over_blocks(F&& f) const {
    return comm_.sum(parallel_sum((n_ + block - 1) / block,
                                  [&](std::int64_t i) { return f(i * block, std::min(block, n_ - i * block)); }));
  }
  double dot(const double* a, const double* b) const {
    return over_blocks([&](std::int64_t first, std::int64_t n) { return dot_of(a + first, b + first, n); });
  }
  /// r = b - A x; |r|
  double first_residual(std::span<const double> b, std::span<const double> x) {
    multigrid_.product(x, q_.span());
    return std::sqrt(over_blocks([&](std::int64_t first, std::int64_t n) {
      double* r = r_.data() + first;
      for (std::int64_t i = 0; i < n; ++i) r[i] = b[first + i] - q_.data()[first + i];
      return dot_of(r, r, n);
    }));
  }
  /// p = z + beta p
  void turn(double beta) {
    parallel_for((n_ + block - 1) / block, [&](std::int64_t k) {
      const std::int64_t first = k * block, n = std::min(block, n_ - first);
      const double* __restrict z = z_.data() + first;
      double* __restrict p = p_.data() + first;
      for (std::int64_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    });
  }
  /// x += step p, r -= step q; |r|
  double advance(double step, std::span<double> x) {
    return std::sqrt(over_blocks([&](std::int64_t first, std::int64_t n) {
      const double* __restrict p = p_.data() + first, * __restrict q = q_.data() + first;
      double* __restrict to = x.data() + first, * __restrict r = r_.data() + first;
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] += step * p[i];
        r[i] -= step * q[i];
      }
      return dot_of(r, r, n);
    }));
  }

  const Comm& comm_;
  GraphMultigrid& multigrid_;
  std::int64_t n_;
  Array<double> r_, z_, p_, q_;
};

/// Solves A x = b for the two-point operator of `multigrid` by conjugate gradients preconditioned with it, threaded,
/// its vector operations fused with the operator. Singular systems: b must have no part along the constants of a
/// component without shift. Throws Error when it does not converge within max_iterations. Collective.
/// @param b           own unknowns in the order level, box, VoF
/// @param[in,out] x   initial guess, then the solution
inline CgResult solve_cg(const Comm& comm, GraphMultigrid& multigrid, std::span<const double> b, std::span<double> x,
                         double tolerance, int max_iterations) {
  return ConjugateGradients(comm, multigrid).solve(b, x, tolerance, max_iterations);
}

}  // namespace karst::test
