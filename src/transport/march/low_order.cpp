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
  terms.listed = Array<double>(grid.listed.size(), Purpose::stencils, 0.0);
  std::vector<double> of_face(static_cast<std::size_t>(grid.n_faces), 0.0);
  for (std::size_t k = 0; k < grid.listed.size(); ++k) {
    const ScalarFace& f = grid.listed[k];
    if (is_closed(grid, terms, f)) continue;
    add(f.left, grid.conductance[k]);
    if (f.right < grid.n_all) add(f.right, grid.conductance[k]);
    terms.listed[k] = of_face[f.face] = terms.diffusivity * grid.conductance[k];
  }
  for (const PlainVolumes& p : grid.plain)
    for (std::int32_t d = 0; d < 3; ++d)
      std::fill_n(of_face.begin() + d * grid.n_all + p.first, p.count, terms.diffusivity * grid.width(p.level));
  terms.conductance = Array<double>(grid.volume_faces.size(), Purpose::stencils, 0.0);
  for (std::size_t k = 0; k < grid.volume_faces.size(); ++k)
    terms.conductance[k] = of_face[grid.volume_faces[k].face()];
}

void apply_low_order(const ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms, double dt,
                     std::span<const double> scale, std::span<const double> values, std::span<double> image) {
  const double *const x = values.data(), *const s = scale.data();
  double* const y = image.data();
  const double diffusivity = terms != nullptr ? terms->diffusivity : 0.0;
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double g = dt * diffusivity * grid.width(p.level);
#pragma GCC ivdep
    for (std::int32_t t = 0; t < p.count; ++t)
      y[p.first + t] = x[p.first + t] - g * s[p.first + t] *
                                            (x[p.beyond[0] + t] + x[p.beyond[1] + t] + x[p.beyond[2] + t] +
                                             x[p.beyond[3] + t] + x[p.beyond[4] + t] + x[p.beyond[5] + t]);
  });
  const double* const conductance = terms != nullptr ? terms->conductance.data() : nullptr;
  const VolumeFace* const face = grid.volume_faces.data();
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    double sum = 0.0;
    if (conductance != nullptr)
      for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k)
        sum += conductance[k] * x[face[k].other()];
    y[v] = x[v] - dt * s[v] * sum;
  });
  if (flow.n_implicit == 0) return;
  for (const ImplicitFace& f : flow.implicit_faces)
    if (f.to < grid.n_own) y[f.to] -= dt * s[f.to] * std::abs(f.flow) * x[f.from];
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
      [&](const ScalarFace& f, std::int64_t k) {
        const double q = terms.listed[k] * (c[f.left] - c[f.right]);
        to[f.face] += q;
        scaled[f.face] = factor * q;
      });
}

LowOrderSolver::LowOrderSolver(const ScalarGrid& grid) : gcr_(grid.composite->comm(), grid.n_own) {}

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
  if (b_.size() == 0) {
    const auto n = static_cast<std::size_t>(grid.n_own);
    for (Array<double>* a : {&b_, &scale_, &explicit_}) *a = Array<double>(n, Purpose::solver, 0.0);
    for (Array<double>* a : {&change_, &direction_})
      *a = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::solver, 0.0);
  }
  find_scale(grid, flow, terms, dt);
  const auto apply = [&](std::span<double> x, std::span<double> y) {
    fetch_remote(grid, x);
    apply_low_order(grid, flow, terms, dt, scale_.span(), x, y);
  };
  // b of the change: V c + dt (...) - A c.
  apply_low_order(grid, flow, terms, dt, scale_.span(), low, b_.span());
  add_up(grid, explicit_flux, explicit_.span());
  const bool wall = terms != nullptr && terms->wall.size() > 0;
  parallel_for(grid.n_own, [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    double gained = -explicit_[v];
    if (wall) gained += terms->wall[v] * terms->equilibrium[v];
    if (!source.empty()) gained += grid.volume[v] * source[v];
    b_[v] = scale_[v] * (grid.volume[v] * low[v] + dt * gained) - b_[v];
  });
  std::ranges::fill(direction_, 0.0);
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
  for (const Array<double>* a : {&b_, &scale_, &explicit_, &change_, &direction_}) sum += a->bytes();
  return gcr_.bytes() + static_cast<std::int64_t>(sum);
}

}  // namespace karst
