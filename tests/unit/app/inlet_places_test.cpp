// SPDX-License-Identifier: BSD-3-Clause
// Inlets side by side: solutions of [chemistry] and tracers that enter in parts of the inlet.
#include "app/transport/initial_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "app/run/simulation.hpp"
#include "support/csv_file.hpp"
#include "support/errors.hpp"
#include "support/job_cases.hpp"
#include "support/reactive_decks.hpp"

namespace karst::inlet_places_test {
namespace {

using test::error_of;
using test::has;

/// A grain in a channel, mirrored at y = 4, and the waters of one precipitation.
const std::string channel = test::cells_along_x({12, 8, 1}) + R"(
[[geometry.solid]]
shape = "cylinder"
center = [5.3, 4, 0]
radius = 1.9
mineral = "grain"
[flow]
model = "stokes"
drive = "velocity"
velocity = 0.5
axes = ["x"]
estimate_error = false
tolerance = 1e-11
[transport]
diffusivity = 0.2
tolerance = 1e-11
[time]
end = 8
[output]
plot = ["concentration"]
)";
const std::string waters = R"(
[chemistry]
initial = "salt"
skip = 0
[[chemistry.solution]]
name = "salt"
pH = 7
totals = ["Na 1e-2 charge", "Cl 1e-2"]
[[chemistry.solution]]
name = "calcium"
pH = 7
totals = ["Ca 1e-2", "Cl 2e-2 charge"]
[[chemistry.solution]]
name = "carbonate"
pH = 10
totals = ["Na 2e-2 charge", "C(4) 1e-2"]
[[chemistry.mineral]]
phase = "Calcite"
wall = "grain"
rates = ["1e-5"]
)";

std::string enter(const std::string& below, const std::string& above) {
  return "[[chemistry.inflow]]\nsolution = \"" + below + "\"\nwhere = \"y < 4\"\n[[chemistry.inflow]]\nsolution = \"" +
         above + "\"\nwhere = \"y >= 4\"\n";
}

std::unique_ptr<LevelSet> grain() {
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Cylinder{{{5.3, 4, 0}}, 1.9}), 0));
  return union_of_solids(std::move(parts), {"grain"});
}

struct Mixing : test::JobCase {
  explicit Mixing(const std::string& deck) : JobCase(test::config_of(deck).grid, *grain()) {
    config = test::config_of(deck);
    services.exchanges.taken = {ExchangeName::flow};
    check_jobs(context);
    run_job(flow_job(), context);
    result = run_job(transport_job(), context);
    transport = test::read_columns(services.files.path("transport.csv"));
    if (config.chemistry.asked()) chemistry = test::read_columns(services.files.path("chemistry.csv"));
  }
  /// Cells of the domain, x fastest; zeros of other ranks.
  std::vector<double> field(const std::string& name) {
    std::vector<double> all(12 * 8);
    for (const JobComponent& c : result.components)
      if (c.name == name)
        for (int b = 0; b < geometry.levels[0].graph.n_local(); ++b) {
          const Box cells = geometry.levels[0].graph.box(b).cells;
          std::vector<float> values(cells.count());
          c.fill(0, b, values);
          for_each_cell(cells, [&](const Index& i) {
            const float v = values[cells.offset(i)];
            if (i[2] == 0 && i[1] < 8 && i[0] < 12 && std::isfinite(v)) all[12 * i[1] + i[0]] = v;
          });
        }
    comm.sum(std::span(all));
    return all;
  }
  JobResult result;
  std::map<std::string, std::vector<double>> transport, chemistry;
};

// Calcium enters below and carbonate above, and the other way round: elements and charge balance in every step, half of
// the flow is of each, calcite grows on the grain, and the second run is the first one mirrored
// (as far as sites are solved: the rate grows by decades where the waters meet).
TEST(InletPlacesMpi, TwoWatersMixAtAGrain) {
  Mixing one(channel + waters + enter("calcium", "carbonate")), other(channel + waters + enter("carbonate", "calcium"));
  for (Mixing* run : {&one, &other}) {
    for (const char* element : {"H", "Ca", "C(4)", "Na", "Cl"})
      for (const double x : run->chemistry.at(std::string(element) + "_imbalance")) EXPECT_LT(x, 1e-12) << element;
    for (const double x : run->chemistry.at("charge_imbalance")) EXPECT_LT(x, 1e-12);
    EXPECT_LT(run->chemistry.at("Calcite_dissolved_mol").back(), -1e-4);
    // 1e-2 mol/kgw of calcium in half of 0.5 m/s x 8 m x 1 m.
    EXPECT_NEAR(run->transport.at("Ca_inflow_C_m3_s").back(), 0.5 * 1e-2 * 4.0, 1e-9);
  }
  const double size = std::abs(one.chemistry.at("Calcite_dissolved_mol").back());
  EXPECT_NEAR(one.chemistry.at("Calcite_dissolved_mol").back() / size,
              other.chemistry.at("Calcite_dissolved_mol").back() / size, 1e-4);
  const std::vector<double> c = one.field("concentration_Ca"), mirrored = other.field("concentration_Ca");
  EXPECT_GT(c[12 * 2 + 2], 4.5e-3);
  EXPECT_LT(c[12 * 5 + 2], 3e-3);
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(c[12 * j + i], mirrored[12 * (7 - j) + i], 1e-7) << i << ", " << j;
}

