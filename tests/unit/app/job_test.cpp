// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <numbers>

#include "app/estimate/memory_estimate.hpp"
#include "app/job/run_services.hpp"
#include "app/output/plot_file.hpp"
#include "app/run/simulation.hpp"
#include "base/file/json.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"
#include "support/job_cases.hpp"
#include "support/narrow_page.hpp"
#include "support/shared_directory.hpp"

namespace karst::job_test {
namespace {

using test::error_of;
using test::has;

TEST(Jobs, ADeckWithoutAJobIsToldHowToAskForOne) {
  const std::string text = error_of([] { asked_jobs({}); });
  EXPECT_TRUE(has(text, "[diffusion]") && has(text, "axes")) << text;
  Config config;
  config.diffusion.axes = {1};
  ASSERT_EQ(asked_jobs(config).size(), 1U);
  EXPECT_EQ(asked_jobs(config)[0].word.name, "diffusion");
  config.flow.model = FlowModel::stokes;
  ASSERT_EQ(asked_jobs(config).size(), 2U);
  EXPECT_EQ(asked_jobs(config)[0].word.name, "flow");
}

/// A ball in the middle of 16 x 20 x 24 cells of 1 m.
struct Ball {
  Ball() { config.flow.estimate_error = config.diffusion.estimate_error = false; }
  /// Pressures on the ends of these axes.
  void push_along(std::vector<int> axes) {
    config.flow.model = FlowModel::stokes;
    config.flow.drive = FlowDrive::pressure_drop;
    config.flow.pressure_drop = 2.0;
    config.flow.axes = std::move(axes);
  }
  Comm comm = Comm::world();
  PetscSession petsc;
  Config config;
  GridOptions grid = test::diffusion_grid({16, 20, 24});
  Geometry geometry = build_geometry(comm, grid, *make_level_set(Sphere{{8, 10, 12}, 5.0}), KeepPores::all);
  RunServices services;
  JobContext context{comm, config, grid, test::ground_on(comm, geometry), services};
};

TEST(DiffusionJobMpi, ResultsAreWhatTheTensorSays) {
  Ball ball;
  ball.config.diffusion = {{0, 2}, 2e-9, 1e-10, 100, false};
  ball.config.output.plot = {PlotField::fraction, PlotField::concentration};
  check_jobs(ball.context);
  const JobResult result = run_job(diffusion_job(), ball.context);
  const auto json = result.json;
  const double d = json["relative_diffusivity"][0][0];
  EXPECT_GT(d, 0.8);
  EXPECT_LT(d, 1.0 - 4.0 / 3.0 * std::numbers::pi * 125 / (16 * 20 * 24));
  EXPECT_DOUBLE_EQ(json["effective_diffusivity_m2_s"][0][0].get<double>(), 2e-9 * d);
  EXPECT_DOUBLE_EQ(json["formation_factor"][0].get<double>(), 1.0 / d);
  EXPECT_NEAR(json["tortuosity"][0].get<double>(), ball.geometry.report.connected_porosity / d, 1e-12);
  EXPECT_TRUE(json["formation_factor"][1].is_null());  // y was not asked for
  EXPECT_TRUE(json["relative_diffusivity"][2][1].is_null());
  ASSERT_EQ(result.solves.size(), 2U);
  EXPECT_EQ(result.solves[1].name, "diffusion z");
  EXPECT_LT(result.solves[1].relative_residual, 3e-10);
  ASSERT_EQ(result.balances.size(), 2U);
  EXPECT_EQ(result.balances[0].name, "diffusion_x_relative");
  EXPECT_LT(result.balances[0].relative, 1e-7);
  EXPECT_TRUE(has(result.text, "formation factor"));
  EXPECT_TRUE(result.warnings.empty());
  ASSERT_EQ(result.components.size(), 2U);
  EXPECT_EQ(result.components[1].name, "concentration_z");
}

// Along x the concentration of a cell lies between those of the ends, falls on the whole, and is NaN in the ball.
TEST(DiffusionJobMpi, PlotsTheConcentration) {
  Ball ball;
  ball.config.diffusion = {{0}, 1e-9, 1e-10, 100, false};
  ball.config.output.plot = {PlotField::concentration};
  const JobResult result = run_job(diffusion_job(), ball.context);
  const LevelGraph& graph = ball.geometry.levels[0].graph;
  std::array<double, 2> sum{};
  std::int64_t solid = 0;
  for (int b = 0; b < graph.n_local(); ++b) {
    const Box box = graph.box(b).cells;
    std::vector<float> values(box.count(), -7.0F);
    result.components.at(0).fill(0, b, values);
    for_each_cell(box, [&](const Index& c) {
      const float value = values[box.offset(c)];
      Vec3 furthest;  // corner from the middle of the ball
      for (int d = 0; d < 3; ++d) furthest[d] = std::abs(c[d] + 0.5 - (8.0 + 2.0 * d)) + 0.5;
      EXPECT_EQ(std::isnan(value), norm(furthest) <= 5.0);  // a cell has a value wherever it holds fluid
      if (std::isnan(value)) {
        ++solid;
      } else {
        EXPECT_TRUE(value > 0.0F && value < 1.0F) << value;
        sum[c[0] < 8 ? 0 : 1] += value;
      }
    });
  }
  EXPECT_GT(ball.comm.sum(sum[0]), 2.0 * ball.comm.sum(sum[1]));
  EXPECT_GT(ball.comm.sum(solid), 200);
}

TEST(DiffusionJobMpi, ThePageShowsAllOfIt) {
  Ball ball;
  ball.config.diffusion = {{0, 1, 2}, 1e-9, 1e-8, 100, false};
  const JobResult result = run_job(diffusion_job(), ball.context);
  RunPage page;
  page.title = "a <ball>";
  page.warnings = {"x < y"};
  Json summary = result.json;
  summary["porosity"] = summary["connected_porosity"] = 0.9;
  page.parts = {diffusion_job().page(summary, result.figures)};
  page.facts = {{"program", "karst & co"}};
  page.deck = "[grid] # <b>";
  const std::string text = html(page);
  for (const char* part : {"a &lt;ball&gt;", "x &lt; y", "karst &amp; co", "# &lt;b&gt;", "Formation factor",
                           "gradient along z", "relative residual"})
    EXPECT_TRUE(has(text, part)) << part;
  EXPECT_FALSE(has(text, "<script"));
  EXPECT_EQ(test::wider_than_screen(text), "");
  EXPECT_EQ(has(text, "data:image/png;base64,"), ball.comm.rank() == 0);
}

std::string page_with(const PagePart& part) {
  RunPage page;
  page.parts = {part};
  return html(page);
}

/// Past the ball, for the Darcy velocity along the axis.
void expect_numbers_of_slow_flow(const Json& flow, double velocity) {
  const double fastest = flow["largest_speed_m_s"];
  EXPECT_TRUE(fastest > 1.0 * velocity && fastest < 4.0 * velocity) << fastest / velocity;
  const double tortuosity = flow["tortuosity"], closed = flow["repairs"]["closed_area_share"];
  EXPECT_TRUE(tortuosity > 1.0 && tortuosity < 1.2) << tortuosity;
  EXPECT_EQ(flow["drag_over_drive"]["sides"].get<double>(), 0.0);
  EXPECT_GT(flow["drag_over_drive"]["friction"].get<double>(), 0.2);
  EXPECT_TRUE(closed >= 0.0 && closed < 0.01) << closed;
}

/// The key figures, the drag with its sum, and pictures where they were drawn.
void expect_page_of_flow(const JobResult& result, bool drawn) {
  auto summary = result.json;
  for (const SolveRow& s : result.solves)
    summary["solves"].push_back(
        {{"name", s.name}, {"iterations", s.iterations}, {"relative_residual", s.relative_residual}});
  summary["porosity"] = summary["connected_porosity"] = 0.9;
  const PagePart page = flow_job().page(summary, result.figures);
  std::vector<std::string> names;
  for (const PageTile& tile : page.tiles) names.push_back(tile.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Permeability", "Porosity", "Reynolds number", "Darcy velocity",
                                             "Tortuosity of the flow"}));
  std::string cards;
  for (const std::string& card : page.cards) cards += card;
  for (const char* part : {"driven along z", "friction on the wall", "net flux of a cell", "<td>sum</td>", "100 % by"})
    EXPECT_TRUE(has(cards, part)) << part;
  EXPECT_EQ(test::wider_than_screen(page_with(page)), "");
  EXPECT_EQ(has(cards, "streamlines"), drawn);
  EXPECT_TRUE(flow_job().page(Json::object(), {}).cards.empty());
}

