// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/diffusion_stiff.hpp"

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"

namespace karst {
namespace {

/// 2 directions do for most steps; where D dt / h² is of order one some solves stand still with them.
constexpr GcrMemory directions(2, 20, 8);
constexpr int special_steps = 2;  ///< Jacobi steps in special volumes, as in EllipticMultigrid
constexpr double damping = 0.9;   ///< of these

/// z = M r.
template <int C>
void precondition(const ScalarGrid& grid, DiffusionRows& rows, const DiffusionSweeps& sweeps,
                  BasicGraphMultigrid<C>& multigrid, std::span<const double> r, std::span<double> z,
                  std::span<double> y) {
  using Sizes = std::array<double, C>;
  std::ranges::copy(r, y.begin());
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    if (sweeps.inverse[i] == 0.0) std::fill_n(y.data() + C * std::int64_t{grid.special[i]}, C, 0.0);
  });
  Sizes sizes = parallel_reduce(
      grid.n_own, Sizes{},
      [&](std::int64_t v) {
        Sizes s;
        for (int c = 0; c < C; ++c) s[c] = std::abs(y[C * v + c]);
        return s;
      },
      [](Sizes a, const Sizes& b) {
        for (int c = 0; c < C; ++c) a[c] = std::max(a[c], b[c]);
        return a;
      });
  grid.composite->comm().max(std::span<double>(sizes));
  multigrid.set_sizes(sizes);
  multigrid.apply(y, z);
  for (int step = 0; step < special_steps; ++step) {
    apply_special<C>(grid, rows, z, y);
    parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
      const std::int32_t v = grid.special[i];
      for (std::int64_t k = C * std::int64_t{v}; k < C * (std::int64_t{v} + 1); ++k)
        z[k] = sweeps.inverse[i] == 0.0
                   ? 0.0
                   : z[k] + damping * sweeps.inverse[i] * (r[k] - y[k] - sweeps.a * rows.mass[v] * z[k]);
    });
  }
}

}  // namespace

template <int C>
std::int64_t StiffDiffusion<C>::bytes() const {
  return static_cast<std::int64_t>(direction.bytes()) + (multigrid != nullptr ? multigrid->bytes() : 0) +
         (gcr != nullptr ? gcr->bytes() : 0);
}

template <int C>
void set_shift(const ScalarGrid& grid, const EllipticOperator& op, double a, StiffDiffusion<C>& stiff) {
  if (stiff.multigrid != nullptr && stiff.a == a) return;
  EllipticProblem problem = op.problem();
  problem.a = a;
  const std::vector<TwoPointLevel> levels = make_two_point_levels(*grid.composite, problem, op.form());
  if (stiff.multigrid == nullptr) {
    stiff.multigrid = std::make_unique<BasicGraphMultigrid<C>>(grid.composite->comm(), levels);
    stiff.gcr = std::make_unique<BasicTruncatedGcr<C>>(grid.composite->comm(), grid.n_own, directions);
    stiff.direction = {std::size_t{C} * grid.n_values, Purpose::solver, 0.0};
  }
  // Shifts are always taken, so that what was solved before has no part in their last bits.
  stiff.multigrid->set_shifts(levels);
  stiff.a = a;
}

template <int C>
int solve_stiff(ScalarGrid& grid, DiffusionRows& rows, const DiffusionSweeps& sweeps, StiffDiffusion<C>& stiff,
                const StiffOptions& options, std::span<const double> b, std::span<double> x, std::span<double> y) {
  const auto n = std::size_t{C} * grid.n_own;
  BasicTruncatedGcr<C>& gcr = *stiff.gcr;
  const std::array<double, C> size = sizes_of<C>(gcr.start(b));
  apply_rows<C>(grid, rows, sweeps.a, x, y);
  std::array<double, C> left = sizes_of<C>(gcr.start(b, y));
  for (int i = 0;; ++i) {
    bool solved = true;
    for (int c = 0; c < C; ++c) {
      const bool done = left[c] <= std::max(options.tolerance * size[c], options.round_off[c]);
      require(done || (std::isfinite(left[c]) && i < options.max_iterations),
              "transport: the implicit step of diffusion of {} was not solved to {:.1e} in {} iterations: the residual "
              "is {:.1e} of the right-hand side; use a smaller time step (time.cfl)",
              options.name[c], options.tolerance, i, left[c] / size[c]);
      if (done) gcr.rest(c);
      solved = solved && done;
    }
    if (solved) return i;
    precondition<C>(grid, rows, sweeps, *stiff.multigrid, gcr.to_precondition(), stiff.direction.span().first(n), y);
    apply_rows<C>(grid, rows, sweeps.a, stiff.direction.span(), gcr.image());
    std::ranges::copy(stiff.direction.span().first(n), gcr.direction().begin());
    left = sizes_of<C>(gcr.advance(x.first(n)));
  }
}

template struct StiffDiffusion<1>;
template struct StiffDiffusion<2>;
template struct StiffDiffusion<3>;
template struct StiffDiffusion<4>;
template void set_shift<1>(const ScalarGrid&, const EllipticOperator&, double, StiffDiffusion<1>&);
template void set_shift<2>(const ScalarGrid&, const EllipticOperator&, double, StiffDiffusion<2>&);
template void set_shift<3>(const ScalarGrid&, const EllipticOperator&, double, StiffDiffusion<3>&);
template void set_shift<4>(const ScalarGrid&, const EllipticOperator&, double, StiffDiffusion<4>&);
template int solve_stiff<1>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, StiffDiffusion<1>&,
                            const StiffOptions&, std::span<const double>, std::span<double>, std::span<double>);
template int solve_stiff<2>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, StiffDiffusion<2>&,
                            const StiffOptions&, std::span<const double>, std::span<double>, std::span<double>);
template int solve_stiff<3>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, StiffDiffusion<3>&,
                            const StiffOptions&, std::span<const double>, std::span<double>, std::span<double>);
template int solve_stiff<4>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, StiffDiffusion<4>&,
                            const StiffOptions&, std::span<const double>, std::span<double>, std::span<double>);

}  // namespace karst
