// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "solvers/multigrid/fine_level.hpp"
#include "solvers/multigrid/level_links.hpp"

namespace karst {

/// The two-point operator on all grid levels, and the passes of a cycle over it: each grid level with its own passes,
/// then the links between them. Vectors of unknowns are in the order level, box, VoF.
template <int C>
class BasicFineLevels {
 public:
  using Value = NodeValue<C>;
  /// The geometries must outlive this object and must not move; `levels` is not needed afterwards. Collective.
  BasicFineLevels(const Comm& comm, std::span<const TwoPointLevel> levels);

  std::int64_t n_unknowns() const { return levels_.back()->end_unknown(); }
  bool has_links() const { return has_links_; }  ///< on any rank
  LevelLinks& links() { return links_; }
  /// Sets the grouping of the unknowns of each grid level into coarse nodes, and the nodes at the ends of links.
  void set_children(std::vector<FineChildren> children) { children_ = std::move(children); }

  /// Largest one of the levels (BasicFineLevel), of this rank.
  double coupling(std::span<const TwoPointLevel> levels) const;

  void set_shifts(std::span<const TwoPointLevel> levels);
  void add_shifts(std::span<const TwoPointLevel> levels, float scale, std::span<float> shift) const;

  // As in FineLevel. Collective.
  void first_sweep(const LoadValues<C>& rhs, float c);
  void sweep(const SweepFactors& factors);
  void restrict_residual(std::span<Value> coarse);
  void prolong(std::span<const Value> coarse);
  void write_result(const StoreValues<C>& result) const;
  /// ax = A x in single precision.
  void product(const LoadValues<C>& x, const StoreValues<C>& ax);
  void product(std::span<const double> x, std::span<double> ax) requires(C == 1);
  std::int64_t bytes() const;

 private:
  void tell_link_ends();
  void fetch_link_values();
  kernels::Few other(const LinkEnd& e) const { return kernels::load<C>(numbers(values_.data() + e.other)); }
  template <class F>
  void for_ends(F&& f) const;

  std::vector<std::unique_ptr<BasicFineLevel<C>>> levels_;
  LevelLinks links_;
  bool has_links_;
  std::vector<FineChildren> children_;
  std::vector<Value> values_;
  std::vector<double> exact_values_;
};

extern template class BasicFineLevels<1>;
extern template class BasicFineLevels<2>;
extern template class BasicFineLevels<3>;
extern template class BasicFineLevels<4>;

}  // namespace karst
