// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/sphere_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/error.hpp"
#include "eb/shapes/sphere_cells.hpp"

namespace karst {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Structure of arrays: the loop over points or candidates vectorises.
struct Candidates {
  std::vector<double> x, y, z, shift_x, shift_y, shift_z, radius;

  std::size_t size() const { return radius.size(); }
  void add(const SphereImage& s) {
    x.push_back(s.center[0]);
    y.push_back(s.center[1]);
    z.push_back(s.center[2]);
    shift_x.push_back(s.shift[0]);
    shift_y.push_back(s.shift[1]);
    shift_z.push_back(s.shift[2]);
    radius.push_back(s.radius);
  }
  SphereImage operator[](std::size_t i) const {
    return {{x[i], y[i], z[i]}, {shift_x[i], shift_y[i], shift_z[i]}, radius[i]};
  }
  /// Distances from a point to all surfaces.
  void distances(const Vec3& p, std::vector<double>& out) const {
    out.resize(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const double dx = p[0] - shift_x[i] - x[i], dy = p[1] - shift_y[i] - y[i], dz = p[2] - shift_z[i] - z[i];
      out[i] = std::sqrt(dx * dx + dy * dy + dz * dz) - radius[i];
    }
  }
};

/// A sphere whose φ at the centre of a ball exceeds the best there by more than this can be nearest nowhere in it.
double contest(double best, double ball_radius) { return best + 2.0 * ball_radius + 1e-9 * (1.0 + std::abs(best)); }

/// Bricks of the box, x fastest, each with its candidates in the order of their radii.
class LocalSpheres final : public LocalLevelSet {
 public:
  LocalSpheres(const Vec3& lo, const Vec3& hi, const Candidates& candidates, double reach) : lo_(lo), reach_(reach) {
    constexpr std::array<double, 3> bricks_per_side{2.0, 4.0, 4.0};  // long in x, along which points come
    const Vec3 size = hi - lo;
    const double longest = std::max({size[0], size[1], size[2]});
    Vec3 width;
    for (int d = 0; d < 3; ++d) {
      n_[d] =
          longest > 0.0 ? std::max(1, static_cast<int>(std::ceil(bricks_per_side[d] * size[d] / longest - 1e-9))) : 1;
      width[d] = size[d] / n_[d];
      per_width_[d] = width[d] > 0.0 ? 1.0 / width[d] : 0.0;
    }
    fill(width, candidates);
  }

  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    std::size_t first = 0;
    while (first < x.size()) {
      const std::size_t brick = brick_of(x[first]);
      std::size_t last = first + 1;
      while (last < x.size() && last - first < chunk && brick_of(x[last]) == brick) ++last;
      nearest(brick, x.subspan(first, last - first), phi.subspan(first, last - first));
      first = last;
    }
  }

  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    return signs_of_distance((*this)(0.5 * (lo + hi)), 0.5 * norm(hi - lo));
  }

 private:
  static constexpr std::size_t chunk = 32, lanes = 4;  // points handled together; multiples of lanes vectorise

  void fill(const Vec3& width, const Candidates& all) {
    first_.push_back(0);
    std::vector<double> phi;
    const double ball = 0.5 * norm(width) * (1.0 + 1e-6);  // a point on a brick's face may be assigned to either side
    for (int k = 0; k < n_[2]; ++k) {
      for (int j = 0; j < n_[1]; ++j) {
        for (int i = 0; i < n_[0]; ++i) {
          all.distances(lo_ + Vec3{(i + 0.5) * width[0], (j + 0.5) * width[1], (k + 0.5) * width[2]}, phi);
          double best = reach_;
          for (const double value : phi) best = std::min(best, value);
          const double limit = contest(best, ball);
          for (std::size_t c = 0; c < phi.size(); ++c) {
            if (phi[c] <= limit) candidates_.push_back(all[c]);
          }
          first_.push_back(static_cast<std::uint32_t>(candidates_.size()));
        }
      }
    }
  }

  std::size_t brick_of(const Vec3& x) const {
    Index b;
    for (int d = 0; d < 3; ++d) {
      b[d] = std::clamp(static_cast<int>((x[d] - lo_[d]) * per_width_[d]), 0, n_[d] - 1);
    }
    return (b[2] * n_[1] + b[1]) * n_[0] + b[0];
  }

  /// φ at up to `chunk` points of one brick.
  void nearest(std::size_t brick, std::span<const Vec3> points, std::span<double> phi) const {
    std::array<double, chunk> x, y, z, best, nearest2;
    const std::size_t n = points.size(), padded = (n + lanes - 1) / lanes * lanes;
    for (std::size_t p = 0; p < padded; ++p) {  // the last point fills the rest
      const Vec3& point = points[std::min(p, n - 1)];
      x[p] = point[0];
      y[p] = point[1];
      z[p] = point[2];
      best[p] = reach_;
      nearest2[p] = infinity;
    }
    for (std::uint32_t c = first_[brick]; c < first_[brick + 1]; ++c) {
      const SphereImage& s = candidates_[c];
      for (std::size_t p = 0; p < padded; ++p) {
        const double dx = x[p] - s.shift[0] - s.center[0], dy = y[p] - s.shift[1] - s.center[1],
                     dz = z[p] - s.shift[2] - s.center[2];
        nearest2[p] = std::min(nearest2[p], dx * dx + dy * dy + dz * dz);
      }
      if (c + 1 < first_[brick + 1] && candidates_[c + 1].radius == s.radius) continue;  // one root for equal radii
      for (std::size_t p = 0; p < padded; ++p) {
        best[p] = std::min(best[p], std::sqrt(nearest2[p]) - s.radius);
        nearest2[p] = infinity;
      }
    }
    std::copy_n(best.begin(), n, phi.begin());
  }

  Vec3 lo_, per_width_;
  Index n_;
  double reach_;
  std::vector<std::uint32_t> first_;     // per brick, and the end
  std::vector<SphereImage> candidates_;  // brick after brick
};

