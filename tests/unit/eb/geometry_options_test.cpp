// SPDX-License-Identifier: BSD-3-Clause
#include "eb/geometry_options.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <numbers>

#include "base/core/error.hpp"
#include "eb/described_level_set.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::geometry_options_test {
namespace {

using test::error_of;
using test::RandomPoints;

/// Unlike that of another run of the tests at the same time.
const std::string pack_name = fmt::format("karst_pack_{}.txt", getpid());

GeometryOptions options_of(const std::string& toml) {
  Reader reader = Reader::from_text(toml, ::testing::TempDir() + "deck.toml");
  GeometryOptions options;
  read(reader, options);
  reader.finish();
  return options;
}

std::string mistakes_in(const std::string& toml) {
  return error_of([&] { options_of(toml); });
}

std::string mistakes_of(const std::string& solid) { return mistakes_in("[[geometry.solid]]\n" + solid); }

void expect_mentions(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(error.find(part), std::string::npos) << part << " is not in: " << error;
}

/// A packing next to the deck.
class GeometryDeck : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_) << "x y z r\n0.1 0.2 0.3 0.15\n0.6 0.7 0.5 0.2\n0.5 0.1 0.9 0.1\n"; }
  void TearDown() override { std::remove(path_.c_str()); }

 private:
  std::string path_ = ::testing::TempDir() + pack_name;
};

/// Every shape, lengths in units of `unit` metres.
std::string every_shape(double unit) {
  const auto n = [&](double x) { return fmt::format("{:.17g}", x * unit); };
  const auto v = [&](double x, double y, double z) { return "[" + n(x) + ", " + n(y) + ", " + n(z) + "]"; };
  const std::string solid = "[[geometry.solid]]\n";
  std::string deck;
  deck += solid + "shape = \"plane\"\npoint = " + v(0, 0, 0.05) + "\nnormal = [0.1, 0, 3]\n";
  deck += solid + "shape = \"sphere\"\ncenter = " + v(0.9, 0.5, 0.5) + "\nradius = " + n(0.2) + "\n";
  deck += solid + "shape = \"spheres\"\nfile = \"" + pack_name + "\"\nskip_lines = 1\nscale = " + n(1) +
          "\nperiodic = true\n";
  deck += solid + "shape = \"cylinder\"\ncenter = " + v(0.3, 0.8, 0) + "\naxis = [0, 0, 2]\nradius = " + n(0.1) + "\n";
  deck += solid + "shape = \"cylinder\"\ncenter = " + v(0.5, 0.5, 0.5) + "\naxis = [1, 1, 0]\nradius = " + n(0.07) +
          "\nlength = " + n(0.4) + "\n";
  deck += solid + "shape = \"box\"\nlo = " + v(0.7, 0.1, 0.1) + "\nhi = " + v(0.9, 0.2, 0.4) +
          "\nrotation = [10, 20, 30]\n";
  deck += solid + "shape = \"ellipsoid\"\ncenter = " + v(0.2, 0.3, 0.8) + "\nradii = " + v(0.2, 0.1, 0.05) + "\n";
  deck += solid + "shape = \"torus\"\ncenter = " + v(0.6, 0.6, 0.8) + "\naxis = [1, 0, 1]\nradius = " + n(0.04) +
          "\nmajor_radius = " + n(0.15) + "\n";
  deck +=
      solid + "shape = \"sphere\"\ninside = \"fluid\"\ncenter = " + v(0.5, 0.5, 0.5) + "\nradius = " + n(0.7) + "\n";
  return deck + solid + "shape = \"expression\"\nexpression = \"abs(x - " + n(0.02) + ") - " + n(0.01) + "\"\n";
}

std::unique_ptr<LevelSet> make(const std::string& deck, double length, double cells) {
  return make_described_level_set(options_of(deck), length / cells, Vec3::all(length), {true, false, true});
}

