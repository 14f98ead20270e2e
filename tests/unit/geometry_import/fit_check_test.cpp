// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/fit_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "geometry_import/voxels/clusters.hpp"
#include "support/image_files.hpp"

namespace karst::fit_check_test {
namespace {

using test::has;

constexpr int n = 12;

/// Solid for x < 6, pore beyond, and what f(x, y, z) says where it says something (a label; -1: nothing).
template <class F>
Slabs<std::uint8_t> labels_of(const Comm& comm, F&& f) {
  Slabs<std::uint8_t> labels(comm, Index::all(n), Purpose::geometry);
  const ImageWindow& own = labels.own();
  for (int z = own.first; z < own.last; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        const int said = f(x, y, z);
        labels.plane(z)[y * n + x] = static_cast<std::uint8_t>(said >= 0 ? said : x < 6);
      }
  return labels;
}

bool cube(int x, int y, int z, int x0, int y0, int z0, int side) {
  return x >= x0 && x < x0 + side && y >= y0 && y < y0 + side && z >= z0 && z < z0 + side;
}

// A crumb of solid in the pore and a hole in the solid go; a grain that the fit lost comes back, one of 7 voxels does
// not, as cleaning would take it anyway; a grain that moved stays where it is.
TEST(FitCheck, ClustersAreThoseOfTheStartMpi) {
  const Comm comm = Comm::world();
  const auto start = labels_of(comm, [](int x, int y, int z) {
    if (cube(x, y, z, 9, 1, 1, 2)) return 1;                                   // a grain of 8 voxels, lost
    if (cube(x, y, z, 9, 9, 9, 2) && !(x == 9 && y == 9 && z == 9)) return 1;  // one of 7, lost
    if (cube(x, y, z, 8, 5, 5, 2)) return 1;                                   // moved
    return -1;
  });
  auto fitted = labels_of(comm, [](int x, int y, int z) {
    if (cube(x, y, z, 9, 6, 1, 1)) return 1;  // a crumb
    if (cube(x, y, z, 2, 2, 2, 2)) return 0;  // a hole
    if (cube(x, y, z, 9, 5, 5, 2)) return 1;
    return -1;
  });
  const ClusterChanges changes = keep_clusters(comm, start, fitted);
  EXPECT_EQ(changes.invented.clusters, 2);
  EXPECT_EQ(changes.invented.voxels, 9);
  EXPECT_EQ(changes.lost.clusters, 1);
  EXPECT_EQ(changes.lost.voxels, 8);
  const auto expected = labels_of(
      comm, [](int x, int y, int z) { return cube(x, y, z, 9, 1, 1, 2) || cube(x, y, z, 9, 5, 5, 2) ? 1 : -1; });
  EXPECT_TRUE(std::ranges::equal(fitted.values(), expected.values()));
}

// A plane wall of 12² faces and the 24 faces of a cube in the pore; the outside of the sample has no wall.
TEST(FitCheck, FacesOfTheWallMpi) {
  const Comm comm = Comm::world();
  const auto labels = labels_of(comm, [](int x, int y, int z) {
    if (x == 11) return int{outside_label};
    return cube(x, y, z, 8, 5, 5, 2) ? 1 : -1;
  });
  EXPECT_EQ(count_wall_faces(comm, labels), 144 + 24);
}

ScanModel good_scan() {
  ScanModel s;
  s.pore = 60;
  s.solid = 180;
  s.blur = 0.5;
  s.misfit = s.scatter = s.noise = 0.03;
  return s;
}

// Each figure at its limit passes, and beyond it is the one that is named.
TEST(FitCheck, EachFigureHasItsLimit) {
  EXPECT_EQ(reason_against(good_scan(), 62, 178, 1.0), "");
  const auto check = [](auto set, double least, double most, const char* word) {
    for (const double value : {least, most}) {
      ScanModel scan = good_scan();
      double pore_peak = 62, faces = 1;
      set(scan, pore_peak, faces, value);
      const std::string reason = reason_against(scan, pore_peak, 178, faces);
      if (value == least) {
        EXPECT_EQ(reason, "") << word;
      } else {
        EXPECT_TRUE(has(reason, word)) << word << ": " << reason;
      }
    }
  };
  check([](ScanModel& s, double&, double&, double v) { s.minerals = v; }, 1.99, 2.01, "several minerals");
  check([](ScanModel& s, double&, double&, double v) { s.scatter = v; }, 0.0599, 0.0601, "vary in space");
  check([](ScanModel& s, double&, double&, double v) { s.misfit = v; }, 0.0749, 0.0751, "model of two phases");
  check([](ScanModel& s, double&, double&, double v) { s.pore_offset = -v; }, 0.099, 0.101, "typical gray value");
  check([](ScanModel& s, double&, double&, double v) { s.solid_offset = v; }, 0.099, 0.101, "typical gray value");
  check([](ScanModel&, double& peak, double&, double v) { peak = 60 + 120 * v; }, 0.324, 0.326, "beyond the peaks");
  check([](ScanModel&, double&, double& faces, double v) { faces = v; }, 1.34, 1.36, "voxel faces");
  check([](ScanModel&, double&, double& faces, double v) { faces = v; }, 0.61, 0.59, "voxel faces");
}

// An image without noise is held to one per cent of the contrast.
TEST(FitCheck, NoNoiseIsNoExcuse) {
  ScanModel scan = good_scan();
  scan.noise = 0;
  scan.misfit = scan.scatter = 0.019;
  EXPECT_EQ(reason_against(scan, 62, 178, 1.0), "");
  scan.scatter = 0.021;
  EXPECT_TRUE(has(reason_against(scan, 62, 178, 1.0), "vary in space"));
}

}  // namespace
}  // namespace karst::fit_check_test
