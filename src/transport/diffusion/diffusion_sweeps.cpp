// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/diffusion_sweeps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace karst {
namespace {

/// By how much eigenvalues beside the real axis, of rows at walls, slow the sweeps down where ρ comes near 1.
constexpr double complex_part = 0.1;

/// The row of a plain volume: center x - side Σ x_other.
struct PlainRow {
  PlainRow(const ScalarGrid& grid, const DiffusionRows& rows, double a, int level) {
    const double h = grid.width(level);
    side = rows.diffusivity * h;
    center = a * h * h * h + 6.0 * side;
  }
  double center, side;
};

template <int C>
std::array<double, C> add(std::array<double, C> a, const std::array<double, C>& b) {
  for (int c = 0; c < C; ++c) a[c] += b[c];
  return a;
}

}  // namespace

void set_shift(const ScalarGrid& grid, const DiffusionRows& rows, double a, DiffusionSweeps& sweeps) {
  const PlainRow finest(grid, rows, a, grid.composite->n_levels() - 1);
  sweeps.a = a;
  sweeps.rho = 6.0 * finest.side / finest.center;
  if (sweeps.inverse.size() == 0) sweeps.inverse = {grid.special.size(), Purpose::solver, 0.0};
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    const double diagonal = rows.diagonal[i] + a * rows.mass[v];
    sweeps.inverse[i] = grid.fragment[v] != 0 ? 0.0 : 1.0 / std::max(diagonal, 0.5 * (diagonal + rows.others[i]));
  });
}

double rate_of(const DiffusionSweeps& sweeps) {
  return sweeps.rho / (1.0 + std::sqrt(1.0 - sweeps.rho * sweeps.rho)) * (1.0 + complex_part * sweeps.rho);
}

/// 1 / T_n(1 / ρ) is about 2 rate^n.
int sweeps_for(const DiffusionSweeps& sweeps, double tolerance) {
  return std::max(2, static_cast<int>(std::ceil(std::log(0.5 * tolerance) / std::log(rate_of(sweeps)))));
}

template <int C>
void first_sweep(const ScalarGrid& grid, const DiffusionRows& rows, const DiffusionSweeps& sweeps,
                 std::span<const double> start, std::span<const double> r, std::span<double> x) {
  const auto set = [&](std::int64_t i, double inverse) { x[i] = (start.empty() ? 0.0 : start[i]) + inverse * r[i]; };
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double inverse = 1.0 / PlainRow(grid, rows, sweeps.a, p.level).center;
    for (std::int32_t t = 0; t < C * p.count; ++t) set(C * std::int64_t{p.first} + t, inverse);
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    for (int c = 0; c < C; ++c) set(C * std::int64_t{grid.special[i]} + c, sweeps.inverse[i]);
  });
}

template <int C>
std::array<double, C> sweep(ScalarGrid& grid, DiffusionRows& rows, const DiffusionSweeps& sweeps, double omega,
                            bool measure, const SweepVectors& vectors) {
  fetch_remote<C>(grid, vectors.now);
  apply_special<C>(grid, rows, vectors.now, vectors.y);
  const double *const x = vectors.now.data(), *const b = vectors.b.data(), *const y = vectors.y.data();
  double* const to = vectors.before.data();
  const auto plain = [&](std::int64_t i, bool also_sum) {
    const PlainVolumes p = grid.plain[i];
    const PlainRow row(grid, rows, sweeps.a, p.level);
    const double inverse = 1.0 / row.center, weight = inverse * row.side;
    std::array<const double*, 6> side;
    for (std::size_t s = 0; s < 6; ++s) side[s] = x + C * std::int64_t{p.beyond[s]};
    const double *const x0 = side[0], *const x1 = side[1], *const x2 = side[2], *const x3 = side[3],
                        *const x4 = side[4], *const x5 = side[5];
    const std::int64_t first = C * std::int64_t{p.first};
    const double *const own = x + first, *const right = b + first;
    double* const out = to + first;
    const auto image = [&](std::int32_t t) {
      return inverse * right[t] + weight * (((x0[t] + x1[t]) + (x2[t] + x3[t])) + (x4[t] + x5[t]));
    };
    std::array<double, C> sum{};
    if (also_sum)
      for (std::int32_t t = 0; t < C * p.count; ++t) {
        const double z = image(t) - own[t];
        sum[t % C] += z * z;
      }
#pragma GCC ivdep
    for (std::int32_t t = 0; t < C * p.count; ++t) out[t] += omega * (image(t) - out[t]);
    return sum;
  };
  const auto special = [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    const double a_mass = sweeps.a * rows.mass[v], inverse = sweeps.inverse[i];
    std::array<double, C> sum{};
    for (int c = 0; c < C; ++c) {
      const std::int64_t k = C * std::int64_t{v} + c;
      const double z = inverse * (b[k] - y[k] - a_mass * x[k]);
      to[k] += omega * (x[k] + z - to[k]);
      sum[c] = z * z;
    }
    return sum;
  };
  if (!measure) {
    parallel_for(std::ssize(grid.plain), [&](std::int64_t i) { plain(i, false); });
    parallel_for(std::ssize(grid.special), special);
    return {};
  }
  const std::array<double, C> of_plain = parallel_reduce(
      std::ssize(grid.plain), std::array<double, C>{}, [&](std::int64_t i) { return plain(i, true); }, add<C>);
  return add<C>(of_plain, parallel_reduce(std::ssize(grid.special), std::array<double, C>{}, special, add<C>));
}

template void first_sweep<1>(const ScalarGrid&, const DiffusionRows&, const DiffusionSweeps&, std::span<const double>,
                             std::span<const double>, std::span<double>);
template void first_sweep<2>(const ScalarGrid&, const DiffusionRows&, const DiffusionSweeps&, std::span<const double>,
                             std::span<const double>, std::span<double>);
template void first_sweep<3>(const ScalarGrid&, const DiffusionRows&, const DiffusionSweeps&, std::span<const double>,
                             std::span<const double>, std::span<double>);
template void first_sweep<4>(const ScalarGrid&, const DiffusionRows&, const DiffusionSweeps&, std::span<const double>,
                             std::span<const double>, std::span<double>);
template std::array<double, 1> sweep<1>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, double, bool,
                                        const SweepVectors&);
template std::array<double, 2> sweep<2>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, double, bool,
                                        const SweepVectors&);
template std::array<double, 3> sweep<3>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, double, bool,
                                        const SweepVectors&);
template std::array<double, 4> sweep<4>(ScalarGrid&, DiffusionRows&, const DiffusionSweeps&, double, bool,
                                        const SweepVectors&);

}  // namespace karst
