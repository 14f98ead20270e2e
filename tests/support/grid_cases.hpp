// SPDX-License-Identifier: BSD-3-Clause
// Grids and walls given as functions. Lengths in cells of level 0.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "eb/geometry.hpp"
#include "support/geometry_cases.hpp"

namespace karst::test {

/// A signed distance given as a function.
class DistanceFunction final : public LevelSet {
 public:
  using Function = std::function<double(const Vec3&)>;
  explicit DistanceFunction(Function phi) : phi_(std::move(phi)) {}
  Smoothness smoothness() const override { return {1.0, 0.0}; }
  std::unique_ptr<LocalLevelSet> local(const Vec3&, const Vec3&) const override {
    return std::make_unique<Local>(phi_);
  }

 private:
  class Local final : public LocalLevelSet {
   public:
    explicit Local(const Function& phi) : phi_(phi) {}
    void evaluate(std::span<const Vec3> x, std::span<double> phi) const override {
      for (std::size_t i = 0; i < x.size(); ++i) phi[i] = phi_(x[i]);
    }

   private:
    const Function& phi_;
  };
  Function phi_;
};

inline GridOptions flow_grid(const Index& cells, std::array<bool, 3> periodic = {true, true, true}, int box = 8) {
  return unit_cells(cells, periodic, box);
}

/// The grid with one more region, or all walls, covered by a finer level.
inline GridOptions refined(GridOptions grid, const Refinement& refinement) {
  grid.levels = std::max(grid.levels, refinement.level + 1);
  grid.refine.push_back(refinement);
  return grid;
}
inline GridOptions refined_in(const GridOptions& grid, int level, const Vec3& lo, const Vec3& hi) {
  return refined(grid, {level, Refinement::Where::region, lo, hi, 0});
}
inline GridOptions refined_at_wall(const GridOptions& grid, int level, int buffer) {
  return refined(grid, {level, Refinement::Where::wall, {}, {}, buffer});
}

}  // namespace karst::test
