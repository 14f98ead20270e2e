// SPDX-License-Identifier: BSD-3-Clause
// A sphere, its gray-scale image, and what the import makes of it.
#pragma once

#include <numbers>
#include <string>
#include <vector>

#include "app/deck/source.hpp"
#include "eb/geometry.hpp"
#include "geometry_import/import.hpp"
#include "image_generator/ct_image.hpp"

namespace karst::test {

/// Solid fraction of every voxel of a sphere, by 8^3 samples.
inline std::vector<float> sphere_fraction(int n, const Vec3& center, double radius) {
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
struct ImageErrors {
  double porosity, area;
};
/// From image to geometry the whole way, with files in this folder. Collective.
inline ImageErrors errors_of_image(const Comm& comm, const std::string& folder, double blur) {
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

}  // namespace karst::test
