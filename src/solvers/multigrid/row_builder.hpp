// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm/parallel.hpp"
#include "solvers/multigrid/node_graph.hpp"

namespace karst {

/// Creates rows of a NodeGraph from sums: entries of equal column are added up, those inside the row's node are
/// dropped. Only the weights of a row are scaled: advective terms are first-order differences and need no scaling.
class RowBuilder {
 public:
  void begin_row(std::int32_t node) {
    node_ = node;
    first_ = column_.size();
    shift_ = side_shift_ = entering_ = 0.0;
    more_ = {};
  }
  void add_shift(double s) { shift_ += s; }
  /// Of a side of the domain.
  void add_side_shift(double s) {
    shift_ += s;
    side_shift_ += s;
  }
  /// Flow that enters from outside (TwoPointLevel::entering).
  void add_entering(double flow) { entering_ += flow; }
  /// To one of three components alone.
  void add_shift(std::size_t component, double s) { more_[component] += s; }
  void add(std::int32_t column, float weight) {
    if (column == node_) return;
    for (std::size_t k = column_.size(); k > first_; --k)
      if (column_[k - 1] == column) {
        weight_[k - 1] += weight;
        return;
      }
    column_.push_back(column);
    weight_.push_back(weight);
  }
  /// To an entry that was added.
  void add_inflow(std::int32_t column, float inflow) {
    inflow_.resize(column_.size());
    for (std::size_t k = column_.size(); k > first_; --k)
      if (column_[k - 1] == column) inflow_[k - 1] += inflow;
  }
  void end_row(std::uint64_t key, float scale) {
    for (std::size_t k = first_; k < weight_.size(); ++k) weight_[k] *= scale;
    shift_of_.push_back(scale * static_cast<float>(shift_));
    entering_of_.push_back(static_cast<float>(entering_));
    if (side_shift_ > 0.0) side_of_.push_back({node_, scale * static_cast<float>(side_shift_)});
    if (more_ != std::array<double, 3>{}) {
      more_of_.push_back({node_, {}});
      for (std::size_t c = 0; c < 3; ++c) more_of_.back().shift[c] = scale * static_cast<float>(more_[c]);
    }
    key_.push_back(key);
    length_.push_back(static_cast<std::int32_t>(column_.size() - first_));
  }

 private:
  friend void join_rows(std::vector<RowBuilder>& parts, NodeGraph& graph);
  std::int32_t node_ = 0;
  std::size_t first_ = 0;
  double shift_ = 0.0, side_shift_ = 0.0, entering_ = 0.0;
  std::array<double, 3> more_{};
  std::vector<ComponentShift> more_of_;
  std::vector<SideShift> side_of_;
  std::vector<std::int32_t> column_, length_;
  std::vector<float> weight_, inflow_, shift_of_, entering_of_;  // inflow_: as weight_, or shorter
  std::vector<std::uint64_t> key_;
};

/// Rows of all parts one after the other; the parts are used up.
void join_rows(std::vector<RowBuilder>& parts, NodeGraph& graph);

}  // namespace karst