class SphereList final : public LevelSet {
 public:
  SphereList(std::vector<Sphere> spheres, const Periods& periods, double reach)
      : cells_(std::move(spheres), periods), reach_(reach) {}
  Smoothness smoothness() const override { return {.lipschitz = 1.0, .sample_spacing = 0.0, .bounds_signs = true}; }

  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    const Vec3 center = 0.5 * (lo + hi);
    const double ball = 0.5 * norm(hi - lo);
    const double limit = contest(phi_at(center, ball), ball);
    std::vector<SphereImage> near;
    cells_.for_each_near(center, limit, [&](const SphereImage& s, double) { near.push_back(s); });
    std::stable_sort(near.begin(), near.end(),
                     [](const SphereImage& a, const SphereImage& b) { return a.radius < b.radius; });
    Candidates candidates;
    for (const SphereImage& s : near) candidates.add(s);
    return std::make_unique<LocalSpheres>(lo, hi, candidates, reach_);
  }

 private:
  /// φ at a point: the search grows until it has found the nearest sphere or gone beyond the reach.
  double phi_at(const Vec3& x, double first_guess) const {
    for (double search = std::min(std::max(first_guess, 1.0), reach_);; search = std::min(2.0 * search, reach_)) {
      double best = infinity;
      cells_.for_each_near(x, search, [&](const SphereImage&, double phi) { best = std::min(best, phi); });
      if (best <= search) return best;
      if (search >= reach_) return reach_;
    }
  }

  SphereCells cells_;
  double reach_;
};

}  // namespace

std::unique_ptr<LevelSet> make_sphere_list(std::vector<Sphere> spheres, const Periods& periods, double reach) {
  require(!spheres.empty(), "sphere list: there are no spheres; at least one is needed");
  require(reach >= 4.0, "sphere list: reach is {} cells, allowed are values >= 4 (the cutter looks that far)", reach);
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    require(spheres[i].radius > 0.0, "sphere list: radius of sphere {} is {} cells; it must be > 0", i,
            spheres[i].radius);
  }
  return std::make_unique<SphereList>(std::move(spheres), periods, reach);
}

}  // namespace karst