// Nothing dimensional is left: lengths 1e-6 times as large give the same φ in cells.
TEST_F(GeometryDeck, ScalesWithTheUnitOfLength) {
  const auto large = make(every_shape(1.0), 1.0, 32.0), small = make(every_shape(1e-6), 1e-6, 32.0);
  RandomPoints random(1);
  for (int b = 0; b < 60; ++b) {
    const Vec3 lo = random.point(Vec3::all(-2), Vec3::all(26)), hi = lo + Vec3::all(8);
    const auto a = large->local(lo, hi), c = small->local(lo, hi);
    for (int n = 0; n < 20; ++n) {
      const Vec3 x = random.point(lo, hi);
      ASSERT_NEAR((*a)(x), (*c)(x), 1e-12);
    }
  }
}

TEST_F(GeometryDeck, SolidsAreUnitedAndFluidOnesAreCavities) {
  const std::string two =
      "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.25\n"
      "[[geometry.solid]]\nshape = \"cylinder\"\ninside = \"fluid\"\ncenter = [0.5, 0.5, 0]\naxis = [0, 0, 1]\nradius "
      "= 0.4\n";
  const auto united = make(two, 1.0, 20.0)->local(Vec3::all(0), Vec3::all(20));
  EXPECT_DOUBLE_EQ((*united)({10, 10, 16}), 1.0);   // above the sphere
  EXPECT_DOUBLE_EQ((*united)({10, 17, 10}), 1.0);   // one cell inside the tube
  EXPECT_DOUBLE_EQ((*united)({10, 19, 10}), -1.0);  // outside the tube
  const auto common =
      make("geometry.operation = \"intersection\"\n" + two, 1.0, 20.0)->local(Vec3::all(0), Vec3::all(20));
  EXPECT_GT((*common)({10, 10, 10}), 0.0);  // in the sphere, but in the tube
  EXPECT_GT((*common)({10, 19, 10}), 0.0);  // outside the tube, but outside the sphere
}

// In a periodic direction solids come back at the other end; elsewhere only when they say so.
TEST_F(GeometryDeck, SolidsRepeatInPeriodicDirections) {
  const std::string ball = "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0, 0, 0.5]\nradius = 0.2\n";
  const auto by_grid = make(ball, 1.0, 20.0), always = make(ball + "periodic = true\n", 1.0, 20.0);
  const auto at = [](const LevelSet& s, const Vec3& x) { return (*s.local(x, x))(x); };
  EXPECT_NEAR(at(*by_grid, {19, 0, 10}), -3.0, 1e-12);  // the grid is periodic in x and z
  EXPECT_GT(at(*by_grid, {0, 19, 10}), 0.0);
  EXPECT_NEAR(at(*always, {0, 19, 10}), -3.0, 1e-12);
  const std::string pack = "[[geometry.solid]]\nshape = \"spheres\"\nfile = \"" + pack_name + "\"\nskip_lines = 1\n";
  EXPECT_NEAR(at(*make(pack, 1.0, 20.0), {19.5, 4, 6}), -0.5, 1e-12);  // 2.5 cells from (22, 4, 6), radius 3
  EXPECT_GT(at(*make(pack, 1.0, 20.0), {10, 21.5, 18}), 0.0);
  EXPECT_LT(at(*make(pack + "periodic = true\n", 1.0, 20.0), {10, 21.5, 18}), 0.0);
}

TEST_F(GeometryDeck, ReadsWordsAndFileName) {
  const GeometryOptions options = options_of("[geometry]\nimage = \"ketton.h5\"\nkeep = \"largest\"\n");
  EXPECT_EQ(options.image, "ketton.h5");
  EXPECT_EQ(options.keep, KeepPores::largest);
  EXPECT_TRUE(options.solids.empty());
  EXPECT_EQ(options_of("").keep, KeepPores::connected);
  EXPECT_EQ(options_of("[geometry]\nimage = \"a.h5\"\nwall_shift = -0.25\n").wall_shift, -0.25);
}

