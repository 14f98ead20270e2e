// SPDX-License-Identifier: BSD-3-Clause
#include "app/study/study.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "app/study/study_runs.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "support/errors.hpp"
#include "support/shared_directory.hpp"

namespace karst::study_test {
namespace {

TEST(Study, EveryCombinationIsACaseAndTheLastVariesFastest) {
  StudyOptions options;
  options.deck = "deck.toml";
  options.vary = {{"grid.box", {"8", "16"}, ""}, {"flow.drive", {"a", "b", "c"}, "drive"}};
  const Study study = make_study(options, "folder", {"grid.levels=2"});
  EXPECT_EQ(study.deck, "folder/deck.toml");
  EXPECT_EQ(study.varied, (std::vector<std::string>{"grid.box", "drive"}));
  ASSERT_EQ(study.cases.size(), 6U);
  EXPECT_EQ(study.cases[1].name, "case_002");
  EXPECT_EQ(study.cases[1].values, (std::vector<std::string>{"8", "b"}));
  EXPECT_EQ(study.cases[5].overrides, (std::vector<std::string>{"grid.levels=2", "grid.box=16", "flow.drive=c"}));
}

// Eight octants of an image of 96³ for cubes of 48; no two cubes share anything while there is room, and what they
// share is told where there is none.
TEST(Study, PartsAreApartWhileThereIsRoom) {
  std::set<std::array<int, 3>> octants;
  for (const Index& low : parts_of_image({96, 96, 96}, 48, 8).low) {
    octants.insert(low.v);
    for (int d = 0; d < 3; ++d) EXPECT_TRUE(low[d] == 0 || low[d] == 48) << low[d];
  }
  EXPECT_EQ(octants.size(), 8U);
  for (const auto& [size, edge, most] : {std::tuple{Index{96, 96, 96}, 48, 8}, {Index{100, 70, 31}, 15, 48}}) {
    for (int n = 1; n <= most; ++n) {
      const ImageParts parts = parts_of_image(size, edge, n);
      ASSERT_EQ(std::ssize(parts.low), n);
      EXPECT_EQ(parts.overlap, 0.0) << n;
      for (const Index& low : parts.low)
        for (int d = 0; d < 3; ++d) EXPECT_TRUE(low[d] >= 0 && low[d] + edge <= size[d]) << low[d];
    }
    EXPECT_GT(parts_of_image(size, edge, most + 1).overlap, 0.0);
  }
  EXPECT_EQ(parts_of_image({96, 96, 96}, 48, 12).overlap, 0.5);                      // 3 x 2 x 2: at 0, 24, 48
  EXPECT_EQ(parts_of_image({40, 30, 20}, 10, 1).low[0].v, (std::array{15, 10, 5}));  // the middle
  EXPECT_EQ(parts_of_image({24, 24, 24}, 24, 3).low.size(), 1U);
}

TEST(Study, PartsAreCasesAndWhatTheyShareIsTold) {
  const test::SharedDirectory folder(Comm::self());
  std::ofstream(folder.path() + "/rock.raw", std::ios::binary) << std::string(std::size_t{40} * 30 * 20, '\0');
  std::ofstream(folder.path() + "/deck.toml")
      << "[geometry]\nimage = \"rock.raw\"\n[geometry.import]\nsize = [40, 30, 20]\ntype = \"uint8\"\nvoxel = 1e-6\n"
         "pore = 0\n[diffusion]\naxes = [\"x\"]\n";
  StudyOptions options;
  options.deck = "deck.toml";
  options.sizes = {10, 20};
  options.places = 8;
  const Study study = make_study(options, folder.path(), {});
  ASSERT_EQ(study.cases.size(), 16U);
  std::set<std::string> corners;
  for (const StudyCase& c : study.cases) {
    int x = 0, y = 0, z = 0;
    ASSERT_EQ(std::sscanf(c.overrides.at(0).c_str(), "geometry.import.crop_low=[%d,%d,%d]", &x, &y, &z), 3);
    const int edge = std::stoi(c.values.at(0));
    EXPECT_TRUE(x >= 0 && y >= 0 && z >= 0 && x + edge <= 40 && y + edge <= 30 && z + edge <= 20) << c.overrides[0];
    corners.insert(c.values[0] + c.overrides[0]);
  }
  EXPECT_EQ(corners.size(), 16U);
  ASSERT_EQ(study.notes.size(), 1U);  // of those of 20, of which 2 have room
  EXPECT_PRED2(test::has, study.notes[0],
               "8 cubes of 20 voxels do not fit into 40 x 30 x 20 without overlap (there is room for 2)");
  options.sizes = {24};
  EXPECT_PRED2(test::has, test::error_of([&] { make_study(options, folder.path(), {}); }), "40 x 30 x 20");
}

TEST(Study, MisspeltColumnsAreFoundBeforeAnythingRuns) {
  for (const char* column :
       {"porosity", "permeability_m2[0][0]", "formation_factor[2]", "solves[0].iterations", "flow[0].reynolds",
        "communication.messages.most", "transport.components[1].breakthrough.mean_residence_time_s", "seconds.solve",
        "chemistry.minerals[0].rate_mol_s", "balances.transport_Na_relative", "memory.peak_bytes", "cells.fluid"})
    EXPECT_EQ(column_problem(column), "") << column;
  EXPECT_PRED2(test::has, column_problem("permeability_darcey[0][0]"), "did you mean \"permeability_darcy\"?");
  EXPECT_PRED2(test::has, column_problem("flow[0].reynold"), "did you mean \"reynolds\"?");
  const std::vector<Json> summaries{Json(), Json::parse(R"({"flow": [{"reynolds": 2}], "porosity": 0.5})")};
  EXPECT_EQ(empty_columns({"porosity"}, summaries).size(), 0U);
  const std::vector<std::string> notes = empty_columns({"reynolds"}, summaries);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_PRED2(test::has, notes[0], "did you mean flow[0].reynolds?");
}

// A part through which no pore leads has a permeability of 0: that is said beside it, and left out of the mean.
TEST(Study, CasesWithoutAPathAreMarked) {
  const Json closed = Json::parse(R"({"percolates": {"x": false, "y": true, "z": false}})");
  EXPECT_EQ(remark_on(closed, {0, 1, 2}), "no path along x, z");
  EXPECT_EQ(remark_on(closed, {1}), "");
  const Json open = Json::parse(R"({"percolates": {"x": true}, "flow": [{"axis": "x", "unbounded": true}]})");
  EXPECT_EQ(remark_on(open, {0}), "no wall along x");
  StudyTable table{{"t", "d.toml", {size_heading, place_heading}, {}}, {"permeability_m2[0][0]"}, {}};
  for (const auto& [size, k] : {std::pair{"10", 4.0}, {"10", 0.0}, {"20", 5.0}, {"20", 6.0}}) {
    table.study.cases.push_back({fmt::format("case_{}", table.rows.size()), {size, "1"}, {}});
    table.rows.push_back({"completed", "", {{"permeability_m2[0][0]", k}}, k > 0.0 ? "" : "no path along x"});
  }
  EXPECT_PRED2(test::has, study_csv(table), "permeability_m2[0][0],remark\n");
  EXPECT_PRED2(test::has, study_csv(table), "case_1,completed,10,1,0,no path along x\n");
  EXPECT_PRED2(test::has, study_text(table), "no path along x");
  const std::string page = study_page(table);
  EXPECT_PRED2(test::has, page, "Without 1 non-percolating case: 0 there.");
  EXPECT_PRED2(test::has, page, "no path along x");
}

// A point per case, from the least to the largest where cases share what varies; permeabilities on logarithmic axes,
// with ends at 1, 2 or 5 times a power of ten, also over the porosity.
TEST(Study, PagesHaveAPointPerCase) {
  StudyOptions options;
  options.deck = "deck.toml";
  options.vary = {{"grid.box", {"8", "16"}, ""}, {"fluid.density", {"1", "2"}, ""}};
  StudyTable table{make_study(options, "folder", {}), {"porosity", "permeability_m2[0][0]"}, {}};
  ASSERT_EQ(table.study.cases.size(), 4U);
  for (int i = 0; i < 4; ++i) {
    const double permeability = (3.0 + 2.0 * i) * 1e-12;
    table.rows.push_back({"completed", "", {{"porosity", 0.3 + 0.01 * i}, {"permeability_m2[0][0]", permeability}}});
  }
  const std::string page = study_page(table);
  const auto points = [&](const std::string& chart) {
    const std::size_t begin = page.find("<h2>" + chart + "</h2>"), end = page.find("</section>", begin);
    int n = 0;
    for (std::size_t at = begin; (at = page.find("h0", at)) < end; ++at) ++n;
    return n;
  };
  EXPECT_EQ(points("Permeability along x"), 4);
  EXPECT_EQ(points("Permeability over porosity"), 4 + 1) << "and one in the legend";
  for (const char* end : {">2e-12<", ">1e-11<"}) EXPECT_PRED2(test::has, page, end);
  EXPECT_EQ(page.find(">1e-12<"), std::string::npos);
}

TEST(Study, ScalingComparesWithTheFewestCoresOfTheSameCase) {
  StudyOptions options;
  options.deck = "deck.toml";
  options.vary = {{"grid.box", {"8", "16"}, ""}};
  options.ranks = {4, 1};
  options.threads = {1, 2};
  StudyTable table{make_study(options, "folder", {}), {"porosity"}, {}};
  ASSERT_EQ(table.study.cases.size(), 8U);
  EXPECT_EQ(table.study.varied, (std::vector<std::string>{"grid.box", "ranks", "threads"}));
  EXPECT_EQ(table.study.cases[1].ranks, 4);
  EXPECT_EQ(table.study.cases[1].threads, 2);
  EXPECT_EQ(table.study.cases[1].values, (std::vector<std::string>{"8", "4", "2"}));
  const std::array<double, 8> seconds{3.0, 2.0, 10.0, 6.0, 5.0, 4.0, 20.0, std::nan("")};
  for (const double s : seconds) table.rows.push_back({"completed", "", {{"seconds.total", s}, {"porosity", 0.4}}});
  add_scaling(table, "seconds.total");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"porosity", "seconds.total", "speed-up", "efficiency"}));
  EXPECT_DOUBLE_EQ(table.rows[0].of.at("speed-up"), 10.0 / 3.0);  // 4 x 1 against 1 x 1
  EXPECT_DOUBLE_EQ(table.rows[0].of.at("efficiency"), 10.0 / 3.0 / 4.0);
  EXPECT_DOUBLE_EQ(table.rows[1].of.at("efficiency"), 10.0 / 2.0 / 8.0);
  EXPECT_DOUBLE_EQ(table.rows[2].of.at("efficiency"), 1.0);
  EXPECT_DOUBLE_EQ(table.rows[3].of.at("speed-up"), 10.0 / 6.0);
  EXPECT_DOUBLE_EQ(table.rows[4].of.at("speed-up"), 4.0);  // of the other boxes
  EXPECT_TRUE(std::isnan(table.rows[7].of.at("speed-up")));
}

