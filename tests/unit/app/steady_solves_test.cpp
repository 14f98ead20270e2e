// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/steady_solves.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/level_set_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::steady_solves_test {
namespace {

struct Answer {
  int number = 0;
  std::vector<float> field;
};

using Names = std::vector<std::string>;

/// Runs of the solves "a" (trivial), "b", "c": number and field are the place in the list.
struct Runs {
  /// @param broken  the solve that fails
  std::vector<Answer> run(bool resume, const std::string& broken = "", const std::string& where = "") {
    RunServices services;
    services.solved = SolveStore(comm, place.path() + "/solved", "", resume);
    const JobContext context{comm, config, grid, test::ground_on(comm, geometry), services};
    const CompositeNumbering numbering(comm, geometry);
    const std::size_t n = numbering.n_own();
    SolveKind<Answer> kind{.job = "test", .where = where};
    kind.rows = [where](const Answer& a) {
      SolveReport report;
      report.name = std::string(1, static_cast<char>('a' + a.number)) + where;
      return std::vector{report};
    };
    kind.depends = "this";
    kind.places = places_of(geometry, numbering);
    kind.record = [](const Answer& a) { return SolveRecord{Json{{"k", a.number}}, Json{{"number", a.number}}}; };
    kind.restore = [n](const Json& state) { return Answer{state.at("number"), std::vector<float>(n)}; };
    kind.fields = [](Answer& a) { return std::vector{SolveField{"field", 1, std::span(a.field)}}; };
    std::vector<SteadySolve<Answer>> list;
    for (const std::string name : {"a", "b", "c"})
      list.push_back({name,
                      [&, name, n] {
                        solved.push_back(name);
                        require(name != broken, "went wrong");
                        const int number = name[0] - 'a';
                        return Answer{number, std::vector<float>(n, static_cast<float>(number))};
                      },
                      name == "a"});
    SolveProgress progress(context, "test", 1e-6);
    solved.clear();
    const std::vector<Answer> answers = run_solves(context, kind, progress, list);
    n_read = services.solved.n_read();
    rows.clear();
    for (const SolveRow& row : progress.rows()) rows.push_back(row.name);
    return answers;
  }

  Comm comm = Comm::world();
  test::SharedDirectory place{comm};
  Config config;
  GridOptions grid = test::flow_grid(Index::all(16), {true, true, true}, 8);
  Geometry geometry = build_geometry(comm, grid, *make_level_set(Sphere{{8.1, 8.2, 7.9}, 5.0}), KeepPores::all);
  Names solved, rows;
  int n_read = 0;
};

void expect_in_order(const std::vector<Answer>& answers) {
  ASSERT_EQ(answers.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answers[i].number, i);
    for (const float value : answers[i].field) EXPECT_EQ(value, static_cast<float>(i));
  }
}

TEST(SteadySolvesMpi, WhatIsKnownIsNotSolvedAgain) {
  Runs runs;
  expect_in_order(runs.run(false));
  EXPECT_EQ(runs.solved, (Names{"a", "b", "c"}));
  EXPECT_EQ(runs.rows, (Names{"b", "c"}));  // of what is trivial nothing is told, and nothing kept
  expect_in_order(runs.run(true));
  EXPECT_EQ(runs.solved, Names{"a"});
  EXPECT_EQ(runs.n_read, 2);
  EXPECT_EQ(runs.rows, (Names{"b", "c"}));
  runs.run(true, "", ", finer");  // others by their name
  EXPECT_EQ(runs.solved, (Names{"a", "b", "c"}));
  EXPECT_EQ(runs.rows, (Names{"b, finer", "c, finer"}));
}

TEST(SteadySolvesMpi, AFailingSolveSaysWhichAndThoseBeforeItStay) {
  Runs runs;
  EXPECT_EQ(test::error_of([&] { runs.run(false, "c"); }), "c: went wrong");
  expect_in_order(runs.run(true));
  EXPECT_EQ(runs.solved, (Names{"a", "c"}));
  EXPECT_EQ(runs.n_read, 1);
}

}  // namespace
}  // namespace karst::steady_solves_test
