// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/low_order.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/timer.hpp"

namespace karst {
namespace {

constexpr double least_change = 2e-15;  ///< of the range of the values: what is left over in a volume, root mean square
constexpr int most_iterations = 2000;

/// A face on an end of the domain through which nothing diffuses.
bool is_closed(const ScalarGrid& grid, const LowOrderTerms& terms, const ScalarFace& f) {
  return f.right >= grid.n_all && !terms.fixed[grid.boundary[f.right - grid.n_all].side];
}

}  // namespace

void find_exchange(const ScalarGrid& grid, LowOrderTerms& terms) {
  terms.exchange = Array<double>(static_cast<std::size_t>(grid.n_own), Purpose::fields, 0.0);
  const auto add = [&](std::int32_t v, double conductance) {
    if (v < grid.n_own) terms.exchange[v] += terms.diffusivity * conductance;
  };
  for (const PlainVolumes& p : grid.plain)
    for (std::size_t d = 0; d < 3; ++d)
      for (std::int32_t t = 0; t < p.count; ++t) {
        add(p.first + t, grid.width(p.level));
        add(p.beyond[2 * d] + t, grid.width(p.level));
      }
  for (const ScalarFace& f : grid.listed) {
    if (is_closed(grid, terms, f)) continue;
    add(f.left, f.area / f.distance);
    if (f.right < grid.n_all) add(f.right, f.area / f.distance);
  }
  std::vector<double> of_face(static_cast<std::size_t>(grid.n_faces), 0.0);
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t, std::int32_t, int, std::int32_t level) {
        of_face[face] = terms.diffusivity * grid.width(level);
      },
      [&](const ScalarFace& f) {
        if (!is_closed(grid, terms, f)) of_face[f.face] = terms.diffusivity * f.area / f.distance;
      });
  terms.conductance = Array<double>(grid.volume_faces.size(), Purpose::stencils, 0.0);
  terms.other = Array<std::int32_t>(grid.volume_faces.size(), Purpose::stencils, 0);
  for (std::size_t k = 0; k < grid.volume_faces.size(); ++k) {
    terms.conductance[k] = of_face[grid.volume_faces[k].face];
    terms.other[k] = grid.volume_faces[k].other;
  }
}

void exchange_sum(const ScalarGrid& grid, const LowOrderTerms& terms, std::span<const double> values,
                  std::span<double> y) {
  const double* const x = values.data();
  double* const to = y.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double g = terms.diffusivity * grid.width(p.level);
#pragma GCC ivdep
    for (std::int32_t t = 0; t < p.count; ++t)
      to[p.first + t] = g * (6.0 * x[p.first + t] - x[p.beyond[0] + t] - x[p.beyond[1] + t] - x[p.beyond[2] + t] -
                             x[p.beyond[3] + t] - x[p.beyond[4] + t] - x[p.beyond[5] + t]);
  });
  const double* const conductance = terms.conductance.data();
  const std::int32_t* const other = terms.other.data();
  parallel_for(static_cast<std::int64_t>(grid.special.size()), [&](std::int64_t i) {
    const auto s = static_cast<std::size_t>(i);
    const std::int32_t v = grid.special[s];
    double sum = 0.0;
    for (std::int64_t k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k)
      sum += conductance[k] * (x[v] - x[other[k]]);
    to[v] = sum;
  });
}

void add_two_point_flux(const ScalarGrid& grid, const LowOrderTerms& terms, std::span<const double> values,
                        double factor, std::span<double> flux, std::span<double> amount) {
  const double* const c = values.data();
  double *const to = flux.data(), *const scaled = amount.data();
  const double diffusivity = terms.diffusivity;
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int, std::int32_t level) {
        const double q = diffusivity * grid.width(level) * (c[left] - c[right]);
        to[face] += q;
        scaled[face] = factor * q;
      },
      [&](const ScalarFace& f) {
        const double q = is_closed(grid, terms, f) ? 0.0 : diffusivity * f.area / f.distance * (c[f.left] - c[f.right]);
        to[f.face] += q;
        scaled[f.face] = factor * q;
      });
}

