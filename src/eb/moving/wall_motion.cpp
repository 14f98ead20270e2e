// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/wall_motion.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "eb/moving/wall_band.hpp"

namespace karst {

namespace {

constexpr double distance_tolerance = 0.2;  // relative: beyond it φ0 - s is no distance
constexpr double smoother = 0.1;            // second derivatives of s over those of φ, from which on s is not extended
constexpr double rounding = 1e-9;           // of second derivatives
constexpr double near_wall = 1.5;           // |p| up to which slopes of s are bounded

/// Counts of one block.
struct BlockCounts {
  std::int64_t band = 0, redistanced = 0, no_foot = 0;
  double largest = 0.0;
};

/// Scratch of a thread.
struct Scratch {
  WallBand band;
  std::vector<double> p, s, speed;
  std::vector<Vec3> feet;
};
Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

/// Whether the wall at a foot beyond a side of the domain leads to the side within wall_reach_at_sides, as far as it is
/// plane: otherwise it is another one, such as the back of a slab that ends outside, and stands.
bool reaches_domain(const CornerValues& p, const Domain& domain, const Vec3& foot) {
  Vec3 beyond;
  for (int d = 0; d < 3; ++d)
    if (!domain.periodic[d]) beyond[d] = std::max({0.0, -foot[d], foot[d] - domain.cells[d]});
  if (beyond == Vec3{}) return true;
  const Vec3 slope = quadratic_at(p, foot).slope;
  for (int d = 0; d < 3; ++d) {
    const double across = std::sqrt(std::max(0.0, dot(slope, slope) - slope[d] * slope[d]));
    if (beyond[d] * std::abs(slope[d]) > wall_reach_at_sides * across) return false;
  }
  return true;
}

class Motion {
 public:
  Motion(const Comm& comm, const LevelSet& phi0, const WallSpeed& speed, Displacement& displacement)
      : comm_(comm),
        phi0_(phi0),
        speed_(speed),
        displacement_(displacement),
        h_(std::ldexp(1.0, -displacement.level())),
        scale_(std::ldexp(1.0, displacement.level())) {}

  void begin();
  double find_speeds(double time);
  void step(double time, double dt);
  void bound_slopes();
  WallMotionReport report() const;

 private:
  const CornerBlocks& blocks() const { return displacement_.blocks(); }
  const Domain& domain() const { return blocks().layout().domain(); }
  template <class F>
  void for_blocks(F&& f) const {
    parallel_for_dynamic(blocks().n_own(), [&](std::int64_t own) { f(static_cast<int>(own)); });
  }
  CornerValues gather(int own, int margin, std::span<const double> from, CornerBlocks::Missing missing,
                      std::vector<double>& to) const;
  std::span<double> block(Array<double>& of, int own) const {
    return of.span().subspan(blocks().begin(own), blocks().own_corners(own).count());
  }
  Box inside(int own) const;
  void find_typical_slope();
  /// |∇p| at a foot, without outliers at kinks.
  double slope_of(const Foot& foot) const { return std::clamp(foot.slope, 0.4 * typical_slope_, 2.5 * typical_slope_); }
  void find_band(int own, double time, Scratch& in);
  void extend(int own, Scratch& in);
  void apply(int own, double factor, std::span<const double> rate, std::span<double> s, std::span<double> p) const;
  void predict(int own, double dt);
  void correct(int own, double time);
  void exchange(Array<double>& values) { displacement_.blocks().exchange(values.span()); }

