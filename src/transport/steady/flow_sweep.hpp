// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solvers/elliptic/elliptic_operator.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// A Gauss-Seidel sweep, downstream, through the rows of A + s U, U first-order upwind:
///
///   z_v += (r_v - Σ_n (A + s U)_vn z_n) / (A + s U)_vv       v in the order of the flow
///
/// The order is the reverse postorder of a depth-first search along faces with outflow: where the flow has no closed
/// loops, every VoF comes after all VoFs upstream of it, and without diffusion one sweep is an exact solve. Values of
/// other ranks are taken as 0, and those of other threads (contiguous ranges of unknowns) as before the sweep.
class FlowSweep {
 public:
  /// @param flow  volume fluxes, one per face of the grid
  /// Neither is needed afterwards. Not collective.
  FlowSweep(const EllipticOperator& op, const ScalarGrid& grid, std::span<const double> flow);

  void set_scale(double s) { scale_ = s; }
  /// For C vectors side by side (component c of unknown i at C i + c; instantiated for 1 and 3), each with the bits it
  /// has alone.
  /// @param[in,out] z  own unknowns
  /// Allocates nothing after the first time. Not collective.
  template <int C = 1>
  void apply(std::span<const double> r, std::span<double> z);
  std::int64_t bytes() const;

 private:
  struct Entry {
    std::int32_t column;  ///< own number
    float diffusion, carried;
  };
  void find_order(const std::vector<std::int64_t>& begin, const std::vector<std::int32_t>& downstream);

  double scale_ = 1.0;
  std::vector<std::int32_t> share_;  ///< first unknown of each thread, and the end
  std::vector<std::int32_t> order_;  ///< within each share
  std::vector<std::int64_t> begin_;  ///< entries of each unknown, the diagonal first
  std::vector<Entry> entries_;
  std::vector<double> before_;  ///< z before the sweep; with several threads
};

}  // namespace karst
