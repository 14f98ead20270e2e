// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/command_line.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::command_line_test {
namespace {

using test::has;

std::string error_of(const std::vector<std::string>& arguments) {
  return test::error_of([&] { parse_command_line(arguments); });
}

TEST(CommandLine, GeometryTakesDeckOverridesAndOptionsInAnyOrder) {
  const Parsed p = parse_command_line(
      {"geometry", "deck.toml", "grid.cells=[8,8,8]", "--out", "results", "grid.box=32", "-j", "3", "--overwrite"});
  EXPECT_FALSE(p.stop);
  EXPECT_EQ(p.line.command, "geometry");
  EXPECT_EQ(p.line.deck, "deck.toml");
  EXPECT_EQ(p.line.overrides, (std::vector<std::string>{"grid.cells=[8,8,8]", "grid.box=32"}));
  EXPECT_EQ(p.line.out, "results");
  EXPECT_EQ(p.line.threads, 3);
  EXPECT_TRUE(p.line.overwrite);
}

TEST(CommandLine, RunTakesOptionsOfPetsc) {
  const Parsed p = parse_command_line(
      {"run", "deck.toml", "--petsc", "-diffusion_pc_type gamg", "-j", "2", "--out", "d", "diffusion.axes=[\"x\"]"});
  EXPECT_EQ(p.line.command, "run");
  EXPECT_EQ(p.line.petsc, "-diffusion_pc_type gamg");
  EXPECT_EQ(p.line.overrides, std::vector<std::string>{"diffusion.axes=[\"x\"]"});
  EXPECT_EQ(parse_command_line({"run", "deck.toml", "--uncertainty"}).line.overrides,
            std::vector<std::string>{"flow.uncertainty=true"});
  EXPECT_EQ(p.line.out, "d");
  EXPECT_EQ(p.line.overrides, std::vector<std::string>{"diffusion.axes=[\"x\"]"});
}

TEST(CommandLine, ATimeLimitMayHaveAUnit) {
  for (const auto& [text, seconds] :
       {std::pair{"90", 90.0}, {"90s", 90.0}, {"1.5 h", 5400.0}, {"10min", 600.0}, {"1e-2", 0.01}})
    EXPECT_EQ(parse_command_line({"run", "deck.toml", "--time-limit", text}).line.time_limit, seconds) << text;
  for (const char* text : {"10 m", "0", "-3s", "nan", "soon", "5 s s"}) {
    const std::string error = error_of({"run", "deck.toml", "--time-limit", text});
    EXPECT_TRUE(has(error, "--time-limit")) << text << ": " << error;
    EXPECT_LT(error.size(), 300u) << error;
  }
  EXPECT_TRUE(has(error_of({"study", "s.toml", "--ranks", "0"}), "in range 1 to 1000000"))
      << error_of({"study", "s.toml", "--ranks", "0"});
}

TEST(CommandLine, ImportOptionsAreTheKeysOfTheDeck) {
  const Parsed p = parse_command_line({"import", "rock.raw", "-o", "rock.h5", "--size", "3,4,5", "--type", "uint16",
                                       "--voxel", "5.3e-6", "--pore", "-1", "--json", "report.json"});
  EXPECT_EQ(p.line.command, "import");
  EXPECT_EQ(p.line.image, "rock.raw");
  EXPECT_EQ(p.line.file, "rock.h5");
  EXPECT_EQ(p.line.json, "report.json");
  EXPECT_EQ(p.line.overrides,
            (std::vector<std::string>{"geometry.import.size=\"3,4,5\"", "geometry.import.type=\"uint16\"",
                                      "geometry.import.voxel=5.3e-6", "geometry.import.pore=-1"}));
}

TEST(CommandLine, AnImageWithItsImportOptionsStandsForADeck) {
  for (const char* command : {"run", "check", "geometry"}) {
    const Parsed p =
        parse_command_line({command, "rock.raw.gz", "--size", "128x128x64", "--voxel", "5.3 um", "flow.axes=z"});
    EXPECT_EQ(p.line.deck, "rock.raw.gz");
    EXPECT_EQ(p.line.overrides, (std::vector<std::string>{"flow.axes=z", "geometry.import.size=\"128x128x64\"",
                                                          "geometry.import.voxel=5.3 um"}));
  }
}

TEST(CommandLine, InitTakesAFileAndAnImage) {
  const Parsed p = parse_command_line({"init", "my.toml", "--image", "rock.tif", "--voxel", "2um"});
  EXPECT_EQ(p.line.command, "init");
  EXPECT_EQ(p.line.deck, "my.toml");
  EXPECT_EQ(p.line.image, "rock.tif");
  EXPECT_EQ(p.line.overrides, std::vector<std::string>{"geometry.import.voxel=2um"});
  EXPECT_EQ(parse_command_line({"init"}).line.command, "init");
}

TEST(CommandLine, ListsAndNamesNeedNoQuotes) {
  const Parsed p = parse_command_line({"import", "rock.tif", "-o", "rock.h5", "--names", "pore,quartz", "--labels",
                                       "a b.json", "--keep_axes", "true,false,false", "--label_values", "0,1"});
  EXPECT_EQ(p.line.overrides,
            (std::vector<std::string>{"geometry.import.labels=\"a b.json\"", "geometry.import.label_values=\"0,1\"",
                                      "geometry.import.names=\"pore,quartz\"",
                                      "geometry.import.keep_axes=\"true,false,false\""}));
  const std::string help = parse_command_line({"import", "--help"}).text;
  EXPECT_TRUE(has(help, "--names NAME,NAME,...") && has(help, "default halfway") && has(help, "--seed_threshold 80"));
}

TEST(CommandLine, HelpAndVersionStopWithAText) {
  for (const auto& arguments : {std::vector<std::string>{"--help"}, {"--version"}, {"geometry", "--help"}}) {
    const Parsed p = parse_command_line(arguments);
    EXPECT_TRUE(p.stop) << arguments[0];
    EXPECT_FALSE(p.text.empty()) << arguments[0];
  }
  EXPECT_TRUE(has(parse_command_line({"--version"}).text, "karst "));
  EXPECT_TRUE(has(parse_command_line({"geometry", "--help"}).text, "--overwrite"));
  EXPECT_FALSE(parse_command_line({"help", "grid.box"}).stop);
}

TEST(CommandLine, MistakesAreNamed) {
  EXPECT_TRUE(has(error_of({}), "no command given"));
  EXPECT_TRUE(has(error_of({"chek", "deck.toml"}), "did you mean \"check\"?"));
  EXPECT_TRUE(has(error_of({"frobnicate"}),
                  "geometry, check, report, view, status, study, variation, import, speciate, completion, help"));
  EXPECT_TRUE(has(error_of({"check", "deck.toml", "--out", "here"}), "--out"));  // check writes nothing
  EXPECT_TRUE(has(error_of({"check", "deck.toml", "-j", "0"}), "--threads"));
  EXPECT_TRUE(has(error_of({"import", "rock.raw"}), "--output"));
  EXPECT_TRUE(has(error_of({"geometry"}), "deck"));
  EXPECT_TRUE(has(error_of({"report"}), "directory"));
}

}  // namespace
}  // namespace karst::command_line_test
