// SPDX-License-Identifier: BSD-3-Clause
#include "image_generator/packing.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "geometry_import/voxels/window.hpp"
#include "image_generator/bodies.hpp"
#include "image_generator/random_numbers.hpp"

namespace karst {
namespace {

/// Points of a periodic box sorted into bins at least `width` wide.
class Bins {
 public:
  Bins(const Index& size, double width, std::span<const Vec3> points) : size_(size) {
    for (int d = 0; d < 3; ++d) n_[d] = std::max(1, static_cast<int>(size[d] / width));
    bins_.resize(std::int64_t{n_[0]} * n_[1] * n_[2]);
    for (std::size_t p = 0; p < points.size(); ++p) bins_[place(bin_of(points[p]))].push_back(static_cast<int>(p));
  }
  /// Calls f(point) once for every point in the bins around x.
  template <class F>
  void near(const Vec3& x, F&& f) const {
    const Index b = bin_of(x);
    Index lo, hi;
    for (int d = 0; d < 3; ++d) {  // with fewer than three bins all of them, once
      lo[d] = n_[d] < 3 ? 0 : b[d] - 1;
      hi[d] = n_[d] < 3 ? n_[d] - 1 : b[d] + 1;
    }
    for (int k = lo[2]; k <= hi[2]; ++k)
      for (int j = lo[1]; j <= hi[1]; ++j)
        for (int i = lo[0]; i <= hi[0]; ++i)
          for (const int p : bins_[place({(i + n_[0]) % n_[0], (j + n_[1]) % n_[1], (k + n_[2]) % n_[2]})]) f(p);
  }

 private:
  Index bin_of(const Vec3& x) const {
    Index b;
    for (int d = 0; d < 3; ++d) b[d] = std::clamp(static_cast<int>(x[d] / size_[d] * n_[d]), 0, n_[d] - 1);
    return b;
  }
  std::int64_t place(const Index& b) const { return (std::int64_t{b[2]} * n_[1] + b[1]) * n_[0] + b[0]; }

  Index size_, n_;
  std::vector<std::vector<int>> bins_;
};

/// b - a to the nearest image of b.
Vec3 nearest_offset(const Vec3& a, const Vec3& b, const Index& size) {
  Vec3 e = b - a;
  for (int d = 0; d < 3; ++d) e[d] -= size[d] * std::round(e[d] / size[d]);
  return e;
}

Vec3 wrapped(Vec3 x, const Index& size) {
  for (int d = 0; d < 3; ++d) x[d] -= size[d] * std::floor(x[d] / size[d]);
  return x;
}

/// Every point moves away from those nearer than the diameter by half of what is missing.
void push_apart(const Index& size, double diameter, std::vector<Vec3>& points) {
  constexpr int steps = 200;
  std::vector<Vec3> moved(points.size());
  for (int step = 0; step < steps; ++step) {
    const Bins bins(size, diameter, points);
    parallel_for(static_cast<std::int64_t>(points.size()), [&](std::int64_t p) {
      const Vec3& x = points[p];
      Vec3 push;
      bins.near(x, [&](int q) {
        if (q == p) return;
        const Vec3 e = nearest_offset(x, points[q], size);
        const double distance = norm(e);
        if (distance < diameter && distance > 0) push -= e * (0.5 * (diameter - distance) / distance);
      });
      moved[p] = wrapped(x + push, size);
    });
    points.swap(moved);
  }
}

/// Radius at which a share `porosity` of the box is outside of all spheres: a quantile of the distance to the nearest
/// centre, from random points.
double radius_for(const PackingOptions& o, double about, std::span<const Vec3> centers) {
  constexpr std::int64_t samples = 250000;
  const RandomNumbers random(o.seed, 2);
  const double reach = 2 * about;
  const Bins bins(o.size, reach, centers);
  std::vector<double> distance(samples);
  parallel_for(samples, [&](std::int64_t s) {
    Vec3 x;
    for (int d = 0; d < 3; ++d) x[d] = o.size[d] * random.uniform(static_cast<std::uint64_t>(3 * s + d));
    double nearest = reach * reach;
    bins.near(x, [&](int p) {
      const Vec3 e = nearest_offset(x, centers[p], o.size);
      nearest = std::min(nearest, dot(e, e));
    });
    distance[s] = nearest;
  });
  const auto inside = static_cast<std::int64_t>((1 - o.porosity) * samples);
  std::nth_element(distance.begin(), distance.begin() + inside, distance.end());
  return std::sqrt(distance[inside]);
}

}  // namespace

std::vector<Vec3> packed_centers(const PackingOptions& o) {
  require(o.radius >= 1 && o.radius < 1e6, "radius {} voxels given; allowed are 1 to 1e6", o.radius);
  require(o.porosity >= 0 && o.porosity <= 0.95, "porosity {} given; allowed are 0 to 0.95", o.porosity);
  for (int d = 0; d < 3; ++d)
    require(o.size[d] >= 4 * o.radius, "size {} voxels given; at least 4 radii ({}) are needed", o.size[d],
            4 * o.radius);
  const double volume = double(o.size[0]) * o.size[1] * o.size[2];
  const double sphere = 4.0 / 3.0 * std::numbers::pi * o.radius * o.radius * o.radius;
  const auto n = std::max<std::int64_t>(1, std::llround((1 - o.porosity) * volume / sphere));
  const RandomNumbers random(o.seed, 1);
  std::vector<Vec3> centers(n);
  for (std::size_t p = 0; p < centers.size(); ++p)
    for (int d = 0; d < 3; ++d) centers[p][d] = o.size[d] * random.uniform(3 * p + static_cast<std::uint64_t>(d));
  push_apart(o.size, 2 * o.radius, centers);
  return centers;
}

std::vector<Sphere> random_packing(const PackingOptions& o) {
  require(o.porosity >= 0.2 && o.porosity <= 0.95, "porosity {} given; allowed are 0.2 to 0.95", o.porosity);
  const std::vector<Vec3> centers = packed_centers(o);
  const double radius = radius_for(o, o.radius, centers);
  std::vector<Sphere> spheres;
  for (const Vec3& c : centers)
    for (int image = 0; image < 27; ++image) {
      const Vec3 x{c[0] + o.size[0] * (image % 3 - 1), c[1] + o.size[1] * (image / 3 % 3 - 1),
                   c[2] + o.size[2] * (image / 9 - 1)};
      const Vec3 outside{std::max({-x[0], x[0] - o.size[0], 0.0}), std::max({-x[1], x[1] - o.size[1], 0.0}),
                         std::max({-x[2], x[2] - o.size[2], 0.0})};
      if (norm(outside) < radius) spheres.push_back({x, radius});
    }
  return spheres;
}

std::vector<float> solid_fraction(const Index& size, std::span<const Sphere> spheres) {
  std::vector<std::unique_ptr<Body>> balls;
  for (const Sphere& s : spheres) balls.push_back(std::make_unique<Ball>(s.center, s.radius, 1));
  constexpr double values[] = {0.0, 1.0};
  return Scene(size, 0, std::move(balls)).voxels(values, grid_samples(6)).value;
}

}  // namespace karst
