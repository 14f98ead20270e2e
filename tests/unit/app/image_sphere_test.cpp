// SPDX-License-Identifier: BSD-3-Clause
// E5 (docs/verification.md): from the gray-scale image of a sphere to its volume and area, the whole way: TIFF, import,
// level set, cut cells.
#include <gtest/gtest.h>

#include <cmath>

#include "support/image_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::image_sphere_test {
namespace {

TEST(ImageOfASphere, PorosityAndAreaAloneByDay) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  for (const double blur : {0.29, 0.5, 1.0}) {
    const test::ImageErrors e = test::errors_of_image(comm, folder.path(), blur);
    EXPECT_LT(std::abs(e.porosity), 0.003) << blur;
    EXPECT_LT(std::abs(e.area), 0.03) << blur;
  }
}

}  // namespace
}  // namespace karst::image_sphere_test