// Between pressures on the ends: one step of any length ends in the steady flow, whose power friction takes.
TEST(FlowInTimeJobMpi, OneLongStepIsTheSteadyFlow) {
  Ball ball;
  ball.push_along({2});
  FlowOptions& flow = ball.config.flow;
  flow.tolerance = 1e-9;
  const auto steady = run_job(flow_job(), ball.context).json;
  flow.model = FlowModel::unsteady_stokes;
  flow.drive_factor = "1 + 0*t";
  ball.config.time = {3e18, 3e18, 0.0, StepScheme::bdf2};
  check_jobs(ball.context);
  const JobResult result = run_job(flow_job(), ball.context);
  const auto json = result.json;
  const auto& end = json["flow_in_time"];
  EXPECT_EQ(end["steps"].get<int>(), 1);
  EXPECT_NEAR(end["darcy_velocity_m_s"][2].get<double>() / steady["darcy_velocity_m_s"][2][2].get<double>(), 1.0, 1e-7);
  EXPECT_NEAR(end["power_W_m3"].get<double>(), end["darcy_velocity_m_s"][2].get<double>() * 2.0 / 24.0,
              1e-9 * end["power_W_m3"].get<double>());
  EXPECT_NEAR(end["dissipation_W_m3"].get<double>() / end["power_W_m3"].get<double>(), 1.0, 0.25);
  const PagePart page = flow_job().page(json, result.figures);
  EXPECT_GE(page.tiles.size(), 3U);
  EXPECT_FALSE(page.cards.empty());
  flow.drive_factor = "0*t";
  EXPECT_TRUE(has(error_of([&] { check_jobs(ball.context); }), "nothing would flow"));
}

