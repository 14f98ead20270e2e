// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/session.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/deck/config.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/shared_directory.hpp"

namespace karst::image_deck_test {
namespace {

TEST(ImageDeck, ImagesStandForDecks) {
  for (const char* name :
       {"rock.h5", "rock.h5:/data", "a/rock.tif", "rock.raw", "rock.raw.gz", "rock.nii.gz", "s/*.png"})
    EXPECT_TRUE(stands_for_deck(name)) << name;
  for (const char* name : {"deck.toml", "a/deck.toml", "*.toml", "deck", "deck.txt", ""})
    EXPECT_FALSE(stands_for_deck(name)) << name;
}

TEST(ImageDeck, ResultsAreNamedAfterTheImage) {
  EXPECT_EQ(results_of_image("data/rock.h5"), "out/rock");
  EXPECT_EQ(results_of_image("../rock_5.3um.tif"), "out/rock_5.3um");
  EXPECT_EQ(results_of_image("rock.nii.gz"), "out/rock");
  EXPECT_EQ(results_of_image("rock.h5:/group/data"), "out/rock");
  EXPECT_EQ(results_of_image("scans/rock/slice_*.tif"), "out/rock");
  EXPECT_EQ(results_of_image("rock/slice_%04d.png"), "out/rock");
}

TEST(ImageDeck, AsksForThePermeabilityAlongAllAxesAndWhatTheUserSetsWins) {
  const test::SharedDirectory directory(Comm::self());
  const std::string image = directory.path() + "/a \"rock\".tif";
  EXPECT_NE(test::error_of([&] { deck_of_image(image); }).find("there is no image"), std::string::npos);
  std::ofstream(image) << "any";
  std::vector<std::string> all = deck_of_image(image);
  all.insert(all.end(), {"flow.axes=z", "geometry.import.voxel=5.3um"});
  Reader in = Reader::from_text("", "command line", all);
  const Config config = read_config(in);
  in.finish();
  EXPECT_EQ(config.geometry.image, image);
  EXPECT_EQ(config.flow.model, FlowModel::stokes);
  EXPECT_EQ(config.flow.drive, FlowDrive::pressure_drop);
  EXPECT_EQ(config.flow.axes, std::vector<int>{2});
  EXPECT_EQ(config.import.voxel, 5.3e-6);
  EXPECT_EQ(config.output.directory, "out/a \"rock\"");
}

TEST(ImageDeck, MistakesNameOptions) {
  Reader in = Reader::from_text("[geometry.import]\nvoxel = -1\n", "deck.toml", {"geometry.import.size=3x4"});
  in.name_options(import_table);
  ImportOptions options;
  read(in, options);
  EXPECT_EQ(test::error_of([&] { in.finish(); }),
            "deck.toml:2: geometry.import.voxel: -1 given; expected: number 1e-12 to 1000 [m]\n"
            "command line: --size: \"3x4\" given; expected: list of 3 integers >= 1 [voxels]");
}

}  // namespace
}  // namespace karst::image_deck_test
