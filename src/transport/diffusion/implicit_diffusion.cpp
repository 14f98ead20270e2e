// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/implicit_diffusion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr double round_off = 1e-17;  ///< of what is left at first
constexpr double most_sweeps = 20'000.0;

/// Sweeps of Chebyshev's iteration until round-off is left; rho: spectral radius of a Jacobi sweep, at most 1.
double sweeps_for(double rho) {
  if (rho <= 0.0) return 1.0;
  if (rho >= 1.0) return std::numeric_limits<double>::infinity();  // what a volume holds is round-off of its exchange
  return std::ceil(std::log(round_off) / std::log(rho / (1.0 + std::sqrt(1.0 - rho * rho))));
}

}  // namespace

void require_few_sweeps(double rho, double dt) {
  require(sweeps_for(rho) <= most_sweeps,
          "transport: a step of {:.3g} s lets a cell exchange {:.3g} times its volume by diffusion, which needs more "
          "than {} sub-steps; use shorter steps (time.dt), or if the flow sets the step length and is that slow, a "
          "faster flow or none, or compute the steady state (transport.mode = \"steady\"), which diffusion reaches in "
          "a small part of such a step",
          dt, 1.0 / (1.0 - std::min(rho, 1.0 - 1e-16)), most_sweeps);
}

void set_step(const ScalarGrid& grid, const LowOrderTerms& terms, double dt, ImplicitDiffusion& implicit) {
  if (implicit.inverse.size() == 0) implicit.inverse = Array<double>(grid.n_own, Purpose::solver, 0.0);
  const bool wall = terms.wall.size() > 0;
  const double rho = parallel_max(grid.n_own, [&](std::int64_t v) {
    const double diagonal = grid.volume[v] + dt * (terms.g.sum[v] + (wall ? terms.wall[v] : 0.0));
    implicit.inverse[v] = 1.0 / diagonal;
    return dt * terms.g.sum[v] / diagonal;
  });
  implicit.rho = grid.composite->comm().max(std::max(0.0, rho));
  require_few_sweeps(implicit.rho, dt);
}

template <int C>
int solve(ScalarGrid& grid, const LowOrderTerms& terms, double dt, const ImplicitDiffusion& implicit,
          std::span<const double> b, std::span<double> x, std::span<double> before) {
  const double rho = implicit.rho;
  const int n = static_cast<int>(sweeps_for(rho));
  const double *const inverse = implicit.inverse.data(), *const right = b.data();
  std::ranges::copy(x, before.begin());
  double omega = 1.0;
  for (int k = 0; k < n; ++k) {
    fetch_remote<C>(grid, x);
    double* const to = before.data();
    for_sums_across<C>(
        grid, terms.g, x.data(), [&](std::int32_t v) { return inverse[v]; },
        [&](std::int64_t i, double across, double d) { to[i] += omega * (d * (right[i] + dt * across) - to[i]); });
    std::swap(x, before);
    omega = k == 0 ? 1.0 / (1.0 - 0.5 * rho * rho) : 1.0 / (1.0 - 0.25 * rho * rho * omega);
  }
  if (n % 2 == 1) {  // what is asked for lies in the other one
    std::swap(x, before);
    std::ranges::copy(before.first(std::size_t{C} * grid.n_own), x.begin());
  }
  fetch_remote<C>(grid, x);
  return n;
}

template <int C>
int diffuse_implicitly(ScalarGrid& grid, const LowOrderTerms& terms,
                       const std::array<std::span<const double>, C>& source, ImplicitDiffusion& implicit,
                       const LowOrderVectors& vectors) {
  const double dt = terms.sub_steps.dt;
  set_step(grid, terms, dt, implicit);
  const auto n = std::size_t{C} * grid.n_own;
  if (implicit.b.size() < n) implicit.b = {n, Purpose::solver, 0.0};
  const bool wall = terms.wall.size() > 0;
  double *const low = vectors.first.data(), *const b = implicit.b.data();
  parallel_for(grid.n_own, [&](std::int64_t v) {
    for (int c = 0; c < C; ++c) {
      double& value = low[C * v + c];
      if (!source[c].empty()) value += dt * source[c][v];
      b[C * v + c] = grid.volume[v] * value + (wall ? dt * terms.wall[v] * terms.equilibrium[v] : 0.0);
    }
  });
  std::ranges::copy(vectors.first, vectors.second.begin());
  const int sweeps = solve<C>(grid, terms, dt, implicit, implicit.b.span().first(n), vectors.second, vectors.exposure);
  const double* const x = vectors.second.data();
  struct Of {
    double sum, volume, wall, equilibrium;
  };
  for_sums_across<C>(
      grid, terms.g, x,
      [&](std::int32_t v) {
        return Of{terms.g.sum[v], grid.volume[v], wall ? terms.wall[v] : 0.0, wall ? terms.equilibrium[v] : 0.0};
      },
      [&](std::int64_t i, double across, const Of& of) {
        low[i] -= dt / of.volume * ((of.sum * x[i] - across) + of.wall * (x[i] - of.equilibrium));
      });
  parallel_for(std::ssize(vectors.exposure), [&](std::int64_t i) { vectors.exposure[i] = dt * x[i]; });
  vectors.inner.clear();
  return sweeps;
}

template int solve<1>(ScalarGrid&, const LowOrderTerms&, double, const ImplicitDiffusion&, std::span<const double>,
                      std::span<double>, std::span<double>);
template int solve<2>(ScalarGrid&, const LowOrderTerms&, double, const ImplicitDiffusion&, std::span<const double>,
                      std::span<double>, std::span<double>);
template int solve<3>(ScalarGrid&, const LowOrderTerms&, double, const ImplicitDiffusion&, std::span<const double>,
                      std::span<double>, std::span<double>);
template int solve<4>(ScalarGrid&, const LowOrderTerms&, double, const ImplicitDiffusion&, std::span<const double>,
                      std::span<double>, std::span<double>);
template int diffuse_implicitly<1>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 1>&,
                                   ImplicitDiffusion&, const LowOrderVectors&);
template int diffuse_implicitly<2>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 2>&,
                                   ImplicitDiffusion&, const LowOrderVectors&);
template int diffuse_implicitly<3>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 3>&,
                                   ImplicitDiffusion&, const LowOrderVectors&);
template int diffuse_implicitly<4>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 4>&,
                                   ImplicitDiffusion&, const LowOrderVectors&);

}  // namespace karst