// The complete deck, read back, means the same: no default of an unused key comes back as given.
TEST_F(GeometryDeck, EchoCanBeReadBack) {
  Reader reader = Reader::from_text(every_shape(1.0), ::testing::TempDir() + "deck.toml");
  GeometryOptions options;
  read(reader, options);
  reader.finish();
  const GeometryOptions again = options_of(reader.echo());
  ASSERT_EQ(again.solids.size(), options.solids.size());
  for (std::size_t s = 0; s < options.solids.size(); ++s) {
    EXPECT_EQ(again.solids[s].shape, options.solids[s].shape);
    EXPECT_EQ(again.solids[s].center, options.solids[s].center);
    EXPECT_EQ(again.solids[s].radius, options.solids[s].radius);
    EXPECT_EQ(again.solids[s].length, options.solids[s].length);
    EXPECT_EQ(again.solids[s].periodic, options.solids[s].periodic);
  }
}

TEST_F(GeometryDeck, DeclaresItsKeysForTheDocumentation) {
  Reader reader = Reader::declarations_only();
  GeometryOptions options;
  read(reader, options);
  EXPECT_NO_THROW(reader.finish());
  std::string keys;
  for (const KeyInfo& key : reader.keys()) keys += key.key + "\n";
  expect_mentions(keys, {"geometry.image", "geometry.keep", "geometry.operation", "geometry.solid[].shape",
                         "geometry.solid[].major_radius", "geometry.solid[].expression"});
}

TEST_F(GeometryDeck, EveryKeyOfAShapeIsChecked) {
  expect_mentions(mistakes_of("radius = 1.0\n"), {"shape", "missing"});
  expect_mentions(mistakes_of("shape = \"spere\"\n"), {"spere", "sphere"});
  // Defaults that the help tells hold.
  EXPECT_EQ(mistakes_of("shape = \"cylinder\"\ncenter = [0.5, 0.5, 0]\nradius = 0.1\n"), "");
  EXPECT_EQ(mistakes_of("shape = \"torus\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.1\nmajor_radius = 0.3\n"), "");
  EXPECT_EQ(mistakes_of("shape = \"plane\"\npoint = [0, 0, 0.5]\n"), "");
  expect_mentions(mistakes_of("shape = \"sphere\"\nradius = 1.0\n"), {"center", "missing", "\"sphere\" needs it"});
  expect_mentions(mistakes_of("shape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1.0\naxis = [0, 0, 1]\n"),
                  {":5", "axis", "not used by shape \"sphere\"", "center, radius"});
  expect_mentions(mistakes_of("shape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nperiodic = true\n"),
                  {"periodic", "not used by shape \"plane\""});
  expect_mentions(mistakes_of("shape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 0.0\n"), {"radius", "> 0"});
  expect_mentions(mistakes_of("shape = \"sphere\"\ncenter = [0, 0]\nradius = 1.0\n"), {"center", "3"});
  expect_mentions(mistakes_of("shape = \"cylinder\"\ncenter = [0, 0, 0]\nradius = 1.0\naxis = [0, 0, 0]\n"),
                  {"axis", "no length"});
  expect_mentions(mistakes_of("shape = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 0]\n"), {"normal", "no length"});
  expect_mentions(mistakes_of("shape = \"box\"\nlo = [0, 0, 0]\nhi = [1, 0, 1]\n"), {"hi", "direction y", "lo"});
  expect_mentions(
      mistakes_of("shape = \"torus\"\ncenter = [0, 0, 0]\naxis = [0, 0, 1]\nradius = 2\nmajor_radius = 1\n"),
      {"major_radius", "no hole"});
  expect_mentions(mistakes_of("shape = \"ellipsoid\"\ncenter = [0, 0, 0]\nradii = [1, -1, 1]\n"), {"radii", "-1"});
  expect_mentions(mistakes_of("shape = \"spheres\"\nfile = \"not_there.txt\"\n"), {"file", "not_there.txt"});
  expect_mentions(mistakes_of("shape = \"expression\"\nexpression = \"x +* 2\"\n"), {"expression", "x +* 2"});
  expect_mentions(mistakes_of("shape = \"sphere\"\ncenter = [0, 0, 0]\nraduis = 1.0\n"), {"raduis", "radius"});
}