TEST(Study, NumbersOfValues) {
  EXPECT_EQ(number_of("32x32x32"), 32.0);
  EXPECT_EQ(number_of("[24, 24, 24]"), 24.0);
  EXPECT_EQ(number_of("-1.5e-3"), -1.5e-3);
  EXPECT_EQ(number_of("5.3 um"), 5.3e-6);
  EXPECT_TRUE(std::isnan(number_of("pressure-drop")));
  EXPECT_TRUE(std::isnan(number_of("x")));
}

TEST(Study, NumbersOfASummary) {
  const Json summary = Json::parse(R"({"k": [[1, null], [3, 4]], "cells": {"fluid": 7}, "name": "x"})");
  EXPECT_EQ(number_at(summary, "k[1][0]"), 3.0);
  EXPECT_EQ(number_at(summary, "cells.fluid"), 7.0);
  for (const char* place : {"k[0][1]", "k[2][0]", "k[x][0]", "k", "name", "cells.solid", "cells.fluid.more", ""})
    EXPECT_TRUE(std::isnan(number_at(summary, place))) << place;
  EXPECT_EQ(columns_of({}, {Json::parse(R"({"porosity": 0.5, "permeability_m2": [[1, 0], [0, 2]]})")}),
            (std::vector<std::string>{"porosity", "permeability_m2[0][0]", "permeability_m2[1][1]"}));
  EXPECT_EQ(columns_of({}, {Json::parse(R"({"porosity": 0.5, "walls": {"last": {"porosity": 0.7}}})")}),
            (std::vector<std::string>{"porosity", "walls.last.porosity"}));
}

