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
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/job_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::dynamic_job_test {
namespace {

/// Plates 12 mm apart along y, in 16 mm, which repeat; a fluid of 1e-5 m²/s.
struct Plates : test::JobCase {
  Plates()
      : JobCase(test::diffusion_grid({4, 16, 4}, {true, true, true}),
                test::DistanceFunction([](const Vec3& p) { return 6.0 - std::abs(p[1] - 8.0); })) {
    for (double& size : grid.size.v) size *= 1e-3;
    config.fluid = {0.02, 2000.0};
    config.flow.model = FlowModel::stokes;
    config.flow.drive = FlowDrive::pressure_gradient;
    config.dynamic_permeability = {{0}, {0.01, 1.0}};
  }
};

// In SI units: k(ω) = φ ν / (iω) (1 - tanh z / z), z = √(iω / ν) width / 2, at 0.01 and 1 Hz (Womersley 0.48 and 4.8).
TEST(DynamicJobMpi, PlatesInSiUnits) {
  Plates plates;
  check_jobs(plates.context);
  const JobResult result = run_job(dynamic_job(), plates.context);
  const auto column = result.json.at("dynamic_permeability").at("columns").at(0);
  for (const std::size_t i : {0, 1}) {
    const std::complex<double> s(0.0, 2.0 * std::numbers::pi * plates.config.dynamic_permeability.frequencies[i]);
    const std::complex<double> z = std::sqrt(s / 1e-5) * 0.006, exact = 0.75 * 1e-5 / s * (1.0 - std::tanh(z) / z);
    const std::complex<double> found(column["real_m2"][i].get<double>(), column["imaginary_m2"][i].get<double>());
    EXPECT_LT(std::abs(found - exact), 0.005 * std::abs(exact)) << i;
  }
  EXPECT_NEAR(column["relaxation_time_s"].get<double>(), 0.012 * 0.012 / 1e-4, 0.01);
  // Re (1 - tanh z / z) = Im (...) there.
  const double corner = column["corner_frequency_Hz"];
  const std::complex<double> z = std::sqrt(std::complex<double>(0.0, 2.0 * std::numbers::pi * corner / 1e-5)) * 0.006;
  EXPECT_NEAR(-std::arg((1.0 - std::tanh(z) / z) / (z * z)), 0.25 * std::numbers::pi, 0.005);
  EXPECT_EQ(result.solves.size(), column["solves"].get<std::size_t>());
  EXPECT_EQ(result.warnings.size(), 0U);
  if (plates.comm.rank() == 0) {
    EXPECT_TRUE(std::filesystem::exists(plates.folder.path() + "/dynamic_permeability.csv"));
  }
  const PagePart page = dynamic_job().page(result.json, {});
  ASSERT_EQ(page.cards.size(), 2U);
  EXPECT_TRUE(test::has(page.cards[0], "<svg"));
}

// A skin of less than a cell, a tenth of a millimetre, is warned of.
TEST(DynamicJob, WarnsOfFrequenciesThatTheCellsDoNotResolve) {
  Plates plates;
  plates.config.dynamic_permeability.frequencies = {1.0, 300.0};
  const JobResult result = run_job(dynamic_job(), plates.context);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_TRUE(test::has(result.warnings[0], "thinner than a cell"));
}

}  // namespace
}  // namespace karst::dynamic_job_test
