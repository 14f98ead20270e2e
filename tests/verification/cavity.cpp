// SPDX-License-Identifier: BSD-3-Clause
// A lid-driven square cavity at a Reynolds number of 1000: extremes of the velocity on the lines through the middle and
// of the stream function, printed as JSON. Reference: Botella & Peyret, Comput. Fluids 27 (1998) 421, by Chebyshev
// polynomials with the singularities of the corners subtracted. Ends with status 1 if the error on 128² cells exceeds
// 0.5 %, or the order is below 1.8.
//   karst-verify-cavity           64² and 128² cells
//   karst-verify-cavity --full    32² and 256² cells, too
#include <algorithm>
#include <cmath>
#include <optional>

#include "grid/vof_loops.hpp"
#include "ins/upscale/end_flow.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

struct Figure {
  const char* name;
  double reference;
};
constexpr std::array<Figure, 4> figures{{{"least_u", -0.3885698},
                                         {"largest_v", 0.3769447},
                                         {"least_v", -0.5270771},
                                         {"least_stream_function", -0.1189366}}};

/// The extreme of the parabola through the least of a row of values and the two beside it.
double least_of(const std::vector<double>& row) {
  const auto at = std::clamp<std::ptrdiff_t>(std::ranges::min_element(row) - row.begin(), 1, std::ssize(row) - 2);
  const double a = row[at - 1], b = row[at], c = row[at + 1];
  return b - (a - c) * (a - c) / (8.0 * (a - 2.0 * b + c));
}

/// Values of n by n cells, by x + n y.
struct Plane {
  std::size_t n;
  std::vector<double> value;
  double operator()(std::size_t x, std::size_t y) const { return value[x + n * y]; }
};

/// Between the two cells in the middle of 0 ... n - 1, of a function of the cell: the cubic through four.
template <class F>
double in_the_middle(std::size_t n, F&& f) {
  const std::size_t m = n / 2;
  return (9.0 * (f(m - 1) + f(m)) - f(m - 2) - f(m + 1)) / 16.0;
}

/// The least of ψ at the corners of cells, from the fluxes through the faces across x.
double least_stream_function(const Plane& flux) {
  const std::size_t n = flux.n;
  std::vector<double> psi((n + 1) * n, 0.0);  // by x + n y
  for (std::size_t y = 0; y < n; ++y)
    for (std::size_t x = 0; x < n; ++x) psi[x + n * (y + 1)] = psi[x + n * y] + flux(x, y);
  const std::size_t at = std::ranges::min_element(psi) - psi.begin();
  std::vector<double> along_x, along_y;
  for (std::size_t x = 0; x < n; ++x) along_x.push_back(psi[x + at / n * n]);
  for (std::size_t y = 0; y <= n; ++y) along_y.push_back(psi[at % n + n * y]);
  return least_of(along_x) + least_of(along_y) - psi[at];
}

Json measure(const Comm& comm, int n) {
  const Geometry geometry =
      build_geometry(comm, test::flow_grid({n, n, 1}, {false, false, true}, 32),
                     test::DistanceFunction([](const Vec3&) { return 1e6; }), KeepPores::connected);
  FlowOptions options;
  options.model = FlowModel::steady;
  options.sides = FlowWalls::no_slip;
  options.axes = {0};
  options.lids = {{high_side(1), {1.0, 0.0, 0.0}}};
  const FluidOptions fluid{1e-3, 1.0};  // a side of 1
  const EndFlow flow =
      solve_end_flow(test::composite_on(comm, geometry), options, fluid, {1.0 / n, 1.0, 0.0}, {}, true);

  const std::size_t size = n;
  const std::vector<double> none(size * size, 0.0);
  Plane u{size, none}, v{size, none}, flux{size, none};
  const LevelGraph& graph = geometry.levels[0].graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    const double* faces = flow.fluxes->primary(0).box(b, 0).data();
    for_each_vof(box, [&](int vof, int cell) {
      const Index at = box.cells.cell(cell);
      const std::size_t i = at[0] + n * at[1];
      const Quad& q = flow.solution[graph.vof_begin(b) + vof];
      u.value[i] = q.v[0];
      v.value[i] = q.v[1];
      flux.value[i] = faces[vof] / (double(n) * n);
    });
  }
  for (Plane* p : {&u, &v, &flux}) comm.sum(std::span(p->value));

  std::vector<double> u_up, v_along, minus_v;
  for (std::size_t i = 0; i < size; ++i) {
    u_up.push_back(in_the_middle(size, [&](std::size_t x) { return u(x, i); }));
    v_along.push_back(in_the_middle(size, [&](std::size_t y) { return v(i, y); }));
    minus_v.push_back(-v_along.back());
  }
  const std::array<double, 4> found{least_of(u_up), -least_of(minus_v), least_of(v_along), least_stream_function(flux)};
  Json one;
  one["cells"] = n;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    one[figures[i].name] = found[i];
    one[fmt::format("{}_error", figures[i].name)] = found[i] / figures[i].reference - 1.0;
  }
  one["newton_steps"] = flow.newton_steps;
  one["iterations"] = flow.iterations;
  one["cell_reynolds"] = flow.cell_reynolds;
  return one;
}

void verify(const Comm& comm, int argc, char** argv) {
  const bool full = asks_for_all(argc, argv);
  Json all = Json::array();
  for (const int n : {32, 64, 128, 256})
    if (n == 64 || n == 128 || full) all.push_back(measure(comm, n));
  Asked ask;
  const auto near = [&](double error, double most, const std::string& what) {
    ask(std::abs(error) < most, fmt::format("{}: {:+.2e}", what, error));
  };
  for (const Figure& figure : figures) {
    const std::string error = fmt::format("{}_error", figure.name);
    const auto of = [&](std::size_t i) { return all[i][error].get<double>(); };
    near(of(full ? 2 : 1), 0.005, fmt::format("{} on 128 cells", error));
    if (full) near(of(3), 0.00125, fmt::format("{} on 256 cells", error));
    const double order = last_order(all, error.c_str());
    ask(order >= 1.8, fmt::format("order {:.2f} of {}", order, figure.name));
  }
  print_figures(comm, all, ask);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::verify(comm, argc, argv); });
}
