// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/combine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/error.hpp"

namespace karst {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t points_per_pass = 64;  // the scratch array lives on the stack

using LocalParts = std::vector<std::unique_ptr<LocalLevelSet>>;

struct Bounds {
  double lo = -infinity, hi = infinity;
};

/// Range of φ in a ball, from its value at the centre.
Bounds bounds_in_ball(double phi, double lipschitz, double radius) {
  if (lipschitz == 0.0) return {};
  const double change = lipschitz * radius + 1e-9 * (1.0 + std::abs(phi));  // and room for round-off
  return {phi - change, phi + change};
}

Bounds bounds_in_ball(const LevelSet& part, const Vec3& center, double radius) {
  const double lipschitz = part.smoothness().lipschitz;
  return lipschitz == 0.0 ? Bounds{} : bounds_in_ball((*part.local(center, center))(center), lipschitz, radius);
}

enum class Extremum { minimum, maximum };

/// Positions of the parts that can be the minimum (or maximum) somewhere in a ball.
std::vector<std::size_t> contenders(std::vector<Bounds> bounds, Extremum extremum) {
  if (extremum == Extremum::maximum) {
    for (Bounds& b : bounds) b = {-b.hi, -b.lo};
  }
  double best = infinity;
  for (const Bounds& b : bounds) best = std::min(best, b.hi);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i].lo <= best) kept.push_back(i);
  }
  return kept;
}

/// A box cut into bricks, with the parts that can be the minimum (or maximum) in each: few of those that can be it
/// somewhere in the box.
class Bricks {
 public:
  Bricks(const Vec3& lo, const Vec3& hi) : lo_(lo), width_((1.0 / per_direction) * (hi - lo)) {}
  /// @param parts  [part]
  void find(const LocalParts& parts, const std::vector<double>& lipschitz, Extremum extremum) {
    std::vector<Bounds> bounds(parts.size());
    const double radius = (0.5 + overhang) * norm(width_);
    for (std::size_t brick = 0; brick < n_bricks; ++brick) {
      const Vec3 center = center_of(brick);
      for (std::size_t i = 0; i < parts.size(); ++i)
        bounds[i] = bounds_in_ball((*parts[i])(center), lipschitz[i], radius);
      for (const std::size_t i : contenders(bounds, extremum)) parts_.push_back(static_cast<std::uint32_t>(i));
      begin_[brick + 1] = parts_.size();
    }
    for (std::size_t i = 0; i < parts.size(); ++i) parts_.push_back(static_cast<std::uint32_t>(i));
  }
  /// `outside` for points that are in none.
  std::size_t at(const Vec3& x) const {
    std::size_t brick = 0;
    for (int d = 2; d >= 0; --d) {
      const double place = (x[d] - lo_[d]) / width_[d];
      if (!(place >= -overhang && place <= per_direction + overhang)) return outside;
      brick = brick * per_direction + static_cast<std::size_t>(std::clamp(place, 0.0, per_direction - 1.0));
    }
    return brick;
  }
  /// Positions of the parts of a brick; of all of them outside.
  std::span<const std::uint32_t> parts_in(std::size_t brick) const {
    return brick == outside ? std::span(parts_).subspan(begin_.back())
                            : std::span(parts_).subspan(begin_[brick], begin_[brick + 1] - begin_[brick]);
  }
  static constexpr std::size_t per_direction = 4, n_bricks = per_direction * per_direction * per_direction;
  static constexpr std::size_t outside = n_bricks;

 private:
  static constexpr double overhang = 0.05;  ///< over the borders, in widths of a brick: for round-off
  Vec3 center_of(std::size_t brick) const {
    Vec3 center;
    for (int d = 0; d < 3; ++d, brick /= per_direction)
      center[d] = lo_[d] + width_[d] * (0.5 + static_cast<double>(brick % per_direction));
    return center;
  }

  Vec3 lo_, width_;
  std::array<std::size_t, n_bricks + 1> begin_{};
  std::vector<std::uint32_t> parts_;  ///< brick after brick, then all
};