// Water between two plates H = 20 m apart, pushed to and fro: k(ω) = φ ν/(iω) (1 - tanh(λ)/λ), λ = H/2 √(iω/ν)
// (Womersley's flow between plates; here H/2 √(ω/ν) = 2), by a history that is seen to repeat itself.
TEST(FlowInTimeJob, DynamicPermeabilityOfPlatesAloneByDay) {
  Config config;
  config.flow.model = FlowModel::unsteady_stokes;
  config.flow.drive = FlowDrive::pressure_gradient;
  config.flow.axes = {0};
  config.flow.gradient = {1e-9, 0.0, 0.0};
  config.flow.estimate_error = false;
  const double omega = 4e-8, period = 2.0 * std::numbers::pi / omega, nu = 1e-6;
  config.flow.drive_factor = fmt::format("cos({}*t)", omega);
  config.time = {3.0 * period, period / 40.0, 0.0, StepScheme::bdf2};
  const Comm comm = Comm::world();
  const PetscSession petsc;
  GridOptions grid = test::diffusion_grid({4, 24, 4});
  grid.periodic = {true, true, true};
  const Geometry geometry =
      build_geometry(comm, grid, *make_level_set(Cuboid{{{2, 2, 2}}, {11, 2, 11}}), KeepPores::all);
  RunServices services;
  JobContext context{comm, config, grid, test::ground_on(comm, geometry), services};
  const JobResult result = run_job(flow_job(), context);
  const auto state = result.json["flow_in_time"]["periodic_state"];
  const std::complex<double> i(0.0, 1.0), lambda = 10.0 * std::sqrt(i * omega / nu);
  const std::complex<double> exact = 20.0 / 24.0 * nu / (i * omega) * (1.0 - std::tanh(lambda) / lambda);
  const auto& k = state["dynamic_permeability_m2"];
  EXPECT_NEAR(state["frequency_Hz"].get<double>() * period, 1.0, 1e-3);
  EXPECT_LT(std::abs(std::complex<double>(k["real"], k["imaginary"]) - exact), 0.01 * std::abs(exact))
      << state.dump() << exact;
  EXPECT_NEAR(state["degrees_behind_the_drive"].get<double>(), -std::arg(exact) * 180.0 / std::numbers::pi, 0.5);
  EXPECT_TRUE(has(result.text, "dynamic permeability"));
}

