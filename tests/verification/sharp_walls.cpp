// SPDX-License-Identifier: BSD-3-Clause
// Measures Stokes flow around cubes of 7/16 of their period at 40 places on the grid, walls on cell centres included,
// along x, y and z, and around square prisms, and prints it as JSON. Ends with status 1 if cubes or prisms do not meet
// the requirements in run().
//   karst-verify-sharp [--full]   all 40 places, and cubes also on 48 and 64 cells per period; else 10 places
#include <fmt/core.h>

#include <map>

#include "support/sharp_cases.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

/// Cubes, or prisms along z.
Json around(const Comm& comm, bool cube, int n, int axis, int step) {
  const double exact = cube ? test::cube : axis == 2 ? test::prism_along : test::prism_across;
  double least = 1e30, largest = -1e30, least_drag = 1e30, largest_drag = 0.0;
  int most = 0;
  for (int i = 0; i < 40; i += step) {
    const test::BoxFlow f = test::flow_around_box(comm, {n, n, cube ? n : 1}, axis, test::place_on_grid(i));
    const double error = f.permeability[axis] / exact - 1.0;
    least = std::min(least, error);
    largest = std::max(largest, error);
    least_drag = std::min(least_drag, f.drag);
    largest_drag = std::max(largest_drag, f.drag);
    most = std::max(most, f.iterations);
  }
  return {{"body", cube ? "cube" : "prism"},
          {"n", n},
          {"axis", std::string(1, "xyz"[axis])},
          {"places", 40 / step},
          {"least", least},
          {"largest", largest},
          {"worst", std::max(std::abs(least), std::abs(largest))},
          {"least_drag", least_drag},
          {"largest_drag", largest_drag},
          {"iterations", most}};
}

void run(const Comm& comm, bool full) {
  Json rows = Json::array();
  Asked ask;
  std::map<int, double> worst;  // by cells per period, of all axes
  for (const int n : {16, 24, 32, 48, 64}) {
    if (n > 32 && !full) break;
    for (int axis = 0; axis < 3; ++axis) {
      rows.push_back(around(comm, true, n, axis, full && n < 48 ? 1 : 4));
      worst[n] = std::max(worst[n], rows.back()["worst"].get<double>());
    }
  }
  const auto order = [&](int coarse, int fine) { return std::log2(worst.at(coarse) / worst.at(fine)); };
  ask(worst.at(32) <= 0.003, fmt::format("rows of edges: error {} on 32 cells", worst.at(32)));
  for (const auto& [coarse, fine] : {std::pair(16, 32), std::pair(24, 48), std::pair(32, 64)})
    if (fine <= 32 || full) ask(order(coarse, fine) >= 1.8, fmt::format("order below 1.8 on {} cells", fine));
  // Without edge rows: 4.3 % on 16 cells per period, 1.9 % on 32, 0.9 % on 64 (decision 015).
  for (const auto& [n, limit] : {std::pair(16, 0.0075), std::pair(32, 0.002), std::pair(64, 0.0008)})
    for (int axis = 0; axis < 3; ++axis) {
      rows.push_back(around(comm, false, n, axis, full ? 1 : 4));
      ask(rows.back()["worst"] <= limit, rows.back());
    }
  print_figures(comm, rows, ask);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) { return karst::run_small_or_all(argc, argv, karst::run); }
