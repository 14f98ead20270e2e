// SPDX-License-Identifier: BSD-3-Clause
#include "transport/flow/flow_projection.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel_fill.hpp"

namespace karst {
namespace {

constexpr double most_per_round = 1e-12;  ///< what is left of the divergence: beyond that, round-off of the solve
constexpr int most_iterations = 200;

/// Which faces the irrotational flow uses.
bool is_open(const ScalarGrid& grid, std::span<const double> flow, const ScalarFace& f) {
  return !f.fragment && (f.right < grid.n_all || flow[f.face] != 0.0);
}

/// The same for the multigrid: sides with a flow hold x = 0, all others are sealed.
EllipticProblem problem_of(const ScalarGrid& grid, std::span<const double> flow) {
  std::array<double, 6> carried{};
  for (const BoundaryFace& b : grid.boundary) carried[b.side] = std::max(carried[b.side], std::abs(flow[b.face]));
  grid.composite->comm().max(std::span<double>(carried));
  EllipticProblem problem;
  for (std::size_t s = 0; s < 6; ++s)
    if (carried[s] > 0.0) problem.sides[s] = [](const Vec3&) { return dirichlet(0.0); };
  return problem;
}

}  // namespace

Conductances open_faces(const ScalarGrid& grid, std::span<const double> flow) {
  return make_conductances(grid, 1.0, [&](const ScalarFace& f, std::int64_t) { return is_open(grid, flow, f); });
}

void add_irrotational(ScalarGrid& grid, const Conductances& open, std::span<double> potential, std::span<double> flow) {
  fetch_remote(grid, potential);
  const double* const x = potential.data();
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int, std::int32_t level) {
        flow[face] += grid.width(level) * (x[left] - x[right]);
      },
      [&](const ScalarFace& f, std::int64_t k) { flow[f.face] += open.listed[k] * (x[f.left] - x[f.right]); });
}

FlowProjection::FlowProjection(ScalarGrid& grid, const Conductances& open, std::span<const double> flow)
    : grid_(grid),
      g_(open),
      gcr_(grid.composite->comm(), grid.n_own),
      multigrid_(grid.composite->comm(), make_two_point_levels(*grid.composite, problem_of(grid, flow))),
      scale_(grid.n_own, Purpose::solver),
      b_(scale_.size(), Purpose::solver),
      x_(grid.n_values, Purpose::solver),
      direction_(x_.size(), Purpose::solver) {
  parallel_fill(direction_.span(), 0.0);
  parallel_for(grid.n_own, [&](std::int64_t v) { scale_[v] = g_.sum[v] > 0.0 ? 1.0 / g_.sum[v] : 0.0; });
}

/// y = D^-1 A x, D the diagonal; 0 in volumes without a face.
void FlowProjection::apply(std::span<double> x, std::span<double> y) {
  fetch_remote(grid_, x);
  for_sums_across<1>(
      grid_, g_, x.data(), [&](std::int32_t v) { return scale_[v]; },
      [&](std::int64_t v, double across, double scale) { y[v] = scale > 0.0 ? x[v] - scale * across : 0.0; });
}

/// z = M D r.
void FlowProjection::precondition(std::span<const double> r, std::span<double> z) {
  const std::size_t n = grid_.n_own;
  const double size = parallel_max(grid_.n_own, [&](std::int64_t v) {
    z[v] = g_.sum[v] * r[v];
    return std::abs(z[v]);
  });
  multigrid_.set_sizes({grid_.composite->comm().max(std::max(0.0, size))});
  multigrid_.apply(z.first(n), z.first(n));
}

/// Largest part of what a volume exchanges that is left of its divergence.
double FlowProjection::largest_left(std::span<const double> exchange) const {
  const std::span<const double> r = gcr_.residual();
  return grid_.composite->comm().max(std::max(0.0, parallel_max(grid_.n_own, [&](std::int64_t v) {
                                                return exchange[v] > 0.0 ? std::abs(g_.sum[v] * r[v]) / exchange[v]
                                                                         : 0.0;
                                              })));
}

int FlowProjection::round(std::span<const double> divergence, std::span<const double> exchange, double goal,
                          std::span<double> potential) {
  parallel_for(grid_.n_own, [&](std::int64_t v) { b_[v] = -scale_[v] * divergence[v]; });
  const std::size_t n = grid_.n_own;
  parallel_fill(x_.span(), 0.0);
  gcr_.start(b_.span());
  double left = largest_left(exchange);
  const double enough = std::max(goal, most_per_round * left);
  int iterations = 0;
  while (left > enough && iterations < most_iterations) {
    // An iteration is not worth more than a digit, so some pass before it is worth looking again.
    const int unseen = std::max(1, static_cast<int>(std::log10(left / enough)));
    bool goes_on = true;
    for (int i = 0; i < unseen && goes_on; ++i, ++iterations) {
      precondition(gcr_.to_precondition(), direction_.span());
      apply(direction_.span(), gcr_.image());
      parallel_copy<double>(direction_.span().first(n), gcr_.direction());
      goes_on = std::isfinite(gcr_.advance(x_.span().first(n)));
    }
    if (!goes_on) break;
    left = largest_left(exchange);
  }
  parallel_for(grid_.n_own, [&](std::int64_t v) { potential[v] += x_[v]; });
  return iterations;
}

}  // namespace karst
