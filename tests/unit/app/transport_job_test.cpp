// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <sstream>
#include <tuple>

#include "app/deck/clock.hpp"
#include "app/job/files_in_time.hpp"
#include "app/reaction/reactive_past.hpp"
#include "app/transport/transport_setup.hpp"
#include "base/file/json.hpp"
#include "base/file/orderly_end.hpp"
#include "base/math/no_number.hpp"
#include "support/csv_file.hpp"
#include "support/errors.hpp"
#include "support/job_cases.hpp"
#include "transport/march/transport_stepper.hpp"

namespace karst::transport_job_test {
namespace {

using test::error_of;
using test::has;

constexpr double radius = 2.9;

/// A ball of calcite and one of quartz behind it.
std::unique_ptr<LevelSet> two_balls() {
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Sphere{{5.8, 5.1, 4.9}, radius}), 0));
  parts.push_back(of_mineral(make_level_set(Sphere{{13.8, 5.1, 4.9}, radius}), 1));
  return union_of_solids(std::move(parts), {"calcite", "quartz"});
}

/// They stand in 20 x 10 x 10 cells of 1 m between two pressures along x, the sides periodic.
struct Bed : test::JobCase {
  explicit Bed(const Comm& of) : JobCase(test::diffusion_grid({20, 10, 10}, {false, true, true}, 8), *two_balls(), of) {
    config.flow.model = FlowModel::stokes;
    config.flow.drive = FlowDrive::velocity;
    config.flow.velocity = 0.5;
    config.flow.axes = {0};
    config.flow.estimate_error = false;
    config.flow.tolerance = 1e-10;
    ComponentDeck tracer;
    tracer.name = "tracer";
    tracer.diffusivity = 0.2;
    tracer.inlet = "1";
    tracer.inlet_given = true;
    config.transport.components = {tracer};
    config.time.end_pore_volumes = 0.4;
    services.exchanges.taken = {ExchangeName::flow};
  }
  /// An inlet there in place of the drive.
  void flow_from(int side) {
    config.flow.axes = {side / 2};
    config.flow.inlets.emplace_back();
    config.flow.inlets[0].side = side;
    config.flow.inlets[0].velocity = 0.5;
  }
  JobResult run() {
    check_jobs(context);
    if (config.flow.model != FlowModel::none) run_job(flow_job(), context);
    return run_job(transport_job(), context);
  }
  /// Columns of a line of numbers; what is empty is NaN.
  std::vector<std::vector<double>> table(const std::string& name) const {
    return test::read_csv(services.files.path(name)).rows;
  }
};

enum Column : std::size_t { time, volumes, dt, outlet, mean, inflow, outflow, wall, made, least, largest, imbalance };

// Unknown where a well-mixed fluid would do nothing, or the opposite, not infinite or negative.
TEST(TransportJob, RatiosToAWellMixedFluid) {
  for (const auto& [loss, well_mixed, ratio] :
       {std::tuple(1.0, 2.0, 0.5), std::tuple(-1.0, -4.0, 0.25), std::tuple(0.0, 2.0, 0.0),
        std::tuple(1.0, 0.0, no_number), std::tuple(0.0, 0.0, no_number), std::tuple(1.0, -1.0, no_number)}) {
    WallResult wall;
    wall.loss = loss, wall.well_mixed = well_mixed;
    MineralLine line;
    line.rate = loss, line.well_mixed = well_mixed;
    for (const double found : {wall.ratio_to_well_mixed(), line.ratio()})
      EXPECT_TRUE(std::isnan(ratio) ? std::isnan(found) : found == ratio) << loss << ' ' << well_mixed << ' ' << found;
  }
}

