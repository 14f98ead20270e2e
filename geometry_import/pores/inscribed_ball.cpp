// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/pores/inscribed_ball.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "geometry_import/voxels/distance.hpp"

namespace karst {
DistancePlanes::DistancePlanes(const Slabs<std::uint16_t>& distance, int around)
    : voxels_(distance.voxels()), held_(distance.own()) {
  const ImageWindow own = distance.own();
  const bool empty = own.planes() == 0;
  if (!empty) held_ = own.grown(around);
  ImageWindow low = own, high = own;
  low.first = held_.first;
  low.last = own.first;
  high.first = own.last;
  high.last = held_.last;
  below_ = distance.fetch(low);
  above_ = distance.fetch(high);
  for (int z = held_.first; z < held_.last; ++z) {
    const std::uint16_t* plane = z < own.first   ? below_.data() + low.start_of(z)
                                 : z >= own.last ? above_.data() + high.start_of(z)
                                                 : distance.plane(z).data();
    planes_.push_back(plane);
  }
}

namespace {

/// Where the straight lines through d(x - e), d(x) and d(x + e), d(x + 2 e) meet.
struct Meeting {
  double t, height;
};
Meeting meeting(int before, int here, int next, int beyond, double steepest) {
  const double rise = std::min<double>(steepest, before ? here - before : 2 * here);
  const double fall = std::min<double>(steepest, beyond ? next - beyond : 2 * next);
  if (rise <= 0 || fall <= 0) return {-1, 0};
  const double t = (next - here + fall) / (rise + fall);
  return {t, here + rise * t};
}

constexpr std::array<double, 3> steepest{distance_unit, distance_unit* std::numbers::sqrt2,
                                         distance_unit* std::numbers::sqrt3};

}  // namespace

std::optional<InscribedBall> ball_between(const DistancePlanes& distance, const Index& x) {
  std::array<const std::uint16_t*, 5> planes;  // at the place of x in the planes around
  for (int k = 0; k < 5; ++k) {
    planes[k] = distance.plane(x[2] + k - 2);
    if (auto& p = planes[k]) p += std::int64_t{x[1]} * distance.voxels()[0] + x[0];
  }
  const int here = *planes[2];
  const auto inside = [&](const Index& e) {  // x - e to x + 2 e are
    for (int d = 0; d < 2; ++d)
      if (x[d] - e[d] < 0 || x[d] - e[d] >= distance.voxels()[d] || x[d] + 2 * e[d] < 0 ||
          x[d] + 2 * e[d] >= distance.voxels()[d])
        return false;
    return planes[2 - e[2]] && planes[2 + 2 * e[2]];
  };
  std::optional<InscribedBall> largest;
  for (const Index& way : ways)
    for (const int sign : {1, -1}) {
      const Index e = way * sign;
      const std::int64_t step = std::int64_t{e[1]} * distance.voxels()[0] + e[0];
      if (!planes[2 + e[2]] || !inside(e)) continue;
      const int next = planes[2 + e[2]][step];
      const int before = planes[2 - e[2]][-step];
      if (next == 0 || before >= here) continue;
      const int beyond = planes[2 + 2 * e[2]][2 * step];
      const std::size_t kind = dot(e, e) - 1;
      const Meeting m = meeting(before, here, next, beyond, steepest[kind]);
      const int radius = static_cast<int>(std::lround(m.height));
      if (m.t <= 0 || m.t >= 1 || radius <= std::max({here, next, largest ? largest->radius : 0})) continue;
      largest = InscribedBall{e * static_cast<int>(std::lround(distance_unit * m.t)), radius};
    }
  return largest;
}

int ball_radius(const DistancePlanes& distance, const Index& x) {
  const std::optional<InscribedBall> between = ball_between(distance, x);
  return between ? between->radius : distance.plane(x[2])[std::int64_t{x[1]} * distance.voxels()[0] + x[0]];
}

}  // namespace karst
