// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/dynamic_permeability.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/wall_clock.hpp"
#include "base/math/dense_solve.hpp"
#include "ins/solve/flow_volumes.hpp"

namespace karst {
namespace {

constexpr double per_decade = 3.0;  ///< shifts
constexpr double below = 0.1;       ///< of the mean rate of relaxation: the lowest shift but 0
constexpr double above = 4.0;       ///< of the highest frequency: the highest shift
constexpr double least = 100.0;     ///< the highest over the lowest

using Direction = std::array<float, 3>;

/// K(s) from the shifts but one (none: n or more).
std::complex<double> reduced(const DynamicPermeability& k, std::complex<double> s, std::size_t without) {
  std::vector<std::size_t> of;
  for (std::size_t j = 0; j < k.shift.size(); ++j)
    if (j != without) of.push_back(j);
  const std::size_t n = of.size(), all = k.shift.size();
  const auto size = [&](std::size_t j) { return std::sqrt(k.product[of[j] * (all + 1)]); };
  // Rows and columns over |u_j|: the flows are many orders of magnitude apart.
  std::vector<std::complex<double>> matrix(n * n), y(n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t c = 0; c < n; ++c)
      matrix[j * n + c] =
          (k.answer[of[j]] + (s - k.shift[of[c]]) * k.product[of[j] * all + of[c]]) / (size(j) * size(c));
    y[j] = k.answer[of[j]] / size(j);
  }
  require(eliminate(matrix, y), "dynamic permeability: flows of different shifts are the same");
  std::complex<double> sum = 0.0;
  for (std::size_t j = 0; j < n; ++j) sum += k.answer[of[j]] / size(j) * y[j];
  return sum;
}

/// `per_decade` from below the mean rate of relaxation to beyond the highest frequency.
std::vector<double> shifts_between(double mean_rate, double highest) {
  const double low = below * mean_rate, ratio = std::max(above * highest / low, least);
  const int n = static_cast<int>(std::ceil(per_decade * std::log10(ratio)));
  std::vector<double> shifts;
  for (int i = 0; i <= n; ++i) shifts.push_back(low * std::pow(ratio, static_cast<double>(i) / n));
  return shifts;
}

/// The flows u_j solved for so far. Those of shifts next to one another are nearly in one plane, and M has to be known
/// to many digits for its inverse to mean anything: kept are directions q_k at right angles to those before, in single
/// precision, and u_j = Σ_k C_jk q_k in double.
class Flows {
 public:
  Flows(StokesSolver& stokes, const Geometry& geometry)
      : stokes_(&stokes), volume_(flow_volumes(stokes.op(), geometry)) {}

  /// Adds the flow in the solver, whose krylov().work() it uses. Throws Error when it is one of the others. Collective.
  void add() {
    const std::span<const Quad> x = stokes_->all_values();
    const std::span<Quad> left = stokes_->krylov().work();
    std::ranges::copy(x, left.begin());
    std::vector<double>& parts = parts_.emplace_back();
    for (const Array<Direction>& q : directions_) {
      parts.push_back(integral(left, q) / integral(q, q));
      parallel_for(std::ssize(left), [&](std::int64_t v) {
        for (std::size_t d = 0; d < 3; ++d) left[v].v[d] -= parts.back() * double{q[v][d]};
      });
    }
    const double size = std::sqrt(integral(left, left));
    require(size > 0.0, "dynamic permeability: flows of different shifts are the same");
    Array<Direction>& q = directions_.emplace_back(x.size(), Purpose::solver);
    parallel_for(std::ssize(left), [&](std::int64_t v) {
      for (std::size_t d = 0; d < 3; ++d) q[v][d] = static_cast<float>(left[v].v[d] / size);
    });
    parts.push_back(size);
    std::vector<double>& others = products_.emplace_back();
    for (const Array<Direction>& other : directions_) others.push_back(integral(q, other));
  }

  /// <u_j, u_k>.
  double product(std::size_t j, std::size_t k) const {
    double sum = 0.0;
    for (std::size_t a = 0; a <= j; ++a)
      for (std::size_t b = 0; b <= k; ++b)
        sum += parts_[j][a] * parts_[k][b] * (a < b ? products_[b][a] : products_[a][b]);
    return sum;
  }

 private:
  static double part(const Quad& q, std::size_t d) { return q.v[d]; }
  static double part(const Direction& q, std::size_t d) { return q[d]; }
  /// Over the volume of the domain. Collective.
  template <class A, class B>
  double integral(const A& a, const B& b) const {
    const double sum = parallel_sum(std::ssize(volume_.span()), [&](std::int64_t v) {
      double here = 0.0;
      for (std::size_t d = 0; d < 3; ++d) here += part(a[v], d) * part(b[v], d);
      return double{volume_[v]} * here;
    });
    return stokes_->per_cell() * stokes_->op().comm().sum(sum);
  }

  StokesSolver* stokes_;
  Array<float> volume_;
  std::vector<Array<Direction>> directions_;
  std::vector<std::vector<double>> parts_, products_;  // rows of C, and <q_j, q_k>, k <= j
};

}  // namespace

std::complex<double> DynamicPermeability::at(double omega) const { return reduced(*this, {0.0, omega}, shift.size()); }

double DynamicPermeability::change_without_a_shift(double omega) const {
  const std::complex<double> all = at(omega);
  double change = 0.0;
  for (std::size_t j = 1; j < shift.size(); ++j)
    change = std::max(change, std::abs(reduced(*this, {0.0, omega}, j) - all) / std::abs(all));
  return change;
}

DynamicPermeability dynamic_permeability(StokesSolver& stokes, const Geometry& geometry, const StokesDrive& drive,
                                         int axis, double highest, const DynamicWatch& watch) {
  const Timer timer("dynamic permeability");
  require(highest > 0.0, "dynamic permeability: highest frequency {}; it must be positive", highest);
  Flows flows(stokes, geometry);
  std::ranges::fill(stokes.all_values(), Quad{});
  const double size = stokes.size_of(drive, "dynamic permeability");
  DynamicPermeability all;
  const auto solve = [&](double shift) {
    const WallClock clock;
    const GmresReport report = stokes.solve_from_here(drive, {shift, {}, {}}, size, "dynamic permeability");
    const Vec3 velocity = stokes.velocity_of(stokes.values());
    all.shift.push_back(shift);
    all.answer.push_back(velocity[axis]);
    flows.add();
    if (!watch.solved) return;
    watch.solved({shift, velocity[axis], report.iterations, report.relative_residual, clock.seconds()});
  };
  solve(0.0);
  for (const double shift : shifts_between(all.answer[0] / flows.product(0, 0), highest)) solve(shift);
  const std::size_t n = all.shift.size();
  all.product.resize(n * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < n; ++k) all.product[j * n + k] = flows.product(j, k);
  return all;
}

}  // namespace karst