// What flowed in and did not flow out is there, step by step; nothing leaves its bounds; a line is the same on any
// ranks.
TEST(TransportJobMpi, AFrontGoesThrough) {
  const PetscSession petsc;
  const Comm world = Comm::world();
  Bed bed(world);
  const JobResult result = bed.run();
  const auto all = result.json;
  const auto& json = all["transport"];
  const double fluid = 2000.0 - 8.0 / 3.0 * std::numbers::pi * std::pow(radius, 3);
  const double volume = json["pore_volume_time_s"].get<double>() * 0.5 * 100.0;  // of the grid
  EXPECT_NEAR(volume, fluid, 0.005 * fluid);
  const auto rows = bed.table("transport.csv");
  ASSERT_EQ(rows.size(), json["steps"].get<std::size_t>());
  double content = 0.0;
  for (const auto& row : rows) {
    content += row[dt] * (row[inflow] - row[outflow]);
    EXPECT_NEAR(content, row[mean] * volume, 1e-9 * content);
    EXPECT_NEAR(row[inflow], 0.5 * 100.0, 1e-4 * 50.0);
    EXPECT_LT(row[imbalance], 1e-11);
    EXPECT_TRUE(row[least] >= -1e-13 && row[largest] <= 1.0 + 1e-13) << row[least] << " " << row[largest] - 1.0;
  }
  EXPECT_NEAR(rows.back()[volumes], 0.4, 1e-12);
  EXPECT_NEAR(rows.back()[mean], 0.4, 0.01);
  EXPECT_LT(rows.back()[outlet], 0.05);
  ASSERT_EQ(result.balances.size(), 1U);
  EXPECT_LT(result.balances[0].relative, 1e-11);
  EXPECT_TRUE(has(result.text, "Transport along x"));
  // The profile falls from the inlet to the outlet.
  const auto profile = bed.table("profiles.csv");
  ASSERT_EQ(profile.size(), 40U);  // at the beginning and the end
  EXPECT_GT(profile[20][3], 0.9);
  EXPECT_LT(profile[39][3], 0.1);
  if (world.size() == 1) return;
  Bed alone(Comm::self());
  alone.run();
  const auto same = alone.table("transport.csv");
  ASSERT_EQ(same.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::size_t c : {time, outlet, mean, inflow, outflow, largest})
      EXPECT_NEAR(rows[i][c], same[i][c], 1e-7 * std::max(1e-3, std::abs(same[i][c]))) << i << " " << c;
}

// One of two minerals takes up one of two components, no more than k A times the inlet has; both of them take more.
TEST(TransportJob, AWallTakesUpOneOfTwoAloneByDay) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.config.transport.components.push_back(bed.config.transport.components[0]);
  bed.config.transport.components[1].name = "acid";
  bed.config.transport.walls = {{"calcite", "acid", 0.05, 0.0}};
  bed.config.time.end_pore_volumes = 1.5;
  const auto json = bed.run().json["transport"];
  const auto& acid = json["components"][1];
  EXPECT_FALSE(json["components"][0].contains("wall"));
  const auto& of_wall = acid["wall"];
  const double area = 4.0 * std::numbers::pi * radius * radius;
  EXPECT_NEAR(of_wall["area_m2"].get<double>(), area, 0.02 * area);
  const double loss = of_wall["loss_C_m3_s"];
  EXPECT_TRUE(loss > 0.3 * 0.05 * area && loss < 0.05 * area) << loss / (0.05 * area);
  EXPECT_DOUBLE_EQ(of_wall["rate_m_s"].get<double>(), 0.05);
  const double ratio = of_wall["ratio_to_well_mixed"];
  EXPECT_TRUE(ratio > 0.5 && ratio < 1.2) << ratio;
  EXPECT_NEAR(of_wall["loss_C_m3_s"].get<double>(), ratio * of_wall["well_mixed_loss_C_m3_s"].get<double>(), 1e-9);
  EXPECT_LT(acid["outlet"].get<double>(), 0.98 * json["components"][0]["outlet"].get<double>());
  EXPECT_LT(acid["largest_imbalance"].get<double>(), 1e-11);
  bed.config.transport.walls = {{"", "", 0.05, 0.0}, {"quartz", "tracer", 0.0, 0.0}};
  bed.services.exchanges.flow.columns.clear();
  const auto both = bed.run().json["transport"]["components"];
  EXPECT_NEAR(both[1]["wall"]["area_m2"].get<double>(), 2.0 * area, 0.04 * area);
  EXPECT_GT(both[1]["wall"]["loss_C_m3_s"].get<double>(), 1.2 * loss);
  EXPECT_NEAR(both[0]["wall"]["loss_C_m3_s"].get<double>() / loss, 1.0, 0.01);
  bed.config.transport.walls = {{"basalt", "acid", 0.05, 0.0}};
  EXPECT_TRUE(has(error_of([&] { check_jobs(bed.context); }), "transport.wall[0].mineral: the wall has no \"basalt\""));
}