// A tracer whose inflow is a formula of place; bounds hold there, too.
TEST(InletPlacesMpi, ATracer) {
  const std::string tracer = "[[transport.component]]\nname = \"dye\"\ninlet = \"y < 3 ? 1 : 0.2\"\n";
  const Mixing run(channel + tracer);
  test::expect_conserved_and_bounded(run.transport, "dye");
  EXPECT_NEAR(run.transport.at("dye_inflow_C_m3_s").back(), 0.5 * (3.0 + 0.2 * 5.0), 0.2);  // the flow is not uniform
  EXPECT_TRUE(has(error_of([&] { Mixing(channel + tracer + "bounds = [0, 0.5]\n"); }),
                  "(0, 0.5, 0.5) m and 2 other places 1 at t = 0 s is outside"));
  EXPECT_TRUE(has(error_of([&] { test::config_of("[transport]\nmode = \"steady\"\n" + tracer); }),
                  "a steady state needs a number"));
}

// Lengths meant in another unit: what should differ from place to place does not, and is told; what differs is not.
TEST(InletPlacesMpi, FormulasThatAreTheSameEverywhereAreTold) {
  const auto told = [](const std::string& more) {
    Mixing run(channel + more);
    std::string all;
    for (const std::string& w : run.result.warnings) all += w + '\n';
    return all;
  };
  const std::string dye = "[[transport.component]]\nname = \"dye\"\n";
  EXPECT_TRUE(
      has(told(dye + "initial = \"x < 6000 ? 1 : 0\"\n"), "transport.component[0].initial: \"x < 6000 ? 1 : 0\" is 1"));
  EXPECT_TRUE(has(told(dye + "inlet = \"y < 3000 ? 1 : 0.2\"\n"),
                  "component[0].inlet: \"y < 3000 ? 1 : 0.2\" is 1 everywhere"));
  EXPECT_FALSE(has(told(dye + "initial = \"x < 6 ? 1 : 0\"\ninlet = \"y < 3 ? 1 : 0.2\"\n"), "everywhere"));
  EXPECT_FALSE(has(told(dye + "initial = \"2 / 3\"\ninlet = \"1 + 1\"\n"), "everywhere"));
  const std::string never =
      "[[chemistry.inflow]]\nsolution = \"calcium\"\nwhere = \"y < 3000\"\n"
      "[[chemistry.inflow]]\nsolution = \"carbonate\"\nwhere = \"y >= 3000\"\n";
  const std::string found = told(waters + "fraction = 0\n" + never);
  EXPECT_TRUE(
      has(found, "chemistry.inflow[1].where: \"y >= 3000\" holds nowhere on the inlet, so carbonate never enters"))
      << found;
  EXPECT_TRUE(has(found, "chemistry.mineral[0].fraction: 0: no part of the wall is of Calcite")) << found;
}

TEST(InletPlacesMpi, Mistakes) {
  const auto mistakes = [&](const std::string& more) { return error_of([&] { Mixing(channel + waters + more); }); };
  const std::string low = "[[chemistry.inflow]]\nsolution = \"calcium\"\nwhere = \"y < 3\"\n",
                    high = "[[chemistry.inflow]]\nsolution = \"carbonate\"\nwhere = ";
  EXPECT_TRUE(has(mistakes(low + high + "\"y > 4\"\n"),
                  "on 1 faces of the inlet not one solution enters: at (0, 3.5, "
                  "0.5) m none"));
  EXPECT_TRUE(has(mistakes(low + high + "\"y > 1\"\n"),
                  "on 2 faces of the inlet not one solution enters: at (0, 1.5, "
                  "0.5) m 2"));
  EXPECT_TRUE(has(mistakes(low + high + "\"y > (\"\n"), "chemistry.inflow[1].where"));
  EXPECT_TRUE(has(mistakes(low + "[[chemistry.inflow]]\nsolution = \"carbonat\"\nwhere = \"y > 3\"\n"),
                  "did you mean \"carbonate\""));
  EXPECT_TRUE(has(mistakes(low + "[[chemistry.inflow]]\nsolution = \"salt\"\n"), "where: missing"));
  EXPECT_TRUE(has(mistakes("[chemistry.x]\n"), "chemistry.inlet"));  // several solutions, and none is named
}

}  // namespace
}  // namespace karst::inlet_places_test
