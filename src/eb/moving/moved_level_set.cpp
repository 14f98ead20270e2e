// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/moved_level_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/core/error.hpp"
#include "eb/shapes/combine.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

constexpr double kept_near_wall = 1.5;  // |φ| up to which s holds, in spacings of the corners

class LocalMoved final : public LocalLevelSet {
 public:
  /// @param of_phi0  its smoothness
  LocalMoved(std::unique_ptr<LocalLevelSet> phi0, const Smoothness& of_phi0, const Box& corners, std::vector<double> s,
             double slope, int level)
      : phi0_(std::move(phi0)),
        corners_(corners),
        s_(std::move(s)),
        slope_(slope),
        scale_(std::ldexp(1.0, level)),
        lipschitz_(of_phi0.lipschitz) {
    const bool bounded = of_phi0.lipschitz > 0.0;
    most_ = bounded ? std::ldexp(kept_near_wall, -level) : std::numeric_limits<double>::infinity();
  }

  Smoothness smoothness_here(const Smoothness& of_all) const override {
    const Smoothness here = phi0_->smoothness_here(of_all);
    const bool bounded = here.lipschitz > 0.0;
    return {bounded ? here.lipschitz + slope_ : 0.0, here.sample_spacing, false, bounded};
  }
  /// Near the wall s changes from corner to corner as much as φ0, and φ is cut off: the slope of their difference alone
  /// would leave open where most cells are.
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    const PhiRange phi0 = range_of_phi0(lo, hi), s = range_of_s(lo, hi);
    return {phi0.most - s.least > -certain_phi, phi0.least - s.most < certain_phi, {}};
  }

  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    phi0_->evaluate(x, phi);
    const std::int64_t row = corners_.size(0), plane = row * corners_.size(1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::int64_t first = 0;
      std::array<double, 3> part;
      const std::array<std::int64_t, 3> stride{1, row, plane};
      for (int d = 0; d < 3; ++d) {
        const double u = scale_ * x[i][d] - corners_.lo[d];
        const int n = std::clamp(static_cast<int>(u), 0, corners_.size(d) - 2);
        first += n * stride[d];
        part[d] = std::clamp(u - n, 0.0, 1.0);
      }
      const double* s = s_.data() + first;
      const auto along = [&](const double* a) { return a[0] + part[0] * (a[1] - a[0]); };
      const auto across = [&](const double* a) {
        const double low = along(a);
        return low + part[1] * (along(a + row) - low);
      };
      const double low = across(s);
      phi[i] = std::clamp(phi[i] - (low + part[2] * (across(s + plane) - low)), -most_, most_);
    }
  }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override { return phi0_->only_mineral(lo, hi); }
  void add_wall(const Vec3& x, double area, std::span<double> areas) const override { phi0_->add_wall(x, area, areas); }

 private:
  PhiRange range_of_phi0(const Vec3& lo, const Vec3& hi) const {
    const PhiRange known = phi0_->range(lo, hi);
    if (std::isfinite(known.least) || lipschitz_ == 0.0) return known;
    const double center = (*phi0_)(0.5 * (lo + hi));
    const double change = 0.5 * lipschitz_ * norm(hi - lo) + certain_phi * std::abs(center);
    return {center - change, center + change};
  }
  /// At the corners of the cells that meet the box.
  PhiRange range_of_s(const Vec3& lo, const Vec3& hi) const {
    Index first, last;
    for (int d = 0; d < 3; ++d) {
      first[d] = std::clamp(static_cast<int>(std::floor(scale_ * lo[d])), corners_.lo[d], corners_.hi[d] - 1);
      last[d] = std::clamp(static_cast<int>(std::ceil(scale_ * hi[d])), corners_.lo[d], corners_.hi[d] - 1);
    }
    PhiRange range{s_[corners_.offset(first)], s_[corners_.offset(first)]};
    for (int k = first[2]; k <= last[2]; ++k)
      for (int j = first[1]; j <= last[1]; ++j) {
        const double* row = s_.data() + corners_.offset({first[0], j, k});
        for (int i = 0; i <= last[0] - first[0]; ++i)
          range = {std::min(range.least, row[i]), std::max(range.most, row[i])};
      }
    return range;
  }

  std::unique_ptr<LocalLevelSet> phi0_;
  Box corners_;
  std::vector<double> s_;
  double slope_, scale_, most_;
  double lipschitz_;  ///< of φ0
};

/// The same with solids that stand.
class LocalWithStanding final : public LocalLevelSet {
 public:
  /// @param of_standing  its smoothness
  LocalWithStanding(std::unique_ptr<LocalLevelSet> moved, std::unique_ptr<LocalLevelSet> standing,
                    const Smoothness& of_standing, std::span<const MineralNumber> number)
      : moved_(std::move(moved)), standing_(std::move(standing)), of_standing_(of_standing), number_(number) {}