// What a wall takes up is k A times the concentration that it is told to have, on any ranks. The grain stands where the
// numbers of the unknowns begin.
TEST(TransportJobMpi, AWallHasTheConcentrationThatItTakesUp) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.geometry = build_geometry(bed.comm, bed.grid, *make_level_set(Sphere{{2.5, 0.4, 0.3}, 1.9}), KeepPores::all);
  bed.config.flow = {};
  bed.config.time = {};
  bed.config.time.end = 20.0;
  bed.config.time.dt = 2.0;
  bed.config.transport.walls = {{"", "", 0.05, 0.0}};
  const auto json = bed.run().json["transport"]["components"][0]["wall"];
  const double loss = json["loss_C_m3_s"], concentration = json["concentration"];
  EXPECT_GT(concentration, 0.1);
  EXPECT_NEAR(loss / (0.05 * json["area_m2"].get<double>()), concentration, 1e-6 * concentration);
}

// A law of a wall that is not there: the grain of quartz lies inside of that of calcite.
TEST(TransportJobMpi, AWallThatIsNotThereIsToldAlone) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Sphere{{5.8, 5.1, 4.9}, radius}), 0));
  parts.push_back(of_mineral(make_level_set(Sphere{{5.8, 5.1, 4.9}, 1.0}), 1));
  bed.geometry =
      build_geometry(bed.comm, bed.grid, *union_of_solids(std::move(parts), {"calcite", "quartz"}), KeepPores::all);
  bed.config.transport.walls = {{"calcite", "", 0.05, 0.0}, {"quartz", "", 0.05, 0.0}};
  const std::vector<std::string> found = absent_walls(bed.context);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(has(found[0], "transport.wall[1].mineral") && has(found[0], "\"quartz\"")) << found[0];
  bed.config.walls.minerals.emplace_back();  // calcite may dissolve
  EXPECT_TRUE(absent_walls(bed.context).empty());
}

// Walls on the faces of the domain alone: no grains, whose diameter would be the length of Péclet and Damköhler
// numbers.
TEST(TransportJob, WithoutSolidNumbersHaveTheLengthOfTheDomain) {
  const PetscSession petsc;
  Bed bed(Comm::self());
  bed.geometry =
      build_geometry(bed.comm, bed.grid, *make_level_set(HalfSpace{{0.0, 0.0, 0.0}, {0.0, 0.0, 1.0}}), KeepPores::all);
  ASSERT_GT(bed.geometry.report.wall_area, 0.0);
  EXPECT_EQ(number_length(bed.context).length, 20.0);
  EXPECT_TRUE(has(number_length(bed.context).what, "that of the domain"));
  bed.config.transport.peclet_length = 20.0;  // the same length, but said by the deck
  EXPECT_EQ(number_length(bed.context).what, "");
}

// What only the whole fluid tells is found before the flow is solved.
TEST(TransportJobMpi, ProbesAndInitialValuesAreLookedAtBeforeAnyJob) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.config.output.probes = {{"inside", {5.8, 5.1, 4.9}}, {"before", {0.5, 5.0, 5.0}}};
  bed.config.transport.components[0].initial = "1 / max(0, x - 10)";
  const std::string text = error_of([&] { check_jobs(bed.context); });
  EXPECT_TRUE(has(text, "inside at (5.8, 5.1, 4.9) m is in the solid")) << text;
  EXPECT_FALSE(has(text, "before at")) << text;
  EXPECT_TRUE(has(text, "is not finite in")) << text;
}

