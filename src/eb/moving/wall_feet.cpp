// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/wall_feet.hpp"

#include <algorithm>
#include <cmath>

#include "base/math/eight.hpp"

namespace karst {

namespace {

Index nearest_corner(const Box& within, const Vec3& x) {
  Index c;
  for (int d = 0; d < 3; ++d)
    c[d] = static_cast<int>(
        std::floor(std::clamp(x[d], static_cast<double>(within.lo[d]), static_cast<double>(within.hi[d] - 1)) + 0.5));
  return c;
}

/// The quadratic polynomial around a corner, at the corner itself.
Taylor quadratic_around(const CornerValues& f, const Index& c) {
  const double* at = f.at(c);
  Taylor q{*at, {}, {}};
  for (int d = 0; d < 3; ++d) {
    const std::int64_t s = f.stride(d);
    q.slope[d] = 0.5 * (at[s] - at[-s]);
    q.curvature[d][d] = at[s] - 2.0 * *at + at[-s];
    for (int e = d + 1; e < 3; ++e) {
      const std::int64_t t = f.stride(e);
      q.curvature[d][e] = q.curvature[e][d] = 0.25 * ((at[s + t] - at[s - t]) - (at[t - s] - at[-s - t]));
    }
  }
  return q;
}

/// Values, gradients and second derivatives of eight polynomials.
struct Taylors {
  Eight value{};
  Triple<Eight> slope{};
  std::array<Triple<Eight>, 3> curvature{};
};

/// The same polynomials elsewhere. Their curvature stays.
template <class T, class Q>
void shift(const Triple<T>& by, Q& q) {
  const Triple<T> bend{dot(q.curvature[0], by), dot(q.curvature[1], by), dot(q.curvature[2], by)};
  const Triple<T> half{0.5 * bend[0], 0.5 * bend[1], 0.5 * bend[2]};
  q.value += dot(by, q.slope + half);
  q.slope += bend;
}

using Lanes = decltype(Eight{} < Eight{});  // -1: true

bool any(const Lanes& lanes) {
  long long all = 0;
  for (int i = 0; i < 8; ++i) all |= lanes[i];
  return all != 0;
}

/// Newton's steps for feet; where one would lead away from it, the tangential part is that of a flat wall.
/// @param from  y - x
/// @param g2    |∇p|² > 0
void find_steps(const Taylors& q, const Triple<Eight>& from, const Eight& g2, Triple<Eight>& step) {
  const Eight one = Eight{} + 1.0;
  const Triple<Eight>& g = q.slope;
  const Eight lambda = -dot(from, g) / g2;
  std::array<Triple<Eight>, 3> a;
  for (int d = 0; d < 3; ++d)
    for (int e = 0; e < 3; ++e) a[d][e] = (d == e ? 1.0 : 0.0) + lambda * q.curvature[d][e];
  const Triple<Eight> c0 = cross(a[1], a[2]), c1 = cross(a[2], a[0]), c2 = cross(a[0], a[1]);  // of the inverse
  Eight determinant = dot(a[0], c0);
  const Triple<Eight> rest = from + lambda * g;
  const Lanes astray = (determinant < 0.05) | (a[0][0] <= 0.0) | (c2[2] <= 0.0);
  determinant = astray ? one : determinant;
  const Eight inverse = 1.0 / determinant;
  const auto solved = [&](const Triple<Eight>& b) { return inverse * (b[0] * c0 + b[1] * c1 + b[2] * c2); };
  const Triple<Eight> u = solved(rest), w = solved(g);
  Eight along = dot(g, w);
  along = astray ? one : along;
  const Eight part = (q.value - dot(g, u)) / along;
  for (int d = 0; d < 3; ++d) step[d] = -u[d] - part * w[d];
  if (!any(astray)) return;
  const Eight back = -(q.value / g2);
  for (int d = 0; d < 3; ++d) step[d] = astray ? back * g[d] - 0.5 * rest[d] : step[d];
}

/// A search in each of eight lanes; one that has ended makes room for the next one.
class Searches {
 public:
  Searches(const CornerValues& p, std::span<Foot> feet) : p_(p), feet_(feet), within_(p.box.grown(-1)) {
    for (int d = 0; d < 3; ++d) lo_[d] = within_.lo[d], hi_[d] = within_.hi[d] - 1;
  }
  void run() {
    for (int lane = 0; lane < 8; ++lane) begin_next(lane);
    while (any(active_)) {
      look_around();
      step();
    }
  }

 private:
  static constexpr int most = 10;
  static constexpr double enough = 1e-8, tolerable = 1e-2;  // squares of lengths
  static constexpr double farther = 0.5;                    // than where the search begins

