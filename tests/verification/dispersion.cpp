// SPDX-License-Identifier: BSD-3-Clause
// Measures dispersion in the Stokes flow of the same cells against closure problems solved independently
// (two-dimensional finite elements and series), and prints the figures as JSON. Ends with status 1 if one does not meet
// the requirement.
//   square array of cylinders, flow along a side, Pe = U d / D: D_L / D and D_T / D, U the mean velocity of the fluid
//   Taylor & Aris in ducts, D* = D (1 + c Pe²): ellipse 2:1 (Pe with the long half axis), annulus of radii 1:2 (outer
//   radius), rectangle 2:1 (short side), equilateral triangle (side)
//   karst-verify-dispersion [--full]
#include <fmt/core.h>

#include <numbers>
#include <string>
#include <vector>

#include "ins/solve/stokes_solver.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/ground_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/dispersion/closure.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

/// Of the flow that a force along x drives: D* / D for each Péclet number with the length [h0].
std::vector<Matrix3> tensors(const Comm& comm, const Geometry& geometry, double length,
                             const std::vector<double>& peclet) {
  StokesOptions options;
  options.krylov.tolerance = 1e-9;
  StokesSolver solver(test::composite_on(comm, geometry), {}, options);
  StokesDrive drive;
  drive.force = {1, 0, 0};
  solver.solve(drive);
  FaceField flow = solver.face_fluxes();
  Closure closure(test::composite_on(comm, geometry), {.tolerance = 1e-8, .max_iterations = 1000});
  closure.set_flow(flow);
  std::vector<Matrix3> all;
  for (const double pe : peclet) all.push_back(closure.solve(pe / (length * closure.velocity()[0]), "closure").tensor);
  return all;
}

struct ArrayCase {
  double peclet, along, across;  ///< D_L / D, D_T / D
};

Json array(const Comm& comm, int n, double solid, const std::vector<ArrayCase>& cases) {
  const double radius = n * std::sqrt(solid / std::numbers::pi);
  const test::DistanceFunction walls(
      [=](const Vec3& x) { return std::hypot(x[0] - 0.5 * n - 0.137, x[1] - 0.5 * n + 0.211) - radius; });
  const Geometry geometry =
      build_geometry(comm, test::flow_grid({n, n, 1}, {true, true, true}, 16), walls, KeepPores::connected);
  std::vector<double> peclet;
  for (const ArrayCase& c : cases) peclet.push_back(c.peclet);
  const std::vector<Matrix3> found = tensors(comm, geometry, 2.0 * radius, peclet);
  Json rows = Json::array();
  for (std::size_t i = 0; i < cases.size(); ++i)
    rows.push_back({{"solid", solid},
                    {"cells", n},
                    {"peclet", cases[i].peclet},
                    {"along", found[i][0][0]},
                    {"across", found[i][1][1]},
                    {"error_along", found[i][0][0] / cases[i].along - 1.0},
                    {"error_across", found[i][1][1] / cases[i].across - 1.0}});
  return rows;
}

struct Duct {
  const char* name;
  double c;
  double length;                                     ///< of the Péclet number, over the width of the square of cells
  std::function<double(double y, double z)> inside;  ///< from the middle, over that width: > 0 in the fluid
};

std::vector<Duct> ducts() {
  constexpr double long_half = 0.45, outer = 0.45, short_side = 0.42, side = 0.9;
  const auto triangle = [=](double y, double above) {
    const double inner = side / (2.0 * std::sqrt(3.0));  // radius of the circle in it
    const double z = above + 0.13;                       // all three corners are in the square
    double least = z + inner;
    for (const double s : {-1.0, 1.0}) least = std::min(least, inner - 0.5 * z - s * 0.5 * std::sqrt(3.0) * y);
    return least;
  };
  return {{"ellipse 2:1", 0.0122396, long_half,
           [=](double y, double z) { return 0.5 * long_half * (1.0 - std::hypot(y, 2.0 * z) / long_half); }},
          {"annulus 1:2", 0.00137934, outer,
           [=](double y, double z) { return 0.25 * outer - std::abs(std::hypot(y, z) - 0.75 * outer); }},
          {"rectangle 2:1", 0.0161585, short_side,
           [=](double y, double z) { return std::min(short_side - std::abs(y), 0.5 * short_side - std::abs(z)); }},
          {"triangle", 0.00541125, side, triangle}};
}

Json in_duct(const Comm& comm, const Duct& duct, int n) {
  constexpr double peclet = 50.0;
  const test::DistanceFunction walls(
      [&](const Vec3& x) { return n * duct.inside((x[1] + 0.137) / n - 0.5, (x[2] - 0.211) / n - 0.5); });
  const Geometry geometry =
      build_geometry(comm, test::flow_grid({8, n, n}, {true, false, false}, 8), walls, KeepPores::connected);
  const double found = (tensors(comm, geometry, duct.length * n, {peclet})[0][0][0] - 1.0) / (peclet * peclet);
  return {{"duct", duct.name}, {"cells", n}, {"c", found}, {"error", found / duct.c - 1.0}};
}

Json measure(const Comm& comm, bool full) {
  Json all;
  for (const int n : full ? std::vector{32, 64, 128} : std::vector{32, 64}) {
    for (const Json& row : array(comm, n, 0.3,
                                 {{0, 0.767971, 0.767971},
                                  {1, 0.826156, 0.769974},
                                  {10, 3.72777, 0.859370},
                                  {100, 170.696, 1.112527},
                                  {1000, 13705.5, 1.47928}}))
      all["array"].push_back(row);
    for (const Json& row : array(comm, n, 0.6,
                                 {{0, 0.575795, 0.575795},
                                  {1, 0.650406, 0.575940},
                                  {10, 2.82526, 0.587974},
                                  {100, 104.418, 0.67644},
                                  {1000, 6210.9, 0.76881}}))
      all["array"].push_back(row);
  }
  for (const Duct& duct : ducts())
    for (const int n : full ? std::vector{16, 32, 64} : std::vector{16, 32})
      all[fmt::format("duct, {}", duct.name)].push_back(in_duct(comm, duct, n));
  return all;
}

/// 64 cells per period: 0.4 % up to Pe 100, 1 % at 1000; ducts in 32 cells 1.5 %, the annulus, whose gap is 7 cells, 4
/// %, and order 1.8; 1.3 in the triangle, whose corners of 60 degrees no cells resolve.
Asked missed_by(const Json& all, bool) {
  Asked ask;
  for (const std::string& name : all.names()) {
    const Json& rows = all[name];
    if (name == "array") {
      for (const Json& r : rows)
        for (const char* error : {"error_along", "error_across"})
          ask(r["cells"] < 64 || std::abs(r[error].get<double>()) < (r["peclet"] > 100.0 ? 0.01 : 0.004), r);
      continue;
    }
    const double order = name.ends_with("triangle") ? 1.3 : 1.8;
    ask(last_order(rows, "error") > order, fmt::format("{}: order below {}", name, order));
    for (const Json& r : rows)
      ask(r["cells"] < 32 || std::abs(r["error"].get<double>()) < (name.ends_with("annulus 1:2") ? 0.04 : 0.015), r);
  }
  return ask;
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) { return karst::run_verification(argc, argv, karst::measure, karst::missed_by); }