// Asked to end in its last step, a run reports: there is nothing left to go on with. Before it, it ends.
TEST(TransportJobMpi, ARunThatIsAskedToEndInItsLastStepReports) {
  const PetscSession petsc;
  for (const double end : {4.0, 8.0}) {
    Bed bed(Comm::world());
    bed.config.flow.model = FlowModel::none;
    bed.config.transport.components[0].inlet_given = false;
    bed.config.transport.components[0].initial = "1 + 0.2*x";
    bed.config.transport.walls = {{}};
    bed.config.transport.walls[0].rate = 1e-3;
    bed.config.time = {.end = end, .dt = 4.0};
    const OrderlyEnd orderly(bed.comm, 0.0);
    std::raise(SIGTERM);
    if (end > 4.0) {
      EXPECT_THROW(run_job(transport_job(), bed.context), EarlyEnd);
      continue;
    }
    const Json wall = run_job(transport_job(), bed.context).json["transport"]["components"][0]["wall"];
    EXPECT_GT(wall["concentration"].get<double>(), 1.0);
  }
}

// A run that goes on behind its last slice leaves their list, too: it is written at the end, not with a slice alone.
TEST(TransportJobMpi, ListsOfSlicesAreThereAtTheEnd) {
  Bed bed(Comm::world());
  FilesInTime files;
  files.slices["middle"].files = {{"slice_middle_0001.vti", 0.5}, {"slice_middle_0002.vti", 1.0}};
  JobResult result;
  finish_files(bed.context, files, 1.5, result);
  std::ifstream list(bed.services.files.path("slice_middle.vti.series"));
  const std::string text{std::istreambuf_iterator<char>(list), {}};
  EXPECT_TRUE(has(text, "slice_middle_0002.vti")) << text;
  ASSERT_EQ(result.files.size(), 1U);
  EXPECT_EQ(result.files[0].name, "slice_middle.vti.series");
}

// What diffuses in a step that the flow tells is 1e12 times the volume of a cell: an error with its reason, in place of
// millions of sweeps over the grid; the same where the exchange is so large that the volume is round-off of it.
TEST(TransportJobMpi, FlowThatIsNegligibleIsAnError) {
  const PetscSession petsc;
  for (const double velocity : {1e-13, 1e-30}) {
    Bed bed(Comm::world());
    bed.config.flow.velocity = velocity;
    const std::string text = error_of([&] { bed.run(); });
    EXPECT_TRUE(has(text, "by diffusion, which needs more than 20000 sub-steps")) << text;
  }
}

// Nothing flows: a slab between two concentrations ends in the straight line between them.
TEST(TransportJob, DiffusionAloneEndsInALineAloneByDay) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.config.flow.model = FlowModel::none;
  ComponentDeck& c = bed.config.transport.components[0];
  c.outlet = "3";
  c.initial = "1 + 0.2*x";
  bed.config.time = {.end = 4000.0, .dt = 200.0};
  const auto json = bed.run().json["transport"];
  EXPECT_EQ(json["steps"].get<int>(), 26);  // 20, the first of them in seven that grow: the outlet begins with a jump
  EXPECT_NEAR(json["components"][0]["mean"].get<double>(), 2.0, 0.02);
  const auto profile = bed.table("profiles.csv");
  EXPECT_NEAR(profile[20][3], 1.05, 0.02);
  EXPECT_NEAR(profile[39][3], 2.95, 0.02);
  c.initial = "1/(x - x)";
  EXPECT_TRUE(has(error_of([&] { check_jobs(bed.context); }), "must be finite"));
}

