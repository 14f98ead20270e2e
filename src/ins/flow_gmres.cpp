// SPDX-License-Identifier: BSD-3-Clause
#include "ins/flow_gmres.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace karst {
namespace {

/// A cycle in single precision is worth so much; then the true residual is looked at.
constexpr double cycle_gain = 1e-6;
/// Parts along the basis that are smaller than this after the first pass are left.
constexpr double small_part = 1e-7;

/// Σ a b.
double dot_of(const float* a, const double* b, std::int64_t n) {
  constexpr std::int64_t lanes = 16;
  std::array<double, lanes> sum{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) sum[static_cast<std::size_t>(l)] += double{a[i + l]} * b[i + l];
  for (; i < n; ++i) sum[static_cast<std::size_t>(i % lanes)] += double{a[i]} * b[i];
  double all = 0.0;
  for (const double s : sum) all += s;
  return all;
}
double square_of(const double* a, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sum{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) sum[static_cast<std::size_t>(l)] += a[i + l] * a[i + l];
  for (; i < n; ++i) sum[static_cast<std::size_t>(i % lanes)] += a[i] * a[i];
  double all = 0.0;
  for (const double s : sum) all += s;
  return all;
}
/// b += f a
void add_to(const float* __restrict a, double f, double* __restrict b, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) b[i] += f * double{a[i]};
}

std::string tail_of(const std::vector<double>& history) {
  std::string text;
  for (std::size_t i = history.size() > 5 ? history.size() - 5 : 0; i < history.size(); ++i)
    text += fmt::format(" {:.1e}", history[i]);
  return text;
}

}  // namespace

FlowGmres::FlowGmres(const Comm& comm, std::int64_t n_own, const GmresOptions& options)
    : comm_(comm), n_(n_own), options_(options), w_(static_cast<std::size_t>(n_own), Purpose::solver) {
  require(options.restart >= 2, "GMRES: restart after {} iterations; at least 2 are needed", options.restart);
  require(options.tolerance > 0.0, "GMRES: tolerance {}; it must be positive", options.tolerance);
  const auto m = static_cast<std::size_t>(options.restart);
  for (std::size_t i = 0; i < m + 1; ++i) basis_.emplace_back(4 * static_cast<std::size_t>(n_), Purpose::solver);
  partial_ = Array<double>(static_cast<std::size_t>(n_blocks()) * (m + 2), Purpose::solver);
  h_.resize((m + 1) * m);
  sums_.resize(m + 8);
  g_.resize(m + 1);
  cosine_.resize(m);
  sine_.resize(m);
  y_.resize(m);
  functionals_.resize(m);
}

/// to[i] = Σ over the blocks of their i-th number, in the order of the blocks.
void FlowGmres::sum_partials(int n, std::span<double> to) const {
  const auto stride = static_cast<std::size_t>(options_.restart + 2);
  parallel_for(n, [&](std::int64_t i) {
    double sum = 0.0;
    for (std::size_t b = 0; b < static_cast<std::size_t>(n_blocks()); ++b)
      sum += partial_[b * stride + static_cast<std::size_t>(i)];
    to[static_cast<std::size_t>(i)] = sum;
  });
}

double FlowGmres::norm(std::span<const Quad> v) {
  parallel_for(n_blocks(), [&](std::int64_t b) {
    *partial(b) = square_of(v[static_cast<std::size_t>(b * block)].v.data(), 4 * std::min(block, n_ - b * block));
  });
  double sum = 0.0;
  sum_partials(1, {&sum, 1});
  return std::sqrt(comm_.sum(sum));
}

/// First vector of the basis: w / size; w becomes what the basis holds.
void FlowGmres::start(double size) {
  parallel_for(n_blocks(), [&](std::int64_t b) {
    const std::int64_t first = 4 * b * block, n = 4 * std::min(block, n_ - b * block);
    double* w = w_.data()->v.data() + first;
    float* v = basis_[0].data() + first;
    for (std::int64_t i = 0; i < n; ++i) w[i] = v[i] = static_cast<float>(w[i] / size);
  });
}

