// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic_multigrid.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace karst {
EllipticMultigrid::EllipticMultigrid(const EllipticOperator& op, const MultigridOptions& options)
    : multigrid_(op.comm(), make_two_point_levels(op.comm(), op.geometry(), op.problem(), op.form()), options),
      orphans_(op.joined_orphans()),
      r_(static_cast<std::size_t>(op.numbering().n_own())) {}

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
  for (const auto& o : orphans_) r_[static_cast<std::size_t>(o.unknown)] = 0.0;
  multigrid_.apply(r_, z);
  for (const auto& o : orphans_)
    z[static_cast<std::size_t>(o.unknown)] += r[static_cast<std::size_t>(o.unknown)] / o.diagonal;
}

}  // namespace karst