// A reacting wall that the initial values do not fit, and one step as long as the run: it begins short, and grows. Mean
// and Sherwood number of 200 steps (one step: 1.5e-2 and 14 % off).
TEST(TransportJob, AWallIsMetInShortStepsAlone) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.config.flow.model = FlowModel::none;
  bed.config.transport.walls = {{"", "", 0.2, 0.0}};
  ComponentDeck& c = bed.config.transport.components[0];
  c.inlet_given = false;
  c.initial = "1";
  std::vector<double> means, numbers;
  for (const double steps : {200.0, 1.0}) {
    bed.config.time = {.end = 50.0, .dt = 50.0 / steps};
    const auto json = bed.run().json["transport"]["components"][0];
    means.push_back(json["mean"]);
    numbers.push_back(json["wall"]["sherwood"]);
  }
  EXPECT_NEAR(means[1] / means[0], 1.0, 5e-4);
  EXPECT_NEAR(numbers[1] / numbers[0], 1.0, 0.03);
}

// The Péclet number sets the velocity, and a flow that an earlier run has solved carries the same.
TEST(TransportJobMpi, GoesOnFromAFlowThatIsSolved) {
  const PetscSession petsc;
  std::vector<std::vector<double>> first;
  Bed bed(Comm::world());
  bed.config.transport.diffusivity = 0.2;
  bed.config.transport.peclet = 30.0;
  bed.config.transport.peclet_length = 6.4;
  bed.config.time.end_pore_volumes = 0.1;
  for (const bool resume : {false, true}) {
    SolveStore& store = bed.services.solved;
    store = {bed.comm, bed.folder.path() + "/solved", "[flow]\nmodel = \"stokes\"\n", resume};
    bed.services.exchanges.flow.columns.clear();
    const JobResult result = bed.run();
    const auto json = result.json["transport"];
    EXPECT_EQ(store.n_read(), resume ? 1 : 0);
    const double flow = bed.services.exchanges.flow.columns.at(0).reynolds;
    EXPECT_NEAR(json["reynolds"].get<double>() / (json["flow_factor"].get<double>() * flow), 1.0, 1e-3);
    EXPECT_TRUE(has(join(result.warnings, "\n"), "transport.peclet: the flow scaled to it has a Reynolds number"));
    EXPECT_NEAR(json["components"][0]["peclet"].get<double>(), 30.0, 1e-9);
    EXPECT_NEAR(json["pore_velocity_m_s"].get<double>(), 30.0 * 0.2 / 6.4, 1e-9);
    if (resume)
      EXPECT_EQ(bed.table("transport.csv"), first);
    else
      first = bed.table("transport.csv");
  }
  EXPECT_FALSE(first.empty());
}

TEST(TransportJobMpi, WithoutDiffusivityTheCellsSpreadWhatIsCarried) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.config.time.end_pore_volumes = 0.02;
  const auto told = [&](double diffusivity) {
    bed.config.transport.components[0].diffusivity = diffusivity;
    return has(join(bed.run().warnings, "\n"), "transport, tracer: without diffusivity the cells alone spread it");
  };
  EXPECT_TRUE(told(0.0));
  EXPECT_FALSE(told(0.2));
}

// Values fixed on an end are taken where steps begin and end. What flows in is a mean, which misses nothing.
TEST(TransportJobMpi, APulseBetweenTheEndsOfAStepIsTold) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.config.time.end_pore_volumes = 0.05;
  const auto warnings_of = [&](EndKind kind) {
    bed.config.transport.components[0].inlet_kind = kind;
    return join(bed.run().warnings, "\n");
  };
  const double step = bed.run().json["transport"]["longest_step_s"];
  bed.config.transport.components[0].inlet = fmt::format("exp(-((t - {:.17g}) / {:.17g})^2)", 1.5 * step, 0.05 * step);
  EXPECT_TRUE(has(warnings_of(EndKind::value), "100 % of it are missed"));
  EXPECT_FALSE(has(warnings_of(EndKind::flux), "missed"));
}