TEST_F(GeometryDeck, AllMistakesComeTogether) {
  const std::string error = mistakes_in(
      "[geometry]\nimage = \"a.h5\"\nkeep = \"most\"\n[[geometry.solid]]\nshape = \"sphere\"\nradius = -1\n"
      "[[geometry.solid]]\nshape = \"box\"\naxis = [0, 0, 1]\n");
  expect_mentions(error, {"[[geometry.solid]]; expected: one of them", "most", "center", "-1", "lo", "hi", "axis"});
  expect_mentions(mistakes_in("geometry.operation = \"union\"\n"), {"nothing to combine"});
  expect_mentions(mistakes_in("geometry.wall_shift = 0.25\n"), {"geometry.wall_shift", "without geometry.image"});
  expect_mentions(mistakes_in("[geometry]\nimage = \"a.h5\"\nwall_shift = 1.5\n"), {"wall_shift", "1.5", "-1 to 1"});
}

// A box as wide as the period or wider has no faces there, however wide: without images it is the same solid.
TEST_F(GeometryDeck, ABoxFillsPeriodsThatItCovers) {
  const auto slab = [](const std::string& far) {
    return make("[[geometry.solid]]\nshape = \"box\"\nlo = [-" + far + ", 0.3, -" + far + "]\nhi = [" + far +
                    ", 0.5, " + far + "]\n",
                1.0, 16.0);  // periodic along x and z
  };
  const auto exact = slab("0.5"), wide = slab("1e5");
  RandomPoints random(2);
  const Vec3 lo = Vec3::all(-4), hi = Vec3::all(20);
  const auto a = exact->local(lo, hi), b = wide->local(lo, hi);
  for (int n = 0; n < 100; ++n) {
    const Vec3 x = random.point(lo, hi);
    const double distance = std::abs(x[1] - 6.4) - 1.6;  // between 4.8 and 8 cells
    EXPECT_NEAR((*a)(x), distance, 1e-9);
    EXPECT_NEAR((*b)(x), distance, 1e-9);
  }
}

// So does a box that is turned about that direction, and a cylinder that is longer than the period; the key is named of
// what cannot.
TEST_F(GeometryDeck, EdgesLongerThanThePeriodHaveNoEnds) {
  const auto solid = [](const std::string& keys) { return "[[geometry.solid]]\nshape = " + keys + "\n"; };
  const Vec3 x{3.0, 2.0, 9.0};
  const auto phi = [&](const std::string& keys) { return (*make(solid(keys), 1.0, 16.0)->local(x, x))(x); };
  const std::string rod = "\"cylinder\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.1\n";
  EXPECT_DOUBLE_EQ(phi(rod + "length = 5e3"), phi(rod));
  const std::string plate = "\"box\"\nrotation = [0, 0, 30]\nlo = [0.2, 0.4, ";
  EXPECT_NEAR(phi(plate + "-4e4]\nhi = [0.8, 0.6, 4e4]"), phi(plate + "0]\nhi = [0.8, 0.6, 1]"), 1e-9);
  expect_mentions(error_of([&] { phi("\"box\"\nrotation = [0, 5, 0]\nlo = [-400, 0, 0]\nhi = [400, 1, 0.1]"); }),
                  {"geometry.solid[0]", "images"});
}

// A half space behind a plane across a periodic direction is cut off by the next period; one between two planes is not.
TEST_F(GeometryDeck, PlanesAndFormulasThatDoNotRepeat) {
  const auto seams_of = [](const std::string& deck) {
    return seams(options_of(deck), 1.0 / 16.0, Vec3::all(1.0), {true, false, true});
  };
  const std::string up = "[[geometry.solid]]\nshape = \"plane\"\npoint = [0.3, 0, 0]\nnormal = [1, 0, 0]\n",
                    down = "[[geometry.solid]]\nshape = \"plane\"\npoint = [0.8, 0, 0]\nnormal = [-1, 0, 0]\n",
                    ball = "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 0.3\n";
  const auto formula = [](const std::string& f) {
    return "[[geometry.solid]]\nshape = \"expression\"\nexpression = \"" + f + "\"\n";
  };
  const std::vector<Seam> found = seams_of(ball + up);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].direction, 0);
  EXPECT_EQ(found[0].solids, std::vector<std::size_t>{1});
  EXPECT_NEAR(found[0].differ, 1.0 - std::numbers::pi * 0.3 * 0.3 / 2.0, 0.01);  // beside the ball on an edge
  EXPECT_TRUE(seams_of(ball + up + down).empty());
  EXPECT_TRUE(seams_of(ball + formula("sin(2*_pi*(x + z)) + y")).empty());
  const std::vector<Seam> half = seams_of(formula("z + x/2 - 0.6"));  // z = 0.6 and 0.1 on the faces across x
  ASSERT_EQ(half.size(), 2U);
  EXPECT_NEAR(half[0].differ, 0.5, 0.02);
}