/// A ball in a periodic box of 8³ cells of 1 m, water pushed along x.
struct PeriodicBall : test::JobCase {
  PeriodicBall()
      : JobCase(test::diffusion_grid({8, 8, 8}, {true, true, true}), *make_level_set(Sphere{{4, 4, 4}, 2.5})) {
    config.flow.model = FlowModel::steady;
    config.flow.drive = FlowDrive::pressure_gradient;
    config.flow.axes = {0};
    config.flow.gradient = {2e-9, 0.0, 0.0};
    config.flow.tolerance = 1e-8;
    config.flow.estimate_error = false;
  }
};

double x_velocity(const Json& json) { return json["flow_in_time"]["darcy_velocity_m_s"][0]; }

// Flow with inertia from rest ends in the steady flow of the same drive, from which a run that begins there does not
// move; steps follow the CFL number and grow by half at most.
TEST(FlowInTimeJob, WithInertiaEndsInTheSteadyFlowAloneByDay) {
  PeriodicBall ball;
  FlowOptions& flow = ball.config.flow;
  const auto steady = run_job(flow_job(), ball.context).json;
  const double wanted = steady["flow"][0]["inertia"]["points"][0]["darcy_velocity_m_s"][0];
  const double creeping = steady["permeability_m2"][0][0].get<double>() / 1e-3 * flow.gradient[0];
  ASSERT_LT(wanted, 0.99 * creeping);
  flow.model = FlowModel::navier_stokes;
  ball.config.time = {8e7, 0.0, 0.0, StepScheme::bdf2, 2.5};
  ball.config.time.cfl_leads = true;
  check_jobs(ball.context);
  const JobResult result = run_job(flow_job(), ball.context);
  const auto json = result.json;
  EXPECT_NEAR(x_velocity(json), wanted, 1e-5 * wanted);
  const auto& history = json["flow_in_time"]["history"];
  double most_growth = 0.0, most_cfl = 0.0;
  for (std::size_t i = 1; i < history["dt_s"].size(); ++i) {
    most_growth = std::max(most_growth, history["dt_s"][i].get<double>() / history["dt_s"][i - 1].get<double>());
    most_cfl = std::max(most_cfl, history["cfl"][i].get<double>());
  }
  EXPECT_LE(most_growth, 1.6);  // 1.5 of what a step may be, which is a little longer than the step that lands
  EXPECT_GT(most_cfl, 2.0);
  EXPECT_LT(most_cfl, 4.0);
  flow.start = FlowStart::steady;
  ball.config.time.end = 4e5;
  EXPECT_NEAR(x_velocity(run_job(flow_job(), ball.context).json), wanted, 1e-6 * wanted);
}

// A step that is too long for its flow is made again with half of its length, three times at most.
TEST(FlowInTimeJobMpi, StepsThatFailAreMadeAgain) {
  PeriodicBall ball;
  ball.config.flow.model = FlowModel::navier_stokes;
  ball.config.time = {4e6, 4e6, 0.0, StepScheme::bdf2};
  const JobResult result = run_job(flow_job(), ball.context);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_TRUE(has(result.warnings[0], "repeated with half the step length")) << result.warnings[0];
  EXPECT_GT(result.json["flow_in_time"]["steps"].get<int>(), 1);
  ball.config.time.end = ball.config.time.dt = 4e9;
  const std::string text = error_of([&] { run_job(flow_job(), ball.context); });
  EXPECT_TRUE(has(text, "the step after t = 0 s failed, also with a length of 5e+08 s") && has(text, "shorter steps"))
      << text;
}