// A velocity on an end carries as a drive does, whichever end it is: what came in is there, nothing leaves its bounds,
// the walls that it flows along take none, and a front is through after some pore volumes.
TEST(TransportJobMpi, AnInletCarries) {
  const PetscSession petsc;
  const Comm world = Comm::world();
  for (const int side : {1, 2}) {
    const int axis = side / 2;
    Bed bed(world);
    GridOptions grid = test::diffusion_grid({20, 10, 10}, {false, false, true}, 8);
    const Geometry geometry = build_geometry(world, grid, *two_balls(), KeepPores::all);
    bed.flow_from(side);
    bed.config.time.end_pore_volumes = side == 2 ? 1.4 : 0.1;
    JobContext context{world, bed.config, grid, test::ground_on(world, geometry), bed.services};
    check_jobs(context);
    run_job(flow_job(), context);
    const JobResult result = run_job(transport_job(), context);
    const auto json = result.json["transport"];
    const double sign = side % 2 == 0 ? 1.0 : -1.0, rate = 0.5 * (axis == 0 ? 100.0 : 200.0);
    EXPECT_NEAR(json["darcy_velocity_m_s"].get<double>(), sign * 0.5, 1e-6) << side;
    const double volume = json["pore_volume_time_s"].get<double>() * rate;
    const auto rows = bed.table("transport.csv");
    double content = 0.0;
    for (const auto& row : rows) {
      content += row[dt] * (row[inflow] - row[outflow]);
      EXPECT_NEAR(content, row[mean] * volume, 1e-7 * content);
      EXPECT_NEAR(row[inflow], rate, 1e-5 * rate);
      EXPECT_LT(row[imbalance], 1e-11);
      EXPECT_TRUE(row[least] >= -1e-13 && row[largest] <= 1.0 + 1e-13) << row[least] << " " << row[largest] - 1.0;
    }
    if (side == 2) {
      EXPECT_GT(rows.back()[outlet], 0.8);
      continue;
    }
    // The profile falls along the flow.
    const auto profile = bed.table("profiles.csv");
    ASSERT_EQ(profile.size(), 40U);
    EXPECT_GT(profile[39][3], 0.5);
    EXPECT_LT(profile[20][3], 0.01);
  }
}

// The Péclet number makes the flow of an inlet faster, too.
TEST(TransportJobMpi, APecletNumberScalesAnInlet) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  bed.flow_from(1);
  bed.config.transport.diffusivity = 0.2;
  bed.config.transport.peclet = 30.0;
  bed.config.transport.peclet_length = 6.4;
  bed.config.time.end_pore_volumes = 0.05;
  const auto json = bed.run().json["transport"];
  EXPECT_NEAR(json["pore_velocity_m_s"].get<double>(), -30.0 * 0.2 / 6.4, 1e-9);
  const double rate = 30.0 * 0.2 / 6.4 * bed.geometry.report.connected_porosity * 100.0;
  EXPECT_NEAR(bed.table("transport.csv").back()[inflow], rate, 1e-5 * rate);
}

// Lines of tables and jumps of formulas are times at which steps end.
TEST(TransportJob, StepsEndWhereInletsBendAndJump) {
  TransportDeck deck;
  deck.components.resize(3);
  deck.components[0].inlet = "t >= 0.7 && t < 2.3 ? 1 : 0";
  deck.components[1].inlet_table = TimeTable{{0.0, 5.0, 5.25, 9.0, 12.0}, {0.0, 0.0, 1.0, 0.0, 0.0}};
  deck.components[2].outlet = "2 + sin(t)";
  const std::vector<double> breaks = breaks_of(deck, 10.0);
  const std::vector<double> wanted{0.7, 2.3, 5.0, 5.25, 9.0};
  for (const double t : wanted)
    EXPECT_TRUE(std::ranges::any_of(breaks, [&](double b) { return std::abs(b - t) <= 1e-15 * t; })) << t;
  for (const double b : breaks)
    EXPECT_TRUE(std::ranges::any_of(wanted, [&](double t) { return std::abs(b - t) <= 1e-15 * t; })) << b;
  TimeOptions times{.end = 10.0, .dt = 1.0};
  times.breaks = breaks;
  EXPECT_TRUE(break_warnings(times).empty());
  times.dt = 5.0;
  EXPECT_TRUE(has(break_warnings(times).at(0), "6 steps instead of 2"));
  times.breaks.clear();
  times.jumps = {0.0};  // steps begin short, whatever a table holds
  EXPECT_TRUE(break_warnings(times).empty());
  deck.components[0].inlet = "sin(1e7 * t) > 0 ? 1 : 0";
  EXPECT_TRUE(has(error_of([&] { breaks_of(deck, 10.0); }), "jumps more than 10000 times"));
}

