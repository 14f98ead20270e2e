// SPDX-License-Identifier: BSD-3-Clause
// Job `flow` in time from an inlet.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "app/flow/flow_job.hpp"
#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "app/run/simulation.hpp"
#include "base/file/json.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/job_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::flow_in_time_test {
namespace {

using test::error_of;
using test::has;

struct Channel : test::DiscInChannel {
  explicit Channel(bool refined = false) : DiscInChannel(FlowModel::navier_stokes, refined) {
    config.time = {4e5, 2e4, 0.0, StepScheme::bdf2};
  }
  Json run() {
    check_jobs(context);
    return run_job(flow_job(), context).json["flow_in_time"];
  }
  std::string history() const {
    std::ifstream file(folder.path() + "/history.csv");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
};

// What flows in grows with time as a formula, a table or the profile says, which is the same flow.
TEST(FlowFromAnInletInTime, FormulaTableAndProfileAreTheSameAloneByDay) {
  std::array<double, 3> drop{};
  for (const std::size_t way : {0, 1, 2}) {
    Channel channel;
    FlowOptions& flow = channel.config.flow;
    if (way == 0) flow.drive_factor = "t / 4e5";
    if (way == 1) flow.drive_table = TimeTable{{0.0, 4e5}, {0.0, 1.0}};
    if (way == 2) flow.inlets[0].profile = "t / 4e5 + 0*y";
    const auto json = channel.run();
    EXPECT_EQ(json["boundaries"], "inlet");
    EXPECT_NEAR(json["darcy_velocity_m_s"][0].get<double>(), 4e-6, 1e-11) << way;
    drop[way] = json["pressure_gradient_Pa_m"].get<double>();
    EXPECT_GT(drop[way], 1e3 * 4e-6 / 4e5) << "what accelerates the water alone";
    EXPECT_NEAR(drop[way] / drop[0], 1.0, 1e-6) << way;
  }
}

/// What begins as the steady flow stays as it is, and so do the forces; the power of pressure is the sum of its parts;
/// a line of the history has what its first line names.
void expect_steady_flow_stays(bool refined) {
  Channel channel(refined);
  FlowOptions& flow = channel.config.flow;
  flow.sides = FlowWalls::no_slip;
  flow.inlets[0].profile = "parabolic";
  flow.bodies.push_back({"disc", "", 0.0, 3.0});
  flow.model = FlowModel::steady;
  const auto steady = run_job(flow_job(), channel.context).json["inlet_flow"]["bodies"][0];
  flow.model = FlowModel::navier_stokes;
  flow.start = FlowStart::steady;
  const auto json = channel.run();
  for (const char* part : {"force_N", "pressure_force_N", "friction_force_N", "force_coefficient"})
    EXPECT_NEAR(json["bodies"][0][part][0].get<double>() / steady[part][0].get<double>(), 1.0, 1e-6) << part;
  const auto power = [&](const std::string& part) {
    return json[part + "_W_m3"].get<double>() / json["power_W_m3"].get<double>();
  };
  double parts = 0.0;
  for (const char* part : {"dissipation", "kinetic_energy_growth", "time_scheme", "advection", "pressure_coupling"})
    parts += power(part);
  EXPECT_NEAR(parts, 1.0, 1e-6);
  EXPECT_NEAR(power("dissipation"), 1.0, 0.1);
  if (channel.comm.rank() != 0) return;
  std::istringstream text(channel.history());
  std::string first, line;
  std::getline(text, first);
  EXPECT_NE(first.find("outflow_m3_s,disc_force_x_N"), std::string::npos) << first;
  int n = 0;
  for (; std::getline(text, line); ++n)
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(first, ',')) << line;
  EXPECT_EQ(n, json["steps"].get<int>());
}

/// Water pushed in on the other side is the mirror image: velocities, drive and forces change their sign, powers do
/// not.
TEST(FlowFromAnInletInTimeMpi, FromTheOtherSideIsTheMirrorImage) {
  const auto flow_from = [](int side) {
    Channel channel;
    FlowOptions& flow = channel.config.flow;
    flow.sides = FlowWalls::no_slip;
    flow.inlets[0].side = side;
    flow.inlets[0].profile = "parabolic";
    flow.bodies.push_back({"disc", "", 0.0, 3.0});
    if (side == 1)
      channel.geometry =
          build_geometry(channel.comm, channel.grid, *make_level_set(Cylinder{{{14, 3.9, 0}}, 1.5}), KeepPores::all);
    return channel.run();
  };
  const auto low = flow_from(0), high = flow_from(1);
  for (const char* name : {"power", "dissipation", "kinetic_energy_growth", "advection", "pressure_coupling"}) {
    const double here = low[std::string(name) + "_W_m3"].get<double>();
    EXPECT_NEAR(high[std::string(name) + "_W_m3"].get<double>(), here, 1e-6 * low["power_W_m3"].get<double>()) << name;
  }
  EXPECT_GT(low["power_W_m3"].get<double>(), 0.0);
  EXPECT_NEAR(high["pressure_gradient_Pa_m"].get<double>() / low["pressure_gradient_Pa_m"].get<double>(), -1.0, 1e-6);
  EXPECT_NEAR(high["darcy_velocity_m_s"][0].get<double>() / low["darcy_velocity_m_s"][0].get<double>(), -1.0, 1e-9);
  EXPECT_NEAR(high["bodies"][0]["force_N"][0].get<double>() / low["bodies"][0]["force_N"][0].get<double>(), -1.0, 1e-6);
}

TEST(FlowFromAnInletInTimeMpi, SteadyFlowAndItsForcesStay) { expect_steady_flow_stays(false); }
TEST(FlowFromAnInletInTimeMpi, SteadyFlowAndItsForcesStayOnTwoLevels) { expect_steady_flow_stays(true); }

// The parabola between two walls is what probes find at any place; one in the solid, and one outside, are named.
TEST(FlowFromAnInletInTimeMpi, ProbesInAParabolaAreExact) {
  Channel channel;
  FlowOptions& flow = channel.config.flow;
  flow.sides = FlowWalls::no_slip;
  flow.inlets[0].profile = "parabolic";
  flow.start = FlowStart::steady;
  channel.config.time.end = 4e4;
  channel.config.output.probes = {{"a", {7.3, 2.9, 0.5}}, {"wall", {11.0, 0.2, 0.1}}, {"b", {9.3, 2.9, 0.5}}};
  channel.geometry = build_geometry(channel.comm, channel.grid, test::DistanceFunction([](const Vec3&) { return 1e6; }),
                                    KeepPores::all);
  const auto probes = channel.run()["probes"];
  for (std::size_t i = 0; i < 3; ++i) {
    const double s = channel.config.output.probes[i].position[1] / 8.0;
    EXPECT_NEAR(probes[i]["velocity_m_s"][0].get<double>() / (4e-6 * 6.0 * s * (1.0 - s)), 1.0, 1e-5) << i;
    EXPECT_NEAR(probes[i]["velocity_m_s"][1].get<double>(), 0.0, 1e-11) << i;
  }
  EXPECT_NEAR((probes[0]["pressure_Pa"].get<double>() - probes[2]["pressure_Pa"].get<double>()) /
                  (2.0 * 12.0 * 1e-3 * 4e-6 / 64.0),
              1.0, 1e-4);
  Channel solid;
  solid.config.output.probes = {{"inside", {6.0, 3.9, 0.5}}};
  EXPECT_TRUE(has(error_of([&] { check_jobs(solid.context); }), "inside at (6, 3.9, 0.5) m is in the solid"));
  solid.config.output.probes = {{"far", {21.0, 3.9, 0.5}}};
  EXPECT_TRUE(has(error_of([&] { solid.run(); }), "far is at 21 m along x, beyond the domain, which ends at 20 m"));
}

// A run that begins with the plotfile of another goes on as that did; on other cells with nearly the same force.
TEST(FlowFromAnInletInTime, GoesOnFromAPlotfileAloneByDay) {
  Channel first;
  const auto set = [](Channel& channel) {
    channel.config.fluid.viscosity = 1e-2;  // what starts at the wall has come one cell far
    channel.config.flow.bodies.push_back({"disc", "", 0.0, 3.0});
    channel.config.output.plot = {PlotField::velocity, PlotField::pressure};
  };
  set(first);
  first.config.time.output = 2e5;
  first.services.files.plot = [&](const std::string& name, double time, const std::vector<JobComponent>& components) {
    write_plot(first.context, Source{}, first.folder.path() + "/" + name, components, time);
  };
  const double whole = first.run()["bodies"][0]["force_N"][0].get<double>();
  const std::string file = first.folder.path() + "/output_0001.vtkhdf";
  Channel second;
  set(second);
  second.config.flow.start_file = file;
  second.config.time.end = 2e5;
  EXPECT_NEAR(second.run()["bodies"][0]["force_N"][0].get<double>() / whole, 1.0, 2e-3);
  std::array<double, 2> fine{};
  for (const std::size_t from_file : {0U, 1U}) {
    Channel half;
    set(half);
    half.grid.cells = {40, 16, 2};
    half.geometry =
        build_geometry(half.comm, half.grid, *make_level_set(Cylinder{{{12, 7.8, 0}}, 3.0}), KeepPores::all);
    if (from_file == 1U) half.config.flow.start_file = file;
    if (from_file == 1U) half.config.time.end = 2e5;
    fine[from_file] = half.run()["bodies"][0]["force_N"][0].get<double>();
  }
  EXPECT_NEAR(fine[1] / fine[0], 1.0, 0.02);
  Channel longer;
  longer.grid.size[0] = 21.0;
  longer.config.flow.start_file = file;
  EXPECT_TRUE(
      has(error_of([&] { check_jobs(longer.context); }), "domain has the size 20 x 8 x 1 m, but this one has 21"));
}

TEST(FlowFromAnInletInTimeMpi, MistakesAreFoundBeforeTheSolve) {
  Channel channel;
  FlowOptions& flow = channel.config.flow;
  flow.drive_table = TimeTable{{0.0, 1e5}, {0.0, 1.0}};
  flow.inlets[0].profile = "1 / (t - 2e5)";
  std::string text = error_of([&] { check_jobs(channel.context); });
  EXPECT_TRUE(has(text, "flow.drive_table: covers 0 to 100000 s, but the run 0 to 400000 s")) << text;
  EXPECT_TRUE(has(text, "no finite value at (0, 0.5, 0.5) m and 2e+05 s")) << text;
  flow.inlets[0].profile = "(y - 4) * t";
  text = error_of([&] { check_jobs(channel.context); });
  EXPECT_TRUE(has(text, "has a mean of 0 over the inlet at all times")) << text;
  flow.inlets[0].profile = "1";
  flow.drive_table = {};
  flow.drive_factor = "t";
  flow.start = FlowStart::stokes;
  channel.config.time.dt = 1e4;
  channel.config.output.slices = {{.name = "far", .axis = 0, .at = 21.0, .every = 1e5}};
  text = error_of([&] { check_jobs(channel.context); });
  EXPECT_TRUE(has(text, "flow.start: the factor on the driving force is 0 at time 0")) << text;
  EXPECT_TRUE(has(text, "output.slice[0].at: 21 m along x, beyond the domain, which ends at 20 m")) << text;
}

}  // namespace
}  // namespace karst::flow_in_time_test
