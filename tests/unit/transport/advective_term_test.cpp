// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/advective_term.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/field_cases.hpp"
#include "support/flux_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"
#include "transport/steady/flow_preconditioner.hpp"

namespace karst::advective_term_test {
namespace {

/// A uniform flow through a packing on one level or two, open at the ends, values given on the side it enters along z.
struct Setting {
  std::shared_ptr<const Composite> composite;
  EllipticOperator op;
  ScalarGrid grid;
  FaceField flow;
  AdvectiveTerm term;

  Setting(const Comm& comm, int levels)
      : composite(test::composite_of(
            comm,
            levels == 1 ? test::flow_grid(Index::all(16), {})
                        : test::refined_in(test::flow_grid(Index::all(16), {}), 1, {5, 0, 3}, {13, 11, 12}),
            *test::packing(14, 3.3, 16, false, 3))),
        op(composite, {}),
        grid(make_scalar_grid(composite)),
        flow(uniform(composite)),
        term(grid, flow) {
    std::array<ConditionAt, 6> sides{};
    sides[4] = [](const Vec3& x) { return dirichlet(1.0 + x[0]); };
    term.set_ends(sides);
    term.set_scale(0.7);
  }
  static FaceField uniform(const std::shared_ptr<const Composite>& composite) {
    FaceField faces(composite);
    test::set_uniform(faces, {0.3, -1.1, 2.0});
    return faces;
  }
  std::vector<double> noise(int c) const {
    std::vector<double> x;
    for (const Vec3& p : op.positions()) x.push_back(std::sin((c + 1) * (12.9 * p[0] + 78.2 * p[1] - 37.7 * p[2])));
    return x;
  }
};

/// f(C, from, to) for three vectors side by side against each alone, to the bit or to `tolerance`.
template <class F>
void expect_same_alone(const Setting& s, double tolerance, F&& f) {
  const std::size_t n = s.noise(0).size();
  std::vector<double> from(3 * n), to(3 * n, 0.25);
  for (int c = 0; c < 3; ++c) {
    const std::vector<double> one = s.noise(c);
    for (std::size_t i = 0; i < n; ++i) from[3 * i + c] = one[i];
  }
  f(std::integral_constant<int, 3>{}, from, to);
  for (int c = 0; c < 3; ++c) {
    std::vector<double> alone(n, 0.25);
    f(std::integral_constant<int, 1>{}, s.noise(c), alone);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(to[3 * i + c], alone[i], tolerance) << c << ' ' << i;
  }
}

// Vectors side by side do not feel each other: in the term and in a sweep to the bit, in the preconditioner to single
// precision.
TEST(AdvectiveTerm, VectorsSideBySideAreThoseAloneMpi) {
  for (const int levels : {1, 2}) {
    Setting s(Comm::world(), levels);
    using In = std::span<const double>;
    using Out = std::span<double>;
    expect_same_alone(s, 0.0, [&](auto C, In c, Out y) { s.term.add<C()>(c, y); });
    FlowSweep sweep(s.op, s.grid, s.term.flow());
    expect_same_alone(s, 0.0, [&](auto C, In r, Out z) { sweep.apply<C()>(r, z); });
    expect_same_alone(s, 1e-4, [&](auto C, In r, Out z) {
      BasicFlowPreconditioner<C()> precondition(s.op, s.flow, s.term);
      precondition.set_scale(0.7);
      precondition(r, z);
    });
  }
}

// Three planes and three fields in one pass: what each field gives alone, face by face; what a constant carries is the
// flow rate.
TEST(AdvectiveTerm, ThroughPlanesMpi) {
  for (const int levels : {1, 2}) {
    Setting s(Comm::world(), levels);
    const std::vector<Vec3> at = s.op.positions();
    std::vector<double> c(3 * at.size());
    std::vector<std::uint16_t> sides(at.size(), 0);
    // Plane d at 8 along d: field 0 is carried through the first, field 2 through the second, either through the third.
    for (std::size_t i = 0; i < at.size(); ++i) {
      for (std::size_t m = 0; m < 3; ++m) c[3 * i + m] = 1.0 + static_cast<double>(m);
      for (int d = 0; d < 3; ++d) {
        const unsigned field = d == 0 ? 0 : d == 1 ? 2 : at[i][0] < 8.0 ? 0 : 1;
        const unsigned side = at[i][d] < 8.0 ? AdvectiveTerm::before : AdvectiveTerm::behind + field;
        sides[i] = static_cast<std::uint16_t>(sides[i] | side << 3 * d);
      }
    }
    const std::array<double, 3> carried = s.term.through_planes(c, sides);
    // The same from the fluxes of the flow.
    std::vector<double> values(s.grid.n_values, 0.0);
    for (std::size_t i = 0; i < at.size(); ++i) values[i] = sides[i];
    fetch_remote(s.grid, values);
    const std::span<const double> flow = s.term.flow();
    std::vector<std::array<double, 3>> in(at.size());
    for_each_volume(s.grid, [&](std::int32_t v, auto&& faces) {
      std::array<double, 3> sum{};
      faces([&](std::int32_t face, std::int32_t other, double outward) {
        for (int d = 0; d < 3; ++d) {
          const unsigned here = static_cast<unsigned>(values[v]) >> 3 * d & 7U,
                         there = static_cast<unsigned>(values[other]) >> 3 * d & 7U;
          if (here >= 2 && there == 1) sum[d] -= 0.7 * outward * flow[face] * (here - 1.0);
        }
      });
      in[v] = sum;
    });
    std::array<double, 3> expected{};
    for (const auto& sum : in)
      for (std::size_t d = 0; d < 3; ++d) expected[d] += sum[d];
    Comm::world().sum(std::span(expected));
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(carried[d], expected[d], 1e-9) << levels << d;
    EXPECT_GT(std::abs(expected[2]), 1.0);
  }
}

}  // namespace
}  // namespace karst::advective_term_test
