// SPDX-License-Identifier: BSD-3-Clause
// The wall where it is now: φ = φ0 - s.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eb/moving/displacement.hpp"

namespace karst {

/// Solids that stand while others move.
struct StandingSolids {
  std::unique_ptr<LevelSet> solids;  ///< of whose φ that of the whole is the minimum with others; none: all may move
  std::vector<MineralNumber> number{};  ///< of its minerals in those of the whole
};

/// φ0 - s, cut off at ±1.5 spacings of the corners of s where a bound of |∇φ0| is known: farther from the wall s is not
/// kept up to date, and only the sign of φ has a meaning. Where s = 0 around what is asked for it is φ0 itself, to the
/// last bit.
///
/// Where solids stand it is min(φ0 - s, φ of these): φ0 alone does not know the surface of a grain below one that
/// dissolves, and s of the wall above it reaches down into it.
///
/// s has owners of its own. What a rank asks local() for must be in own boxes of s or have been fetched since the last
/// drop_cache(); build_geometry() does so.
class MovedLevelSet final : public LevelSet {
 public:
  /// Both must outlive this; s must not change while it is used.
  MovedLevelSet(const LevelSet& phi0, const Displacement& displacement, StandingSolids standing = {})
      : phi0_(phi0), displacement_(displacement), standing_(std::move(standing)) {}

  Smoothness smoothness() const override { return phi0_.smoothness(); }
  /// Throws Error where s is neither here nor fetched.
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override;
  std::vector<std::string> minerals() const override { return phi0_.minerals(); }
  void fetch(const Comm& comm, int level, std::span<const Box> cells) const override;
  void drop_cache() const override;

 private:
  struct Fetched {
    double slope;
    std::vector<double> values;
  };
  Box corners_around(const Vec3& lo, const Vec3& hi) const;

  const LevelSet& phi0_;
  const Displacement& displacement_;
  StandingSolids standing_;
  mutable std::unordered_map<std::int64_t, Fetched> fetched_;
};

}  // namespace karst
