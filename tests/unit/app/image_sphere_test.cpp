// SPDX-License-Identifier: BSD-3-Clause
// E5 (docs/verification.md): from the gray-scale image of a sphere to its volume and area, the whole way: TIFF, import,
// level set, cut cells.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "app/source.hpp"
#include "eb/geometry.hpp"
#include "geometry_import/ct_image.hpp"
#include "geometry_import/import.hpp"
#include "support/shared_directory.hpp"

namespace karst {
namespace {

/// Solid fraction of every voxel of a sphere, by 8^3 samples.
std::vector<float> sphere_fraction(int n, const Vec3& center, double radius) {
  std::vector<float> fraction;
  constexpr int s = 8;
  for_each_cell(Box{{}, Index::all(n)}, [&](const Index& voxel) {
    int inside = 0;
    for_each_cell(Box{{}, Index::all(s)}, [&](const Index& at) {
      Vec3 x;
      for (int d = 0; d < 3; ++d) x[d] = voxel[d] + (at[d] + 0.5) / s - center[d];
      inside += dot(x, x) < radius * radius;
    });
    fraction.push_back(static_cast<float>(inside) / (s * s * s));
  });
  return fraction;
}

/// Relative errors of porosity and wall area of the sphere in its image.
struct Errors {
  double porosity, area;
};
Errors errors_of_image(const Comm& comm, const std::string& folder, double blur) {
  const int n = 40;
  const double radius = 12.0;
  const std::string image = folder + "/sphere.tif", file = folder + "/sphere.h5";
  CtOptions ct;
  ct.blur = blur;
  ct.noise = ct.ring = 0.0;
  write_tiff(comm, image, Index::all(n), ct_image(Index::all(n), sphere_fraction(n, {20.3, 19.6, 20.1}, radius), ct), 8,
             TiffCompression::lzw, 0.0);
  ImportOptions options;
  options.file = image;
  options.voxel = 5e-6;
  import_image(comm, options, file);
  Config config;
  config.geometry.image = file;
  const Source source = open_source(comm, config, "");
  const Geometry geometry = build_geometry(comm, source.grid, *source.level_set, KeepPores::all);
  const double porosity = 1.0 - 4.0 / 3.0 * std::numbers::pi * std::pow(radius / n, 3);
  const double area = 4.0 * std::numbers::pi * radius * radius;
  return {geometry.report.porosity / porosity - 1.0, geometry.report.wall_area / area - 1.0};
}

TEST(ImageOfASphere, PorosityAndAreaMpi) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  for (const double blur : {0.29, 0.5, 1.0}) {
    const Errors e = errors_of_image(comm, folder.path(), blur);
    EXPECT_LT(std::abs(e.porosity), 0.003) << blur;
    EXPECT_LT(std::abs(e.area), 0.03) << blur;
  }
}

}  // namespace
}  // namespace karst