// A square pulse brings in what it holds, to round-off, whatever the steps: as a formula and as a table with two jumps.
// So does, to 1e-4, a smooth one that is much shorter than a step.
TEST(TransportJobMpi, APulseBringsInItsMass) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  ComponentDeck other = bed.config.transport.components[0], smooth = other;
  other.name = "other";
  smooth.name = "smooth";
  bed.config.transport.components[0].inlet = "t >= 0.31 && t < 1.77 ? 2 : 0";
  other.inlet_table = TimeTable{{0.0, 0.5, 0.5, 1.1, 1.1}, {0.0, 0.0, 1.0, 3.0, 0.0}};
  smooth.inlet = "exp(-((t - 2.2)/0.002)^2)";
  bed.config.transport.components.push_back(other);
  bed.config.transport.components.push_back(smooth);
  bed.config.time = {.end = 3.0, .dt = 0.4};
  bed.run();
  const auto rows = bed.table("transport.csv");
  constexpr std::size_t next = imbalance - outlet + 1;  // columns of a component
  double first = 0.0, second = 0.0, third = 0.0, flow = 0.0;
  for (const auto& row : rows) {
    first += row[dt] * row[inflow];
    second += row[dt] * row[inflow + next];
    third += row[dt] * row[inflow + 2 * next];
    if (row[time] <= 1.77 && row[time] > 0.31 + 1e-9) flow = row[inflow] / 2.0;
  }
  EXPECT_NEAR(flow, 50.0, 1e-3);  // 0.5 m/s through 100 m²
  // The file has ten digits of dt, twelve of the amounts.
  EXPECT_NEAR(first, 2.0 * (1.77 - 0.31) * flow, 1e-10 * first);
  EXPECT_NEAR(second, 2.0 * 0.6 * flow, 1e-10 * second);
  EXPECT_NEAR(third, 0.002 * std::sqrt(std::numbers::pi) * flow, 1e-4 * third);
}

// Regions win over the component's value, the last of several; an array gives one value per cell.
TEST(TransportJobMpi, StartsFromRegionsAndFromAnArray) {
  const PetscSession petsc;
  Bed bed(Comm::world());
  const std::string file = bed.folder.path() + "/start.raw";
  if (bed.comm.rank() == 0) {
    std::ofstream out(file, std::ios::binary);
    for (int z = 0; z < 10; ++z)
      for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 20; ++x) {
          const double value = 0.01 * x + 0.1 * (y % 2);
          out.write(reinterpret_cast<const char*>(&value), sizeof(value));
        }
  }
  bed.comm.sum(std::int64_t{0});  // the file is there
  ComponentDeck& tracer = bed.config.transport.components[0];
  tracer.initial_file = file;
  tracer.bounds = {{0.0, 3.0}};
  SolidOptions box;
  box.shape = SolidShape::box;
  box.lo = {4.0, 0.0, 0.0};
  box.hi = {16.0, 10.0, 10.0};
  SolidOptions ball;
  ball.shape = SolidShape::sphere;
  ball.center = {10.0, 5.0, 5.0};
  ball.radius = 2.0;
  bed.config.transport.regions = {{"", "1 + x / 100", box}, {"tracer", "3", ball}};
  const auto initial = initial_values(bed.context, -1);
  const auto composite = test::composite_on(bed.comm, bed.geometry);
  ScalarComponent c;
  TransportStepper stepper(composite, {c});
  const ScalarGrid& grid = stepper.grid();
  std::vector<double> values(grid.n_own);
  initial[0]->fill(bed.comm, grid, values);
  std::array<std::int64_t, 3> seen{};
  for (std::size_t v = 0; v < values.size(); ++v) {
    const Vec3& x = grid.centroid[v];
    const bool in_ball = norm(x - ball.center)<2.0, in_box = x[0]> 4.0 && x[0] < 16.0;
    const double cell = static_cast<float>(0.01 * std::floor(x[0]) + 0.1 * (static_cast<int>(x[1]) % 2));
    EXPECT_NEAR(values[v], in_ball ? 3.0 : in_box ? 1.0 + x[0] / 100.0 : cell, 1e-7);
    ++seen[in_ball ? 0 : in_box ? 1 : 2];
  }
  bed.comm.sum(std::span(seen));
  for (const std::int64_t n : seen) EXPECT_GT(n, 20);
  tracer.bounds = {{0.0, 2.0}};
  EXPECT_TRUE(has(error_of([&] { require_initial(bed.context, 0, values); }), "outside the given bounds"));
}

