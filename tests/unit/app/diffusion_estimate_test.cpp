// SPDX-License-Identifier: BSD-3-Clause
// The error that job `diffusion` tells, from the same sample on wider cells.
#include <gtest/gtest.h>

#include <cmath>

#include "app/job/job.hpp"
#include "app/job/run_services.hpp"
#include "app/run/simulation.hpp"
#include "base/file/json.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"

namespace karst::diffusion_estimate_test {
namespace {

/// Rods of radius 0.3 in a square array, on n x n cells.
JobResult rods(int n, const std::string& more = "") {
  const Comm comm = Comm::world();
  const PetscSession petsc;
  Reader in = Reader::from_text(
      fmt::format("[grid]\ncells = [{0}, {0}, 1]\nsize = [1, 1, {1:.17g}]\nperiodic = [true, true, true]\n"
                  "[[geometry.solid]]\nshape = \"cylinder\"\ncenter = [0.5, 0.5, 0]\nradius = 0.3\n"
                  "[diffusion]\naxes = [\"x\"]\n{2}",
                  n, 1.0 / n, more));
  const Config config = read_config(in);
  const Source source = open_source(comm, config, "");
  const Geometry geometry = build_geometry(comm, source.grid, *source.level_set, config.geometry.keep);
  RunServices services;
  const auto again = [&](const Variant& v) { return open_again(comm, config, source.grid, v, ""); };
  JobContext context{comm, config, source.grid, test::ground_on(comm, geometry), services, again};
  check_jobs(context);
  return run_job(diffusion_job(), context);
}

// W. T. Perrins, D. R. McKenzie, R. C. McPhedran, Proc. R. Soc. Lond. A 369 (1979) 207: for a part f = 0.09 π of rods
// that do not conduct 1 - 2 f / (1 + f - 0.305827 f⁴ / (1 - 1.402958 f⁸) - 0.013362 f⁸) = 0.5584854.
TEST(DiffusionEstimateMpi, CoversTheErrorOfRodsInASquare) {
  constexpr double exact = 0.5584854;
  const JobResult result = rods(48);
  const Json& one = result.json.at("diffusion").at(0);
  const double value = result.json.at("relative_diffusivity").at(0).at(0),
               error = one.at("relative_diffusivity_error").get<double>();
  EXPECT_LT(std::abs(value - exact), error);
  EXPECT_LT(error, 1e-3);
  EXPECT_FALSE(one.at("relative_diffusivity_error_basis").is_null());
  EXPECT_TRUE(test::has(result.headline, "estimated error of the discretisation")) << result.headline;
  ASSERT_GE(result.solves.size(), 3U);
  EXPECT_EQ(result.solves[1].name, "diffusion x, cells 2 times as wide");
}

// Planes need 16 cells: with 24, none are left on cells twice as wide, but on those 1.5 times as wide.
TEST(DiffusionEstimate, OfFewCellsAndUnasked) {
  const Json few = rods(24).json.at("diffusion").at(0);
  EXPECT_EQ(few.at("relative_diffusivity_error_basis").get<std::string>(), "one change");
  const JobResult none = rods(18);
  EXPECT_TRUE(none.json.at("diffusion").at(0).at("relative_diffusivity_error").is_null());
  EXPECT_TRUE(test::has(none.text, "fewer than 16")) << none.text;
  EXPECT_FALSE(rods(32, "estimate_error = false\n").json.at("diffusion").at(0).contains("relative_diffusivity_error"));
}

}  // namespace
}  // namespace karst::diffusion_estimate_test
