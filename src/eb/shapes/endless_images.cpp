// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/endless_images.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr int most_periods = 64;
constexpr double most_images = 3e3, most_tried = 1e6;

int largest_of(const Vec3& a) {
  int largest = 0;
  for (int d = 1; d < 3; ++d)
    if (std::abs(a[d]) > std::abs(a[largest])) largest = d;
  return largest;
}

/// Whole numbers of periods, without a common divisor, that lead along the axis; nothing where there are none.
std::optional<Vec3> periods_along(const Vec3& axis, const Vec3& size) {
  constexpr double close = 1e-5;
  Vec3 parts;
  for (int d = 0; d < 3; ++d) parts[d] = axis[d] / size[d];
  parts = 1.0 / std::abs(parts[largest_of(parts)]) * parts;
  for (int n = 1; n <= most_periods; ++n) {
    Vec3 whole;
    double off = 0.0;
    for (int d = 0; d < 3; ++d) {
      whole[d] = std::round(n * parts[d]);
      off = std::max(off, std::abs(n * parts[d] - whole[d]));
    }
    if (off <= close * n) return whole;
  }
  return {};
}

}  // namespace

EndlessImages endless_images(const Vec3& center, const Vec3& axis, double radius, const Periods& domain,
                             const std::string& what) {
  constexpr double margin = 8.0;  // cells around the domain where φ is asked for
  EndlessImages all{axis, {}};
  Vec3 leaves;  // along directions without images
  for (int d = 0; d < 3; ++d)
    if (!domain.periodic[d]) leaves[d] = axis[d];
  int along = largest_of(leaves);
  double lines = 1.0;  // of images along it that are not the same line
  if (leaves == Vec3{}) {
    const std::optional<Vec3> periods = periods_along(axis, domain.size);
    require(periods.has_value(),
            "{}: without ends, along {:g}, {:g}, {:g}, it does not come back to where it began within {} periods of "
            "{:g} x {:g} x {:g} cells, so that its images would fill the domain; give it a length, or an axis of whole "
            "numbers times the size of the domain",
            what, axis[0], axis[1], axis[2], most_periods, domain.size[0], domain.size[1], domain.size[2]);
    along = largest_of(*periods);
    lines = std::abs((*periods)[along]);
    for (int d = 0; d < 3; ++d) all.axis[d] = (*periods)[d] * domain.size[d];
  }
  all.axis = 1.0 / norm(all.axis) * all.axis;
  const auto distance = [&](const Vec3& r) { return norm(r - dot(r, all.axis) * all.axis); };
  // Where the line is level with the middle of the domain, as seen from there, and the image nearest to it.
  const Vec3 from = center - 0.5 * domain.size, level = from - from[along] / all.axis[along] * all.axis;
  Vec3 nearest = level;
  for (int d = 0; d < 3; ++d)
    if (d != along && domain.periodic[d]) nearest[d] -= std::round(level[d] / domain.size[d]) * domain.size[d];
  // An image that is nearer to a point of the domain is at most so far from its middle.
  const double reach = distance(nearest) + norm(domain.size) + margin + radius;
  const double beside = reach / std::abs(all.axis[along]);
  const auto too_many = [&](double n) {
    require(n <= most_images,
            "{}: without ends, along {:g}, {:g}, {:g}, it needs more than {:g} images in a periodic domain of {:g} x "
            "{:g} x {:g} cells; give it a length, or another axis",
            what, axis[0], axis[1], axis[2], most_images, domain.size[0], domain.size[1], domain.size[2]);
  };
  double tried = lines;
  for (int d = 0; d < 3; ++d)
    if (d != along && domain.periodic[d]) tried *= 2.0 * beside / domain.size[d] + 1.0;
  too_many(tried > most_tried ? tried : 0.0);
  for (int n = 0; n < static_cast<int>(lines); ++n) {
    Vec3 low, high;  // periods along the others
    low[along] = high[along] = n;
    for (int d = 0; d < 3; ++d) {
      if (d == along || !domain.periodic[d]) continue;
      const double at = level[d] - n * domain.size[along] * all.axis[d] / all.axis[along];
      low[d] = std::ceil((-beside - at) / domain.size[d]);
      high[d] = std::floor((beside - at) / domain.size[d]);
    }
    Vec3 m;
    for (m[2] = low[2]; m[2] <= high[2]; ++m[2])
      for (m[1] = low[1]; m[1] <= high[1]; ++m[1])
        for (m[0] = low[0]; m[0] <= high[0]; ++m[0]) {
          const Vec3 shift{m[0] * domain.size[0], m[1] * domain.size[1], m[2] * domain.size[2]};
          if (distance(from + shift) <= reach) all.shifts.push_back(shift);
        }
  }
  too_many(static_cast<double>(all.shifts.size()));
  return all;
}

}  // namespace karst