// What the deck cannot do is said before any work.
TEST(TransportJob, MistakesOfADeckAreToldTogether) {
  const auto mistakes_of = [](const std::string& more) {
    return error_of([&] {
      Reader in = Reader::from_text(
          "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\n[grid]\ncells = [8, 8, 8]\nsize = "
          "[8, 8, 8]\nperiodic = [true, false, true]\n" +
          more);
      read_config(in);
      in.finish();
    });
  };
  const std::string component = "[[transport.component]]\nname = \"a\"\ninlet = 1\n";
  const std::string flow = "[flow]\nmodel = \"stokes\"\ndrive = \"pressure-drop\"\naxes = [\"y\"]\n";
  EXPECT_EQ(mistakes_of(component + flow + "[time]\nend_pore_volumes = 2\n"), "");
  std::string text = mistakes_of(component + "inlet_kind = \"flux\"\n[time]\nend = 1\noutput_pore_volumes = 1\n");
  for (const char* part : {"time.dt: missing", "output_pore_volumes", "periodic along x", "inlet_kind"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  text = mistakes_of(component +
                     "[transport]\npeclet = 3\naxis = \"y\"\n[flow]\nmodel = \"steady\"\ndrive = \"pressure-drop\"\n"
                     "reservoir = 4\n[time]\nend = 1\nend_pore_volumes = 1\noutput = 2\nscheme = \"bdf2\"\n");
  for (const char* part : {"flow.axes: 3 directions", "transport.axis", "transport.peclet", "time.end_pore_volumes",
                           "time.output", "time.scheme"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  EXPECT_TRUE(has(mistakes_of(component + flow), "time.end: missing"));
  const std::string free = "reservoir = 4\n[time]\nend_pore_volumes = 2\n";
  EXPECT_EQ(mistakes_of(component + flow + free), "");
  EXPECT_TRUE(has(mistakes_of(component + flow + free + "[diffusion]\naxes = [\"y\"]\n"), "a deck of its own"));
  EXPECT_TRUE(has(mistakes_of(component + "[flow]\nreservoir = 4\n[time]\nend = 1\ndt = 1\n"),
                  "flow.reservoir: the domain is periodic along x"));
  EXPECT_TRUE(has(mistakes_of("[flow]\nreservoir = 4\n"), "flow.reservoir: given without"));
  const std::string inlet = "[flow]\nmodel = \"stokes\"\n[[flow.inlet]]\nside = \"+SIDE\"\nvelocity = 1\n";
  const auto at = [&](char axis) {
    std::string one = inlet;
    return one.replace(one.find("SIDE"), 4, 1, axis) + "[time]\nend_pore_volumes = 1\n";
  };
  EXPECT_EQ(mistakes_of(component + at('y')), "");
  EXPECT_TRUE(has(mistakes_of(component + at('x')), "periodic along x, so nothing flows in or out"));
  EXPECT_TRUE(has(mistakes_of(flow + "[output]\nplot = [\"concentration\"]\n"), "belongs to a job"));
}

}  // namespace
}  // namespace karst::transport_job_test