/// Takes the parts along the vectors 0..j out of w, normalizes it, keeps it as vector j + 1. Returns its length.
double FlowGmres::orthogonalize(int j, const Vec3& functional) {
  const auto m = static_cast<std::size_t>(j) + 1;
  double* all = w_.data()->v.data();
  parallel_for(n_blocks(), [&](std::int64_t b) {
    const std::int64_t first = 4 * b * block, n = 4 * std::min(block, n_ - b * block);
    for (std::size_t i = 0; i < m; ++i) partial(b)[i] = dot_of(basis_[i].data() + first, all + first, n);
  });
  const std::span<double> parts = std::span(sums_).first(m + 3);
  sum_partials(j + 1, parts);
  for (std::size_t d = 0; d < 3; ++d) parts[m + d] = functional.v[d];
  comm_.sum(parts);
  for (std::size_t i = 0; i < m; ++i) h(static_cast<int>(i), j) = parts[i];
  functionals_[m - 1] = {parts[m], parts[m + 1], parts[m + 2]};
  parallel_for(n_blocks(), [&](std::int64_t b) {
    const std::int64_t first = 4 * b * block, n = 4 * std::min(block, n_ - b * block);
    for (std::size_t i = 0; i < m; ++i) add_to(basis_[i].data() + first, -parts[i], all + first, n);
    for (std::size_t i = 0; i < m; ++i) partial(b)[i] = dot_of(basis_[i].data() + first, all + first, n);
    partial(b)[m] = square_of(all + first, n);
  });
  const std::span<double> rest = std::span(sums_).first(m + 1);
  sum_partials(j + 2, rest);
  comm_.sum(rest);
  double square = rest[m], along = 0.0;
  for (std::size_t i = 0; i < m; ++i) along += rest[i] * rest[i];
  const bool again = along > small_part * small_part * square;
  if (again) {
    square = std::max(square - along, 0.0);
    for (std::size_t i = 0; i < m; ++i) h(static_cast<int>(i), j) += rest[i];
  }
  const double length = std::sqrt(square), factor = length > 0.0 ? 1.0 / length : 0.0;
  parallel_for(n_blocks(), [&](std::int64_t b) {
    const std::int64_t first = 4 * b * block, n = 4 * std::min(block, n_ - b * block);
    if (again)
      for (std::size_t i = 0; i < m; ++i) add_to(basis_[i].data() + first, -rest[i], all + first, n);
    double* w = all + first;
    float* v = basis_[m].data() + first;
    for (std::int64_t i = 0; i < n; ++i) w[i] = v[i] = static_cast<float>(factor * w[i]);
  });
  return length;
}

/// Givens rotations that keep the least-squares problem triangular.
void FlowGmres::rotate(int j, double next) {
  for (int i = 0; i < j; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double a = h(i, j), b = h(i + 1, j);
    h(i, j) = cosine_[k] * a + sine_[k] * b;
    h(i + 1, j) = cosine_[k] * b - sine_[k] * a;
  }
  const auto k = static_cast<std::size_t>(j);
  const double length = std::hypot(h(j, j), next);
  cosine_[k] = length > 0.0 ? h(j, j) / length : 1.0;
  sine_[k] = length > 0.0 ? next / length : 0.0;
  h(j, j) = length;
  g_[k + 1] = -sine_[k] * g_[k];
  g_[k] *= cosine_[k];
}

void FlowGmres::back_substitute(int n) {
  for (int i = n - 1; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    double rest = g_[k];
    for (int j = i + 1; j < n; ++j) rest -= h(i, j) * y_[static_cast<std::size_t>(j)];
    y_[k] = h(i, i) != 0.0 ? rest / h(i, i) : 0.0;
  }
}

/// w = Σ y_i vector i.
void FlowGmres::combine(int n) {
  parallel_for(n_blocks(), [&](std::int64_t b) {
    const std::int64_t first = 4 * b * block, size = 4 * std::min(block, n_ - b * block);
    double* w = w_.data()->v.data() + first;
    std::fill_n(w, size, 0.0);
    for (int i = 0; i < n; ++i)
      add_to(basis_[static_cast<std::size_t>(i)].data() + first, y_[static_cast<std::size_t>(i)], w, size);
  });
}

void FlowGmres::cycle(const GmresProblem& problem, double size, double start_length, double goal, GmresReport& report) {
  start(start_length);
  std::ranges::fill(g_, 0.0);
  g_[0] = start_length;
  int j = 0;
  while (j < options_.restart && report.iterations < options_.max_iterations) {
    problem.apply(w_.span());
    const double next = orthogonalize(j, problem.functional());
    rotate(j, next);
    const double left = std::abs(g_[static_cast<std::size_t>(++j)]);
    report.history.push_back(left / size);
    ++report.iterations;
    back_substitute(j);
    if (problem.progress) {
      Vec3 sum;
      for (std::size_t i = 0; i < static_cast<std::size_t>(j); ++i) sum += y_[i] * functionals_[i];
      problem.progress(report.iterations, left / size, sum);
    }
    if (!(left > goal) || next == 0.0) break;
  }
  combine(j);
}

GmresReport FlowGmres::solve(const GmresProblem& problem, double size) {
  GmresReport report;
  problem.residual(w_.span());
  double left = norm(w_.span());
  while (!(left <= options_.tolerance * size)) {
    const double before = left;
    if (std::isfinite(left)) {
      cycle(problem, size, left, std::max(0.8 * options_.tolerance * size, cycle_gain * left), report);
      problem.add(w_.span());
      problem.residual(w_.span());
      left = norm(w_.span());
    }
    const bool stuck = !(left <= 0.9 * before) || report.iterations >= options_.max_iterations;
    require(
        !stuck || left <= options_.tolerance * size,
        "{}: not converged, residual {:.2e} of the right-hand side after {} iterations (the last ones:{}), {:.0e} is "
        "asked; raise the tolerance or the number of iterations, or look at the geometry for parts one cell wide",
        problem.name, left / size, report.iterations, tail_of(report.history), options_.tolerance);
  }
  report.relative_residual = size > 0.0 ? left / size : 0.0;
  return report;
}

std::int64_t FlowGmres::bytes() const {
  std::int64_t sum = static_cast<std::int64_t>(w_.bytes() + partial_.bytes());
  for (const Array<float>& v : basis_) sum += static_cast<std::int64_t>(v.bytes());
  return sum;
}

}  // namespace karst
