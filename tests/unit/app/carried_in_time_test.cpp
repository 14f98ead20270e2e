// SPDX-License-Identifier: BSD-3-Clause
// What a flow in time carries, step by step with it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "app/job/run_services.hpp"
#include "app/run/simulation.hpp"
#include "app/transport/transport_job.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/csv_file.hpp"
#include "support/diffusion_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/job_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::carried_in_time_test {
namespace {

enum Column : std::size_t {
  time,
  volumes,
  dt,
  outlet,
  mean,
  inflow,
  outflow,
  wall,
  made,
  least,
  largest,
  imbalance,
  probes
};

/// What is pushed in is dyed.
struct DyedChannel : test::DiscInChannel {
  explicit DyedChannel(FlowModel model, bool refined = false) : DiscInChannel(model, refined) {
    ComponentDeck dye;
    dye.name = "dye";
    dye.diffusivity = 1e-6;
    dye.inlet = "1";
    dye.inlet_given = true;
    config.transport.components = {dye};
    config.time.end = 2e6;
    services.exchanges.taken = {ExchangeName::flow};
  }
  /// The results of the transport.
  Json run() {
    check_jobs(context);
    Json transport;
    const std::array jobs{flow_job(), transport_job()};
    Simulation(context, jobs).run([&](const JobResult& result) {
      const Json json = result.json;
      if (json.contains("transport")) transport = json["transport"];
    });
    return transport;
  }
  std::vector<std::vector<double>> table() const { return test::read_csv(services.files.path("transport.csv")).rows; }
};

void expect_kept(const std::vector<std::vector<double>>& rows, double low, double high) {
  for (const auto& row : rows) {
    EXPECT_LT(row[imbalance], 1e-12) << "at " << row[time];
    EXPECT_TRUE(row[least] >= low - 1e-13 && row[largest] <= high + 1e-13) << row[least] << " " << row[largest];
  }
}

// A flow that stays as it is carries as the steady flow does, and probes see the same.
TEST(CarriedInTime, AFlowThatStaysIsASteadyOneAloneByDay) {
  for (const bool refined : {false, true}) {
    DyedChannel steady(FlowModel::steady, refined), in_time(FlowModel::navier_stokes, refined);
    in_time.config.flow.start = FlowStart::steady;
    in_time.config.time.cfl_leads = true;
    for (DyedChannel* channel : {&steady, &in_time}) {
      channel->config.time.end = 6e5;
      channel->config.output.probes = {{"before", {2.3, 5.2, 0.5}}, {"beside", {6.1, 1.3, 0.5}}};
    }
    steady.run();
    const Json json = in_time.run();
    const auto rows = in_time.table(), same = steady.table();
    expect_kept(rows, 0.0, 1.0);
    EXPECT_NEAR(rows.back()[mean], same.back()[mean], 2e-3 * same.back()[mean]) << refined;  // other steps
    for (std::size_t probe = probes; probe < probes + 2; ++probe)
      EXPECT_NEAR(rows.back()[probe], same.back()[probe], 5e-3) << refined << " " << probe - probes;
    EXPECT_NEAR(rows.back()[volumes], same.back()[volumes], 1e-6 * same.back()[volumes]);
    EXPECT_NEAR(json["darcy_velocity_m_s"].get<double>(), 4e-6, 1e-11);
    EXPECT_TRUE(json["pore_volume_time_s"].is_null());
  }
}

// Probes of what diffuses alone, before it has moved: exact where it is a quadratic function, next to the wall too, and
// within its bounds where it jumps.
TEST(CarriedInTimeMpi, ProbesAreExactAndBounded) {
  for (const bool refined : {false, true}) {
    DyedChannel channel(FlowModel::none, refined);
    ComponentDeck& dye = channel.config.transport.components[0];
    channel.config.flow.inlets.clear();
    channel.config.time.end = 1.0;  // far less than h² / D = 1e6
    channel.config.output.probes = {
        {"front", {7.6, 5.2, 0.5}}, {"behind", {8.4, 6.7, 0.1}}, {"wall", {7.7, 3.9, 0.5}}, {"end", {19.8, 0.1, 0.9}}};
    dye.initial = "(x + 0.3*y)^2/600 + 0.1*y";
    channel.run();
    const auto smooth = channel.table();
    for (std::size_t i = 0; i < 4; ++i) {
      const Vec3& at = channel.config.output.probes[i].position;
      EXPECT_NEAR(smooth.back()[probes + i], std::pow(at[0] + 0.3 * at[1], 2) / 600.0 + 0.1 * at[1], 1e-6)
          << i << refined;
    }
    dye.initial = "x < 8";
    const Json json = channel.run();
    const auto sharp = channel.table();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(sharp.back()[probes + i] >= 0.0 && sharp.back()[probes + i] <= 1.0);
    EXPECT_GT(sharp.back()[probes], 0.5);
    EXPECT_LT(sharp.back()[probes + 1], 0.5);
    EXPECT_EQ(json["probes"][0]["name"].get<std::string>(), "front");
    EXPECT_NEAR(json["probes"][0]["concentration"][0].get<double>(), sharp.back()[probes], 1e-9);
    EXPECT_EQ(json["history"]["probe_3"][0].size(), json["history"]["time_s"].size());
    channel.config.output.probes = {{"inside", {6.0, 3.9, 0.5}}};
    EXPECT_THROW(channel.run(), Error);
  }
}

// A stream that sets in: of second order in the steps of both. What has come in is what the history says.
TEST(CarriedInTime, AStartIsOfSecondOrderAloneByDay) {
  std::vector<double> means;
  for (const double step : {4e4, 2e4, 1e4}) {
    DyedChannel channel(FlowModel::unsteady_stokes);
    channel.config.flow.drive_factor = "1 - exp(-t/2e5)";
    channel.config.transport.components[0].diffusivity = 4e-5;  // smooth: no limiter at work
    channel.config.transport.components[0].initial = "exp(-((x - 8)/4)^2)";
    channel.config.transport.components[0].inlet = "exp(-4)";
    channel.config.time.dt = step;
    channel.config.time.end = 8e5;
    channel.run();
    const auto rows = channel.table();
    ASSERT_EQ(std::ssize(rows), std::lround(8e5 / step));
    expect_kept(rows, 0.0, 1.0);
    double in = 0.0;
    for (const auto& row : rows) in += row[dt] * row[inflow] / std::exp(-4.0);
    const double wanted = 4e-6 * 8.0 * (8e5 - 2e5 * (1.0 - std::exp(-4.0)));
    EXPECT_NEAR(in, wanted, step * step / 1.6e9 * 0.004 * wanted) << step;
    means.push_back(rows.back()[mean]);
  }
  const double order = std::log2(std::abs(means[0] - means[1]) / std::abs(means[1] - means[2]));
  EXPECT_GT(order, 1.7) << means[0] - means[1] << " " << means[1] - means[2];
}

// Steps of creeping flow may be longer than those of what it carries: these have lines of their own. To and fro nothing
// is lost, and dye that left through the inlet does not come back.
TEST(CarriedInTimeMpi, ToAndFroInShorterSteps) {
  DyedChannel channel(FlowModel::unsteady_stokes);
  channel.config.flow.drive_factor = "sin(2*_pi*t/2e6)";
  channel.config.time.dt = 2.5e5;
  channel.config.transport.components[0].inlet = "0.25";
  channel.config.transport.components[0].initial = "0.5";
  const Json json = channel.run();
  const auto rows = channel.table();
  EXPECT_GT(rows.size(), 12U);
  EXPECT_EQ(json["steps"].get<std::size_t>(), rows.size());
  expect_kept(rows, 0.25, 0.5);
  double content = 0.0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GE(rows[i][volumes], rows[i - 1][volumes]);
    content += rows[i][dt] * (rows[i][inflow] - rows[i][outflow]);
  }
  const double volume = 160.0 - std::numbers::pi * 1.5 * 1.5;
  EXPECT_NEAR(content, volume * (rows.back()[mean] - rows.front()[mean]), 0.01 * volume * 0.05);
  EXPECT_LT(rows.back()[mean], 0.499);
  // What passes through the channel, not what comes in at either end (it said 0.7 of the largest velocity).
  const double in = rows.back()[volumes] * volume / (8.0 * 2e6);
  EXPECT_LT(std::abs(json["darcy_velocity_m_s"].get<double>()), 0.05 * in);
}

}  // namespace
}  // namespace karst::carried_in_time_test