  void begin_next(int lane) {
    while (next_ < feet_.size() && feet_[next_].hidden) ++next_;
    active_[lane] = next_ < feet_.size() ? -1 : 0;
    if (next_ == feet_.size()) return;
    const Foot& foot = feet_[next_];
    foot_[lane] = next_++;
    n_[lane] = 0;
    last_[lane] = g2_[lane] = 1.0;
    bent_[lane] = 0.0;
    for (int d = 0; d < 3; ++d) x_[d][lane] = foot.corner[d], y_[d][lane] = foot.at[d];
    load(lane, nearest_corner(within_, foot.at));
  }
  void load(int lane, const Index& middle) {
    const Taylor q = quadratic_around(p_, middle);
    around_.value[lane] = q.value;
    for (int d = 0; d < 3; ++d) {
      middle_[d][lane] = middle[d];
      around_.slope[d][lane] = q.slope[d];
      for (int e = 0; e < 3; ++e) around_.curvature[d][e][lane] = q.curvature[d][e];
    }
    bent_here_[lane] = bend(q);
  }
  /// Where another corner has become the nearest, the polynomial is that around it.
  void look_around() {
    Lanes others{};
    for (int d = 0; d < 3; ++d) {
      const Eight above = y_[d] < lo_[d] ? Eight{} + lo_[d] : y_[d], y = above > hi_[d] ? Eight{} + hi_[d] : above;
      others |= (y + 0.5 < middle_[d]) | (y + 0.5 >= middle_[d] + 1.0);
    }
    others &= active_;
    if (!any(others)) return;
    for (int lane = 0; lane < 8; ++lane)
      if (others[lane] != 0) load(lane, nearest_corner(within_, {y_[0][lane], y_[1][lane], y_[2][lane]}));
  }
  void step() {
    Taylors q = around_;
    shift(y_ - middle_, q);
    Eight g2 = dot(q.slope, q.slope);
    const Lanes flat = g2 < flat_p;
    g2 = flat ? Eight{} + 1.0 : g2;
    Triple<Eight> step;
    find_steps(q, y_ - x_, g2, step);
    const Eight length2 = dot(step, step);
    const Lanes moves = active_ & ~flat;
    if (any(length2 > 1.0))
      for (int lane = 0; lane < 8; ++lane) {
        if (!(length2[lane] > 1.0) || moves[lane] == 0) continue;
        const double scale = 1.0 / std::sqrt(length2[lane]);
        for (int d = 0; d < 3; ++d) step[d][lane] *= scale;
      }
    for (int d = 0; d < 3; ++d) y_[d] = moves ? y_[d] + step[d] : y_[d];
    g2_ = moves ? g2 : g2_;
    last_ = moves ? dot(step, step) : last_;
    bent_ = moves ? bent_here_ : bent_;
    for (int lane = 0; lane < 8; ++lane) {
      if (active_[lane] == 0) continue;
      ++n_[lane];
      if (flat[lane] == 0 && n_[lane] < most && last_[lane] > enough) continue;
      end(lane);
      begin_next(lane);
    }
  }
  void end(int lane) {
    Foot& foot = feet_[foot_[lane]];
    const Vec3 y{y_[0][lane], y_[1][lane], y_[2][lane]};
    const double distance = norm(to_vec(foot.corner) - y);
    foot.slope = std::sqrt(g2_[lane]);
    foot.bend = bent_[lane];
    foot.found = last_[lane] < tolerable && distance < foot.distance + farther;
    if (foot.found) foot.at = y, foot.distance = distance;
  }

  const CornerValues& p_;
  std::span<Foot> feet_;
  Box within_;
  Vec3 lo_, hi_;
  std::size_t next_ = 0;  ///< of the feet
  Lanes active_{};
  std::array<std::size_t, 8> foot_{};
  std::array<int, 8> n_{};              ///< steps made
  Triple<Eight> x_{}, y_{}, middle_{};  ///< corner, iterate, and the corner nearest to it
  Taylors around_;                      ///< at that
  Eight g2_{}, last_{};                 ///< |∇p|² and the square of the step taken last
  Eight bent_{}, bent_here_{};
};

}  // namespace

Taylor quadratic_at(const CornerValues& f, const Vec3& x) {
  const Index c = nearest_corner(f.box.grown(-1), x);
  Taylor q = quadratic_around(f, c);
  shift(x - to_vec(c), q);
  return q;
}

double bend(const Taylor& f) {
  double most = 0.0;
  for (const Vec3& row : f.curvature)
    for (int d = 0; d < 3; ++d) most = std::max(most, std::abs(row[d]));
  return most;
}

Foot foot_to_be_found(const Index& corner, std::uint8_t steps, bool hidden, const Vec3& begin) {
  return {corner, steps, false, hidden, begin, norm(begin - to_vec(corner)), 1.0, 0.0};
}

void find_feet(const CornerValues& p, std::span<Foot> feet) { Searches(p, feet).run(); }

}  // namespace karst
