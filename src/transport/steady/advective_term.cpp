// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/advective_term.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"

namespace karst {

AdvectiveTerm::AdvectiveTerm(ScalarGrid& grid, FaceField& flow, const GivenSides& given)
    : grid_(grid),
      weights_(find_gradient_weights(grid, given)),
      fixed_(grid.boundary.size(), 0),
      given_(grid.boundary.size(), 0.0),
      flow_(grid.n_faces, Purpose::solver) {
  list_fluxes(grid, flow, flow_.span());
}

void AdvectiveTerm::make_room(int n) {
  if (n <= room_) return;
  const auto array = [n](std::int32_t size) { return Array<double>(std::int64_t{n} * size, Purpose::solver, 0.0); };
  values_ = array(grid_.n_values);
  flux_ = array(grid_.n_faces);
  sums_ = array(grid_.n_own);
  for (Array<double>& g : gradient_) g = array(grid_.n_all);
  room_ = n;
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
template <int C>
void AdvectiveTerm::find_fluxes(std::span<const double> c, double given) {
  const Timer timer("advective fluxes");
  make_room(C);
  const std::span<double> values = values_.span();
  parallel_for(std::ssize(c), [&](std::int64_t v) { values[v] = c[v]; });
  fetch_remote<C>(grid_, values);
  double* ends = values.data() + C * std::int64_t{grid_.n_all};
  for (std::size_t i = 0; i < grid_.boundary.size(); ++i)
    for (int m = 0; m < C; ++m)
      *ends++ = fixed_[i] != 0 ? given * given_[i] : c[C * std::int64_t{grid_.boundary[i].volume} + m];
  const Gradient gradient{gradient_[0].span(), gradient_[1].span(), gradient_[2].span()};
  find_gradient<C>(grid_, weights_, values, gradient);
  linear_upwind_flux<C>(grid_, flow_.span(), values, gradient, flux_.span());
}

template <int C>
void AdvectiveTerm::add(std::span<const double> c, std::span<double> y) {
  find_fluxes<C>(c, 0.0);
  add_up<C>(grid_, flux_.span(), sums_.span());
  parallel_for(std::ssize(y), [&](std::int64_t v) { y[v] += scale_ * sums_[v]; });
}
template void AdvectiveTerm::add<1>(std::span<const double> c, std::span<double> y);
template void AdvectiveTerm::add<3>(std::span<const double> c, std::span<double> y);

void AdvectiveTerm::right_side(std::span<double> b) {
  const std::vector<double> nothing(b.size(), 0.0);
  find_fluxes<1>(nothing, 1.0);
  add_up(grid_, flux_.span(), sums_.span());
  for (std::size_t v = 0; v < b.size(); ++v) b[v] -= scale_ * sums_[v];
}

std::array<double, 3> AdvectiveTerm::through_planes(std::span<const double> c, std::span<const std::uint16_t> sides) {
  find_fluxes<3>(c, 1.0);
  // Sides of other ranks as well; the values are not needed any more.
  const std::span<double> all = values_.span().first(grid_.n_values);
  for (std::size_t v = 0; v < sides.size(); ++v) all[v] = sides[v];
  fetch_remote(grid_, all);
  std::fill(all.begin() + grid_.n_all, all.end(), 0.0);
  const double *const flux = flux_.data(), *const side = all.data();
  const auto side_of = [](double code, int plane) { return static_cast<unsigned>(code) >> 3 * plane & 7U; };
  for_each_volume(grid_, [&](std::int32_t v, auto&& faces) {
    std::array<double, 3> in{};
    if (side[v] != 0.0)
      faces([&](std::int32_t face, std::int32_t other, double outward) {
        if (side[other] == side[v]) return;
        for (int plane = 0; plane < 3; ++plane) {
          const unsigned here = side_of(side[v], plane);
          if (here >= behind && side_of(side[other], plane) == before)
            in[plane] -= outward * flux[3 * std::int64_t{face} + (here - behind)];
        }
      });
    std::ranges::copy(in, sums_.data() + 3 * std::int64_t{v});
  });
  using Sums = std::array<double, 3>;
  Sums sums = parallel_reduce(
      grid_.n_own, Sums{},
      [&](std::int64_t v) {
        return Sums{sums_[3 * v], sums_[3 * v + 1], sums_[3 * v + 2]};
      },
      [](const Sums& x, const Sums& y) {
        return Sums{x[0] + y[0], x[1] + y[1], x[2] + y[2]};
      });
  grid_.composite->comm().sum(std::span(sums));
  for (double& sum : sums) sum *= scale_;
  return sums;
}

double AdvectiveTerm::out_of(int side, std::span<const double> c) {
  find_fluxes<1>(c, 1.0);
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