  const Comm& comm_;
  const LevelSet& phi0_;
  const WallSpeed& speed_;
  Displacement& displacement_;
  double h_, scale_;
  double typical_slope_ = 1.0;      ///< of p at the wall, a power of two: no rounding of sums changes it
  Array<double> p_, p_next_;        ///< φ / h at own corners and in the halo
  Array<double> rate_, rate_next_;  ///< -∂s/∂t of the two stages; of inner corners first V
  Array<double> s_next_;
  Array<std::uint8_t> steps_;  ///< of own corners from the wall
  std::vector<BlockCounts> counts_;
  BlockCounts before_;                               ///< of earlier steps
  std::vector<std::vector<std::uint64_t>> reached_;  ///< boxes near the wall, per block
};

CornerValues Motion::gather(int own, int margin, std::span<const double> from, CornerBlocks::Missing missing,
                            std::vector<double>& to) const {
  const Box region = blocks().own_corners(own).grown(margin);
  to.resize(region.count());
  blocks().gather(own, margin, from, missing, to);
  return {region, to};
}

/// Own corners that are not beyond a side of the domain.
Box Motion::inside(int own) const {
  Box corners = blocks().own_corners(own);
  for (int d = 0; d < 3; ++d) {
    if (domain().periodic[d]) continue;
    corners.lo[d] = std::max(corners.lo[d], 0);
    corners.hi[d] = std::min(corners.hi[d], domain().cells[d] + 1);
  }
  return corners;
}

/// p of all own corners. Anew whenever boxes were added.
void Motion::begin() {
  const std::size_t n = blocks().n_own_corners(), stored = blocks().n_stored();
  p_ = {stored, Purpose::geometry};
  p_next_ = {stored, Purpose::geometry};
  rate_ = {n, Purpose::geometry, 0.0};
  rate_next_ = {n, Purpose::geometry};
  s_next_ = {n, Purpose::geometry};
  steps_ = {n, Purpose::geometry};
  for (const BlockCounts& c : counts_) before_.redistanced += c.redistanced, before_.no_foot += c.no_foot;
  counts_.assign(blocks().n_own(), {});
  reached_.assign(blocks().n_own(), {});
  for_blocks([&](int own) {
    const Box corners = blocks().own_corners(own);
    const auto phi = phi0_.local(h_ * to_vec(corners.lo), h_ * to_vec(corners.hi - Index::all(1)));
    const auto p = block(p_, own);
    evaluate_at_corners(*phi, corners, displacement_.level(), p);
    const double* s = displacement_.values().data() + blocks().begin(own);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= scale_ * s[i];
  });
  find_typical_slope();
}

/// From the edges that the wall crosses: their mean difference is about 1 / 1.5 of |∇p|. Collective.
void Motion::find_typical_slope() {
  struct Sum {
    double n = 0.0, rise = 0.0;
  };
  std::vector<Sum> sums(blocks().n_own());
  for_blocks([&](int own) {
    const Box corners = blocks().own_corners(own);
    const CornerValues p{corners, block(p_, own)};
    for_each_cell({corners.lo, corners.hi - Index::all(1)}, [&](const Index& c) {
      const double* at = p.at(c);
      for (int d = 0; d < 3; ++d) {
        const double next = at[p.stride(d)];
        if ((next > 0.0) != (*at > 0.0)) sums[own].n += 1.0, sums[own].rise += std::abs(next - *at);
      }
    });
  });
  std::array<double, 2> all{};
  for (const Sum& sum : sums) all[0] += sum.n, all[1] += sum.rise;
  comm_.sum(std::span(all));
  if (all[0] > 0.0) typical_slope_ = std::exp2(std::round(std::log2(1.5 * all[1] / all[0])));
}

/// Feet and their speeds; p is in `in`.
void Motion::find_band(int own, double time, Scratch& in) {
  const CornerValues p{blocks().own_corners(own).grown(WallBand::halo), in.p};
  in.band.find(inside(own), p);
  const auto& feet = in.band.feet();
  in.feet.resize(feet.size());
  in.speed.resize(feet.size());
  for (std::size_t i = 0; i < feet.size(); ++i) {
    in.feet[i] = h_ * feet[i].at;
    for (int d = 0; d < 3; ++d) {
      const double length = h_ * domain().cells[d];
      double& x = in.feet[i][d];
      x = domain().periodic[d] ? x - length * std::floor(x / length) : std::clamp(x, 0.0, length);
    }
  }
  speed_(in.feet, time, in.speed);
  BlockCounts& counts = counts_[own];
  counts.band = std::ssize(feet);
  for (std::size_t i = 0; i < feet.size(); ++i) {
    const Vec3& x = in.feet[i];
    require(std::isfinite(in.speed[i]), "moving wall: the normal speed at ({}, {}, {}) is {}; it must be finite", x[0],
            x[1], x[2], in.speed[i]);
    counts.no_foot += !feet[i].found && !feet[i].hidden;
    counts.largest = std::max(counts.largest, std::abs(in.speed[i]));
    if (!reaches_domain(p, domain(), feet[i].at)) in.speed[i] = 0.0;
    // What hides between corners vanishes, but does not grow.
    if (feet[i].hidden && in.speed[i] * *p.at(feet[i].corner) < 0.0) in.speed[i] = 0.0;
  }
}

/// s at the rim: that of the foot, or what the distance from it requires.
void Motion::extend(int own, Scratch& in) {
  const Box corners = blocks().own_corners(own);
  const auto s = displacement_.values().subspan(blocks().begin(own), corners.count());
  const auto p = block(p_, own), next = block(s_next_, own), rate = block(rate_, own);
  const std::span<std::uint8_t> steps = steps_.span().subspan(blocks().begin(own), corners.count());
  std::ranges::copy(s, next.begin());
  std::ranges::fill(rate, 0.0);
  std::ranges::fill(steps, WallBand::far);
  if (in.band.feet().empty()) return;
  const CornerValues all_s = gather(own, WallBand::halo, displacement_.values(), CornerBlocks::Missing::zero, in.s);
  for (std::size_t i = 0; i < in.band.feet().size(); ++i) {
    const Foot& foot = in.band.feet()[i];
    const std::int64_t at = corners.offset(foot.corner);
    steps[at] = foot.steps;
    rate[at] = in.speed[i];
    if (foot.steps <= WallBand::inner) continue;
    rate[at] *= slope_of(foot);
    const Taylor at_foot = quadratic_at(all_s, foot.at);
    const double of_foot = at_foot.value;
    if (of_foot == 0.0 && s[at] == 0.0) continue;
    const double sign = p[at] > 0.0 ? 1.0 : -1.0, phi0 = p[at] + scale_ * s[at];
    const double distance = slope_of(foot) * foot.distance;
    next[at] = of_foot;
    const bool smooth = scale_ * bend(at_foot) <= smoother * foot.bend + rounding;
    if (smooth && std::abs(sign * (phi0 - scale_ * of_foot) - distance) < distance_tolerance * distance) continue;
    next[at] = h_ * (phi0 - sign * distance);
    ++counts_[own].redistanced;
  }
}

/// Adds -factor * rate to s and what that means to p; beyond the sides of the domain as on them.
void Motion::apply(int own, double factor, std::span<const double> rate, std::span<double> s,
                   std::span<double> p) const {
  const Box corners = blocks().own_corners(own), in = inside(own);
  std::size_t at = 0;
  for_each_cell(corners, [&](const Index& c) {
    double r = rate[at];
    if (in != corners) {
      Index nearest;
      for (int d = 0; d < 3; ++d) nearest[d] = std::clamp(c[d], in.lo[d], in.hi[d] - 1);
      r = rate[corners.offset(nearest)];
    }
    if (!s.empty()) s[at] -= factor * r;
    if (!p.empty()) p[at] += scale_ * factor * r;
    ++at;
  });
}

double Motion::find_speeds(double time) {
  exchange(p_);
  displacement_.blocks().exchange(displacement_.values());
  fail_together(comm_, [&] {
    for_blocks([&](int own) {
      Scratch& in = scratch();
      gather(own, WallBand::halo, p_.span(), CornerBlocks::Missing::nearest, in.p);
      counts_[own].largest = 0.0;
      find_band(own, time, in);
      extend(own, in);
    });
  });
  double largest = 0.0;
  for (const BlockCounts& c : counts_) largest = std::max(largest, c.largest);
  return comm_.max(largest);
}

/// First stage: p_next and the rates.
void Motion::predict(int own, double dt) {
  const auto next_p = block(p_next_, own);
  std::ranges::copy(block(p_, own), next_p.begin());
  if (counts_[own].band == 0) return;
  Scratch& in = scratch();
  const CornerValues p = gather(own, 2, p_.span(), CornerBlocks::Missing::nearest, in.p);
  const Box corners = blocks().own_corners(own);
  const auto rate = block(rate_, own);
  std::size_t at = blocks().begin(own);
  for_each_cell(corners, [&](const Index& c) {
    double& r = rate_[at];
    if (steps_[at++] <= WallBand::inner && r != 0.0) r *= upwind_slope(p, c, r);
  });
  apply(own, dt, rate, {}, next_p);
}

/// Second stage: s at the new time.
void Motion::correct(int own, double time) {
  Scratch& in = scratch();
  const CornerValues p = gather(own, WallBand::halo, p_next_.span(), CornerBlocks::Missing::nearest, in.p);
  const std::int64_t first_band = counts_[own].band;
  find_band(own, time, in);
  const Box corners = blocks().own_corners(own);
  const auto rate = block(rate_, own), mean = block(rate_next_, own);
  reached_[own].clear();
  std::ranges::copy(rate, mean.begin());
  if (first_band == 0 && in.band.feet().empty()) return;
  std::vector<std::uint8_t> at_wall(corners.count());
  for (std::size_t i = 0; i < in.band.feet().size(); ++i) {
    const Foot& foot = in.band.feet()[i];
    const std::int64_t at = corners.offset(foot.corner);
    at_wall[at] = foot.steps == 0;
    double r = in.speed[i];
    if (r != 0.0) r *= foot.steps <= WallBand::inner ? upwind_slope(p, foot.corner, r) : slope_of(foot);
    mean[at] = 0.5 * (rate[at] + r);
  }
  reached_[own] = boxes_around(blocks().layout(), corners, at_wall);
}

void Motion::step(double time, double dt) {
  for_blocks([&](int own) {  // what extend() found
    const auto next = block(s_next_, own);
    const auto s = displacement_.values().subspan(blocks().begin(own), next.size());
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = s[i] - next[i];
    apply(own, 1.0, next, s, block(p_, own));
  });
  exchange(p_);
  for_blocks([&](int own) { predict(own, dt); });
  exchange(p_next_);
  fail_together(comm_, [&] { for_blocks([&](int own) { correct(own, time + dt); }); });
  for_blocks([&](int own) {
    const auto mean = block(rate_next_, own);
    apply(own, dt, mean, displacement_.values().subspan(blocks().begin(own), mean.size()), block(p_, own));
  });
  before_.band = 0;
  for (const BlockCounts& c : counts_) before_.band += c.band;
  std::vector<std::uint64_t> reached;
  for (const auto& keys : reached_) reached.insert(reached.end(), keys.begin(), keys.end());
  if (displacement_.add_boxes(comm_, reached)) begin();
}

/// Of |∇s| in cells with a corner near the wall.
void Motion::bound_slopes() {
  exchange(p_);
  displacement_.blocks().exchange(displacement_.values());
  for_blocks([&](int own) {
    Scratch& in = scratch();
    const CornerValues p = gather(own, 1, p_.span(), CornerBlocks::Missing::nearest, in.p);
    const CornerValues s = gather(own, 1, displacement_.values(), CornerBlocks::Missing::zero, in.s);
    const Box corners = blocks().own_corners(own);
    double most = 0.0;
    for_each_cell({corners.lo, corners.hi}, [&](const Index& c) {
      double least = near_wall;
      for (unsigned n = 0; n < 8; ++n)
        least = std::min(least, std::abs(p.at(c)[(n & 1) + (n >> 1 & 1) * p.stride(1) + (n >> 2) * p.stride(2)]));
      if (least >= near_wall) return;
      double sum = 0.0;
      for (int d = 0; d < 3; ++d) {
        const std::int64_t e = s.stride(d), f = s.stride((d + 1) % 3), g = s.stride((d + 2) % 3);
        const double* at = s.at(c);
        double rise = 0.0;
        for (const std::int64_t o : {std::int64_t{0}, f, g, f + g}) rise = std::max(rise, std::abs(at[o + e] - at[o]));
        sum += rise * rise;
      }
      most = std::max(most, sum);
    });
    displacement_.slopes()[own] = scale_ * std::sqrt(most);
  });
}

WallMotionReport Motion::report() const {
  BlockCounts all = before_;
  for (const BlockCounts& c : counts_) {
    all.redistanced += c.redistanced;
    all.no_foot += c.no_foot;
  }
  std::array<std::int64_t, 3> sums{all.band, all.redistanced, all.no_foot};
  comm_.sum(std::span(sums));
  return {0, 0.0, blocks().layout().n_boxes(), blocks().n_corners(), sums[0], sums[1], sums[2]};
}

}  // namespace

WallMotionReport move_wall(const Comm& comm, const LevelSet& phi0, const WallSpeed& speed, double time, double dt,
                           Displacement& displacement) {
  const Timer timer("move wall");
  require(dt >= 0.0 && std::isfinite(dt), "moving wall: the time step is {}; it must be >= 0", dt);
  if (displacement.blocks().layout().n_boxes() == 0) add_boxes_at_walls(comm, phi0, displacement);
  Motion motion(comm, phi0, speed, displacement);
  motion.begin();
  const double spacing = std::ldexp(wall_courant_number, -displacement.level());
  int steps = 0;
  double largest = 0.0;
  for (double left = dt; left > 0.0;) {
    const double fastest = motion.find_speeds(time);
    const double parts = std::max(1.0, std::ceil(left * fastest / spacing - 1e-9));
    const double part = left / parts;
    motion.step(time, part);
    time += part;
    left = parts > 1.0 ? left - part : 0.0;
    largest = std::max(largest, fastest);
    ++steps;
  }
  motion.bound_slopes();
  phi0.drop_cache();
  WallMotionReport report = motion.report();
  report.steps = steps;
  report.largest_speed = largest;
  return report;
}

}  // namespace karst
