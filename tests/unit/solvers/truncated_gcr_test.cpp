// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/truncated_gcr.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/comm/parallel.hpp"

namespace karst::truncated_gcr_test {
namespace {

constexpr std::size_t n = 10000;

/// A small loss of symmetry on a matrix of eigenvalues between about 0.5 and 3.5.
void multiply(std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = 2.0 * x[i];
    if (i > 0) y[i] -= 0.8 * x[i - 1];
    if (i + 1 < n) y[i] -= 0.7 * x[i + 1];
  }
}

struct Outcome {
  int steps = 0;
  double believed = 0.0, found = 0.0;
  std::vector<double> x;
};

/// M = 1/2 in single precision, worse by `noise` from step to step.
Outcome run(int memory, double noise) {
  TruncatedGcr gcr(Comm::self(), n, memory);
  std::vector<double> b(n), ax(n);
  Outcome o{0, 0.0, 0.0, std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) b[i] = std::sin(0.1 * static_cast<double>(i * i % 1009));
  const double size = gcr.start(b);
  EXPECT_EQ(size, gcr.start(b, ax));
  o.believed = size;
  while (o.believed > 1e-10 * size && o.steps < 100) {
    const auto r = gcr.residual();
    for (std::size_t i = 0; i < n; ++i)
      gcr.direction()[i] = static_cast<float>(
          0.5 * r[i] * (1.0 + noise * std::cos(static_cast<double>(o.steps + static_cast<int>(i % 7)))));
    multiply(gcr.direction(), gcr.image());
    o.believed = gcr.advance(o.x);
    ++o.steps;
  }
  multiply(o.x, ax);
  for (std::size_t i = 0; i < n; ++i) o.found += (b[i] - ax[i]) * (b[i] - ax[i]);
  o.found = std::sqrt(o.found) / size;
  o.believed /= size;
  return o;
}

// Eigenvalues in an ellipse round 1 (half axes 0.75 and 0.05): minimal residuals need about 1 / log10(2.2) steps per
// digit, 29 for ten.
TEST(TruncatedGcr, TheResidualIsThatOfTheSolution) {
  for (const int memory : {1, 2, 8})
    for (const double noise : {0.0, 0.05}) {
      const Outcome o = run(memory, noise);
      EXPECT_LT(o.found, 1.01e-10) << memory;
      EXPECT_NEAR(o.found, o.believed, 1e-14);
      EXPECT_LE(o.steps, 45) << memory;
    }
}

TEST(TruncatedGcr, DoesNotDependOnThreads) {
  const int before = n_threads();
  set_n_threads(1);
  const Outcome one = run(2, 0.0);
  set_n_threads(3);
  const Outcome three = run(2, 0.0);
  set_n_threads(before);
  EXPECT_EQ(one.steps, three.steps);
  EXPECT_EQ(one.x, three.x);
}

/// Steps of each right-hand side of C and what they lead to; each rests at its own tolerance.
template <int C>
struct Outcomes {
  std::array<int, C> steps{};
  std::vector<double> x = std::vector<double>(n * C), r;
};

/// Right-hand side c is number first + c; the later ones have to be solved further and change sooner along the line.
template <int C>
Outcomes<C> run_together(int memory, int first) {
  BasicTruncatedGcr<C> gcr(Comm::self(), n, memory);
  const auto as_array = [](const auto& sizes) {
    if constexpr (C == 1)
      return std::array{sizes};
    else
      return sizes;
  };
  std::vector<double> b(n * C), in(n), out(n);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) b[i * C + c] = std::sin(0.1 * static_cast<double>((first + c + 1) * (i * i % 1009)));
  Outcomes<C> o;
  const auto size = as_array(gcr.start(b));
  auto left = size;
  for (int step = 0; step < 100; ++step) {
    int active = 0;
    for (int c = 0; c < C; ++c) {
      if (left[c] <= std::pow(10.0, -3 - 2 * (first + c)) * size[c])
        gcr.rest(c);
      else
        ++o.steps[c], ++active;
    }
    if (active == 0) break;
    for (std::size_t i = 0; i < n * C; ++i) gcr.direction()[i] = static_cast<float>(0.5 * gcr.residual()[i]);
    for (int c = 0; c < C; ++c) {
      for (std::size_t i = 0; i < n; ++i) in[i] = gcr.direction()[i * C + c];
      multiply(in, out);
      for (std::size_t i = 0; i < n; ++i) gcr.image()[i * C + c] = out[i];
    }
    left = as_array(gcr.advance(o.x));
  }
  o.r.assign(gcr.residual().begin(), gcr.residual().end());
  return o;
}