/// min φ_i, or max φ_i.
class LocalExtreme final : public LocalLevelSet {
 public:
  /// @param lipschitz  of each part
  LocalExtreme(LocalParts parts, std::vector<double> lipschitz, Extremum extremum, const Vec3& lo, const Vec3& hi)
      : parts_(std::move(parts)), lipschitz_(std::move(lipschitz)), extremum_(extremum), bricks_(lo, hi) {
    bricks_.find(parts_, lipschitz_, extremum_);
  }
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    for (std::size_t first = 0; first < x.size();) {  // points of one brick together
      const std::size_t brick = bricks_.at(x[first]);
      std::size_t n = 1;
      while (n < points_per_pass && first + n < x.size() && bricks_.at(x[first + n]) == brick) ++n;
      evaluate_in(brick, x.subspan(first, n), phi.subspan(first, n));
      first += n;
    }
  }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    const auto of = [&](std::size_t i) {
      return extremum_ == Extremum::minimum ? parts_[i]->signs(lo, hi) : complement_of(parts_[i]->signs(lo, hi));
    };
    const std::size_t brick = bricks_.at(lo);
    const auto near = bricks_.parts_in(brick == bricks_.at(hi) ? brick : Bricks::outside);
    SignBounds all = of(near.front());
    for (const std::size_t i : near.subspan(1)) all = signs_of_minimum(all, of(i));
    return extremum_ == Extremum::minimum ? all : complement_of(all);
  }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override {
    const Vec3 center = 0.5 * (lo + hi);
    std::vector<Bounds> bounds(parts_.size());
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (lipschitz_[i] > 0.0) bounds[i] = bounds_in_ball((*parts_[i])(center), lipschitz_[i], 0.5 * norm(hi - lo));
    const std::vector<std::size_t> near = contenders(std::move(bounds), extremum_);
    const MineralNumber first = parts_[near.front()]->only_mineral(lo, hi);
    const bool alike =
        std::ranges::all_of(near, [&](std::size_t i) { return parts_[i]->only_mineral(lo, hi) == first; });
    return alike ? first : no_mineral;
  }
  void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
    constexpr double tie = 1e-9;  // far above the rounding of φ
    const double wall = (*this)(x);
    const auto is_here = [&](const auto& part) { return std::abs((*part)(x)-wall) <= tie; };
    const auto n = static_cast<double>(std::ranges::count_if(parts_, is_here));
    for (const auto& part : parts_)
      if (is_here(part)) part->add_wall(x, area / n, areas);
  }

 private:
  void evaluate_in(std::size_t brick, std::span<const Vec3> x, std::span<double> phi) const {
    const auto near = bricks_.parts_in(brick);
    parts_[near.front()]->evaluate(x, phi);
    std::array<double, points_per_pass> other;
    for (const std::size_t i : near.subspan(1)) {
      parts_[i]->evaluate(x, {other.data(), x.size()});
      for (std::size_t p = 0; p < x.size(); ++p)
        phi[p] = extremum_ == Extremum::minimum ? std::min(phi[p], other[p]) : std::max(phi[p], other[p]);
    }
  }

  LocalParts parts_;
  std::vector<double> lipschitz_;
  Extremum extremum_;
  Bricks bricks_;
};

class Extreme final : public LevelSet {
 public:
  Extreme(LevelSetParts parts, Extremum extremum, std::vector<std::string> minerals)
      : parts_(std::move(parts)), extremum_(extremum), minerals_(std::move(minerals)) {
    require(!parts_.empty(), "a union or intersection of solids needs at least one solid; none was given");
  }
  Smoothness smoothness() const override {
    Smoothness all = parts_.front()->smoothness();
    for (const auto& part : parts_) all = combined(all, part->smoothness());
    return all;
  }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    std::vector<Bounds> bounds(parts_.size());
    if (parts_.size() > 1) {
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        bounds[i] = bounds_in_ball(*parts_[i], 0.5 * (lo + hi), 0.5 * norm(hi - lo));
      }
    }
    LocalParts kept;
    std::vector<double> lipschitz;
    for (const std::size_t i : contenders(std::move(bounds), extremum_)) {
      kept.push_back(parts_[i]->local(lo, hi));
      lipschitz.push_back(parts_[i]->smoothness().lipschitz);
    }
    if (kept.size() == 1) return std::move(kept.front());
    return std::make_unique<LocalExtreme>(std::move(kept), std::move(lipschitz), extremum_, lo, hi);
  }
  std::vector<std::string> minerals() const override { return minerals_; }

 private:
  LevelSetParts parts_;
  Extremum extremum_;
  std::vector<std::string> minerals_;
};

