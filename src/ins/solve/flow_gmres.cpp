// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/flow_gmres.hpp"

#include <fmt/core.h>

#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"

namespace karst {
namespace {

/// A cycle in single precision is worth so much; then the true residual is looked at.
constexpr double cycle_gain = 1e-6;
/// Of a vector that loses more than this in the first pass, the rest is orthogonalized once more.
constexpr double much_lost = 0.99;

template <class T>
double square_of(const T* a, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sum{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) sum[l] += double{a[i + l]} * double{a[i + l]};
  for (; i < n; ++i) sum[i % lanes] += double{a[i]} * double{a[i]};
  double all = 0.0;
  for (const double s : sum) all += s;
  return all;
}
double square_of(const FlowBasis::Work& w) {
  std::array<float, 16> sum{};
  for (std::size_t i = 0; i < w.size(); i += sum.size())
    for (std::size_t l = 0; l < sum.size(); ++l) sum[l] += w[i + l] * w[i + l];
  double all = 0.0;
  for (const float s : sum) all += double{s};
  return all;
}

std::string tail_of(const std::vector<double>& history) {
  std::string text;
  for (std::size_t i = history.size() > 5 ? history.size() - 5 : 0; i < history.size(); ++i)
    text += fmt::format(" {:.1e}", history[i]);
  return text;
}

}  // namespace

template <class Q>
BasicFlowGmres<Q>::BasicFlowGmres(const Comm& comm, std::int64_t n_own, const GmresOptions& options)
    : comm_(comm), options_(options), w_(n_own, Purpose::solver), basis_(n_own, options.restart) {
  require(options.restart >= 2, "GMRES: restart after {} iterations; at least 2 are needed", options.restart);
  require(options.tolerance > 0.0, "GMRES: tolerance {}; it must be positive", options.tolerance);
  const std::size_t m = options.restart;
  partial_ = Array<double>(n_blocks() * (m + 2), Purpose::solver);
  h_.resize((m + 1) * m);
  sums_.resize(m + 8);
  g_.resize(m + 1);
  cosine_.resize(m);
  sine_.resize(m);
  y_.resize(m);
  functionals_.resize(m);
}

/// to[i] = Σ over the blocks of their i-th number, in the order of the blocks.
template <class Q>
void BasicFlowGmres<Q>::sum_partials(int n, std::span<double> to) const {
  const std::size_t stride = options_.restart + 2;
  parallel_for(n, [&](std::int64_t i) {
    double sum = 0.0;
    for (std::int64_t b = 0; b < n_blocks(); ++b) sum += partial_[b * stride + i];
    to[i] = sum;
  });
}

template <class Q>
double BasicFlowGmres<Q>::norm(std::span<const Q> v) {
  parallel_for(n_blocks(),
               [&](std::int64_t b) { *partial(b) = square_of(v[b * FlowBasis::block].v.data(), basis_.size(b)); });
  double sum = 0.0;
  sum_partials(1, {&sum, 1});
  return std::sqrt(comm_.sum(sum));
}

/// Calls f(block, its numbers of w times factor) for all blocks, threaded.
template <class Q>
template <class F>
void BasicFlowGmres<Q>::for_blocks(double factor, F&& f) {
  parallel_for(n_blocks(), [&](std::int64_t b) {
    const std::size_t n = basis_.size(b);
    const Number* w = block_of_w(b);
    FlowBasis::Work part;
    for (std::size_t i = 0; i < n; ++i) part[i] = static_cast<float>(factor * double{w[i]});
    std::fill(part.begin() + n, part.end(), 0.0F);
    f(b, part);
  });
}

/// The same; f changes the numbers, and w becomes what they are then.
template <class Q>
template <class F>
void BasicFlowGmres<Q>::change_blocks(double factor, F&& f) {
  for_blocks(factor, [&](std::int64_t b, FlowBasis::Work& part) {
    f(b, part);
    Number* w = block_of_w(b);
    for (std::int64_t i = 0; i < basis_.size(b); ++i) w[i] = part[i];
  });
}

/// Vector j of the basis: w / length; w becomes what the basis holds.
template <class Q>
void BasicFlowGmres<Q>::keep(int j, double length) {
  const Timer timer("basis");
  basis_.make_room(j + 1);
  change_blocks(length > 0.0 ? 1.0 / length : 0.0, [&](std::int64_t b, FlowBasis::Work& w) { basis_.keep(j, b, w); });
}

/// parts = the parts of w along the first m vectors, its square, and this rank's `more`, summed over the ranks.
template <class Q>
std::span<double> BasicFlowGmres<Q>::find_parts(int m, const Vec3& more) {
  for_blocks(1.0, [&](std::int64_t b, const FlowBasis::Work& w) {
    for (int i = 0; i < m; ++i) partial(b)[i] = basis_.dot(i, b, w);
    partial(b)[m] = square_of(w);
  });
  const std::span<double> parts = std::span(sums_).first(m + 4);
  sum_partials(m + 1, parts);
  for (std::size_t d = 0; d < 3; ++d) parts[m + 1 + d] = more.v[d];
  comm_.sum(parts);
  return parts;
}

/// Takes these parts along the first m vectors out of w. Returns the square of what is left.
template <class Q>
double BasicFlowGmres<Q>::take_out(int m, std::span<const double> parts) {
  change_blocks(1.0, [&](std::int64_t b, FlowBasis::Work& w) {
    for (int i = 0; i < m; ++i) basis_.add(i, b, -parts[i], w);
    *partial(b) = square_of(w);
  });
  double square = 0.0;
  sum_partials(1, {&square, 1});
  return comm_.sum(square);
}

/// Takes the parts along the vectors 0..j out of w. Returns the length of what is left.
template <class Q>
double BasicFlowGmres<Q>::orthogonalize(int j, const Vec3& functional) {
  const Timer timer("orthogonalization");
  const std::size_t m = j + 1;
  std::span<const double> parts = find_parts(j + 1, functional);
  const double before = parts[m];
  for (std::size_t i = 0; i < m; ++i) h(static_cast<int>(i), j) = parts[i];
  functionals_[m - 1] = {parts[m + 1], parts[m + 2], parts[m + 3]};
  double square = take_out(j + 1, parts);
  if (square < (1.0 - much_lost) * (1.0 - much_lost) * before) {
    parts = find_parts(j + 1, {});
    for (std::size_t i = 0; i < m; ++i) h(static_cast<int>(i), j) += parts[i];
    square = take_out(j + 1, parts);
  }
  return std::sqrt(square);
}

/// Givens rotations that keep the least-squares problem triangular.
template <class Q>
void BasicFlowGmres<Q>::rotate(int j, double next) {
  for (int i = 0; i < j; ++i) {
    const double a = h(i, j), b = h(i + 1, j);
    h(i, j) = cosine_[i] * a + sine_[i] * b;
    h(i + 1, j) = cosine_[i] * b - sine_[i] * a;
  }
  const double length = std::hypot(h(j, j), next);
  cosine_[j] = length > 0.0 ? h(j, j) / length : 1.0;
  sine_[j] = length > 0.0 ? next / length : 0.0;
  h(j, j) = length;
  g_[j + 1] = -sine_[j] * g_[j];
  g_[j] *= cosine_[j];
}

template <class Q>
void BasicFlowGmres<Q>::back_substitute(int n) {
  for (int i = n - 1; i >= 0; --i) {
    double rest = g_[i];
    for (int j = i + 1; j < n; ++j) rest -= h(i, j) * y_[j];
    y_[i] = h(i, i) != 0.0 ? rest / h(i, i) : 0.0;
  }
}

/// w = Σ y_i vector i.
template <class Q>
void BasicFlowGmres<Q>::combine(int n) {
  change_blocks(0.0, [&](std::int64_t b, FlowBasis::Work& w) {
    for (int i = 0; i < n; ++i) basis_.add(i, b, y_[i], w);
  });
}

template <class Q>
void BasicFlowGmres<Q>::cycle(const BasicGmresProblem<Q>& problem, double size, double start_length, double goal,
                              GmresReport& report) {
  std::ranges::fill(g_, 0.0);
  g_[0] = start_length;
  int j = 0;
  double length = start_length;  // of w
  while (j < options_.restart && report.iterations < options_.max_iterations) {
    keep(j, length);
    problem.apply(w_.span());
    length = orthogonalize(j, problem.functional());
    rotate(j, length);
    const double left = std::abs(g_[++j]);
    report.history.push_back(left / size);
    ++report.iterations;
    back_substitute(j);
    if (problem.progress) {
      Vec3 sum;
      for (int i = 0; i < j; ++i) sum += y_[i] * functionals_[i];
      problem.progress(report.iterations, left / size, sum);
    }
    if (!(left > goal) || length == 0.0) break;
  }
  combine(j);
}

template <class Q>
GmresReport BasicFlowGmres<Q>::solve(const BasicGmresProblem<Q>& problem, double size) {
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
        "{}: not converged, residual {:.2e} of the right-hand side after {} iterations (the last ones:{}), required is "
        "{:.0e}; increase flow.tolerance or flow.max_iterations, or check the geometry for pores one cell wide",
        problem.name, left / size, report.iterations, tail_of(report.history), options_.tolerance);
  }
  report.relative_residual = size > 0.0 ? left / size : 0.0;
  return report;
}

template <class Q>
std::int64_t BasicFlowGmres<Q>::bytes() const {
  return static_cast<std::int64_t>(w_.bytes() + partial_.bytes()) + basis_.bytes();
}

template class BasicFlowGmres<Quad>;
template class BasicFlowGmres<FloatQuad>;

}  // namespace karst
