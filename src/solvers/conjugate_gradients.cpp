// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/conjugate_gradients.hpp"

#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/timer.hpp"

namespace karst {
namespace {

/// Σ a b with eight running sums.
double dot_of(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sum{};
  std::size_t i = 0;
  for (; i + lanes <= a.size(); i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) sum[l] += a[i + l] * b[i + l];
  for (; i < a.size(); ++i) sum[i % lanes] += a[i] * b[i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

class Solver {
 public:
  Solver(const Comm& comm, GraphMultigrid& multigrid)
      : comm_(comm),
        multigrid_(multigrid),
        r_(multigrid.fine().graph(), 1, Purpose::solver),
        z_(multigrid.fine().graph(), 1, Purpose::solver),
        p_(multigrid.fine().graph(), 1, Purpose::solver),
        q_(multigrid.fine().graph(), 1, Purpose::solver),
        part_(static_cast<std::size_t>(r_.n_local())) {}

  CgResult solve(const Field& b, Field& x, double tolerance, int max_iterations) {
    const double size = std::sqrt(dot(comm_, b, b));
    double left = first_residual(b, x);
    multigrid_.set_size(left / std::sqrt(static_cast<double>(multigrid_.nodes()[0])));
    CgResult result;
    double rz = 0.0;
    while (left > tolerance * size) {
      require(result.iterations < max_iterations && std::isfinite(left),
              "conjugate gradients: not converged, residual {:.2e} of the right-hand side after {} iterations, {:.0e} "
              "is asked; raise the number of iterations or look at the problem",
              left / size, result.iterations, tolerance);
      multigrid_.apply(r_, z_);
      const Timer timer("krylov");
      const double next = dot(comm_, r_, z_);
      turn(rz == 0.0 ? 0.0 : next / rz);
      rz = next;
      const double step = rz / multiply();
      left = advance(step, x);
      ++result.iterations;
    }
    result.relative_residual = size > 0.0 ? left / size : 0.0;
    return result;
  }

 private:
  double total() const {
    return comm_.sum(
        parallel_sum(std::ssize(part_), [&](std::int64_t i) { return part_[static_cast<std::size_t>(i)]; }));
  }
  /// r = b - A x; |r|
  double first_residual(const Field& b, Field& x) {
    multigrid_.fine().product(x, q_, [&](int box) {
      const std::span<const double> from = b.own(box), ax = q_.own(box);
      const std::span<double> to = r_.own(box);
      for (std::size_t v = 0; v < to.size(); ++v) to[v] = from[v] - ax[v];
      part_[static_cast<std::size_t>(box)] = dot_of(to, to);
    });
    return std::sqrt(total());
  }
  /// p = z + beta p
  void turn(double beta) {
    parallel_for(p_.n_local(), [&](std::int64_t box) {
      const auto z = z_.own(static_cast<int>(box));
      const auto p = p_.own(static_cast<int>(box));
      for (std::size_t v = 0; v < p.size(); ++v) p[v] = z[v] + beta * p[v];
    });
  }
  /// q = A p; p q
  double multiply() {
    multigrid_.fine().product(
        p_, q_, [&](int box) { part_[static_cast<std::size_t>(box)] = dot_of(p_.own(box), q_.own(box)); });
    return total();
  }
  /// x += step p, r -= step q; |r|
  double advance(double step, Field& x) {
    parallel_for(p_.n_local(), [&](std::int64_t i) {
      const int box = static_cast<int>(i);
      const auto p = p_.own(box), q = q_.own(box), to = x.own(box), r = r_.own(box);
      for (std::size_t v = 0; v < r.size(); ++v) {
        to[v] += step * p[v];
        r[v] -= step * q[v];
      }
      part_[static_cast<std::size_t>(i)] = dot_of(r, r);
    });
    return std::sqrt(total());
  }

  const Comm& comm_;
  GraphMultigrid& multigrid_;
  Field r_, z_, p_, q_;
  std::vector<double> part_;  // per box
};

}  // namespace

CgResult solve_cg(const Comm& comm, GraphMultigrid& multigrid, const Field& b, Field& x, double tolerance,
                  int max_iterations) {
  return Solver(comm, multigrid).solve(b, x, tolerance, max_iterations);
}

}  // namespace karst