// A packing in millimetres in a domain of a millimetre: before, a minute of cutting without a word.
TEST_F(GeometryDeck, SpheresThousandsOfPeriodsWideAreAnError) {
  const GeometryOptions options =
      options_of("[[geometry.solid]]\nshape = \"spheres\"\nskip_lines = 1\nfile = \"" + pack_name + "\"\n");
  expect_mentions(error_of([&] {
                    make_described_level_set(options, 1e-4, Vec3::all(1e-3), {true, true, true});
                  }),
                  {"radius of sphere 1", "0.15 m", "0.001", "scale"});
}

TEST_F(GeometryDeck, ImpossibleDomainsAreErrors) {
  const std::string ball = "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0, 0, 0.5]\nradius = 0.2\n";
  EXPECT_GT((*make("", 1.0, 10.0)->local(Vec3::all(0), Vec3::all(10)))({0, 5, 5}), 1e5);  // none: all is fluid
  expect_mentions(error_of([&] { make(ball, 1.0, 10.5); }), {"10.5", "must be an integer"});
  expect_mentions(error_of([&] { make_described_level_set(options_of(ball), 0.0, Vec3::all(1), {}); }), {"> 0"});
  const auto formula = [](const std::string& f) {
    return "[[geometry.solid]]\nshape = \"expression\"\nexpression = \"" + f + "\"\n";
  };
  const std::string noise = error_of([&] { make(formula("sin(7e3*x)*sin(7e3*y)*sin(7e3*z)"), 1.0, 10.0); });
  expect_mentions(noise, {"geometry.solid[0].expression", "times along the edge", "metres"});
  EXPECT_EQ(error_of([&] { make(formula("sin(9*x) + sin(11*y)*sin(50*z)"), 1.0, 10.0); }), "");
  const std::string far = "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [1e300, 0, 0]\nradius = 1e300\n";
  expect_mentions(error_of([&] { make(far, 1.0, 10.0); }), {"geometry.solid[0].center", "1e+300", "1e+08", "plane"});
}

// Names of minerals: all mistakes of a deck at once.
TEST_F(GeometryDeck, MineralsHaveTheirNames) {
  const std::string ball = "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0.5, 0.5, 0.5]\nradius = 0.2\n";
  const std::string three =
      ball + "mineral = \"quartz\"\n" + ball + ball + "mineral = \"calcite\"\n" + ball + "mineral = \"quartz\"\n";
  using Names = std::vector<std::string>;
  EXPECT_EQ(make(ball + ball, 1.0, 20.0)->minerals(), Names{"solid"});
  EXPECT_EQ(make(three, 1.0, 20.0)->minerals(), (Names{"quartz", "solid", "calcite"}));
  EXPECT_EQ(make("geometry.minerals = [\"calcite\"]\n" + three, 1.0, 20.0)->minerals(), (Names{"calcite", "other"}));
  expect_mentions(mistakes_in("geometry.minerals = [\"calcite\", \"dolomite\", \"calcite\", \"pore\"]\n" + three +
                              ball + "mineral = \"other\"\n" + ball + "mineral = \"\"\n"),
                  {"geometry.minerals: there is no mineral \"dolomite\"", "\"calcite\" is listed twice",
                   "\"pore\" is a reserved name", "geometry.solid[4].mineral: \"other\" is a reserved name",
                   "geometry.solid[5].mineral: is empty"});
}

}  // namespace
}  // namespace karst::geometry_options_test
