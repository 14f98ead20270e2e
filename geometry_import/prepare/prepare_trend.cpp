// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare_trend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"

namespace karst {
namespace {

double square_of_rho(const SampleCylinder& c, double x, double y) {
  return (std::pow(x - c.x, 2) + std::pow(y - c.y, 2)) / (c.radius * c.radius);
}

}  // namespace

double RadialTrend::at(double x, double y) const {
  const double s = std::min(square_of_rho(cylinder, x, y), 1.0);
  return square * (s - mean_square) + fourth * (s * s - mean_fourth);
}

RadialTrend radial_trend(const Comm& comm, ImageFile& image, const SampleCylinder& cylinder) {
  const Index n = image.info().size;
  const std::vector<float> inside = cylinder.distance(n);
  std::vector<double> rho2(inside.size());
  std::array<double, 5> mean{};  // of ρ⁰, ρ², ... ρ⁸ over a plane
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const auto x = static_cast<double>(i % n[0]), y = static_cast<double>(i / n[0]);
    rho2[i] = square_of_rho(cylinder, x + 0.5, y + 0.5);
    for (std::size_t k = 0; k < 5 && inside[i] > 0; ++k) mean[k] += std::pow(rho2[i], k);
  }
  std::vector<double> of_plane(2 * n[2], 0.0);  // Σ g (ρ² - <ρ²>), Σ g (ρ⁴ - <ρ⁴>)
  const double voxels = mean[0];
  for (double& m : mean) m /= voxels;
  fail_together(comm, [&] {
    Array<float> plane(inside.size(), Purpose::buffers);
    for (int z = comm.rank(); z < n[2]; z += comm.size()) {
      image.read_plane(z, plane.span());
      double* sums = of_plane.data() + 2 * z;
      for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] <= 0) continue;
        sums[0] += double{plane[i]} * (rho2[i] - mean[1]);
        sums[1] += double{plane[i]} * (rho2[i] * rho2[i] - mean[2]);
      }
    }
  });
  comm.sum(std::span(of_plane));  // one rank adds to each: exact
  double p = 0, q = 0;
  for (std::size_t z = 0; z < of_plane.size(); z += 2) {
    p += of_plane[z] / (voxels * n[2]);
    q += of_plane[z + 1] / (voxels * n[2]);
  }
  const double a = mean[2] - mean[1] * mean[1], b = mean[3] - mean[1] * mean[2], c = mean[4] - mean[2] * mean[2];
  const double determinant = a * c - b * b;
  RadialTrend trend{cylinder, 0, 0, mean[1], mean[2]};
  if (determinant <= 1e-12) return trend;  // a handful of voxels
  trend.square = (c * p - b * q) / determinant;
  trend.fourth = (a * q - b * p) / determinant;
  return trend;
}

}  // namespace karst
