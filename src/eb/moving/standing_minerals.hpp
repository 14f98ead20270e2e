// SPDX-License-Identifier: BSD-3-Clause
// The solid of some minerals alone, of a level set that knows the wall of all minerals together, as that of an image.
#pragma once

#include <vector>

#include "eb/shapes/level_set.hpp"

namespace karst {

/// φ = max(φ_whole, ℓ), ℓ trilinear between nodes of a lattice, where it is spacing (1/2 - the part of these minerals
/// in the solid next to the node). So their wall to the fluid is that of the whole, farther than a spacing from other
/// minerals; towards these it is known to a spacing, like voxels.
class StandingMinerals final : public LevelSet {
 public:
  /// @param whole    must outlive this
  /// @param stands   by number of its minerals
  /// @param spacing  of the nodes [h0]
  StandingMinerals(const LevelSet& whole, std::vector<bool> stands, double spacing)
      : whole_(whole), stands_(std::move(stands)), spacing_(spacing) {}

  Smoothness smoothness() const override;
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override;
  void fetch(const Comm& comm, int level, std::span<const Box> cells) const override {
    whole_.fetch(comm, level, cells);
  }
  std::vector<std::string> minerals() const override { return whole_.minerals(); }
  void drop_cache() const override { whole_.drop_cache(); }

 private:
  const LevelSet& whole_;
  std::vector<bool> stands_;
  double spacing_;
};

}  // namespace karst