class LocalOfMineral final : public LocalLevelSet {
 public:
  LocalOfMineral(std::unique_ptr<LocalLevelSet> part, MineralNumber number) : part_(std::move(part)), number_(number) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override { part_->evaluate(x, phi); }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override { return part_->signs(lo, hi); }
  MineralNumber only_mineral(const Vec3&, const Vec3&) const override { return number_; }
  void add_wall(const Vec3&, double area, std::span<double> areas) const override { areas[number_] += area; }

 private:
  std::unique_ptr<LocalLevelSet> part_;
  MineralNumber number_;
};

class OfMineral final : public LevelSet {
 public:
  OfMineral(std::unique_ptr<LevelSet> part, MineralNumber number) : part_(std::move(part)), number_(number) {}
  Smoothness smoothness() const override { return part_->smoothness(); }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    return std::make_unique<LocalOfMineral>(part_->local(lo, hi), number_);
  }

 private:
  std::unique_ptr<LevelSet> part_;
  MineralNumber number_;
};

class LocalComplement final : public LocalLevelSet {
 public:
  explicit LocalComplement(std::unique_ptr<LocalLevelSet> part) : part_(std::move(part)) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    part_->evaluate(x, phi);
    for (double& value : phi) value = -value;
  }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override { return complement_of(part_->signs(lo, hi)); }
  Smoothness smoothness_here(const Smoothness& of_all) const override { return part_->smoothness_here(of_all); }

 private:
  std::unique_ptr<LocalLevelSet> part_;
};

class ComplementOf final : public LevelSet {
 public:
  ComplementOf(const LevelSet& whole, double spacing) : whole_(whole), spacing_(spacing) {}
  Smoothness smoothness() const override {
    Smoothness smoothness = whole_.smoothness();
    smoothness.sample_spacing = std::max(smoothness.sample_spacing, spacing_);
    return smoothness;
  }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    return std::make_unique<LocalComplement>(whole_.local(lo, hi));
  }
  void fetch(const Comm& comm, int level, std::span<const Box> cells) const override {
    whole_.fetch(comm, level, cells);
  }

 private:
  const LevelSet& whole_;
  double spacing_;
};

class Complement final : public LevelSet {
 public:
  explicit Complement(std::unique_ptr<LevelSet> part) : part_(std::move(part)) {}
  Smoothness smoothness() const override { return part_->smoothness(); }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    return std::make_unique<LocalComplement>(part_->local(lo, hi));
  }

 private:
  std::unique_ptr<LevelSet> part_;
};

/// φ_0(x - shift).
class LocalShifted final : public LocalLevelSet {
 public:
  LocalShifted(std::unique_ptr<LocalLevelSet> part, const Vec3& shift) : part_(std::move(part)), shift_(shift) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    if (x.size() == 1) {  // without an array to be filled with zeros
      const Vec3 moved = x[0] - shift_;
      return part_->evaluate({&moved, 1}, phi);
    }
    std::array<Vec3, points_per_pass> moved;
    for (std::size_t first = 0; first < x.size(); first += points_per_pass) {
      const std::size_t n = std::min(points_per_pass, x.size() - first);
      for (std::size_t p = 0; p < n; ++p) moved[p] = x[first + p] - shift_;
      part_->evaluate({moved.data(), n}, phi.subspan(first, n));
    }
  }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override { return part_->signs(lo - shift_, hi - shift_); }

 private:
  std::unique_ptr<LocalLevelSet> part_;
  Vec3 shift_;
};

class PeriodicImages final : public LevelSet {
 public:
  PeriodicImages(std::unique_ptr<LevelSet> part, std::vector<Vec3> shifts)
      : part_(std::move(part)), shifts_(std::move(shifts)) {}
  Smoothness smoothness() const override { return part_->smoothness(); }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    std::vector<Bounds> bounds;
    for (const Vec3& shift : shifts_) {
      bounds.push_back(bounds_in_ball(*part_, 0.5 * (lo + hi) - shift, 0.5 * norm(hi - lo)));
    }
    LocalParts kept;
    for (const std::size_t i : contenders(std::move(bounds), Extremum::minimum)) {
      kept.push_back(std::make_unique<LocalShifted>(part_->local(lo - shifts_[i], hi - shifts_[i]), shifts_[i]));
    }
    if (kept.size() == 1) return std::move(kept.front());
    std::vector<double> lipschitz(kept.size(), part_->smoothness().lipschitz);
    return std::make_unique<LocalExtreme>(std::move(kept), std::move(lipschitz), Extremum::minimum, lo, hi);
  }

 private:
  std::unique_ptr<LevelSet> part_;
  std::vector<Vec3> shifts_;
};

}  // namespace