/// Pressures on the ends along x and z, planes of symmetry around; 2 Pa over 24 m along z.
TEST(FlowJobMpi, ResultsAreWhatDarcysLawSays) {
  Ball ball;
  ball.push_along({0, 2});
  ball.config.output.plot = {PlotField::velocity, PlotField::pressure};
  check_jobs(ball.context);
  const JobResult result = run_job(flow_job(), ball.context);
  const auto json = result.json;
  const double k = json["permeability_m2"][2][2];
  EXPECT_GT(k, 0.0);
  EXPECT_TRUE(json["permeability_m2"][2][1].is_null());  // y was not asked for
  EXPECT_NEAR(json["permeability_darcy"][2][2].get<double>(), k / 9.869233e-13, 1e-9 * k / 9.869233e-13);
  const double velocity = json["darcy_velocity_m_s"][2][2], gradient = 2.0 / 24;
  EXPECT_EQ(json["tensor_order"].dump(), R"(["component","drive"])");
  for (std::size_t e = 0; e < 3; ++e) {  // k_ed = μ U_e / G_d: one order of both
    EXPECT_TRUE(json["darcy_velocity_m_s"][e][1].is_null());
    EXPECT_NEAR(json["darcy_velocity_m_s"][e][0].get<double>() * 1e-3 / (2.0 / 16),
                json["permeability_m2"][e][0].get<double>(), 1e-9 * k);
  }
  EXPECT_NEAR(velocity, k / 1e-3 * gradient, 1e-9 * velocity);
  EXPECT_NEAR(json["flow"][1]["flow_rate_m3_s"].get<double>(), velocity * 16 * 20, 1e-6 * velocity);
  expect_numbers_of_slow_flow(json["flow"][1], velocity);
  ASSERT_EQ(result.solves.size(), 2U);
  EXPECT_EQ(result.solves[1].name, "stokes z");
  ASSERT_EQ(result.balances.size(), 1U);
  EXPECT_LT(result.balances[0].relative, 1e-6);
  ASSERT_EQ(result.components.size(), 8U);  // three velocities of both solves, then the pressures
  EXPECT_EQ(result.components[0].name, "drive_x_velocity_x");
  EXPECT_EQ(result.components[7].name, "drive_z_pressure");
  // The ball stands in the middle: p(z) + p(L - z) = 2 Pa, so the mean is 1 Pa.
  const LevelGraph& graph = ball.geometry.levels[0].graph;
  std::array<double, 2> sums{};
  for (int b = 0; b < graph.n_local(); ++b) {
    std::vector<float> cells(graph.box(b).cells.count());
    result.components[7].fill(0, b, cells);
    for (const float p : cells)
      if (!std::isnan(p)) {
        sums[0] += p;
        sums[1] += 1.0;
      }
  }
  ball.comm.sum(std::span(sums));
  EXPECT_NEAR(sums[0] / sums[1], 1.0, 1e-5);
  // Two pictures of each solve, and the page from the summary.
  EXPECT_EQ(result.figures.size(), ball.comm.rank() == 0 ? 4U : 0U);
  expect_page_of_flow(result, ball.comm.rank() == 0);
  EXPECT_EQ(darcy_text(9.869233e-13), "1 D");
  EXPECT_EQ(darcy_text(9.869233e-16), "1 mD");
}

/// A cube of three cells with walls on cell centres: a quarter of the drag is missing, and the ball above misses
/// little.
TEST(FlowJobMpi, WarnsWhereDragIsNotTheDrive) {
  for (const bool coarse : {true, false}) {
    Ball ball;
    if (coarse) {
      ball.grid = test::diffusion_grid(Index::all(8));
      const Cuboid cube{{Vec3::all(4.0), {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}}, Vec3::all(1.5)};
      ball.geometry = build_geometry(ball.comm, ball.grid, *make_level_set(cube), KeepPores::all);
    }
    FlowOptions& flow = ball.config.flow;
    flow.model = FlowModel::stokes;
    flow.drive = FlowDrive::pressure_drop;
    flow.axes = {0};
    const JobResult result = run_job(flow_job(), ball.context);
    const auto of_drag = [](const std::string& w) { return has(w, "drag on the walls and driving force differ by"); };
    EXPECT_EQ(std::ranges::any_of(result.warnings, of_drag), coarse);
  }
}

