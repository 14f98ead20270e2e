// SPDX-License-Identifier: BSD-3-Clause
// Generated rocks: what they state about themselves against closed forms and against their voxels.
#include "image_generator/rock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/comm/parallel.hpp"
#include "geometry_import/read/image_file.hpp"
#include "image_generator/ct_image.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::rock_test {
namespace {

using std::numbers::pi;
using test::error_of;
using test::has;

const std::vector<Mineral> three{{"quartz", 0.6, 180}, {"calcite", 0.3, 210}, {"clay", 0.1, 140}};

Scene::Voxels voxels_of(const Rock& rock) {
  std::vector<double> values(rock.options.minerals.size() + 1, 1.0);
  values[0] = 0;
  return rock.scene->voxels(values, rock.samples);
}

TEST(Polyhedron, CutsHaveTheirVolumesAndAreas) {
  Polyhedron p({0, 0, 0}, {2, 2, 2});
  const double s = 1 / std::sqrt(3.0);
  p.cut({{s, s, s}, s}, 7);  // the corner of the unit simplex is left
  EXPECT_NEAR(p.volume(), 1.0 / 6, 1e-14);
  EXPECT_NEAR(p.area(7), std::sqrt(3.0) / 2, 1e-14);
  EXPECT_NEAR(p.area(), std::sqrt(3.0) / 2 + 1.5, 1e-14);
  EXPECT_NEAR(p.reach({0, 0, 0}), 1, 1e-14);
  p.cut({{1, 0, 0}, -1}, 8);
  EXPECT_TRUE(p.empty());
  EXPECT_EQ(p.volume(), 0);
}

TEST(Rock, TestBodiesHaveTheirClosedForms) {
  RockOptions o{.kind = RockKind::sphere, .size = {20, 22, 24}, .radius = 7.3, .center = Vec3{9.1, 10.2, 13.3}};
  const auto expect = [&](double solid, double area, double tolerance) {
    const Rock rock = make_rock(o);
    const double volume = 20.0 * 22 * 24, sampled = voxels_of(rock).shares[0];
    EXPECT_NEAR(true_porosity(rock, 0).value, 1 - solid / volume, 1e-12);
    EXPECT_NEAR(sampled, 1 - solid / volume, tolerance);
    EXPECT_NEAR(true_wall_area(rock).value / area, 1, 1e-12);
    EXPECT_NEAR(rock.scene->wall_area(0.1) / area, 1, 2e-3) << "points on the surface";
    EXPECT_EQ(true_wall_area(rock).how, "closed form");
  };
  expect(4.0 / 3 * pi * 7.3 * 7.3 * 7.3, 4 * pi * 7.3 * 7.3, 1e-4);
  // Along x all sections look alike: 59 voxels of 440 are cut, each off by about 1/256: 3 √59 / 256 / 440.
  o.kind = RockKind::tube;
  for (int d = 0; d < 3; ++d) {
    o.normal = {};
    o.normal[d] = 1;
    expect(20.0 * 22 * 24 - pi * 7.3 * 7.3 * o.size[d], 2 * pi * 7.3 * o.size[d], 2e-4);
  }
  o.kind = RockKind::slit;
  o.aperture = 3.37;
  o.normal = {0, 0, 2};
  expect((24 - 3.37) * 20 * 22, 2 * 20 * 22, 4e-3 / 24);
  // y + z from lo to hi in the rectangle of 22 by 24: what is below lo is a triangle, above hi one too.
  o.normal = {0, 1, 1};
  const double lo = 23.5 - 3.37 / std::sqrt(2), hi = 23.5 + 3.37 / std::sqrt(2);
  expect(20 * (0.5 * lo * lo + 0.5 * (46 - hi) * (46 - hi)), 20 * std::sqrt(2) * (lo + 46 - hi), 1e-4);
}

TEST(Rock, CrossingFracturesAreCountedOnce) {
  RockOptions o{.kind = RockKind::fractures, .size = {24, 24, 24}, .fractures = 4, .aperture = 3};
  for (const std::uint64_t seed : {1, 2, 3}) {
    o.seed = seed;
    const Rock rock = make_rock(o);
    const Scene::Voxels voxels = voxels_of(rock);
    EXPECT_EQ(true_porosity(rock, 0).how, "closed form");
    EXPECT_NEAR(true_porosity(rock, 0).value, voxels.shares[0], 2e-4);
    EXPECT_NEAR(true_wall_area(rock).value / rock.scene->wall_area(0.05), 1, 5e-3);
  }
}

TEST(Rock, RoughFracturesHaveTheirApertureAndRoughness) {
  RockOptions o{.kind = RockKind::slit, .size = {24, 24, 40}, .aperture = 5, .roughness = 1.5};
  const Rock rock = make_rock(o);
  // The height shifts the slab along z and does not change its volume.
  EXPECT_NEAR(voxels_of(rock).shares[0], 5.0 / 40, 2e-4);
  EXPECT_GT(true_wall_area(rock).value, 1.02 * 2 * 576);
  EXPECT_TRUE(has(true_porosity(rock, 0.1).how, "256 sub-samples"));
  const Roughness surface(1.5, 16, 0.8, RandomNumbers(3, 1));
  double square = 0, most = 0, steepest = 0;
  for (int i = 0; i < 300; ++i)
    for (int j = 0; j < 300; ++j) {
      const double h = surface.height(3.7 * i, 3.1 * j), next = surface.height(3.7 * i + 0.01, 3.1 * j);
      square += h * h / 90000;
      most = std::max(most, std::abs(h));
      steepest = std::max(steepest, std::abs(next - h) / 0.01);
    }
  EXPECT_NEAR(std::sqrt(square), 1.5, 0.1);
  EXPECT_LT(most, surface.height_bound());
  EXPECT_LT(steepest, surface.slope_bound());
}

TEST(Rock, PolyhedraHaveThePorosityAndTheAreaTheyState) {
  for (const double porosity : {0.35, 0.6}) {
    const RockOptions o{
        .kind = RockKind::polyhedra, .size = {40, 36, 44}, .seed = 3, .radius = 8, .porosity = porosity};
    const Rock rock = make_rock(o);
    EXPECT_NEAR(true_porosity(rock, 0).value, porosity, 1e-12);
    EXPECT_NEAR(voxels_of(rock).shares[0], porosity, 2e-4);
    EXPECT_NEAR(rock.scene->wall_area(0.2) / true_wall_area(rock).value, 1, 3e-3);
  }
}

TEST(Rock, GrainsOfTheSolidFillItAndMineralsHaveTheirShares) {
  for (const RockKind kind : {RockKind::packing, RockKind::polyhedra, RockKind::slit}) {
    RockOptions o{.kind = kind, .size = {40, 40, 40}, .seed = 2, .radius = 4};
    o.minerals = three;
    const Rock rock = make_rock(o);
    const Scene::Voxels voxels = voxels_of(rock);
    const double solid = 1 - voxels.shares[0];
    // Within a grain: 1 of at least 130.
    for (std::size_t m = 0; m < 3; ++m) EXPECT_NEAR(voxels.shares[m + 1] / solid, three[m].share, 0.015);
    std::vector<double> centers(4, 0.0);
    for (const auto label : voxels.labels) centers.at(label) += 1.0 / (40 * 40 * 40);
    for (std::size_t l = 0; l < 4; ++l) EXPECT_NEAR(centers[l], voxels.shares[l], 3e-3);
    if (kind == RockKind::slit) {
      EXPECT_NEAR(voxels.shares[0], 0.1, 1e-12);
    }
  }
}

// Walls of the minerals: closed forms against points of the surface, and what they add up to.
TEST(Rock, MineralsHaveTheirWalls) {
  for (const RockKind kind : {RockKind::polyhedra, RockKind::packing, RockKind::slit}) {
    RockOptions o{.kind = kind, .size = {40, 40, 40}, .seed = 2, .radius = 8};
    o.minerals = three;
    const Rock rock = make_rock(o);
    const std::vector<Known> walls = true_mineral_areas(rock);
    const std::vector<double> sampled = rock.scene->wall_areas(0.2);
    ASSERT_EQ(walls.size(), 3u);
    double sum = 0;
    for (std::size_t m = 0; m < 3; ++m) {
      EXPECT_NEAR(walls[m].value / sampled.at(m + 1), 1, 4e-3) << name_of(kind) << m;
      sum += walls[m].value;
    }
    EXPECT_EQ(sampled[0], 0.0);
    EXPECT_EQ(walls[0].how == "closed form", kind == RockKind::polyhedra);
    EXPECT_NEAR(sum / true_wall_area(rock).value, 1, kind == RockKind::polyhedra ? 1e-12 : 3e-3);
  }
}

TEST(Rock, FracturesCutGrains) {
  RockOptions o{.size = {40, 40, 40}, .seed = 4, .radius = 8};
  const double whole = voxels_of(make_rock(o)).shares[0];
  o.fractures = 1;
  o.aperture = 3;
  const Rock rock = make_rock(o);
  const FracturePlane& f = rock.fractures.at(0);
  EXPECT_GT(voxels_of(rock).shares[0], whole + 0.01);
  for (int n = 0; n < 50; ++n) {
    const Vec3 x = f.point + 0.1 * n * cross(f.normal, Vec3{0, 0, 1});
    EXPECT_EQ(rock.scene->label(x), 0);
  }
}

TEST(Rock, IsTheSameForAnyNumberOfThreadsAndStaysTheSame) {
  for (const RockKind kind : {RockKind::polyhedra, RockKind::fractures}) {
    RockOptions o{.kind = kind, .size = {20, 20, 20}, .seed = 9, .radius = 4, .fractures = 1, .roughness = 1};
    o.minerals = three;
    const int threads = n_threads();
    set_n_threads(1);
    const Rock one = make_rock(o);
    const Scene::Voxels a = voxels_of(one);
    const double area = one.scene->wall_area(0.5);
    set_n_threads(3);
    const Rock three_threads = make_rock(o);
    const Scene::Voxels b = voxels_of(three_threads);
    EXPECT_EQ(a.value, b.value);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(area, three_threads.scene->wall_area(0.5));
    set_n_threads(threads);
    o.seed = 10;
    EXPECT_NE(voxels_of(make_rock(o)).value, a.value);
  }
}

TEST(Rock, TruthSaysWhatThereIs) {
  RockOptions o{.kind = RockKind::polyhedra, .size = {32, 32, 32}, .radius = 7};
  o.minerals = three;
  const Rock rock = make_rock(o);
  const auto json = nlohmann::json::parse(rock_json(rock, voxels_of(rock).shares));
  EXPECT_EQ(json["kind"], "polyhedra");
  EXPECT_EQ(json["porosity"]["how"], "closed form");
  EXPECT_EQ(json["labels"][2]["name"], "calcite");
  EXPECT_EQ(json["grains"].size(), rock.grains.size());
  // The planes written are the grain: its centre is inside.
  for (const auto& plane : json["grains"][0]["planes"]) EXPECT_GT(plane[3].get<double>(), 0);
  const auto labels = nlohmann::json::parse(label_json(rock));
  EXPECT_EQ(labels["labels"]["pore"], 0);
  EXPECT_EQ(labels["labels"]["clay"], 3);
}

TEST(Rock, OptionsOutOfRangeAreNamed) {
  const auto text = [](RockOptions o) { return error_of([&] { make_rock(o); }); };
  EXPECT_TRUE(has(text({.size = {2, 64, 64}}), "size 2"));
  EXPECT_TRUE(has(text({.facets = 90}), "facets 90"));
  EXPECT_TRUE(has(text({.spread = -1}), "spread -1"));
  EXPECT_TRUE(has(text({.fractures = 9}), "fractures 9"));
  EXPECT_TRUE(has(text({.aperture = 0}), "aperture 0"));
  EXPECT_TRUE(has(text({.roughness = -1}), "roughness -1"));
  EXPECT_TRUE(has(text({.hurst = 2}), "hurst 2"));
  EXPECT_TRUE(has(text({.normal = {0, 0, 0}}), "axis"));
  EXPECT_TRUE(has(text({.kind = RockKind::tube, .normal = {1, 1, 0}}), "axis of the tube"));
  EXPECT_TRUE(has(text({.kind = RockKind::sphere, .radius = 40}), "extends beyond"));
  EXPECT_TRUE(has(text({.kind = RockKind::polyhedra, .porosity = 0.01}), "it is at least"));
  EXPECT_TRUE(has(text({.minerals = {{"a", 0.4, 180}}}), "add up to 0.4"));
  EXPECT_TRUE(has(text({.minerals = {{"pore", 1, 180}}}), "needs a different name"));
  EXPECT_TRUE(has(text({.minerals = {{"a", 1, 300}}}), "gray value 300"));
  EXPECT_TRUE(has(text({.kind = RockKind::sphere, .minerals = three}), "a single sphere has a single mineral"));
}

TEST(CtImage, DriftAndBeamHardeningAreAsAskedFor) {
  const Index size{41, 41, 20};
  const CtOptions none{.blur = 0, .noise = 0, .photons = 0, .ring = 0, .bits = 32};
  const std::vector<float> solid(41 * 41 * 20, 1.0F);
  const auto at = [](int x, int y, int z) { return static_cast<std::size_t>((z * 41 + y) * 41 + x); };
  CtOptions o = none;
  o.drift = 0.25;
  std::vector<float> gray = ct_image_float(size, solid, o);
  EXPECT_NEAR(gray[at(3, 4, 19)] - gray[at(7, 8, 0)], 30, 1e-4);
  EXPECT_NEAR(gray[at(3, 4, 19)] + gray[at(7, 8, 0)], 2 * grain_gray, 1e-4);
  o = none;
  o.beam = 0.5;
  gray = ct_image_float(size, solid, o);
  EXPECT_NEAR(gray[at(20, 20, 5)], grain_gray, 1e-4);
  EXPECT_NEAR(gray[at(40, 20, 5)] - grain_gray, 60 * std::pow(20 / 20.5, 2), 1e-3);
  EXPECT_TRUE(has(error_of([&] { ct_image(size, solid, {.drift = 11}); }), "drift 11"));
  EXPECT_TRUE(has(error_of([&] { ct_image(size, solid, {.beam = 11}); }), "beam 11"));
  EXPECT_TRUE(has(error_of([&] { ct_image(size, solid, {.bits = 32}); }), "bits 32"));
}

TEST(CtImage, RingsHaveTheirAmplitudeAndAreRound) {
  const Index size{301, 301, 1};
  const CtOptions o{.blur = 0, .noise = 0, .photons = 0, .ring = 0.1, .bits = 32};
  const std::vector<float> gray = ct_image_float(size, std::vector<float>(301 * 301, 1.0F), o);
  double square = 0;
  for (int r = 0; r < 150; ++r) {
    const float right = gray[150 * 301 + 150 + r];
    EXPECT_EQ(right, gray[(150 + r) * 301 + 150]);
    square += std::pow(right - grain_gray, 2) / 150;
  }
  EXPECT_NEAR(std::sqrt(square), 12, 2);  // 150 rings: a standard error of 0.7
}

TEST(CtImage, NoiseOfPhotonsGrowsWithTheRootOfTheGrayValue) {
  const Index size{50, 50, 50};
  const CtOptions o{.blur = 0, .noise = 0, .photons = 100, .ring = 0, .bits = 32};
  for (const float fraction : {0.0F, 1.0F}) {
    double sum = 0, square = 0;
    for (const float v : ct_image_float(size, std::vector<float>(125000, fraction), o)) {
      sum += v / 125000.0;
      square += double{v} * v / 125000.0;
    }
    const double gray = fraction > 0 ? grain_gray : pore_gray;
    EXPECT_NEAR(sum, gray, 0.25);
    EXPECT_NEAR(std::sqrt(square - sum * sum) / std::sqrt(gray * grain_gray / 100), 1, 0.01);
  }
}

TEST(WriteImage, FloatRawAndStacks) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Index size{5, 4, 3};
  std::vector<float> values;
  for (int n = 0; n < 60; ++n) values.push_back(-3.5F + 0.125F * static_cast<float>(n));
  const auto check_plane = [&](const std::string& name, int z, int page) {
    const auto image = open_image(directory.path() + name);
    std::vector<float> plane(20);
    image->read_plane(page, plane);
    for (std::size_t n = 0; n < 20; ++n) EXPECT_EQ(plane[n], values[static_cast<std::size_t>(z) * 20 + n]);
  };
  write_image(comm, directory.path() + "/f.tif", image_bytes(size, values), TiffCompression::lzw, 0);
  for (int z = 0; z < 3; ++z) check_plane("/f.tif", z, z);
  write_image(comm, directory.path() + "/s_%03d.tif", image_bytes(size, values), TiffCompression::none, 0);
  for (int z = 0; z < 3; ++z) check_plane(fmt::format("/s_{:03}.tif", z), z, 0);
  write_image(comm, directory.path() + "/f.raw", image_bytes({2, 1, 1}, {0x1234, 0xff}, 16), {}, 0);
  EXPECT_EQ(test::bytes_of_file(directory.path() + "/f.raw"), std::string("\x34\x12\xff\x00", 4));
  for (const char* bad : {"/a_%s.tif", "/a_%d_%d.tif", "/a%"})
    EXPECT_TRUE(has(error_of([&] {
                      write_image(comm, directory.path() + bad, image_bytes(size, values), TiffCompression::none, 0);
                    }),
                    "plane number must be"));
  EXPECT_TRUE(has(error_of([&] { write_image(comm, directory.path() + "/f.jpg", image_bytes(size, values), {}, 0); }),
                  "NAME.tif"));
}

}  // namespace
}  // namespace karst::rock_test
