// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/sample.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/clusters.hpp"

namespace karst {
namespace {

/// Place in the plane of the voxel of the sample that is met first from voxel (x, y) towards the axis.
std::int64_t nearest_inside(const Index& voxels, const SampleCylinder& cylinder, std::span<const std::uint8_t> inside,
                            int x, int y) {
  const double dx = x + 0.5 - cylinder.x, dy = y + 0.5 - cylinder.y, r = std::hypot(dx, dy);
  for (double there = std::min(r, cylinder.radius); there > 0; there -= 0.25) {
    const auto i = static_cast<std::int64_t>(std::clamp(cylinder.x + dx / r * there, 0.0, voxels[0] - 1.0));
    const auto j = static_cast<std::int64_t>(std::clamp(cylinder.y + dy / r * there, 0.0, voxels[1] - 1.0));
    const std::int64_t place = j * voxels[0] + i;
    if (inside[place]) return place;
  }
  return std::int64_t{y} * voxels[0] + x;
}

}  // namespace

Sample::Sample(const Index& voxels, const std::optional<SampleCylinder>& cylinder) {
  const std::int64_t plane = std::int64_t{voxels[0]} * voxels[1];
  plane_ = {plane, volume_parts * plane};
  if (!cylinder) return;
  distance_ = cylinder->distance(voxels);
  for (float& d : distance_) {
    inside_.push_back(d > 0);
    d = d > 0 ? std::clamp(d, phase_margin, level_set_clip) : std::clamp(d, -level_set_clip, -phase_margin);
  }
  nearest_.resize(inside_.size());
  parallel_for(voxels[1], [&](std::int64_t y) {
    for (int x = 0; x < voxels[0]; ++x)
      nearest_[y * voxels[0] + x] = nearest_inside(voxels, *cylinder, inside_, x, static_cast<int>(y));
  });
  plane_ = wall_sums({{voxels[0], voxels[1], 1}, 0, 1}, distance_, 0, 1);
}

void Sample::keep_inside(const ImageWindow& window, std::span<float> phi) const {
  if (whole()) return;
  parallel_for(window.planes(), [&](std::int64_t z) {
    float* const plane = phi.data() + z * window.plane();
    for (std::size_t i = 0; i < distance_.size(); ++i) plane[i] = std::min(plane[i], distance_[i]);
  });
}

void Sample::mark(const ImageWindow& window, std::span<std::uint8_t> labels) const {
  if (whole()) return;
  parallel_for(window.planes(), [&](std::int64_t z) {
    std::uint8_t* const plane = labels.data() + z * window.plane();
    for (std::size_t i = 0; i < inside_.size(); ++i)
      if (!inside_[i]) plane[i] = outside_label;
  });
}

void Sample::continue_outwards(const ImageWindow& window, std::span<std::uint8_t> values) const {
  if (whole()) return;
  parallel_for(window.planes(), [&](std::int64_t z) {
    std::uint8_t* const plane = values.data() + z * window.plane();
    for (std::size_t i = 0; i < inside_.size(); ++i)
      if (!inside_[i]) plane[i] = plane[nearest_[i]];
  });
}

std::span<const float> Sample::values_inside(std::span<float> values) const {
  if (whole()) return values;
  std::size_t kept = 0, place = 0;
  for (const float v : values) {
    if (inside_[place]) values[kept++] = v;
    place = place + 1 == inside_.size() ? 0 : place + 1;
  }
  return values.first(kept);
}

bool looks_cylindrical(const Index& voxels, std::span<const float> plane) {
  constexpr int least = 64, part = 16;  // voxels of a side; sides per corner
  constexpr float even = 0.01F;         // of the range of the plane
  const int nx = voxels[0], ny = voxels[1];
  if (nx < least || ny < least) return false;
  float low = plane[0], high = plane[0];
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      if (std::min(x, nx - 1 - x) >= nx / part || std::min(y, ny - 1 - y) >= ny / part) continue;
      const float v = plane[std::int64_t{y} * nx + x];
      low = std::min(low, v);
      high = std::max(high, v);
    }
  const auto [least_of_all, most_of_all] = std::minmax_element(plane.begin(), plane.end());
  return high - low < even * (*most_of_all - *least_of_all);
}

bool labels_look_cylindrical(const Index& voxels, const std::function<void(int, std::span<float>)>& read) {
  constexpr int least = 64, part = 8, planes = 8, least_changes = 8;
  const int nx = voxels[0], ny = voxels[1];
  if (nx < least || ny < least || voxels[2] < planes) return false;
  std::vector<float> plane(std::int64_t{nx} * ny);
  std::optional<float> corner;
  for (int k = 0; k < planes; ++k) {
    read(static_cast<int>((2 * k + 1) * std::int64_t{voxels[2]} / (2 * planes)), plane);
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        if (std::min(x, nx - 1 - x) >= nx / part || std::min(y, ny - 1 - y) >= ny / part) continue;
        const float v = plane[std::int64_t{y} * nx + x];
        if (corner.value_or(v) != v) return false;
        corner = v;
      }
  }
  int changes = 0;  // in the middle of the last plane
  for (int x = 1; x < nx; ++x)
    changes += plane[std::int64_t{ny / 2} * nx + x] != plane[std::int64_t{ny / 2} * nx + x - 1];
  for (int y = 1; y < ny; ++y)
    changes += plane[std::int64_t{y} * nx + nx / 2] != plane[std::int64_t{y - 1} * nx + nx / 2];
  return changes >= least_changes;
}

}  // namespace karst