/// With inertia: a Reynolds number of 13 behind the ball.
TEST(FlowJob, InertiaOnTopOfSlowFlowAloneByDay) {
  Ball ball;
  const test::SharedDirectory folder(ball.comm);
  ball.services.files.path = [&](const std::string& name) { return folder.path() + "/" + name; };
  FlowOptions& flow = ball.config.flow;
  flow.model = FlowModel::steady;
  flow.drive = FlowDrive::velocity;
  flow.velocity = 1e-6;
  flow.steps = {0.1, 0.5, 1.0};
  flow.axes = {2};
  flow.tolerance = 1e-7;
  check_jobs(ball.context);
  const JobResult result = run_job(flow_job(), ball.context);
  const auto json = result.json;
  const double k = json["permeability_m2"][2][2];
  const auto& inertia = json["flow"][0]["inertia"];
  ASSERT_EQ(inertia["points"].size(), 3U);
  double before = 1.0001 * k;
  for (const auto& point : inertia["points"]) {
    const double apparent = point["permeability_m2"], u = point["darcy_velocity_m_s"][2];
    EXPECT_LT(apparent, before);
    EXPECT_NEAR(u, 1e-6 * point["step"].get<double>(), 1e-11);
    EXPECT_NEAR(u, apparent / 1e-3 * point["pressure_gradient_Pa_m"].get<double>(), 1e-9 * u);
    const double fastest = point["largest_speed_m_s"];  // on cells of 1 m, in water
    EXPECT_NEAR(1000.0 * fastest / 1e-3, point["cell_reynolds"].get<double>(), 1e-9 * 1e6 * fastest);
    before = apparent;
  }
  EXPECT_LT(before, 0.99 * k);
  EXPECT_EQ(json["reynolds"].get<double>(), inertia["points"][2]["reynolds"].get<double>());
  EXPECT_GT(inertia["forchheimer"]["beta_per_m"].get<double>(), 0.0);
  EXPECT_FALSE(json["flow"][0].contains("drag_over_drive"));  // momentum passes the ends
  ASSERT_EQ(result.solves.size(), 4U);
  EXPECT_EQ(result.solves[0].name, "stokes z");
  EXPECT_EQ(result.solves[3].name, "steady z 3/3");
  ASSERT_EQ(result.files.size(), 1U);
  EXPECT_EQ(result.files[0].name, "inertia.csv");
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/inertia.csv"));
  EXPECT_TRUE(has(result.text, "With inertia, driven along z"));
  auto summary = result.json;
  summary["solves"].push_back({{"name", "stokes z"}, {"iterations", 1}, {"relative_residual", 1e-8}});
  const PagePart page = flow_job().page(summary, result.figures);
  EXPECT_TRUE(std::ranges::any_of(page.tiles, [&](const PageTile& tile) {
    return tile.name == "Forchheimer's coefficient β" &&
           has(tile.value, fmt::format("{:.3g}", inertia["forchheimer"]["beta_per_m"].get<double>()));
  }));
  EXPECT_EQ(test::wider_than_screen(page_with(page)), "");
}

// The same ball on cells twice as wide: volumes agree to the accuracy of the coarse cells, 1 %.
TEST(JobMpi, GeometryOnCellsTwiceAsWide) {
  const Comm comm = Comm::world();
  Reader in = Reader::from_text(
      "[grid]\ncells = [16, 16, 16]\nsize = [1, 1, 1]\n[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, "
      "0.5]\n"
      "radius = 0.3\n");
  const Config config = read_config(in);
  const Source source = open_source(comm, config, ""),
               wide = open_again(comm, config, source.grid, {Index::all(8)}, "");
  EXPECT_EQ(wide.grid.cells, Index::all(8));
  EXPECT_EQ(wide.grid.size, source.grid.size);
  const Geometry fine = build_geometry(comm, source.grid, *source.level_set, KeepPores::all),
                 coarse = build_geometry(comm, wide.grid, *wide.level_set, KeepPores::all);
  EXPECT_NEAR(coarse.report.porosity, fine.report.porosity, 0.01 * fine.report.porosity);
  EXPECT_EQ(coarse.levels[0].graph.layout().domain().cells, Index::all(8));
}

/// Job `flow` of a deck, which may ask for other grids.
struct FlowOfDeck {
  FlowOfDeck(const Comm& comm, Reader& in, const ResultFiles& files)
      : config(read_config(in)),
        source(open_source(comm, config, "")),
        geometry(build_geometry(comm, source.grid, *source.level_set, config.geometry.keep)) {
    RunServices services{.files = files};
    const auto again = [&](const Variant& v) { return open_again(comm, config, source.grid, v, ""); };
    JobContext context{comm, config, source.grid, test::ground_on(comm, geometry), services, again};
    check_jobs(context);
    result = run_job(flow_job(), context);
  }
  Config config;
  Source source;
  Geometry geometry;
  JobResult result;
};

