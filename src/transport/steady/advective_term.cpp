// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/advective_term.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "base/timer.hpp"

namespace karst {

AdvectiveTerm::AdvectiveTerm(ScalarGrid& grid, FaceField& flow)
    : grid_(grid),
      fixed_(grid.boundary.size(), 0),
      given_(grid.boundary.size(), 0.0),
      flow_(static_cast<std::size_t>(grid.n_faces), Purpose::solver),
      values_(static_cast<std::size_t>(grid.n_values), Purpose::solver, 0.0),
      flux_(static_cast<std::size_t>(grid.n_faces), Purpose::solver, 0.0),
      sums_(static_cast<std::size_t>(grid.n_own), Purpose::solver, 0.0) {
  list_fluxes(grid, flow, flow_.span());
  for (Array<double>& g : gradient_) g = {static_cast<std::size_t>(grid.n_all), Purpose::solver, 0.0};
}

void AdvectiveTerm::set_ends(const std::array<ConditionAt, 6>& sides) {
  for (std::size_t i = 0; i < grid_.boundary.size(); ++i) {
    const BoundaryFace& end = grid_.boundary[i];
    const ConditionAt& at = sides[end.side];
    const Condition c = at ? at(end.at) : Condition{};
    fixed_[i] = c.kind == BoundaryKind::dirichlet ? 1 : 0;
    given_[i] = c.value;
  }
}

/// Q_f c_f of all faces.
/// @param given  1: with the given values, 0: with 0 in their place
void AdvectiveTerm::find_fluxes(std::span<const double> c, double given) {
  const Timer timer("advective fluxes");
  const std::span<double> values = values_.span();
  parallel_for(std::ssize(c), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    values[v] = c[v];
  });
  fetch_remote(grid_, values);
  for (std::size_t i = 0; i < grid_.boundary.size(); ++i)
    values[static_cast<std::size_t>(grid_.n_all) + i] =
        fixed_[i] != 0 ? given * given_[i] : c[grid_.boundary[i].volume];
  const Gradient gradient{gradient_[0].span(), gradient_[1].span(), gradient_[2].span()};
  find_gradient(grid_, values, gradient);
  linear_upwind_flux(grid_, flow_.span(), values, gradient, flux_.span());
}

void AdvectiveTerm::add(std::span<const double> c, std::span<double> y) {
  find_fluxes(c, 0.0);
  add_up(grid_, flux_.span(), sums_.span());
  parallel_for(std::ssize(y), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    y[v] += scale_ * sums_[v];
  });
}

void AdvectiveTerm::right_side(std::span<double> b) {
  const std::vector<double> nothing(b.size(), 0.0);
  find_fluxes(nothing, 1.0);
  add_up(grid_, flux_.span(), sums_.span());
  for (std::size_t v = 0; v < b.size(); ++v) b[v] -= scale_ * sums_[v];
}

double AdvectiveTerm::between(std::span<const double> c, std::span<const std::uint8_t> part) {
  find_fluxes(c, 1.0);
  // Of other ranks as well; the values are not needed any more.
  const std::span<double> parts = values_.span();
  for (std::size_t v = 0; v < part.size(); ++v) parts[v] = part[v];
  fetch_remote(grid_, parts);
  std::fill(parts.begin() + grid_.n_all, parts.end(), 0.0);
  const double* const flux = flux_.data();
  for_each_volume(grid_, [&](std::int32_t v, auto&& faces) {
    double in = 0.0;
    if (parts[v] == 2.0)
      faces([&](std::int32_t face, std::int32_t other, double outward) {
        if (parts[other] == 1.0) in -= outward * flux[face];
      });
    sums_[v] = in;
  });
  const double sum = parallel_sum(grid_.n_own, [&](std::int64_t v) { return sums_[v]; });
  return scale_ * grid_.composite->comm().sum(sum);
}

double AdvectiveTerm::out_of(int side, std::span<const double> c) {
  find_fluxes(c, 1.0);
  double sum = 0.0;
  for (const BoundaryFace& end : grid_.boundary)
    if (end.side == side) sum += flux_[end.face];
  return scale_ * grid_.composite->comm().sum(sum);
}

std::int64_t AdvectiveTerm::bytes() const {
  std::size_t sum = flow_.bytes() + values_.bytes() + flux_.bytes() + sums_.bytes();
  for (const Array<double>& g : gradient_) sum += g.bytes();
  return static_cast<std::int64_t>(sum);
}

}  // namespace karst
