// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic_multigrid.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace karst {
namespace {

/// Unknowns beside their cell centres whose rows are 1 x_o - Σ c x_n.
std::vector<std::int32_t> find_orphans(const EllipticOperator& op) {
  std::vector<std::uint8_t> beside(static_cast<std::size_t>(op.numbering().n_own()));
  for (int l = 0; l < op.numbering().n_levels(); ++l) {
    const LevelGeometry& level = op.geometry().levels[static_cast<std::size_t>(l)];
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const auto centers = level.box(b).centers;
      const BoxGraph graph = level.graph.box(b);
      for (std::size_t r = 0; r < centers.size(); ++r) {
        const std::int32_t v = op.numbering().number(l, b, graph.row_vof[r]);
        if (v >= 0 && !centers[r].inside) beside[static_cast<std::size_t>(v)] = 1;
      }
    }
  }
  std::vector<std::int32_t> orphans;
  op.for_each_row([&](std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights) {
    if (beside[static_cast<std::size_t>(row)] == 0) return;
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (columns[k] == op.numbering().first() + row && weights[k] == 1.0) orphans.push_back(row);
  });
  return orphans;
}

}  // namespace

EllipticMultigrid::EllipticMultigrid(const EllipticOperator& op, const MultigridOptions& options)
    : multigrid_(op.comm(), make_two_point_levels(op.comm(), op.geometry(), op.problem(), op.form()), options),
      r_(static_cast<std::size_t>(op.numbering().n_own())) {
  if (op.form() == WallForm::fluxes) orphans_ = find_orphans(op);  // on lines they stand alone in both operators
}

void EllipticMultigrid::operator()(std::span<const double> r, std::span<double> z) {
  if (orphans_.empty()) {
    multigrid_.apply(r, z);
    return;
  }
  constexpr std::int64_t block = 4096;
  const auto n = static_cast<std::int64_t>(r_.size());
  parallel_for((n + block - 1) / block, [&](std::int64_t i) {
    for (std::int64_t v = i * block; v < std::min(n, (i + 1) * block); ++v)
      r_[static_cast<std::size_t>(v)] = r[static_cast<std::size_t>(v)];
  });
  for (const std::int32_t o : orphans_) r_[static_cast<std::size_t>(o)] = 0.0;
  multigrid_.apply(r_, z);
  for (const std::int32_t o : orphans_) z[static_cast<std::size_t>(o)] += r[static_cast<std::size_t>(o)];
}

}  // namespace karst
