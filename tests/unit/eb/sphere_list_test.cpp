// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/sphere_list.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::sphere_list_test {
namespace {

using test::error_of;
using test::RandomPoints;
using test::Region;

constexpr double length = 48.0, reach = 32.0;
const Region domain{Vec3::all(0.0), Vec3::all(length)};

std::vector<Sphere> random_spheres(int n, double least, double most) {
  RandomPoints random(11);
  std::vector<Sphere> spheres;
  for (int i = 0; i < n; ++i) {  // some centres outside the domain: periodic files have them
    spheres.push_back({random.point(Vec3::all(-5), Vec3::all(length + 5)), random.number(least, most)});
  }
  return spheres;
}

/// The definition: least over all spheres and images.
double brute_force(const std::vector<Sphere>& spheres, const Vec3& x, const std::array<bool, 3>& periodic) {
  double phi = reach;
  Vec3 n;
  const auto m = [&](int d) { return periodic[d] ? 2.0 : 0.0; };
  for (n[2] = -m(2); n[2] <= m(2); ++n[2]) {
    for (n[1] = -m(1); n[1] <= m(1); ++n[1]) {
      for (n[0] = -m(0); n[0] <= m(0); ++n[0]) {
        for (const Sphere& s : spheres) phi = std::min(phi, norm(x - length * n - s.center) - s.radius);
      }
    }
  }
  return phi;
}

TEST(SphereList, IsTheLeastOverAllSpheresAndImages) {
  for (const std::array<bool, 3> periodic :
       {std::array{false, false, false}, {true, true, true}, {true, false, true}}) {
    for (const int n_spheres : {1, 3, 60}) {
      const auto spheres = random_spheres(n_spheres, 0.3, 7.0);
      const auto list = make_sphere_list(spheres, {Vec3::all(length), periodic}, reach);
      RandomPoints random(12);
      for (int b = 0; b < 20; ++b) {
        const Vec3 lo = random.point(Vec3::all(-4), Vec3::all(length - 8));
        const double width = random.number(0.2, 12.0);
        const auto local = list->local(lo, lo + Vec3::all(width));
        for (int n = 0; n < 20; ++n) {
          const Vec3 x = random.point(lo, lo + Vec3::all(width));
          ASSERT_NEAR((*local)(x), brute_force(spheres, x, periodic), 1e-12);
        }
      }
    }
  }
}

// Bit for bit: the grid must not see which box asked, nor how many points were asked at a time.
TEST(SphereList, BitsDependNeitherOnTheBoxNorOnTheCall) {
  const auto list = make_sphere_list(random_spheres(80, 1.0, 5.0), {Vec3::all(length), {true, true, true}});
  const auto whole = list->local(domain.lo, domain.hi);
  RandomPoints random(13);
  for (int b = 0; b < 60; ++b) {
    const Vec3 lo = random.point(domain.lo, domain.hi - Vec3::all(16)), size = random.point({}, Vec3::all(16));
    const auto part = list->local(lo, lo + size);
    std::vector<Vec3> x;
    for (int n = 0; n < 50; ++n) x.push_back(random.point(lo, lo + size));
    x.push_back(lo);
    x.push_back(lo + size);
    std::vector<double> together(x.size());
    part->evaluate(x, together);
    for (std::size_t n = 0; n < x.size(); ++n) {
      ASSERT_EQ(together[n], (*part)(x[n]));
      ASSERT_EQ(together[n], (*whole)(x[n]));
    }
  }
}

TEST(SphereList, BothPeriodicEndsHaveTheSameBits) {
  const auto list = make_sphere_list(random_spheres(80, 1.0, 5.0), {Vec3::all(length), {true, true, true}});
  RandomPoints random(14);
  for (int n = 0; n < 500; ++n) {
    Vec3 low = random.point(domain.lo, domain.hi), high;
    low[n % 3] = n % 7 - 3.0;
    high = low;
    high[n % 3] += length;
    ASSERT_EQ((*list->local(low, low))(low), (*list->local(high - Vec3::all(4), high + Vec3::all(4)))(high));
  }
}

TEST(SphereList, IsADistance) {
  const auto list = make_sphere_list(random_spheres(60, 1.0, 5.0), {Vec3::all(length), {true, false, true}});
  EXPECT_EQ(list->smoothness().lipschitz, 1.0);
  test::expect_lipschitz(*list, domain, 15);
  EXPECT_NEAR(test::median_gradient(*list, domain, 16), 1.0, 1e-6);
}

TEST(SphereList, IsCutOffAtItsReach) {
  const auto list = make_sphere_list({{{2, 2, 2}, 1.0}}, {Vec3::all(200), {false, false, false}}, 4.0);
  EXPECT_DOUBLE_EQ((*list->local({4, 2, 2}, {8, 3, 3}))({6, 2, 2}), 3.0);
  EXPECT_DOUBLE_EQ((*list->local({4, 2, 2}, {8, 3, 3}))({7.5, 2, 2}), 4.0);
  EXPECT_DOUBLE_EQ((*list->local({150, 150, 150}, {166, 166, 166}))({160, 160, 160}), 4.0);
}

TEST(SphereList, OneCellThickPeriodicDomain) {
  const auto list = make_sphere_list({{{8, 8, 0.5}, 5.0}}, {{16, 16, 1}, {true, true, true}});
  EXPECT_NEAR((*list->local({0, 0, 0}, {16, 16, 1}))({8, 2, 0.5}), 1.0, 1e-14);
  EXPECT_EQ((*list->local({0, 0, 0}, {16, 16, 1}))({3, 2, 0}), (*list->local({0, 0, 1}, {16, 16, 2}))({3, 2, 1}));
}

/// A file that goes away with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(fmt::format("{}karst_spheres_{}.txt", ::testing::TempDir(), getpid())) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string reading_error(const std::string& text, SphereFile file = {}) {
  const TemporaryFile temporary(text);
  file.path = temporary.path();
  return error_of([&] { read_spheres(file); });
}

