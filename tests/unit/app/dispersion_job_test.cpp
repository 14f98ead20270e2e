// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>

#include "app/job/job.hpp"
#include "app/job/run_services.hpp"
#include "app/run/simulation.hpp"
#include "base/file/json.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"
#include "support/job_cases.hpp"
#include "support/narrow_page.hpp"
#include "support/shared_directory.hpp"

namespace karst::dispersion_job_test {
namespace {

using test::has;

/// A ball in the middle of 16 x 20 x 24 cells that repeat, of 1 mm.
struct PeriodicBall : test::JobCase {
  PeriodicBall()
      : JobCase(test::diffusion_grid({16, 20, 24}, {true, true, true}),
                *make_level_set(Sphere{{8.1, 10.2, 11.9}, 5.0})) {
    config.flow.model = FlowModel::stokes;
    config.flow.drive = FlowDrive::pressure_gradient;
    config.flow.gradient = {0.1, 0.0, 0.0};
    config.flow.axes = {0};
    config.flow.estimate_error = false;
    config.dispersion.axes = {0};
    config.dispersion.peclet = {0.0, 5.0};
    config.dispersion.estimate_error = false;
    for (double& size : grid.size.v) size *= 1e-3;
    services.exchanges.taken = {ExchangeName::flow};
  }
};

// The flow is solved once, by its own job; without it diffusion is left, and it is that of the diffusion job.
TEST(DispersionJobMpi, UsesTheFlowAndEndsInDiffusion) {
  PeriodicBall ball;
  ball.config.diffusion = {{0}, 1e-9, 1e-10, 100, false};
  check_jobs(ball.context);
  run_job(flow_job(), ball.context);
  const JobResult diffusion = run_job(diffusion_job(), ball.context), result = run_job(dispersion_job(), ball.context);
  const auto json = result.json;
  const auto& points = json.at("dispersion").at("columns").at(0).at("points");
  ASSERT_EQ(points.size(), 2U);
  const double tortuosity = diffusion.json.at("tortuosity").at(0);
  EXPECT_NEAR(points[0].at("longitudinal").get<double>() * tortuosity, 1.0, 1e-5);
  EXPECT_GT(points[1].at("longitudinal").get<double>(), 1.1);
  EXPECT_TRUE(points[1].at("transverse").at(0).is_null());
  EXPECT_GT(points[1].at("transverse").at(2).get<double>(), 0.9);
  // Grains of 10 mm, 5 x 1e-9 / 0.01.
  EXPECT_NEAR(json.at("dispersion").at("length_m").get<double>(), 0.01, 4e-4);
  EXPECT_NEAR(points[1].at("velocity_m_s").get<double>(), 5e-7, 2e-8);
  // Water, 4 φ / S = 2/3 φ / (1 - φ) of the grains, φ = 0.932.
  EXPECT_NEAR(points[1].at("reynolds").get<double>(), 0.0456, 0.002);
  EXPECT_EQ(result.solves.size(), 2U);
  EXPECT_TRUE(has(result.headline, "Péclet number of 5"));
  if (ball.comm.rank() == 0) {
    EXPECT_TRUE(std::filesystem::exists(ball.folder.path() + "/dispersion.csv"));
  }
  RunPage page;
  page.parts = {dispersion_job().page(Json::parse(json.dump()), {})};
  EXPECT_EQ(page.parts[0].cards.size(), 2U);
  EXPECT_TRUE(has(page.parts[0].cards[0], "<svg"));
}

// Of a length in millimetres without its unit: 0.8 m in a domain of 24 mm.
TEST(DispersionJob, ALengthFarLargerThanTheDomainIsTold) {
  PeriodicBall ball;
  ball.config.dispersion.peclet = {0.0};
  run_job(flow_job(), ball.context);
  const auto told = [&](double length) {
    ball.config.dispersion.length = length;
    const JobResult result = run_job(dispersion_job(), ball.context);
    return std::ranges::any_of(result.warnings,
                               [](const std::string& w) { return has(w, "dispersion.length: 0.8 m"); });
  };
  EXPECT_TRUE(told(0.8));
  EXPECT_FALSE(told(0.0008));
}

TEST(DispersionJob, MistakesOfTheDeckAreToldBeforeAnySolve) {
  PeriodicBall ball;
  const auto told = [&](const char* part) {
    const std::string text = test::error_of([&] { check_jobs(ball.context); });
    EXPECT_TRUE(has(text, part)) << text;
  };
  ball.config.dispersion.axes = {0, 1};
  told("y is not among flow.axes");
  ball.config.flow.model = FlowModel::none;
  told("the advecting flow is missing");
}

}  // namespace
}  // namespace karst::dispersion_job_test
