// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/sphere_cells.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/core/error.hpp"

namespace karst {

SphereCells::SphereCells(std::vector<Sphere> spheres, const Periods& periods) : periods_(periods) {
  double sum_of_radii = 0.0;
  Vec3 lo = Vec3::all(std::numeric_limits<double>::infinity()), hi = -lo;
  for (const Sphere& s : spheres) {
    largest_radius_ = std::max(largest_radius_, s.radius);
    sum_of_radii += s.radius;
    for (int d = 0; d < 3; ++d) {
      lo[d] = std::min(lo[d], s.center[d]);
      hi[d] = std::max(hi[d], s.center[d]);
    }
  }
  const auto n = static_cast<double>(spheres.size());
  const double diameter = 2.0 * sum_of_radii / n;
  const double most_bins = std::max(4.0, std::ceil(2.0 * std::cbrt(n)));  // per direction: memory stays in proportion
  for (int d = 0; d < 3; ++d) {
    const bool wraps = periods_.periodic[d];
    require(!wraps || periods_.size[d] > 0.0, "sphere list: the period in direction {} is {} cells; it must be > 0", d,
            periods_.size[d]);
    origin_[d] = wraps ? 0.0 : lo[d];
    const double extent = wraps ? periods_.size[d] : hi[d] - lo[d];
    n_bins_[d] = static_cast<int>(std::clamp(std::floor(extent / diameter), 1.0, most_bins));
    bin_width_[d] = std::max(extent / n_bins_[d], std::numeric_limits<double>::min());
  }

  std::vector<std::size_t> bin_of(spheres.size());
  std::vector<SphereImage> images(spheres.size());
  first_.assign(std::int64_t{n_bins_[0]} * n_bins_[1] * n_bins_[2] + 1, 0);
  for (std::size_t s = 0; s < spheres.size(); ++s) {
    const Vec3& c = spheres[s].center;
    images[s] = {c, Vec3{}, spheres[s].radius};
    std::size_t bin = 0;
    for (int d = 2; d >= 0; --d) {
      if (periods_.periodic[d]) {
        images[s].shift[d] = -std::floor(c[d] / periods_.size[d]) * periods_.size[d];
      }
      const double place = (c[d] + images[s].shift[d] - origin_[d]) / bin_width_[d];
      const int b = std::clamp(static_cast<int>(place), 0, n_bins_[d] - 1);
      bin = bin * n_bins_[d] + b;
    }
    bin_of[s] = bin;
    ++first_[bin + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
  spheres_.resize(spheres.size());
  for (std::size_t s = 0; s < spheres.size(); ++s) spheres_[next[bin_of[s]]++] = images[s];
}

SphereCells::Range SphereCells::bins(int d, double lo, double hi) const {
  constexpr double slack = 1e-6;  // of a bin: a centre on the border may have been put on either side
  const double first = std::floor((lo - origin_[d]) / bin_width_[d] - slack);
  const double last = std::floor((hi - origin_[d]) / bin_width_[d] + slack);
  if (periods_.periodic[d]) return {static_cast<int>(first), static_cast<int>(last)};
  const double end = n_bins_[d] - 1;
  if (last < 0.0 || first > end + 1.0) return {0, -1};
  return {static_cast<int>(std::clamp(first, 0.0, end)), static_cast<int>(std::clamp(last, 0.0, end))};
}

SphereCells::Wrapped SphereCells::wrapped(int d, int bin) const {
  if (!periods_.periodic[d]) return {bin, 0.0};
  const int n = n_bins_[d];
  const int turns = (bin >= 0 ? bin : bin - n + 1) / n;
  return {bin - turns * n, turns * periods_.size[d]};
}

}  // namespace karst