SignBounds signs_of_minimum(const SignBounds& a, const SignBounds& b) {
  if (!a.may_be_solid) return b;
  if (!b.may_be_solid) return a;
  SignBounds both{a.may_be_fluid && b.may_be_fluid, true, {}};
  for (std::size_t d = 0; d < 3; ++d) both.rises[d] = a.rises[d] == b.rises[d] ? a.rises[d] : std::int8_t{0};
  return both;
}

SignBounds complement_of(const SignBounds& s) {
  SignBounds other{s.may_be_solid, s.may_be_fluid, {}};
  for (std::size_t d = 0; d < 3; ++d) other.rises[d] = static_cast<std::int8_t>(-s.rises[d]);
  return other;
}

Smoothness combined(const Smoothness& a, const Smoothness& b) {
  Smoothness both;
  if (a.lipschitz > 0.0 && b.lipschitz > 0.0) both.lipschitz = std::max(a.lipschitz, b.lipschitz);
  both.sample_spacing = std::min(a.sample_spacing, b.sample_spacing);
  if (both.sample_spacing == 0.0) both.sample_spacing = std::max(a.sample_spacing, b.sample_spacing);
  both.bounds_signs = a.bounds_signs && b.bounds_signs;
  return both;
}

std::unique_ptr<LevelSet> union_of_solids(LevelSetParts parts, std::vector<std::string> minerals) {
  return std::make_unique<Extreme>(std::move(parts), Extremum::minimum, std::move(minerals));
}

std::unique_ptr<LevelSet> intersection_of_solids(LevelSetParts parts, std::vector<std::string> minerals) {
  return std::make_unique<Extreme>(std::move(parts), Extremum::maximum, std::move(minerals));
}

std::unique_ptr<LevelSet> of_mineral(std::unique_ptr<LevelSet> part, MineralNumber number) {
  return std::make_unique<OfMineral>(std::move(part), number);
}

std::unique_ptr<LevelSet> complement(std::unique_ptr<LevelSet> part) {
  return std::make_unique<Complement>(std::move(part));
}

std::unique_ptr<LevelSet> complement_of(const LevelSet& whole, double spacing) {
  return std::make_unique<ComplementOf>(whole, spacing);
}

std::unique_ptr<LevelSet> periodic_images(std::unique_ptr<LevelSet> part, const Vec3& period,
                                          const std::array<bool, 3>& periodic, const Vec3& extent,
                                          const std::string& what) {
  constexpr double most_images = 3e3, margin = 8.0;  // cells around the domain where φ is asked for
  Vec3 m;
  double n_images = 1.0;
  for (int d = 0; d < 3; ++d) {
    if (!periodic[d]) continue;
    require(period[d] > 0.0, "period in direction {} is {} cells: it must be > 0", d, period[d]);
    m[d] = 1.0 + std::floor((extent[d] + margin) / period[d]);
    n_images *= 2.0 * m[d] + 1.0;
  }
  require(
      n_images <= most_images,
      "{} reaches {:g}, {:g}, {:g} cells from its centre and needs {} images in a periodic domain of {:g} x {:g} x "
      "{:g} cells (at most {}): end it just beyond the domain, make the domain larger, or turn none of its edges away "
      "from the thin direction; are its sizes in metres?",
      what, extent[0], extent[1], extent[2], n_images, period[0], period[1], period[2], most_images);
  std::vector<Vec3> shifts;
  Vec3 n;
  for (n[2] = -m[2]; n[2] <= m[2]; ++n[2]) {
    for (n[1] = -m[1]; n[1] <= m[1]; ++n[1]) {
      for (n[0] = -m[0]; n[0] <= m[0]; ++n[0]) shifts.push_back({n[0] * period[0], n[1] * period[1], n[2] * period[2]});
    }
  }
  return images(std::move(part), std::move(shifts));
}

std::unique_ptr<LevelSet> images(std::unique_ptr<LevelSet> part, std::vector<Vec3> shifts) {
  return std::make_unique<PeriodicImages>(std::move(part), std::move(shifts));
}

}  // namespace karst
