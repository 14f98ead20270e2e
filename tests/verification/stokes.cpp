// SPDX-License-Identifier: BSD-3-Clause
// Measures the cases of steady Stokes flow (narrow slits and tubes, S1 channels, S2 spheres, S3 cylinders, S7
// iterations) and prints them as JSON. Ends with status 1 if a figure does not meet the requirement in missed_by().
//   karst-verify-stokes [--full]   also spheres of 64 and cylinders of 128 cells per period, packings of 64^3 to 128^3
#include <fmt/core.h>

#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

using Section = std::function<double(double a, double b)>;

struct Slope {
  const char* angle;
  int x, y;
};
constexpr std::array<Slope, 3> slopes{{{"0", 8, 0}, {"17", 20, 6}, {"45", 12, 12}}};

test::Channel channel(const Slope& slope, double width, double offset, int thickness, Section inside) {
  const auto finer = static_cast<int>(std::max(width / 4.0, 1.0));
  return {slope.x * finer,   slope.y * finer, thickness == 1 ? 1 : thickness * finer,
          std::move(inside), offset,          8 * finer};
}
Section slit(double w) {
  return [=](double a, double) { return 0.5 * w - std::abs(a); };
}
Section tube(double w) {
  return [=](double a, double b) { return 0.5 * w - std::hypot(a, b - 0.21); };
}
Section square(double w) {
  return [=](double a, double b) { return 0.5 * w - std::max(std::abs(a), std::abs(b - 0.21)); };
}

/// Relative errors of the flow rate over places on the grid: mean, least, largest.
Json errors(const Comm& comm, int places, const std::function<test::Channel(double offset)>& make, double exact) {
  double mean = 0.0, least = 1e30, largest = -1e30;
  for (int i = 0; i < places; ++i) {
    const double error = test::channel_rate(comm, make((i + 0.03) / places)) / exact - 1.0;
    mean += error / places;
    least = std::min(least, error);
    largest = std::max(largest, error);
  }
  return {{"mean", mean}, {"least", least}, {"largest", largest}};
}

Json narrow(const Comm& comm) {
  Json rows = Json::array();
  for (const Slope& s : slopes) {
    for (const double w : {1.5, 2.0, 3.0, 4.0}) {
      Json row{{"shape", "slit"}, {"angle", s.angle}, {"width", w}};
      row.update(errors(
          comm, 10, [&](double o) { return channel(s, w, o, 1, slit(w)); }, w * w * w / 12.0));
      rows.push_back(row);
    }
    Json round{{"shape", "round tube"}, {"angle", s.angle}, {"width", 3.0}};
    round.update(errors(
        comm, 3, [&](double o) { return channel(s, 3.0, o, 8, tube(3.0)); },
        std::numbers::pi * std::pow(1.5, 4) / 8.0));
    rows.push_back(round);
    if (std::string_view(s.angle) == "17") continue;
    Json corners{{"shape", "square tube"}, {"angle", s.angle}, {"width", 3.0}};
    corners.update(errors(
        comm, 3, [&](double o) { return channel(s, 3.0, o, 8, square(3.0)); }, 0.0351444 * 81.0));
    rows.push_back(corners);
  }
  return rows;
}

/// S1: widths of 4, 8 and 16 cells.
Json channels(const Comm& comm) {
  Json rows = Json::array();
  for (const bool round : {false, true})
    for (const Slope& s : slopes) {
      Json row{{"shape", round ? "tube" : "plates"}, {"angle", s.angle}};
      std::vector<double> found;
      for (const double w : {4.0, 8.0, 16.0}) {
        if (round && w > 8.0 && s.x == 20) continue;  // 2.5 million cells
        const double exact = round ? std::numbers::pi * std::pow(0.5 * w, 4) / 8.0 : w * w * w / 12.0;
        const test::Channel c = channel(s, w, 0.303, round ? 8 : 1, round ? tube(w) : slit(w));
        found.push_back(test::channel_rate(comm, c, 1e-9) / exact - 1.0);
      }
      row["errors"] = found;
      row["order"] = std::log2(std::abs(found[found.size() - 2] / found.back()));
      rows.push_back(row);
    }
  return rows;
}

StokesReport along_x(const Comm& comm, const Geometry& geometry) {
  StokesSolver solver(test::composite_on(comm, geometry), {});
  StokesDrive drive;
  drive.force = {1, 0, 0};
  return solver.solve(drive);
}

