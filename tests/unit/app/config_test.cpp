// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/config.hpp"

#include <gtest/gtest.h>

#include <set>

#include "app/cli/commands.hpp"
#include "app/deck/source.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::config_test {
namespace {

constexpr const char* ball = R"(
[[geometry.solid]]
shape = "sphere"
center = [0.5, 0.5, 0.5]
radius = 0.3
[grid]
cells = [8, 8, 8]
size = [1.0, 1.0, 1.0]
)";

Config read_text(const std::string& text) {
  Reader in = Reader::from_text(text);
  Config config = read_config(in);
  in.finish();
  return config;
}

using test::error_of;
using test::has;

TEST(Config, DefaultsHold) {
  const Config c = read_text(ball);
  EXPECT_EQ(c.output.directory, "out");
  EXPECT_EQ(c.output.plot, (std::vector<PlotField>{PlotField::fraction, PlotField::distance}));
  EXPECT_TRUE(c.cells_given && c.size_given);
  EXPECT_FALSE(c.import_given);
  EXPECT_FALSE(needs_import(c));
}

TEST(Config, WhatIsNoGeometryFileIsImported) {
  const auto needed = [](const std::string& image, bool import_given = false) {
    Config c;
    c.geometry.image = image;
    c.import_given = import_given;
    return needs_import(c);
  };
  for (const char* image : {"a.tif", "a.npy", "s_*.png", "s_%04d.tif", "a.h5:/data", "a.hdf5:data", ".", "a.nxs"})
    EXPECT_TRUE(needed(image)) << image;
  EXPECT_FALSE(needed("none.h5") || needed("none.hdf5")) << "taken for what karst import made";
  EXPECT_FALSE(needed("none.h5", true)) << "there is nothing to import";
}

TEST(Config, EchoReadsBackToTheSame) {
  Reader in = Reader::from_text(std::string(ball) + "[output]\nplot = [\"wall_normal\"]\n");
  read_config(in);
  in.finish();
  const std::string echo = in.echo();
  Reader again = Reader::from_text(echo);
  const Config c = read_config(again);
  again.finish();
  EXPECT_EQ(c.output.plot, std::vector<PlotField>{PlotField::wall_normal});
  EXPECT_FALSE(c.import_given);
  EXPECT_EQ(again.echo(), echo);
}

TEST(Config, WhatIsMissingIsNamed) {
  EXPECT_TRUE(has(error_of([] { read_text(""); }), "[[geometry.solid]]"));
  const std::string no_grid =
      error_of([] { read_text("[[geometry.solid]]\nshape = \"expression\"\nexpression = \"x\"\n"); });
  EXPECT_TRUE(has(no_grid, "grid.cells: missing") && has(no_grid, "grid.size: missing")) << no_grid;
  EXPECT_TRUE(
      has(error_of([] { read_text(std::string(ball) + "[geometry.import]\nvoxel = 1.0\n"); }), "nothing to import"));
}

// What stands in place of a file name is the one mistake: without an image it would have others for consequence.
TEST(Config, WhatIsNoFileNameIsOneMistake) {
  for (const char* image : {"[geometry.image]\nfile = \"a.raw\"\n", "[geometry]\nimage = 3\n"}) {
    const std::string error = error_of([&] { read_text(std::string(image) + "[flow]\nmodel = \"stokes\"\n"); });
    EXPECT_TRUE(has(error, "geometry.image: ") && has(error, "expected: file name")) << error;
    for (const char* consequence : {"grid.cells", "no geometry is given", "flow.drive"})
      EXPECT_FALSE(has(error, consequence)) << error;
  }
}

TEST(Config, PlotWordsAreChecked) {
  const auto plot = [](const std::string& list) {
    return error_of([&] { read_text(std::string(ball) + "[output]\nplot = " + list + "\n"); });
  };
  EXPECT_EQ(plot("[\"wall_area\", \"fraction\"]"), "");
  EXPECT_TRUE(has(plot("[\"distence\"]"), "did you mean \"distance\"?"));
  EXPECT_TRUE(has(plot("[\"fraction\", \"fraction\"]"), "twice"));
}