LowOrderSolver::LowOrderSolver(const ScalarGrid& grid) : gcr_(grid.composite->comm(), grid.n_own) {}

void LowOrderSolver::implicit_upwind(const ScalarGrid& grid, const CarryingFlow& flow, std::span<const double> values,
                                     std::span<double> q) {
  upwind_flux(grid, flow.implicit_part.span(), values, q);
}

/// 1 / the diagonal of V + dt (...).
void LowOrderSolver::find_scale(const ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms,
                                double dt) {
  const bool wall = terms != nullptr && terms->wall.size() > 0;
  parallel_for(grid.n_own, [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    double sum = terms != nullptr ? terms->exchange[v] : 0.0;
    if (flow.n_implicit > 0 && flow.implicit_volume[v] != 0) sum += flow.outflow[v];
    if (wall) sum += terms->wall[v];
    scale_[v] = 1.0 / (grid.volume[v] + dt * sum);
  });
}

int LowOrderSolver::solve(ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms,
                          std::span<const double> explicit_flux, std::span<const double> source, double dt,
                          double range, std::span<double> low) {
  const Timer timer("low order");
  const auto n = static_cast<std::size_t>(grid.n_own), n_faces = static_cast<std::size_t>(grid.n_faces);
  if (b_.size() == 0) {
    flux_ = Array<double>(n_faces, Purpose::solver, 0.0);
    for (Array<double>* a : {&b_, &scale_, &image_, &extra_}) *a = Array<double>(n, Purpose::solver, 0.0);
    for (Array<double>* a : {&change_, &direction_})
      *a = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::solver, 0.0);
  }
  find_scale(grid, flow, terms, dt);
  const bool wall = terms != nullptr && terms->wall.size() > 0;
  // Σ of all that is implicit, for these values; `offset` counts c_eq.
  const auto implicit_sum = [&](std::span<const double> x, bool offset, std::span<double> y) {
    if (flow.n_implicit > 0) {
      implicit_upwind(grid, flow, x, flux_.span());
      add_up(grid, flux_.span(), y);
    }
    if (terms != nullptr) {
      const std::span<double> sum = flow.n_implicit > 0 ? extra_.span() : y;
      exchange_sum(grid, *terms, x, sum);
      if (flow.n_implicit > 0) parallel_for(grid.n_own, [&](std::int64_t v) { y[v] += extra_[v]; });
    }
    if (wall)
      parallel_for(grid.n_own, [&](std::int64_t i) {
        const auto v = static_cast<std::size_t>(i);
        y[v] += terms->wall[v] * (x[v] - (offset ? terms->equilibrium[v] : 0.0));
      });
  };
  implicit_sum(low, true, b_.span());
  add_up(grid, explicit_flux, image_.span());
  parallel_for(grid.n_own, [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    b_[v] = -dt * scale_[v] * (b_[v] + image_[v] - (source.empty() ? 0.0 : grid.volume[v] * source[v]));
  });
  std::ranges::fill(direction_, 0.0);
  const auto apply = [&](std::span<double> x, std::span<double> y) {
    fetch_remote(grid, x);
    implicit_sum(x, false, y);
    parallel_for(grid.n_own, [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      y[v] = scale_[v] * (grid.volume[v] * x[v] + dt * y[v]);
    });
  };
  const double tolerance = least_change * range * std::sqrt(static_cast<double>(grid.counts.volumes));
  const int iterations =
      solve_scaled(gcr_, apply, b_.span(), change_.span(), tolerance, most_iterations, direction_.span());
  require(iterations >= 0,
          "transport: the step of low order was not solved in {} iterations (time step {:.3g}); use a smaller one",
          most_iterations, dt);
  parallel_for(grid.n_own, [&](std::int64_t i) { low[i] += change_[i]; });
  fetch_remote(grid, low);
  return iterations;
}

std::int64_t LowOrderSolver::bytes() const {
  std::size_t sum = 0;
  for (const Array<double>* a : {&flux_, &extra_, &b_, &scale_, &image_, &change_, &direction_}) sum += a->bytes();
  return gcr_.bytes() + static_cast<std::int64_t>(sum);
}

}  // namespace karst
