// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "solvers/fine_level.hpp"
#include "solvers/level_links.hpp"

namespace karst {

/// The two-point operator on all grid levels, and the passes of a cycle over it: each grid level with its own passes,
/// then the links between them. Vectors of unknowns are in the order level, box, VoF.
class FineLevels {
 public:
  /// The geometries must stay in place; `levels` may go. Collective.
  FineLevels(const Comm& comm, std::span<const TwoPointLevel> levels);

  std::int64_t n_unknowns() const { return levels_.back()->end_unknown(); }
  bool has_links() const { return has_links_; }  ///< on any rank
  LevelLinks& links() { return links_; }
  /// How the unknowns of each grid level are grouped into coarse nodes; ends of links know their nodes.
  void set_children(std::vector<FineChildren> children) { children_ = std::move(children); }

  // As in FineLevel. Collective.
  void first_sweep(std::span<const double> rhs, double scale, float c);
  void sweep(const SweepFactors& factors);
  void restrict_residual(std::span<float> coarse);
  void prolong(std::span<const float> coarse);
  void write_result(double scale, std::span<double> result) const;
  void product(std::span<const double> x, std::span<double> ax);
  std::int64_t bytes() const;

 private:
  void fetch_link_values();
  template <class F>
  void for_ends(F&& f) const;

  std::vector<std::unique_ptr<FineLevel>> levels_;
  LevelLinks links_;
  bool has_links_;
  std::vector<FineChildren> children_;
  std::vector<float> values_;
  std::vector<double> exact_values_;
};

}  // namespace karst