TEST(Study, TablesHoldWhatThereIs) {
  StudyTable table{{"t", "d.toml", {"size", "of, it"}, {{"case_001", {"1", "a\"b"}, {}}, {"case_002", {"2", "c"}, {}}}},
                   {"porosity"},
                   {{"completed", "", {{"porosity", 0.25}}}, {"failed", "why", {{"porosity", std::nan("")}}}}};
  EXPECT_EQ(study_csv(table),
            "case,status,size,\"of, it\",porosity\ncase_001,completed,1,\"a\"\"b\",0.25\ncase_002,failed,2,c,\n");
  const Json json = Json::parse(study_json(table));
  EXPECT_EQ(json["cases"][1]["reason"].get<std::string>(), "why");
  EXPECT_TRUE(json["cases"][1]["results"]["porosity"].is_null());
  const std::string page = study_page(table);
  EXPECT_PRED2(test::has, page, "case_002 failed: why");
  EXPECT_PRED2(test::has, page, "case_001/report.html");
}

// Directives are words of a line: a path with blanks, quotes and letters of shells stays one word, and a line break,
// after which a command would begin, is refused.
TEST(Study, PathsInBatchScriptsAreQuoted) {
  CaseRun run;
  run.name = "case_001";
  run.command = {"/bin/karst", "run", "a; touch b.toml"};
  run.directory = "/data/a b; touch \"c\" $(d) 'e' -f";
  run.log = "/data/50%/case_001.txt";
  const std::string script = slurm_script(run);
  EXPECT_NE(script.find("\n#SBATCH --chdir=\"/data/a b; touch \\\"c\\\" $(d) 'e' -f\"\n"), std::string::npos) << script;
  EXPECT_NE(script.find("\n#SBATCH --output=\"/data/50%%/case_001.txt\"\n"), std::string::npos) << script;
  EXPECT_NE(script.find("  'a; touch b.toml'"), std::string::npos) << script;
  run.directory = "/data/a\ntouch b";
  EXPECT_EQ(test::error_of([&] { slurm_script(run); }),
            "\"/data/a\\u000Atouch b\": a path with a line break, another control character or a \\ cannot be given to "
            "sbatch; rename the directory");
}

}  // namespace
}  // namespace karst::study_test