// 18 cells become 9 and 6.
TEST(FlowJobMpi, ErrorIsEstimatedOnWideCells) {
  const Comm comm = Comm::world();
  const PetscSession petsc;
  Reader in = Reader::from_text(
      "[grid]\ncells = [18, 18, 18]\nsize = [1, 1, 1]\nperiodic = [true, true, true]\n[[geometry.solid]]\nshape = "
      "\"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.4\n[flow]\nmodel = \"stokes\"\ndrive = "
      "\"pressure-gradient\"\naxes = [\"y\"]\n");
  const auto [config, source, geometry, result] = FlowOfDeck(comm, in, {});
  const auto json = result.json;
  const double k = json["permeability_m2"][1][1], error = json["flow"][0]["permeability_error_m2"];
  EXPECT_GT(error, 0.0);
  EXPECT_LT(error, 0.1 * k);
  const Vec3 u{json["darcy_velocity_m_s"][0][1], json["darcy_velocity_m_s"][1][1], json["darcy_velocity_m_s"][2][1]};
  const double surface = geometry.report.specific_surface * 18.0;  // [1/m]
  EXPECT_NEAR(json["reynolds"].get<double>(), 1000.0 * norm(u) * 4.0 / surface / 1e-3,
              1e-6 * json["reynolds"].get<double>());
  EXPECT_LT(std::abs(json["flow"][0]["permeability_extrapolated_m2"].get<double>() - k), error);
  ASSERT_EQ(result.solves.size(), 3U);
  EXPECT_EQ(result.solves[1].name, "stokes y, cells 2 times as wide");
  EXPECT_EQ(result.solves[2].name, "stokes y, cells 3 times as wide");
}

/// A slit between plates across z, so wide; or one of ten cells that a box bars but for a gap so wide. [m]
struct Slit {
  explicit Slit(double wide, bool is_barred = false) : width(wide), barred(is_barred) {
    Reader in = Reader::from_text("[flow]\nmodel = \"stokes\"\ndrive = \"pressure-gradient\"\naxes = [\"x\"]\n");
    read(in, config.flow);
    config.flow.estimate_error = false;
    config.flow.uncertainty = true;
    config.geometry.image = "slit.h5";
  }
  /// The walls move in both plates.
  Source moved(double by) const {
    const double half = barred ? 5.0 : 0.5 * width + by;
    Source source;
    source.grid = test::diffusion_grid({4, 4, 16}, {true, true, false});
    GeometryOptions plates;
    for (const double side : {-1.0, 1.0}) {
      SolidOptions plate;
      plate.shape = SolidShape::plane;
      plate.point = {0, 0, 8 + side * half};
      plate.normal = {0, 0, -side};
      plates.solids.push_back(plate);
    }
    if (barred) {
      SolidOptions box;
      box.shape = SolidShape::box;
      box.lo = {1, -1, 0};
      box.hi = {2, 5, 13 - width - 2 * by};
      plates.solids.push_back(box);
    }
    source.level_set = make_described_level_set(plates, 1.0, source.grid.size, source.grid.periodic);
    return source;
  }
  double exact(double by) const { return std::pow(width + 2 * by, 3) / (12.0 * 16.0); }  // w³ / 12 L
  JobResult run(const Comm& comm, double uncertainty) {
    const Source source = moved(0.0);
    const Geometry geometry = build_geometry(comm, source.grid, *source.level_set, KeepPores::all);
    RunServices services;
    const auto again = [&](const Variant& v) { return moved(v.moved); };
    JobContext context{comm, config, source.grid, test::ground_on(comm, geometry), services, again, uncertainty};
    check_jobs(context);
    return run_job(flow_job(), context);
  }
  double width;
  bool barred;
  Config config;
};

// The ends of the range are the permeabilities of the slit with both walls moved. Measured: 0.1 %.
TEST(FlowJobMpi, RangeOfASlitIsThatOfItsWalls) {
  const Comm comm = Comm::world();
  const PetscSession petsc;
  Slit slit(8.4);
  const JobResult result = slit.run(comm, 0.3);
  auto json = result.json;
  EXPECT_EQ(json["wall_shift_voxels"].get<double>(), 0.3);
  const double low = json["flow"][0]["permeability_range_m2"][0], high = json["flow"][0]["permeability_range_m2"][1];
  EXPECT_NEAR(low, slit.exact(-0.3), 0.01 * low);
  EXPECT_NEAR(json["permeability_m2"][0][0], slit.exact(0.0), 0.01 * low);
  EXPECT_NEAR(high, slit.exact(0.3), 0.01 * low);
  EXPECT_NEAR(json["porosity_range"][0].get<double>(), 7.8 / 16, 1e-9);
  EXPECT_NEAR(json["porosity_range"][1].get<double>(), 9.0 / 16, 1e-9);
  EXPECT_TRUE(has(result.text, "wall moved by -0.3 voxel") && has(result.text, "wall moved by +0.3 voxel"));
  ASSERT_EQ(result.solves.size(), 3U);
  EXPECT_EQ(result.solves[1].name, "stokes x, wall moved by -0.3 voxel");
  json["porosity"] = json["connected_porosity"] = 0.5;
  json["solves"] = Json::array({{{"name", "stokes x"}, {"iterations", 1}, {"relative_residual", 1e-9}}});
  const PagePart page = flow_job().page(json, result.figures);
  EXPECT_TRUE(has(page.cards.at(1), "wall moved by −0.3 voxel") && has(page.cards.at(1), "by +0.3 voxel"));
}