  Smoothness smoothness_here(const Smoothness& of_all) const override {
    const Smoothness moved = moved_->smoothness_here(of_all);
    Smoothness both = combined(moved, of_standing_);
    both.tight_signs = both.lipschitz > 0.0 && moved.tight_signs;
    return both;
  }
  SignBounds signs(const Vec3& lo, const Vec3& hi) const override {
    return signs_of_minimum(moved_->signs(lo, hi), standing_->signs(lo, hi));
  }
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
    constexpr std::size_t per_pass = 64;
    std::array<double, per_pass> other;
    moved_->evaluate(x, phi);
    for (std::size_t first = 0; first < x.size(); first += per_pass) {
      const std::size_t n = std::min(per_pass, x.size() - first);
      standing_->evaluate(x.subspan(first, n), std::span(other).first(n));
      for (std::size_t i = 0; i < n; ++i) phi[first + i] = std::min(phi[first + i], other[i]);
    }
  }
  MineralNumber only_mineral(const Vec3& lo, const Vec3& hi) const override {
    const MineralNumber moves = moved_->only_mineral(lo, hi);
    if (of_standing_.lipschitz > 0.0 && (*standing_)(0.5 * (lo + hi)) > of_standing_.lipschitz * norm(hi - lo))
      return moves;
    const MineralNumber stands = standing_->only_mineral(lo, hi);
    return stands != no_mineral && number_[stands] == moves ? moves : no_mineral;
  }
  void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
    constexpr double tie = 1e-9;  // far above the rounding of φ
    if ((*standing_)(x) > (*moved_)(x) + tie) return moved_->add_wall(x, area, areas);
    std::vector<double> standing(number_.size(), 0.0);
    standing_->add_wall(x, area, standing);
    for (std::size_t m = 0; m < standing.size(); ++m) areas[number_[m]] += standing[m];
  }

 private:
  std::unique_ptr<LocalLevelSet> moved_, standing_;
  Smoothness of_standing_;
  std::span<const MineralNumber> number_;
};

}  // namespace

Box MovedLevelSet::corners_around(const Vec3& lo, const Vec3& hi) const {
  const double scale = std::ldexp(1.0, displacement_.level());
  Box corners;
  for (int d = 0; d < 3; ++d) {
    corners.lo[d] = static_cast<int>(std::floor(scale * lo[d] + 1e-9));
    corners.hi[d] = std::max(static_cast<int>(std::ceil(scale * hi[d] - 1e-9)), corners.lo[d] + 1) + 1;
  }
  return corners;
}

std::unique_ptr<LocalLevelSet> MovedLevelSet::local(const Vec3& lo, const Vec3& hi) const {
  auto phi0 = phi0_.local(lo, hi);
  const CornerBlocks& blocks = displacement_.blocks();
  const Box region = corners_around(lo, hi);
  std::vector<double> s;
  double slope = 0.0;
  blocks.for_parts(region, [&](std::int64_t box, const Box& part, const Index& shift) {
    if (box < 0) return;
    const double* from = nullptr;
    if (blocks.is_own(box)) {
      const auto own = static_cast<int>(box - blocks.first_own());
      from = displacement_.values().data() + blocks.begin(own);
      slope = std::max(slope, displacement_.slopes()[own]);
    } else {
      const auto found = fetched_.find(box);
      require(found != fetched_.end(), "moved wall: the displacement near ({}, {}, {}) was not fetched", lo[0], lo[1],
              lo[2]);
      from = found->second.values.data();
      slope = std::max(slope, found->second.slope);
    }
    s.resize(region.count(), 0.0);
    copy_corners(part, shift, blocks.corners(box), from, region, s.data());
  });
  if (std::ranges::all_of(s, [](double at) { return at == 0.0; })) return phi0;
  auto moved =
      std::make_unique<LocalMoved>(std::move(phi0), smoothness(), region, std::move(s), slope, displacement_.level());
  if (!standing_.solids) return moved;
  return std::make_unique<LocalWithStanding>(std::move(moved), standing_.solids->local(lo, hi),
                                             standing_.solids->smoothness(), standing_.number);
}

void MovedLevelSet::fetch(const Comm& comm, int level, std::span<const Box> cells) const {
  const CornerBlocks& blocks = displacement_.blocks();
  const double h = std::ldexp(1.0, -level);
  std::set<std::int64_t> needed;
  for (const Box& box : cells) {
    const Box around = box.grown(1);
    blocks.for_parts(corners_around(h * to_vec(around.lo), h * to_vec(around.hi)),
                     [&](std::int64_t held, const Box&, const Index&) {
                       if (held >= 0 && !blocks.is_own(held) && !fetched_.contains(held)) needed.insert(held);
                     });
  }
  std::map<int, ByteWriter> questions;
  for (const std::int64_t box : needed) questions[blocks.layout().owner(box)].put(box);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto box = in.get<std::int64_t>();
    const auto own = static_cast<int>(box - blocks.first_own());
    const double* from = displacement_.values().data() + blocks.begin(own);
    w.put(box);
    w.put(displacement_.slopes()[own]);
    w.put_vector(std::vector<double>(from, from + blocks.corners(box).count()));
  };
  ask_ranks(comm, std::move(questions), answer, [&](ByteReader& in, int) {
    Fetched& fetched = fetched_[in.get<std::int64_t>()];
    fetched.slope = in.get<double>();
    fetched.values = in.get_vector<double>();
  });
}

void MovedLevelSet::drop_cache() const {
  fetched_.clear();
  phi0_.drop_cache();
}

}  // namespace karst
