// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall_fit.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "base/core/text.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/import.hpp"
#include "geometry_import/segment/segment.hpp"
#include "geometry_import/voxels/diffusion.hpp"
#include "image_generator/packing.hpp"
#include "image_generator/random_numbers.hpp"
#include "import_cases.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::wall_fit_test {
namespace {

using test::error_of;
using test::has;

double variance_of(const std::vector<float>& w) {
  const auto reach = static_cast<double>(w.size() / 2);
  double sum = 0;
  for (std::size_t n = 0; n < w.size(); ++n) sum += double{w[n]} * std::pow(static_cast<double>(n) - reach, 2);
  return sum;
}

// The variance is the one asked for, down to small ones, where that of a sampled Gaussian is not (0.09: 0.0077); two
// in turn are one of the sum.
TEST(Diffusion, VariancesAddUp) {
  for (const double t : {0.01, 0.09, 0.25, 1.0, 4.0, 25.0}) {
    const std::vector<float> w = diffusion_weights(t);
    EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1.0, 1e-6);
    EXPECT_NEAR(variance_of(w), t, 2e-3 * t);
  }
  const Index size{1, 1, 41};
  const ImageWindow all{size, 0, size[2]};
  std::vector<float> twice(all.count(), 0.0F), once;
  twice[20] = 1.0F;
  once = twice;
  diffuse(all, 0.3, twice);
  diffuse(all, 0.9, twice);
  diffuse(all, 1.2, once);
  for (std::size_t n = 0; n < once.size(); ++n) EXPECT_NEAR(once[n], twice[n], 2e-4);
}

/// A scan of two phases: shares of pore, blurred, with noise; gray values 60 in the pore and 180 in the solid.
struct Scan {
  Index size;
  std::vector<float> pore;  ///< share of each voxel
  double blur = 0.5, noise = 0.0;
  double noise_of_solid = 1.0;  ///< over that of the pore
  double halo = 0.0;            ///< phase contrast: so much of the image less the same blurred by 3 voxels is added

  ImportOptions options(const Comm& comm, const std::string& path) const {
    const ImageWindow all{size, 0, size[2]};
    std::vector<float> shares = pore;
    diffuse(all, blur * blur, shares);
    std::vector<float> around = shares;
    diffuse(all, 9, around);
    const RandomNumbers random(1, 5);
    std::vector<float> gray;
    for (std::size_t n = 0; n < shares.size(); ++n) {
      const double share = double{shares[n]} + halo * (double{shares[n]} - double{around[n]});
      const double sigma = noise * (shares[n] < 0.5F ? noise_of_solid : 1.0);
      gray.push_back(static_cast<float>(180 - 120 * share + 120 * sigma * random.normal(n)));
    }
    if (comm.rank() == 0) test::write_raw(path, gray);
    comm.any(false);
    return test::raw_image(path, size, VoxelType::float32);
  }
};

std::vector<float> level_set_of(const std::string& path) {
  const GeometryFile file(path);
  const Index n = file.info().voxels;
  std::vector<float> phi(static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) *
                         static_cast<std::size_t>(n[2]));
  file.read_block({}, n, phi.data());
  return phi;
}

// A slit between z = low and z = high: gray values, blur and walls are found, wherever the walls are between voxels,
// from a threshold that is 20 % of the contrast off.
TEST(WallFit, FindsScanAndWallsOfASlit) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  for (const double low : {9.0, 9.2, 9.5, 9.7})
    for (const double blur : {0.3, 0.6, 1.0}) {
      const double high = low + 6.3;
      Scan scan{{12, 12, 25}, {}, blur};
      for (int z = 0; z < 25; ++z)
        scan.pore.insert(scan.pore.end(), 144,
                         static_cast<float>(std::max(0.0, std::min(high, z + 1.0) - std::max(low, double(z)))));
      ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
      o.threshold = 95;
      o.wall = WallFrom::scan;
      const ImportReport r = import_image(comm, o, directory.path() + "/a.h5");
      ASSERT_TRUE(r.scan.has_value());
      EXPECT_NEAR(r.scan->pore, 60, 1.5) << low << " " << blur;
      EXPECT_NEAR(r.scan->solid, 180, 1.5) << low << " " << blur;
      EXPECT_NEAR(r.scan->blur, blur, 0.06) << low;
      EXPECT_NEAR(25 * r.level_set_porosity, 6.3, 0.06) << low << " " << blur;  // 0.03 voxel at each wall
    }
}

