// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/source.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/errors.hpp"
#include "support/shared_directory.hpp"

namespace karst::image_warnings_test {
namespace {

using test::has;

/// A duct along z of 2 x 2 of 8 x 8 voxels of 2 mm, of which each half stands elsewhere when it jumps. Collective.
void write_duct(const Comm& comm, const std::string& path, bool jumps) {
  if (comm.rank() == 0) {
    std::ofstream file(path, std::ios::binary);
    for (int z = 0; z < 16; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
          const int low = jumps && z >= 8 ? 4 : 3;
          file.put(y == 3 || y == 4 ? (x == low || x == low + 1 ? 0 : 1) : 1);
        }
  }
  comm.any(false);
}

Source duct_source(const Comm& comm, const std::string& folder, bool jumps, const std::string& grid) {
  write_duct(comm, folder + "/duct.raw", jumps);
  Reader in =
      Reader::from_text("[geometry]\nimage = \"" + folder +
                        "/duct.raw\"\n[geometry.import]\nsize = [8, 8, 16]\ntype = \"uint8\"\nvoxel = 2e-3\npore "
                        "= 0\n[grid]\n" +
                        grid);
  const Config config = read_config(in);
  return open_source(comm, config, folder + "/imported.h5");
}

TEST(ImageWarningsMpi, OfTheImportAndOfTheEndsOfPeriodicAxes) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const Source periodic = duct_source(comm, folder.path(), true, "periodic = [true, false, true]\n");
  const std::vector<std::string> found = image_warnings(comm, periodic);
  ASSERT_EQ(found.size(), periodic.image->info().found.warnings.size() + 1);
  EXPECT_TRUE(has(found[0], "import: voxels are 2.00 mm wide")) << found[0];
  EXPECT_TRUE(has(found.back(), "is not periodic along z")) << found.back();
  EXPECT_TRUE(has(found.back(), "6.2 % of the area") && has(found.back(), "pressure-drop")) << found.back();
  const Source open = duct_source(comm, folder.path(), true, "periodic = [true, false, false]\n");
  for (const std::string& w : image_warnings(comm, open)) EXPECT_TRUE(has(w, "import: ")) << w;
  const Source straight = duct_source(comm, folder.path(), false, "periodic = [true, false, true]\n");
  for (const std::string& w : image_warnings(comm, straight)) EXPECT_TRUE(has(w, "import: ")) << w;
}

// Of two solids the second one stands outside, as one in millimetres does: its shape decides, also beyond a corner or a
// periodic face, where its image reaches in.
TEST(ImageWarnings, OfSolidsOutsideOfTheDomain) {
  const auto warnings_of = [](const std::string& second, const std::string& periodic) {
    Reader in = Reader::from_text("[grid]\ncells = [16, 8, 8]\nsize = [2e-3, 1e-3, 1e-3]\nperiodic = " + periodic +
                                  "\n[[geometry.solid]]\nshape = \"sphere\"\ncenter = [1e-3, 5e-4, 5e-4]\nradius = "
                                  "3e-4\n[[geometry.solid]]\n" +
                                  second);
    const Comm comm = Comm::self();
    const Config config = read_config(in);
    std::string all;
    for (const std::string& w : first_warnings(comm, config, open_source(comm, config, ""))) all += w + "\n";
    return all;
  };
  const auto ball = [](const char* center) {
    return std::string("shape = \"sphere\"\nradius = 1e-4\ncenter = ") + center + "\n";
  };
  const std::string none = "[false, false, false]", x = "[true, false, false]";
  const std::string text = warnings_of(ball("[0.4, 0.4, 0.4]"), none);
  EXPECT_TRUE(has(text, "geometry.solid[1]: lies outside of the domain (0 to 0.002 x 0.001 x 0.001 m)")) << text;
  EXPECT_TRUE(has(warnings_of(ball("[2.08e-3, 1.08e-3, 1.08e-3]"), none), "geometry.solid[1]"));  // a corner
  EXPECT_EQ(warnings_of(ball("[2.05e-3, 1.02e-3, 5e-4]"), none), "");
  EXPECT_EQ(warnings_of(ball("[2.5e-3, 5e-4, 5e-4]"), x), "");  // at 0.5e-3
  EXPECT_EQ(warnings_of("shape = \"cylinder\"\nradius = 1e-4\ncenter = [0, 5e-4, 5e-4]\naxis = [1, 0, 0]\n", none), "");
  const std::string slab = "shape = \"box\"\nlo = [-1, -1, 1e-3]\nhi = [1, 1, 2e-3]\n";  // on the face: half a cell
  EXPECT_EQ(warnings_of(slab, none), "");
}

// Throats that the import found, in cells at the wall: of level 0, or of the level that all walls lie on.
TEST(ImageWarnings, OfThroatsThatCellsLose) {
  const Comm comm = Comm::self();
  const test::SharedDirectory folder(comm);
  {  // 8 wide, 4 in the middle
    std::ofstream file(folder.path() + "/duct.raw", std::ios::binary);
    for (int z = 0; z < 32; ++z)
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
          const int half = z >= 12 && z < 20 ? 2 : 4;
          file.put(std::abs(2 * x - 15) < 2 * half && std::abs(2 * y - 15) < 2 * half ? 0 : 1);
        }
  }
  const auto about_throats = [&](const std::string& grid) {
    Reader in = Reader::from_text("[geometry]\nimage = \"" + folder.path() +
                                  "/duct.raw\"\n[geometry.import]\nsize = [16, 16, 32]\ntype = \"uint8\"\nvoxel = "
                                  "1e-6\npore = 0\n[grid]\n" +
                                  grid);
    const Config config = read_config(in);
    const Source source = open_source(comm, config, folder.path() + "/imported.h5");
    EXPECT_EQ(source.image->info().found.throats.count, 1);
    std::string text;
    for (const std::string& w : image_warnings(comm, source))
      if (has(w, "throats")) text += w;
    return text;
  };
  EXPECT_EQ(about_throats(""), "");
  const std::string wide = about_throats("cells = [8, 8, 16]\n");
  EXPECT_TRUE(has(wide, "2.00 µm wide") && has(wide, "(2.0 cells)") && has(wide, "grid.cells")) << wide;
  EXPECT_EQ(about_throats("cells = [8, 8, 16]\nlevels = 2\n[[grid.refine]]\nlevel = 1\nwhere = \"wall\"\n"), "");
}

TEST(ImageWarnings, NoneOfDescribedSolids) { EXPECT_TRUE(image_warnings(Comm::self(), Source{}).empty()); }

}  // namespace
}  // namespace karst::image_warnings_test