void expect_mentions(const std::string& error, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(error.find(part), std::string::npos) << part << " is not in: " << error;
}

TEST(SphereFile, ColumnsScaleShiftAndHeader) {
  const TemporaryFile temporary("header 1\nheader 2\n# comment\n\n7, 0.5\t+3 ; 2 1e0 99\r\n8 1.5 3 2 1 99\n");
  SphereFile file{
      .path = temporary.path(), .columns = "index r z y x _", .skip_lines = 2, .scale = 1e-3, .shift = {1.0, 0.0, 0.0}};
  const auto spheres = read_spheres(file);
  ASSERT_EQ(spheres.size(), 2U);
  EXPECT_DOUBLE_EQ(spheres[0].center[0], 1.001);
  EXPECT_DOUBLE_EQ(spheres[0].center[1], 2e-3);
  EXPECT_DOUBLE_EQ(spheres[0].center[2], 3e-3);
  EXPECT_DOUBLE_EQ(spheres[0].radius, 0.5e-3);
  EXPECT_DOUBLE_EQ(spheres[1].radius, 1.5e-3);
}

TEST(SphereFile, OneRadiusForAll) {
  const TemporaryFile temporary("1 2 3\n4 5 6\n");
  const auto spheres = read_spheres({.path = temporary.path(), .columns = "x y z", .radius = 0.25});
  EXPECT_EQ(spheres[1].radius, 0.25);
}

TEST(SphereFile, ErrorsNameFileLineAndValue) {
  expect_mentions(error_of([] { read_spheres({.path = "/nowhere/pack.txt"}); }), {"/nowhere/pack.txt", "opened"});
  expect_mentions(reading_error("1 2 3 1\n1 2 3\n"), {"line 2", "3 values", "names 4"});
  expect_mentions(reading_error("1 2 3 1 5\n"), {"line 1", "5 values"});
  expect_mentions(reading_error("1 2 3 1\n\n1 two 3 1\n"), {"line 3", "\"two\"", "not a finite number"});
  expect_mentions(reading_error("1 2 3 nan\n"), {"line 1", "\"nan\""});
  expect_mentions(reading_error("1 2 3x 1\n"), {"\"3x\""});
  expect_mentions(reading_error("1 2 3 -0.5\n"), {"line 1", "-0.5", "> 0"});
  expect_mentions(reading_error("1 2 3 0\n"), {"line 1", "> 0"});
  expect_mentions(reading_error("# nothing\n\n"), {"no spheres", "2 lines"});
  expect_mentions(reading_error(""), {"no spheres"});
  expect_mentions(reading_error("1 2 3 1\n", {.skip_lines = 1}), {"no spheres", "skip_lines = 1"});
  expect_mentions(reading_error("1 2 3 1\n", {.columns = "x y z radius"}), {"\"radius\"", "allowed"});
  expect_mentions(reading_error("1 2 3 1\n", {.columns = "x y y r"}), {"y twice"});
  expect_mentions(reading_error("1 2 3 1\n", {.columns = "x y r _"}), {"does not name z"});
  expect_mentions(reading_error("1 2 3\n", {.columns = "x y z"}), {"does not name r"});
  expect_mentions(reading_error("1 2 3 1\n", {.radius = 1.0}), {"both"});
  expect_mentions(reading_error("1 2 3 1\n", {.scale = 0.0}), {"scale is 0"});
  expect_mentions(error_of([] { read_spheres({.path = ::testing::TempDir()}); }), {"regular file"});
}

TEST(SphereList, ImpossibleListsAreErrors) {
  const Periods cube{Vec3::all(8), {true, true, true}};
  expect_mentions(error_of([&] { make_sphere_list({}, cube); }), {"no spheres"});
  expect_mentions(error_of([&] { make_sphere_list({{{}, 1.0}, {{}, -1.0}}, cube); }), {"sphere 1", "-1"});
  expect_mentions(error_of([&] { make_sphere_list({{{}, 1.0}}, cube, 2.0); }), {"reach is 2"});
  expect_mentions(error_of([&] { make_sphere_list({{{}, 1.0}}, {{8, 0, 8}, {true, true, true}}); }), {"period"});
}

}  // namespace
}  // namespace karst::sphere_list_test