// A slit across x, y or z is the same slit.
TEST(WallFit, KnowsNoDirection) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const double low = 7.2, high = 12.6;
  std::array<double, 3> width{};
  for (int d = 0; d < 3; ++d) {
    Scan scan{Index::all(20), {}, 0.6};
    for (int z = 0; z < 20; ++z)
      for (int y = 0; y < 20; ++y)
        for (int x = 0; x < 20; ++x) {
          const double at = Index{x, y, z}[d];
          scan.pore.push_back(static_cast<float>(std::max(0.0, std::min(high, at + 1) - std::max(low, at))));
        }
    width[d] = 20 * import_image(comm, scan.options(comm, directory.path() + "/a.raw"), directory.path() + "/a.h5")
                        .level_set_porosity;
  }
  EXPECT_NEAR(width[0], high - low, 0.06);
  EXPECT_NEAR(width[1], width[0], 2e-3);
  EXPECT_NEAR(width[2], width[0], 2e-3);
}

/// Eight spheres of a cubic array, each off the grid in its own way, R voxels wide.
std::vector<float> array_of_spheres(int n, double radius) {
  std::vector<Sphere> spheres;
  for (int i = 0; i < 8; ++i)
    spheres.push_back({{(0.25 + 0.5 * (i & 1)) * n + 0.13 * i, (0.25 + 0.5 * (i >> 1 & 1)) * n - 0.11 * i,
                        (0.25 + 0.5 * (i >> 2)) * n + 0.07 * i},
                       radius});
  std::vector<float> pore;
  for (const float solid : solid_fraction(Index::all(n), spheres)) pore.push_back(1 - solid);
  return pore;
}

// Halfway between the gray values a blurred grain is smaller by σ²/R: 3 (1 + 1/12) / 36 = 9 % of its volume. The fit
// sees that, up to what noise hides.
TEST(WallFit, GrainsKeepTheirVolume) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  for (const double noise : {0.0, 0.05}) {
    const Scan scan{Index::all(40), array_of_spheres(40, 6.0), 1.0, noise};
    const double solid = 8 * 4.0 / 3 * 3.14159265 * 216 / 64000;
    ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
    const ImportReport fitted = import_image(comm, o, directory.path() + "/fitted.h5");
    o.threshold = 120;
    const ImportReport halfway = import_image(comm, o, directory.path() + "/halfway.h5");
    EXPECT_LT(1 - halfway.level_set_porosity, 0.95 * solid);
    EXPECT_NEAR(1 - fitted.level_set_porosity, solid, 0.02 * solid) << noise;
    ASSERT_TRUE(fitted.scan.has_value());
    EXPECT_NEAR(fitted.scan->blur, 1.0, 0.1);
    EXPECT_FALSE(halfway.scan.has_value());
    if (noise > 0) {
      EXPECT_LT(fitted.scan->misfit, 1.3 * fitted.scan->noise);
      // 0.05 smoothed by 0.5 voxel, Σ w² = 0.645 along each axis
      EXPECT_NEAR(fitted.scan->noise, 0.05 * std::pow(0.645, 1.5), 0.002);
      EXPECT_NEAR(fitted.scan->scatter, fitted.scan->noise, 0.15 * fitted.scan->noise);
      EXPECT_NEAR(fitted.scan->minerals, 1.0, 0.2);
    }
  }
}

// Layers of 32 planes are cut at other places when the image is turned upside down.
TEST(WallFit, LayersHaveThePlanesTheyNeedMpi) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const Index size{20, 20, 100};
  Scan scan{size, {}, 0.8, 0.05};
  for (const float solid : solid_fraction(size, random_packing({size, 5, 0.4, 3}))) scan.pore.push_back(1 - solid);
  ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
  import_image(comm, o, directory.path() + "/up.h5");
  o.prepare.flip = {false, false, true};
  import_image(comm, o, directory.path() + "/down.h5");
  const std::vector<float> up = level_set_of(directory.path() + "/up.h5"),
                           down = level_set_of(directory.path() + "/down.h5");
  for (std::size_t z = 0; z < 100; ++z)
    for (std::size_t n = 0; n < 400; ++n)  // stored in 1/4096 voxel between rounds
      ASSERT_NEAR(up[400 * z + n], down[400 * (99 - z) + n], 2e-3) << z;
}

// One mineral of twice the contrast among the grains: no two phases. Who insists gets the fit.
TEST(WallFit, SeveralSolidsTakeTheThreshold) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Index size = Index::all(40);
  Scan scan{size, array_of_spheres(40, 8.0), 0.4, 0.03};
  for (std::size_t n = 0; n < scan.pore.size() / 2; ++n)  // share -1: gray value 300
    if (scan.pore[n] < 0.01F) scan.pore[n] = -1;
  ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
  const ImportReport r = import_image(comm, o, directory.path() + "/a.h5");
  EXPECT_FALSE(r.scan.has_value());
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_TRUE(has(r.warnings[0], "3 peaks")) << r.warnings[0];
  EXPECT_TRUE(has(r.warnings[1], "several minerals")) << r.warnings[1];
  o.wall = WallFrom::threshold;
  const ImportReport plain = import_image(comm, o, directory.path() + "/b.h5");
  EXPECT_EQ(plain.level_set_porosity, r.level_set_porosity);
  o.wall = WallFrom::scan;
  EXPECT_TRUE(import_image(comm, o, directory.path() + "/c.h5").scan.has_value());
}