// Three side by side take the steps that each takes alone, to the bit, also when some of them already rest.
TEST(TruncatedGcr, RightHandSidesDoNotFeelEachOther) {
  for (const int memory : {1, 8}) {
    const Outcomes<3> all = run_together<3>(memory, 0);
    EXPECT_LT(all.steps[0], all.steps[2]);
    for (int c = 0; c < 3; ++c) {
      const Outcomes<1> alone = run_together<1>(memory, c);
      EXPECT_EQ(all.steps[c], alone.steps[0]);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(all.x[i * 3 + c], alone.x[i]) << c << ' ' << i;
        ASSERT_EQ(all.r[i * 3 + c], alone.r[i]) << c << ' ' << i;
      }
    }
  }
}

// One that breaks down leaves the others alone.
TEST(TruncatedGcr, TellsWhichRightHandSideBreaksDown) {
  BasicTruncatedGcr<3> gcr(Comm::self(), 2);
  const std::vector<double> b{1.0, 2.0, 3.0, 4.0, 5.0, 6.0};
  std::vector<double> x(6);
  gcr.start(b);
  std::ranges::copy(b, gcr.direction().begin());
  std::ranges::copy(b, gcr.image().begin());
  gcr.image()[1] = gcr.image()[4] = 0.0;
  const std::array<double, 3> left = gcr.advance(x);
  for (const int c : {0, 2}) EXPECT_NEAR(left[c], 0.0, 1e-14);
  EXPECT_TRUE(std::isnan(left[1]));
  EXPECT_EQ(x[1], 0.0);
  EXPECT_NEAR(x[5], 6.0, 1e-14);
}

/// Unknowns in a ring, each the one before it, so that A r is orthogonal to r = e_k; the ring may be open (a row of
/// zeros, A singular) or carry a line of multiply() behind it.
struct Ring {
  std::size_t n, behind = 0;
  bool open = false;
  std::size_t size() const { return n + behind; }
  void apply(std::span<const double> x, std::span<double> y) const {
    for (std::size_t i = 0; i < n; ++i) y[i] = i > 0 ? x[i - 1] : open ? 0.0 : x[n - 1];
    for (std::size_t i = n; i < size(); ++i)
      y[i] = 2.0 * x[i] - 0.8 * x[i - 1] - (i + 1 < size() ? 0.7 * x[i + 1] : 0.0);
  }
};

enum class Show { residual, what_is_asked };

/// Steps to 1e-12, or to where the method ends; what is left then.
Outcome solve_ring(const Ring& ring, std::size_t source, GcrMemory memory, Show show, int most_steps = 200) {
  TruncatedGcr gcr(Comm::self(), static_cast<std::int64_t>(ring.size()), memory);
  std::vector<double> b(ring.size()), ax(ring.size());
  b[source] = 1.0;
  for (std::size_t i = ring.n; i < ring.size(); ++i) b[i] = std::sin(static_cast<double>(i));
  Outcome o{0, gcr.start(b), 0.0, std::vector<double>(ring.size())};
  while (o.believed > 1e-12 && o.steps < most_steps) {
    std::ranges::copy(show == Show::residual ? gcr.residual() : gcr.to_precondition(), gcr.direction().begin());
    ring.apply(gcr.direction(), gcr.image());
    o.believed = gcr.advance(o.x);
    ++o.steps;
  }
  ring.apply(o.x, ax);
  for (std::size_t i = 0; i < b.size(); ++i) o.found += (b[i] - ax[i]) * (b[i] - ax[i]);
  o.found = std::sqrt(o.found);
  return o;
}