// A slit that closes has a range from 0, and that is said; to ask for the range where nothing is known is an error.
TEST(FlowJobMpi, RangeOfASlitThatClosesBeginsAtZero) {
  const Comm comm = Comm::world();
  const PetscSession petsc;
  Slit slit(1.8, true);
  const JobResult result = slit.run(comm, 1.0);
  const auto json = result.json;
  EXPECT_EQ(json["flow"][0]["permeability_range_m2"][0].get<double>(), 0.0);
  EXPECT_GT(json["flow"][0]["permeability_range_m2"][1].get<double>(), json["permeability_m2"][0][0].get<double>());
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_TRUE(
      has(result.warnings[0], "no pore percolates through the sample along x: the range of the permeability starts"));
  const std::string unknown = error_of([&] { slit.run(comm, 0.0); });
  EXPECT_TRUE(has(unknown, "flow.uncertainty") && has(unknown, "geometry.wall_shift by hand")) << unknown;
  slit.config.geometry.image.clear();
  const std::string described = error_of([&] { slit.run(comm, 0.0); });
  EXPECT_TRUE(has(described, "the walls of described solids are exact")) << described;
}

// Every axis has its grid and its plotfile; results are those of the sample.
TEST(FlowJobMpi, ReservoirsBelongToTheirAxis) {
  const Comm comm = Comm::world();
  const PetscSession petsc;
  const test::SharedDirectory folder(comm);
  Reader in = Reader::from_text(
      "[grid]\ncells = [16, 12, 12]\nsize = [16, 12, 12]\nbox = 8\n[[geometry.solid]]\nshape = \"sphere\"\ncenter = "
      "[8, 6, 6]\nradius = 4\n[flow]\nmodel = \"stokes\"\ndrive = \"pressure-drop\"\npressure_drop = 3.0\naxes = "
      "[\"x\", \"y\"]\nreservoir = 4\nestimate_error = true\n[output]\nplot = [\"fraction\", \"velocity\"]\n");
  const ResultFiles files{.path = [&](const std::string& name) { return folder.path() + "/" + name; }};
  const auto [config, source, geometry, result] = FlowOfDeck(comm, in, files);
  const auto json = result.json;
  for (const std::size_t i : {0U, 1U}) {
    const auto& flow = json["flow"][i];
    EXPECT_EQ(flow["sample_cells"].dump(), "[16,12,12]");
    EXPECT_EQ(flow["grid_cells"].dump(), i == 0 ? "[24,12,12]" : "[16,20,12]");
    EXPECT_NEAR(flow["pressure_gradient_Pa_m"].get<double>(), 3.0 / (i == 0 ? 16 : 12), 1e-12);
    EXPECT_GT(flow["permeability_error_m2"].get<double>(), 0.0);
    const auto& drag = flow["drag_over_drive"];
    EXPECT_NEAR(drag["pressure"].get<double>() + drag["friction"].get<double>(), 1.0, 0.08);  // 4 cells per radius
  }
  ASSERT_EQ(result.files.size(), 2U);
  EXPECT_EQ(result.files[1].name, "plot_y.vtkhdf");
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/plot_x.vtkhdf"));
  EXPECT_TRUE(result.components.empty());
  EXPECT_GT(json["permeability_m2"][0][0].get<double>(), 0.0);
  const JobPlan plan = flow_job().cost.plan(config, source.grid);
  EXPECT_EQ(plan.grids.at(0).reservoir, 4);
  GridCounts counts;
  counts.fluid = counts.slots = 1000;
  EXPECT_EQ(counts_on(plan.grids.at(1), counts, source.grid).fluid, 1000 + 2 * 4 * 16 * 12);
}

}  // namespace
}  // namespace karst::job_test