// Voxels of pore and solid in turn: no wall has such a picture. The threshold is taken, unless the fit is insisted on.
TEST(WallFit, NoPictureOfTwoPhases) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  Scan scan{Index::all(16), {}, 0.0, 0.05};
  for (int z = 0; z < 16; ++z)
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 16; ++x) scan.pore.push_back((x + y + z) % 2 == 0 ? 1.0F : 0.0F);
  ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
  o.specks = o.holes = 0;
  const ImportReport r = import_image(comm, o, directory.path() + "/a.h5");
  EXPECT_FALSE(r.scan.has_value());
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_TRUE(has(r.warnings[0], "no wall between two phases")) << r.warnings[0];
  o.wall = WallFrom::scan;
  EXPECT_TRUE(has(error_of([&] { import_image(comm, o, directory.path() + "/b.h5"); }), "wall = threshold"));
}

// Noise of the solid three times that of the pore, as few photons make it: still one gray value.
TEST(WallFit, NoisySolidsAreNotSeveral) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  Scan scan{Index::all(40), array_of_spheres(40, 8.0), 0.4, 0.03, 3.0};
  const ImportReport r =
      import_image(comm, scan.options(comm, directory.path() + "/a.raw"), directory.path() + "/a.h5");
  ASSERT_TRUE(r.scan.has_value());
  EXPECT_NEAR(r.scan->minerals, 1.0, 0.2);
  const double solid = 8 * 4.0 / 3 * 3.14159265 * 512 / 64000;
  EXPECT_NEAR(1 - r.level_set_porosity, solid, 0.02 * solid);
}

// Halos of phase contrast around the grains: not two gray values. The threshold is taken, and said with the figure; who
// insists gets the fit, and hears the same.
TEST(WallFit, HalosTakeTheThreshold) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Scan scan{Index::all(40), array_of_spheres(40, 6.0), 0.5, 0.02, 1.0, 1.5};
  ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
  const ImportReport r = import_image(comm, o, directory.path() + "/a.h5");
  EXPECT_FALSE(r.scan.has_value());
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_TRUE(has(r.warnings[0], "times the noise of")) << r.warnings[0];
  EXPECT_TRUE(has(r.warnings[0], "vary in space")) << r.warnings[0];
  o.wall = WallFrom::threshold;
  EXPECT_EQ(import_image(comm, o, directory.path() + "/b.h5").level_set_porosity, r.level_set_porosity);
  o.wall = WallFrom::scan;
  const ImportReport insisted = import_image(comm, o, directory.path() + "/c.h5");
  ASSERT_TRUE(insisted.scan.has_value());
  EXPECT_GT(insisted.scan->scatter, 2 * insisted.scan->noise);
  EXPECT_TRUE(has(insisted.warnings[0], "doubtful")) << insisted.warnings[0];
}

// The range of porosity is that of the fitted wall: it holds the porosity, and each end is the wall area times the way
// of the wall away, 0.05 √(2π (blur² + 1/12)) voxel.
TEST(WallFit, TheRangeIsThatOfTheWallUsed) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Scan scan{Index::all(40), array_of_spheres(40, 6.0), 1.0, 0.05};
  const ImportReport r =
      import_image(comm, scan.options(comm, directory.path() + "/a.raw"), directory.path() + "/a.h5");
  ASSERT_TRUE(r.scan.has_value());
  EXPECT_NEAR(r.moved_wall, 0.05 * std::sqrt(6.2832 * (r.scan->blur * r.scan->blur + 1.0 / 12)), 1e-4);
  const double way = r.wall_area * r.moved_wall / 64000;
  EXPECT_NEAR(r.porosity_high - r.level_set_porosity, way, 1e-12);
  EXPECT_NEAR(r.level_set_porosity - r.porosity_low, way, 1e-12);
  EXPECT_DOUBLE_EQ(GeometryFile(directory.path() + "/a.h5").info().found.wall_uncertainty, r.moved_wall);
}