TEST(Config, PlotfilesHoldWhatIsSolvedForUnlessTheDeckNamesFields) {
  using F = PlotField;
  const auto fields = [](const std::string& more) { return read_text(ball + more).output.plot; };
  const std::string flow = "[flow]\nmodel = \"stokes\"\ndrive = \"pressure-drop\"\naxes = [\"x\"]\n";
  EXPECT_EQ(fields(flow), (std::vector{F::fraction, F::distance, F::velocity, F::pressure}));
  EXPECT_EQ(fields("[diffusion]\naxes = [\"x\"]\n"), (std::vector{F::fraction, F::distance, F::concentration}));
  EXPECT_EQ(fields(flow + "[output]\nplot = [\"speed\"]\n"), std::vector{F::speed});
  EXPECT_EQ(fields(flow + "[output]\nplot = []\n"), std::vector<F>{});
}

TEST(Config, EveryKeyIsExplainedOnceAndHelpFindsIt) {
  std::set<std::string> seen;
  for (const KeyInfo& key : deck_keys()) {
    EXPECT_TRUE(seen.insert(key.key).second) << key.key;
    EXPECT_FALSE(key.help.empty()) << key.key;
    CommandLine line;
    line.key = key.key;
    EXPECT_TRUE(has(help_command(line), key.help)) << key.key;
  }
  for (const KeyInfo& key : import_keys()) EXPECT_TRUE(seen.contains(key.key)) << key.key;
}

TEST(Config, HelpOnTablesAndMisspeltKeys) {
  CommandLine line;
  line.key = "grid";
  EXPECT_TRUE(has(help_command(line), "grid.box") && has(help_command(line), "grid.refine[].level"));
  line.key = "geometry.solid.radius";
  EXPECT_TRUE(has(help_command(line), "geometry.solid[].radius"));
  line.key = "gird.box";
  EXPECT_TRUE(has(error_of([&] { help_command(line); }), "did you mean \"grid.box\"?"));
  line.key = "radius";
  EXPECT_TRUE(has(error_of([&] { help_command(line); }), "geometry.solid.radius"));
  line.markdown = true;
  EXPECT_TRUE(has(help_command(line), "### `[grid]`"));
}

GeometryInfo image(const Index& voxels) {
  GeometryInfo info;
  info.voxels = voxels;
  info.voxel = 2e-6;
  return info;
}

// A place to be followed has its bounds, and a component of transient transport.
TEST(Config, WhatTheGridFollowsHasToBeThere) {
  const std::string two_levels = std::string(ball) + "levels = 2\n";
  const auto followed = [&](const std::string& rule, const std::string& more) {
    return error_of([&] { read_text(two_levels + "[[grid.refine]]\n" + rule + more); });
  };
  const std::string front = "where = \"front\"\nlow = 0.1\nhigh = 0.9\n",
                    dye = "[time]\nend = 1\ndt = 0.1\n[transport]\n[[transport.component]]\nname = \"dye\"\n",
                    ink = "[[transport.component]]\nname = \"ink\"\n";
  EXPECT_TRUE(read_text(two_levels + "[[grid.refine]]\n" + front + dye).grid.follows());
  EXPECT_PRED2(has, followed(front, ""), "follows a component of transient transport");
  EXPECT_PRED2(has, followed(front + "component = \"ink\"\n", dye), "\"ink\" is no component of the deck");
  EXPECT_PRED2(has, followed(front, dye + ink), "there are several; expected one of: dye, ink");
  EXPECT_PRED2(has, followed("where = \"front\"\nlow = 0.9\nhigh = 0.1\n", dye), "0.9 must be below high = 0.1");
  EXPECT_PRED2(has, followed("where = \"front\"\nlow = 0.9\n", dye), "needs both bounds, low and high");
  EXPECT_PRED2(has, followed("where = \"gradient\"\n", dye), "needs a change");
  EXPECT_PRED2(has, followed("where = \"gradient\"\nchange = 0\n", dye), "0 refines everywhere");
  EXPECT_PRED2(has, followed("where = \"wall\"\nchange = 1\n", dye), "only where = \"gradient\" has a change");
}

