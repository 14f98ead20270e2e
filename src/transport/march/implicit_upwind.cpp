// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/implicit_upwind.hpp"

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr double upwind_round_off = 2e-15;  ///< of the range: what is left over in a volume, root mean square
constexpr int most_upwind_iterations = 2000;

template <int C>
BasicTruncatedGcr<C>& solver_for(const ScalarGrid& grid, std::size_t n, ImplicitUpwind& implicit) {
  ImplicitUpwind::Solver<C>& s = std::get<ImplicitUpwind::Solver<C>>(implicit.solvers);
  if (s.gcr == nullptr || s.n != n) {
    s.gcr = std::make_unique<BasicTruncatedGcr<C>>(grid.composite->comm(), static_cast<std::int64_t>(n));
    s.n = n;
  }
  return *s.gcr;
}

/// Spreads compact values over the volumes and fetches those of other ranks.
template <int C>
void spread(ScalarGrid& grid, const CarryingFlow& flow, std::span<const double> x, std::span<double> value) {
  for (std::size_t i = 0; i < flow.implicit_list.size(); ++i)
    std::copy_n(x.data() + C * i, C, value.data() + C * std::int64_t{flow.implicit_list[i]});
  fetch_remote<C>(grid, value);
}

}  // namespace

std::int64_t ImplicitUpwind::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(
      value.bytes() + sizeof(double) * (b.capacity() + x.capacity() + scale.capacity() + carried.capacity()));
  std::apply([&](const auto&... s) { sum += ((s.gcr != nullptr ? s.gcr->bytes() : 0) + ...); }, solvers);
  return sum;
}

template <int C>
int step_implicitly(ScalarGrid& grid, const CarryingFlow& flow, double dt, const std::array<double, C>& range,
                    ImplicitUpwind& s, std::span<double> after, std::span<double> ends) {
  const std::size_t n = flow.implicit_list.size();
  const auto n_all = std::size_t{C} * grid.n_all;
  if (s.value.size() < n_all) s.value = {n_all, Purpose::solver, 0.0};
  const std::span<double> value = s.value.span().first(n_all);
  s.b.resize(C * n);
  s.x.assign(C * n, 0.0);
  s.scale.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t v = flow.implicit_list[i];
    s.scale[i] = 1.0 / (1.0 + dt * flow.outflow[v] / grid.volume[v]);
    for (int c = 0; c < C; ++c) s.b[C * i + c] = s.scale[i] * after[C * std::int64_t{v} + c];
  }
  const auto apply = [&](std::span<const double> x, std::span<double> y) {
    spread<C>(grid, flow, x, value);
    std::ranges::copy(x, y.begin());
    for (const ImplicitFace& f : flow.implicit_faces) {
      if (f.to_place < 0) continue;
      const double part = s.scale[f.to_place] * dt * std::abs(f.flow) / grid.volume[f.to];
      for (int c = 0; c < C; ++c) y[C * std::int64_t{f.to_place} + c] -= part * value[C * std::int64_t{f.from} + c];
    }
  };
  BasicTruncatedGcr<C>& gcr = solver_for<C>(grid, n, s);
  std::array<double, C> left = sizes_of<C>(gcr.start(s.b));
  const double root = std::sqrt(static_cast<double>(flow.n_implicit));
  int iterations = 0;
  for (;; ++iterations) {
    bool solved = true;
    for (int c = 0; c < C; ++c) {
      const bool done = left[c] <= upwind_round_off * range[c] * root;
      require(
          done || (std::isfinite(left[c]) && iterations < most_upwind_iterations),
          "transport: upwind advection out of fast volumes was not solved in {} iterations (time step {:.3g}); use a "
          "smaller one",
          most_upwind_iterations, dt);
      if (done) gcr.rest(c);
      solved = solved && done;
    }
    if (solved) break;
    std::ranges::copy(gcr.to_precondition(), gcr.direction().begin());
    apply(gcr.direction(), gcr.image());
    left = sizes_of<C>(gcr.advance(s.x));
  }
  spread<C>(grid, flow, s.x, value);
  s.carried.resize(C * flow.implicit_faces.size());
  for (std::size_t k = 0; k < flow.implicit_faces.size(); ++k) {
    const ImplicitFace& f = flow.implicit_faces[k];
    for (int c = 0; c < C; ++c) {
      const double carried = s.carried[C * k + c] = f.flow * value[C * std::int64_t{f.from} + c],
                   amount = dt * std::abs(f.flow) * value[C * std::int64_t{f.from} + c];
      if (f.from < grid.n_own) after[C * std::int64_t{f.from} + c] -= amount / grid.volume[f.from];
      if (f.to < grid.n_own) after[C * std::int64_t{f.to} + c] += amount / grid.volume[f.to];
      if (f.to >= grid.n_all) ends[C * std::int64_t{f.to - grid.n_all} + c] += dt * carried;
    }
  }
  return iterations;
}

template int step_implicitly<1>(ScalarGrid&, const CarryingFlow&, double, const std::array<double, 1>&, ImplicitUpwind&,
                                std::span<double>, std::span<double>);
template int step_implicitly<2>(ScalarGrid&, const CarryingFlow&, double, const std::array<double, 2>&, ImplicitUpwind&,
                                std::span<double>, std::span<double>);
template int step_implicitly<3>(ScalarGrid&, const CarryingFlow&, double, const std::array<double, 3>&, ImplicitUpwind&,
                                std::span<double>, std::span<double>);
template int step_implicitly<4>(ScalarGrid&, const CarryingFlow&, double, const std::array<double, 4>&, ImplicitUpwind&,
                                std::span<double>, std::span<double>);

}  // namespace karst