// Minimal residuals gain nothing on a ring of n before step n, which solves it. Residuals alone never get there; images
// of the last step do; where the residual falls elsewhere at first, too.
TEST(TruncatedGcr, GoesOnWhereAStepGainsNothing) {
  for (const int memory : {1, 2, 8}) {
    const Ring closed{12};
    EXPECT_FALSE(solve_ring(closed, 0, memory, Show::residual).found < 0.99);
    const Outcome o = solve_ring(closed, 0, memory, Show::what_is_asked);
    EXPECT_EQ(o.steps, 12) << memory;
    EXPECT_LT(o.found, 1e-14);
    EXPECT_NEAR(o.x[11], 1.0, 1e-14);
  }
  const Ring mixed{5, 200};
  const Outcome o = solve_ring(mixed, 2, 8, Show::what_is_asked);
  EXPECT_LT(o.found, 1.01e-12);
  EXPECT_NEAR(o.found, o.believed, 1e-13);
  EXPECT_LT(o.steps, 120);
}

// Up to there with the bits of few directions, from there on faster.
TEST(TruncatedGcr, KeepsMoreDirectionsWhereASolveTakesLong) {
  const Ring mixed{5, 200};
  const auto steps = [&](GcrMemory memory) {
    const Outcome o = solve_ring(mixed, 2, memory, Show::what_is_asked);
    return o.found < 1.01e-12 ? o.steps : 1000;
  };
  const auto after = [&](GcrMemory memory, int most) {
    return solve_ring(mixed, 2, memory, Show::what_is_asked, most).x;
  };
  EXPECT_EQ(after(2, 10), after({2, 10, 8}, 10));
  EXPECT_NE(after(2, 16), after({2, 10, 8}, 16));
  EXPECT_GE(steps(2), 200);  // stands still
  EXPECT_LT(steps({2, 10, 8}), 200);
}

// A ring that is open has no solution for a source at its beginning: the end is told.
TEST(TruncatedGcr, TellsWhereNothingIsToBeGained) {
  const Outcome o = solve_ring({6, 0, true}, 0, 8, Show::what_is_asked);
  EXPECT_TRUE(std::isnan(o.believed));
  EXPECT_EQ(o.found, 1.0);
}

// Each right-hand side has its own: one that stands still on the ring beside one that does not.
TEST(TruncatedGcr, OnesThatStandStillDoNotDisturbTheOthers) {
  const Ring ring{6, 20};
  BasicTruncatedGcr<3> gcr(Comm::self(), static_cast<std::int64_t>(ring.size()), 2);
  std::vector<double> b(ring.size() * 3), x(b.size()), in(ring.size()), out(ring.size());
  for (std::size_t i = ring.n; i < ring.size(); ++i) b[i * 3 + 1] = std::cos(static_cast<double>(i));
  for (const std::size_t c : {0, 2}) b[c * 3 + c] = 1.0;
  gcr.start(b);
  TruncatedGcr alone(Comm::self(), static_cast<std::int64_t>(ring.size()), 2);
  for (std::size_t i = 0; i < ring.size(); ++i) in[i] = b[i * 3 + 2];
  alone.start(in);
  std::vector<double> x_alone(ring.size());
  for (int step = 0; step < 5; ++step) {
    std::ranges::copy(gcr.to_precondition(), gcr.direction().begin());
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < ring.size(); ++i) in[i] = gcr.direction()[i * 3 + c];
      ring.apply(in, out);
      for (std::size_t i = 0; i < ring.size(); ++i) gcr.image()[i * 3 + c] = out[i];
    }
    gcr.advance(x);
    std::ranges::copy(alone.to_precondition(), alone.direction().begin());
    ring.apply(alone.direction(), alone.image());
    alone.advance(x_alone);
    for (std::size_t i = 0; i < ring.size(); ++i) {
      ASSERT_EQ(x[i * 3 + 2], x_alone[i]) << step << ' ' << i;
      ASSERT_EQ(gcr.residual()[i * 3 + 2], alone.residual()[i]) << step << ' ' << i;
    }
  }
}

// A direction whose image is none ends the method by NaN, never in an endless loop.
TEST(TruncatedGcr, TellsABreakdown) {
  TruncatedGcr gcr(Comm::self(), 4);
  const std::vector<double> b{1.0, 2.0, 3.0, 4.0}, zero(4);
  std::vector<double> x(4);
  gcr.start(b, zero);
  std::ranges::fill(gcr.direction(), 1.0);
  std::ranges::fill(gcr.image(), 0.0);
  EXPECT_TRUE(std::isnan(gcr.advance(x)));
}

}  // namespace
}  // namespace karst::truncated_gcr_test