// Each place has its own keys, thresholds in their order, and something to look at; all mistakes are shown together.
TEST(Config, EveryPlaceThatIsFollowedHasItsKeys) {
  const std::string two_levels = std::string(ball) + "levels = 2\n",
                    dye = "[time]\nend = 1\ndt = 0.1\n[transport]\n[[transport.component]]\nname = \"dye\"\n",
                    flow = "[flow]\nmodel = \"stokes\"\ndrive = \"pressure-drop\"\npressure_drop = 1\naxes = [\"x\"]\n",
                    wall = "[[transport.wall]]\nrate = 1\n";
  const auto rule = [](const std::string& where, const std::string& keys) {
    return "[[grid.refine]]\nwhere = \"" + where + "\"\n" + keys + "\n";
  };
  const auto wrong = [&](const std::string& rules, const std::string& more) {
    return error_of([&] { read_text(two_levels + rules + more); });
  };
  EXPECT_TRUE(read_text(two_levels + rule("speed", "above = 0.1\nkeep = 0.02") + flow + dye).grid.follows());
  EXPECT_TRUE(read_text(two_levels + rule("vorticity", "above = 3\nrelative = true") + flow + dye).grid.follows());
  EXPECT_TRUE(read_text(two_levels + rule("formula", "formula = \"dye > 0.1 && x > 1e-3\"") + dye).grid.follows());
  EXPECT_TRUE(read_text(two_levels + rule("rate", "above = 1e-6") + dye + wall).grid.follows());
  EXPECT_FALSE(read_text(two_levels + rule("throat", "cells = 4")).grid.follows());
  const std::string all =
      wrong(rule("speed", "above = 1\nkeep = 2") + rule("vorticity", "above = 0") + rule("rate", "") +
                rule("formula", "formula = \"ink > 1\"") + rule("throat", "above = 1") + rule("wall", "keep = 1"),
            flow + dye);
  for (const char* text :
       {"2 must not be above above = 1", "0 refines everywhere", "the value from which on it is refined is missing",
        "\"rate\" is of walls that react, and there are none", "ink is unknown", "needs a width, in cells",
        "a gradient has a change", "belongs to what has one threshold"})
    EXPECT_PRED2(has, all, text);
  EXPECT_PRED2(has, wrong(rule("speed", "above = 1"), dye), "follows a flow, and the deck has none");
  EXPECT_PRED2(has, wrong(rule("vorticity", "above = 1"), flow), "follows what goes through time, and nothing does");
  EXPECT_PRED2(has, wrong(rule("rate", "above = 1\nmineral = \"Calcite\""), dye + wall), "is no [[chemistry.mineral]]");
  EXPECT_PRED2(has, wrong(rule("rate", "above = 1\ncomponent = \"ink\""), dye + wall), "is no component of the deck");
  EXPECT_PRED2(has, wrong(rule("gradient", "change = 1\nkeep = 3"), dye), "3 must not be above change = 1");
  EXPECT_PRED2(has, error_of([&] { read_text(std::string(ball) + "follow_every = 5\n"); }), "follows the solution");
}

TEST(Grid, OneCellPerVoxelWithoutCells) {
  const GridOptions grid = complete_grid(Config{}, image({10, 20, 30}));
  EXPECT_EQ(grid.cells, (Index{10, 20, 30}));
  EXPECT_DOUBLE_EQ(grid.size[2], 60e-6);
  EXPECT_DOUBLE_EQ(grid.cell_width(), 2e-6);
}

TEST(Grid, CellsOfADeckMustBeCubesInTheImage) {
  Config c;
  c.cells_given = true;
  c.grid.cells = {5, 10, 15};
  EXPECT_DOUBLE_EQ(complete_grid(c, image({10, 20, 30})).cell_width(), 4e-6);
  c.grid.cells = {5, 10, 16};
  EXPECT_TRUE(has(error_of([&] { complete_grid(c, image({10, 20, 30})); }), "cubes"));
}

TEST(Grid, SizeOfADeckMustBeThatOfTheImage) {
  Config c;
  c.size_given = true;
  c.grid.size = {20e-6, 40e-6, 60e-6};
  EXPECT_EQ(complete_grid(c, image({10, 20, 30})).cells, (Index{10, 20, 30}));
  c.grid.size = {20e-6, 40e-6, 61e-6};
  EXPECT_TRUE(has(error_of([&] { complete_grid(c, image({10, 20, 30})); }), "direction z"));
}

}  // namespace
}  // namespace karst::config_test