/// S2: drag factors of Zick & Homsy, J. Fluid Mech. 115 (1982) 13.
Json spheres(const Comm& comm, int finest) {
  Json rows = Json::array();
  for (const auto& [solid, factor] : {std::pair{0.027, 2.008},
                                      {0.064, 2.810},
                                      {0.125, 4.292},
                                      {0.216, 7.442},
                                      {0.343, 15.4},
                                      {0.45, 28.1},
                                      {0.5236, 42.1}})
    for (int n = 16; n <= finest; n *= 2) {
      const StokesReport r = along_x(comm, test::sphere_array(comm, solid, n, 16));
      rows.push_back({{"solid", solid},
                      {"n", n},
                      {"error", test::drag_factor(solid, n, r.velocity[0]) / factor - 1.0},
                      {"iterations", r.krylov.iterations}});
    }
  return rows;
}

/// S3: F / (μ U) of square arrays, Sangani & Acrivos, Int. J. Multiphase Flow 8 (1982) 193.
Json cylinders(const Comm& comm, int finest) {
  Json rows = Json::array();
  for (const auto& [solid, force] : {std::pair{0.05, 15.56},
                                     {0.10, 24.83},
                                     {0.20, 51.53},
                                     {0.30, 102.90},
                                     {0.40, 217.89},
                                     {0.50, 532.55},
                                     {0.60, 1763.0},
                                     {0.70, 13520.0}})
    for (int n = 32; n <= finest; n *= 2) {
      const double radius = n * std::sqrt(solid / std::numbers::pi);
      const test::DistanceFunction phi([=](const Vec3& x) {
        const double a = x[0] - (0.5 * n + 0.137), b = x[1] - (0.5 * n - 0.211);
        return std::hypot(a - n * std::round(a / n), b - n * std::round(b / n)) - radius;
      });
      const Geometry geometry =
          build_geometry(comm, test::flow_grid({n, n, 1}, {true, true, true}, 16), phi, KeepPores::all);
      const double velocity = along_x(comm, geometry).velocity[0];
      rows.push_back({{"solid", solid}, {"n", n}, {"error", double(n) * n / velocity / force - 1.0}});
    }
  return rows;
}

/// S7: iterations to 1e-8 and to 1e-6, packings of porosity 0.35 between two pressures, 10 cells per radius.
Json packings(const Comm& comm, int finest) {
  Json rows = Json::array();
  for (int n = 32; n <= finest; n += 32) {
    const int count = static_cast<int>(-std::log(0.35) * std::pow(n, 3) / (4.0 / 3.0 * std::numbers::pi * 1000.0));
    const Geometry geometry = build_geometry(comm, test::flow_grid(Index::all(n), {false, true, true}, 16),
                                             *test::packing(count, 10.0, n, true), KeepPores::connected);
    FlowSides sides{};
    sides[0] = sides[1] = FlowSide::pressure;
    StokesSolver solver(test::composite_on(comm, geometry), sides);
    StokesDrive drive;
    drive.at_end[0] = n;
    const StokesReport r = solver.solve(drive);
    const auto& history = r.krylov.history;
    const auto first = std::ranges::find_if(history, [](double left) { return left <= 1e-6; });
    rows.push_back({{"n", n},
                    {"cells", solver.op().counts().flow_cells},
                    {"iterations", r.krylov.iterations},
                    {"iterations_to_1e-6", first - history.begin() + 1},
                    {"velocity", {r.velocity[0], r.velocity[1], r.velocity[2]}}});
  }
  return rows;
}

Asked missed_by(const Json& all) {
  Asked ask;
  for (const Json& c : all["narrow"])
    if (c["width"] >= 2.0) ask(std::abs(c["mean"].get<double>()) < 0.05, c);
  for (const Json& c : all["S1"]) {
    const double finest = std::abs(c["errors"].back().get<double>());
    ask(finest < 0.01 && (c["order"] >= 1.9 || finest < 1e-3), c);
  }
  for (const Json& c : all["S2"]) {
    if (c["n"] == 32) ask(std::abs(c["error"].get<double>()) < 0.01, c);
    if (c["n"] == 64) ask(std::abs(c["error"].get<double>()) < 0.003, c);
  }
  for (const Json& c : all["S3"])
    if (c["n"] == 64) ask(std::abs(c["error"].get<double>()) < 0.005, c);
  const double first = all["S7"][0]["iterations"].get<double>();
  for (const Json& c : all["S7"]) ask(c["iterations"] <= 30 && c["iterations"] < 1.2 * first, c);
  return ask;
}

void run(const Comm& comm, bool full) {
  Json all;
  all["narrow"] = narrow(comm);
  all["S1"] = channels(comm);
  all["S2"] = spheres(comm, full ? 64 : 32);
  all["S3"] = cylinders(comm, full ? 128 : 64);
  all["S7"] = packings(comm, full ? 128 : 64);
  print_figures(comm, all, missed_by(all));
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) { return karst::run_small_or_all(argc, argv, karst::run); }
