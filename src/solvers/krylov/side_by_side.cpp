// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/wall_clock.hpp"
#include "solvers/krylov/dot.hpp"
#include "solvers/krylov/krylov.hpp"

namespace karst {
namespace {

template <int C>
class Solve {
 public:
  using Sizes = std::array<double, C>;

  Solve(const SideBySideSystem& system, const SideBySideOptions& options, const std::array<std::string, C>& names)
      : system_(system), options_(options), names_(names), n_(system.op.numbering().n_own()) {}

  std::array<SolveReport, C> operator()(std::span<double> b, std::span<double> x) {
    begin(b, x);
    BasicTruncatedGcr<C> gcr(system_.op.comm(), n_, options_.memory);
    Sizes left = start(gcr, b, x);
    tell(0, left);
    for (int iteration = 0; rest_where_done(gcr, left) > 0; ++iteration) {
      require_more(iteration, left);
      system_.precondition(gcr.to_precondition(), gcr.direction());
      system_.null_space.template remove<C>(gcr.direction());
      multiply(gcr.direction(), gcr.image());
      left = as_array(gcr.advance(x));
      tell(iteration + 1, left);
    }
    end(b, x);
    return reports_;
  }

 private:
  static Sizes as_array(const typename BasicTruncatedGcr<C>::Sizes& sizes) {
    if constexpr (C == 1)
      return {sizes};
    else
      return sizes;
  }
  /// |v_c| over the ranks.
  Sizes sizes_of(std::span<const double> v) const {
    Sizes squares = dots_of<C>(v.data(), v.data(), n_);
    system_.op.comm().sum(std::span(squares));
    for (double& s : squares) s = std::sqrt(s);
    return squares;
  }
  void take(std::span<const double> all, int c, std::span<double> one) const {
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = all[C * i + c];
  }
  void put(std::span<const double> one, int c, std::span<double> all) const {
    for (std::size_t i = 0; i < one.size(); ++i) all[C * i + c] = one[i];
  }
  void multiply(std::span<const double> from, std::span<double> to) {
    system_.op.apply<C>(from, to);
    if (system_.add) system_.add(from, to);
  }

  void begin(std::span<double> b, std::span<double> x) {
    size_ = sizes_of(b);
    start_ = sizes_of(x);
    std::vector<double> one(n_);
    for (int c = 0; c < C; ++c) {
      SolveReport& report = reports_[c];
      report.name = names_[c];
      report.method = "tgcr";
      report.preconditioner = "given";
      report.singular_pores = system_.null_space.n_pores();
      require(std::isfinite(size_[c]) && std::isfinite(start_[c]),
              "solve {}: the {} holds values that are not finite; check sources, conditions and coefficients",
              report.name, std::isfinite(size_[c]) ? "initial guess" : "right-hand side");
      if (size_[c] == 0.0) {
        std::ranges::fill(one, 0.0);
        put(one, c, x);
        continue;
      }
      take(b, c, one);
      report.imbalance = system_.null_space.make_compatible(one, report.name, options_.allowed_imbalance);
      put(one, c, b);
    }
  }

  Sizes start(BasicTruncatedGcr<C>& gcr, std::span<const double> b, std::span<const double> x) {
    if (std::ranges::all_of(start_, [](double s) { return s == 0.0; })) return as_array(gcr.start(b));
    Array<double> ax(x.size(), Purpose::solver);
    multiply(x, ax.span());
    return as_array(gcr.start(b, ax.span()));
  }

  double relative(int c, const Sizes& left) const { return size_[c] > 0.0 ? left[c] / size_[c] : 0.0; }

  /// How many go on.
  int rest_where_done(BasicTruncatedGcr<C>& gcr, const Sizes& left) const {
    int active = 0;
    for (int c = 0; c < C; ++c) {
      if (relative(c, left) <= options_.tolerance)
        gcr.rest(c);
      else
        ++active;
    }
    return active;
  }

  void tell(int iteration, const Sizes& left) {
    double largest = 0.0;
    for (int c = 0; c < C; ++c) {
      SolveReport& report = reports_[c];
      const double now = relative(c, left);
      largest = std::max(largest, now);
      const bool rested = !report.residuals.empty() && report.residuals.back() <= options_.tolerance;
      if (rested) continue;
      report.residuals.push_back(now);
      report.iterations = iteration;
    }
    if (options_.watch) options_.watch(iteration, largest);
  }

  void require_more(int iteration, const Sizes& left) const {
    for (int c = 0; c < C; ++c) {
      const double now = relative(c, left);
      require(!std::isnan(now),
              "solve {} found no further search direction after {} iterations of tgcr; the preconditioner repeats "
              "itself, or there are values that are not finite",
              names_[c], iteration);
      require(now <= options_.tolerance || iteration < options_.max_iterations,
              "solve {} did not converge: relative residual {:.2e} after {} iterations of tgcr, required: {:.1e}. "
              "Allow more iterations or a larger tolerance",
              names_[c], now, iteration, options_.tolerance);
    }
  }

  /// Orphans solved for, means taken out, residuals judged.
  void end(std::span<double> b, std::span<double> x) {
    std::vector<double> added(b.size(), 0.0), right(n_), one(right.size());
    if (system_.add) system_.add(x, added);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] -= added[i];
    int asked = 0;
    for (int c = 0; c < C; ++c) {
      if (size_[c] == 0.0) continue;
      ++asked;
      SolveReport& report = reports_[c];
      take(b, c, right);
      take(x, c, one);
      report.true_residual = system_.op.set_orphans(right, one) / size_[c];
      put(one, c, x);
      require(
          report.true_residual <= largest_residual_ratio * std::max(options_.tolerance, report.residuals.back()),
          "solve {}: tgcr reports the relative residual {:.2e} after {} iterations, but that of the solution is {:.2e}",
          report.name, report.residuals.back(), report.iterations, report.true_residual);
    }
    system_.null_space.template remove<C>(x);
    const double seconds = clock_.seconds();
    for (int c = 0; c < C; ++c) reports_[c].seconds = size_[c] > 0.0 ? seconds / asked : 0.0;
  }

  const SideBySideSystem& system_;
  const SideBySideOptions& options_;
  const std::array<std::string, C>& names_;
  std::int64_t n_;
  WallClock clock_;
  Sizes size_{}, start_{};  // |b_c|, |x_c| at first
  std::array<SolveReport, C> reports_{};
};

}  // namespace

template <int C>
std::array<SolveReport, C> solve_side_by_side(const SideBySideSystem& system, const SideBySideOptions& options,
                                              const std::array<std::string, C>& names, std::span<double> b,
                                              std::span<double> x) {
  const Timer timer("Krylov solve");
  return Solve<C>(system, options, names)(b, x);
}

template std::array<SolveReport, 1> solve_side_by_side<1>(const SideBySideSystem&, const SideBySideOptions&,
                                                          const std::array<std::string, 1>&, std::span<double>,
                                                          std::span<double>);
template std::array<SolveReport, 3> solve_side_by_side<3>(const SideBySideSystem&, const SideBySideOptions&,
                                                          const std::array<std::string, 3>&, std::span<double>,
                                                          std::span<double>);

}  // namespace karst