// At a threshold 5 % of the contrast away φ is the same but for so many voxels: what the file says of the wall.
TEST(WallFit, AMovedThresholdMovesTheWallAsTheFileSays) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Scan scan{Index::all(40), array_of_spheres(40, 6.0), 1.0, 0.0};
  ImportOptions options = scan.options(comm, directory.path() + "/a.raw");
  const auto import_at = [&](std::optional<double> threshold, const std::string& name) {
    options.wall = WallFrom::threshold;
    options.threshold = threshold;
    return import_image(comm, options, directory.path() + name);
  };
  const ImportReport r = import_at({}, "/a.h5");
  import_at(r.threshold + 0.05 * r.contrast, "/b.h5");
  const GeometryFile a(directory.path() + "/a.h5"), b(directory.path() + "/b.h5");
  const double moved = a.info().found.wall_uncertainty;
  EXPECT_DOUBLE_EQ(moved, 0.05 * r.contrast / r.gradient);
  std::vector<float> at(64000), beyond(64000);
  a.read_block({}, Index::all(40), at.data());
  b.read_block({}, Index::all(40), beyond.data());
  int beside = 0;
  double off = 0.0;
  for (std::size_t n = 0; n < at.size(); ++n) {
    if (std::abs(at[n]) > 0.5 || std::abs(at[n]) < 0.1) continue;
    ++beside;
    off = std::max(off, std::abs(beyond[n] - at[n] - (options.pore_above ? -moved : moved)));
  }
  EXPECT_LT(off, 0.1 * moved);  // G of the other threshold differs by some percent
  EXPECT_GT(beside, 2000);
}

// The fit moves walls by a voxel at most: where it says another phase than the threshold, a voxel beside is of it
// there; and each cluster shares a voxel with one of the threshold.
TEST(WallFit, StaysBesideTheThreshold) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Index size = Index::all(40);
  Scan scan{size, {}, 1.0, 0.05};
  for (const float solid : solid_fraction(size, random_packing({size, 5, 0.4, 3}))) scan.pore.push_back(1 - solid);
  ImportOptions o = scan.options(comm, directory.path() + "/a.raw");
  o.specks = o.holes = 0;
  EXPECT_TRUE(import_image(comm, o, directory.path() + "/fitted.h5").scan.has_value());
  o.wall = WallFrom::threshold;
  import_image(comm, o, directory.path() + "/threshold.h5");
  const std::vector<float> fitted = level_set_of(directory.path() + "/fitted.h5"),
                           start = level_set_of(directory.path() + "/threshold.h5");
  int moved = 0;
  const auto place = [](int x, int y, int z) { return static_cast<std::size_t>((z * 40 + y) * 40 + x); };
  for (int z = 0; z < 40; ++z)
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 40; ++x) {
        const bool pore = fitted[place(x, y, z)] > 0;
        if (pore == (start[place(x, y, z)] > 0)) continue;
        ++moved;
        bool beside = false;
        for (int c = std::max(z - 1, 0); c <= std::min(z + 1, 39); ++c)
          for (int b = std::max(y - 1, 0); b <= std::min(y + 1, 39); ++b)
            for (int a = std::max(x - 1, 0); a <= std::min(x + 1, 39); ++a)
              beside = beside || (start[place(a, b, c)] > 0) == pore;
        ASSERT_TRUE(beside) << x << " " << y << " " << z;
      }
  EXPECT_GT(moved, 100);
}

std::string mistakes_in(const ImportOptions& o) {
  Messages m;
  check_segmentation(o, m);
  return error_of([&] { m.finish(); });
}

TEST(WallFit, OptionsThatExcludeEachOther) {
  ImportOptions o;
  o.file = "a.tif";
  EXPECT_TRUE(is_fitted(o));
  o.threshold = 100;
  EXPECT_FALSE(is_fitted(o));
  o.wall = WallFrom::scan;
  EXPECT_TRUE(is_fitted(o));
  EXPECT_EQ(mistakes_in(o), "");
  o.seed_threshold = 80;
  EXPECT_TRUE(has(mistakes_in(o), "`wall = scan` and `seed_threshold`"));
  o.seed_threshold.reset();
  o.smoothing = 5;
  EXPECT_TRUE(has(mistakes_in(o), "allowed are 0 to 4"));
  o = {};
  o.file = "a.tif";
  o.wall = WallFrom::scan;
  o.segment = SegmentBy::multi_otsu;
  EXPECT_TRUE(has(mistakes_in(o), "two phases"));
  o = {};
  o.file = "a.tif";
  o.pore = 0;
  EXPECT_FALSE(is_fitted(o));
  o.wall = WallFrom::threshold;
  EXPECT_TRUE(has(mistakes_in(o), "for gray ones"));
  o.keep = KeepClusters::connected;
  o.names = {"pore"};
  const std::string all = mistakes_in(o);
  for (const char* one : {"for gray ones", "`names` given with `pore`", "`keep = connected` needs `keep_axes`"})
    EXPECT_TRUE(has(all, one)) << all;
}

}  // namespace
}  // namespace karst::wall_fit_test
