// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/elliptic_multigrid.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"

namespace karst {
namespace {

/// Iterations in a packing of 256^3 with one, two, three steps: 27, 21, 18; of 64^3: 12, 11, 11. A step takes about 5 %
/// of an iteration.
constexpr int usual_wide_steps = 2;
/// Version of an operator that shifts are still to be taken from. A multigrid made with its shifts has other last bits
/// than one that got them later: where they may change they are always set, so that what was solved before has no part.
constexpr int none = -1;

}  // namespace

template <int C>
BasicEllipticMultigrid<C>::BasicEllipticMultigrid(EllipticOperator& op, const MultigridOptions& options)
    : op_(op),
      version_(op.problem().a != 0.0 ? none : op.version()),
      wide_steps_(op.symmetric() ? 0 : usual_wide_steps),  // symmetric: the two operators are one
      multigrid_(op.comm(), make_two_point_levels(*op.composite(), op.problem(), op.form()), options),
      orphans_(op.joined_orphans()) {
  if (!orphans_.empty()) r_ = Array<double>(C * op.numbering().n_own(), Purpose::solver);
}

template <int C>
BasicEllipticMultigrid<C>::BasicEllipticMultigrid(EllipticOperator& op, std::span<const TwoPointLevel> levels,
                                                  const MultigridOptions& options)
    : op_(op),
      version_(op.version()),
      wide_steps_(0),
      multigrid_(op.comm(), levels, options),
      orphans_(op.joined_orphans()) {
  if (!orphans_.empty()) r_ = Array<double>(C * op.numbering().n_own(), Purpose::solver);
}

template <int C>
void BasicEllipticMultigrid<C>::operator()(std::span<const double> r, std::span<double> z) {
  if (version_ != op_.version()) {
    const Timer timer("graph multigrid shifts");
    std::vector<TwoPointLevel> levels;
    for (const LevelGeometry& level : op_.geometry().levels)
      levels.push_back(make_two_point_level(op_.comm(), level, op_.problem(), op_.form()));
    multigrid_.set_shifts(levels);
    version_ = op_.version();
  }
  constexpr std::int64_t block = 4096;
  const auto n = std::ssize(r) / C;
  using Sizes = std::array<double, C>;
  Sizes sizes = parallel_reduce((n + block - 1) / block, Sizes{},
                                [&](std::int64_t i) {
                                  const std::int64_t first = i * block * C, end = std::min(n, (i + 1) * block) * C;
                                  if (!orphans_.empty()) std::copy(r.data() + first, r.data() + end, r_.data() + first);
                                  Sizes most{};
                                  for (std::int64_t k = first; k < end; k += C)
                                    for (std::int64_t c = 0; c < C; ++c)
                                      most[c] = std::max(most[c], std::abs(r[k + c]));
                                  return most;
                                },
                                [](Sizes a, const Sizes& b) {
                                  for (std::size_t c = 0; c < C; ++c) a[c] = std::max(a[c], b[c]);
                                  return a;
                                });
  for (const std::int32_t o : orphans_) std::fill_n(r_.data() + C * std::int64_t{o}, C, 0.0);
  op_.comm().max(std::span(sizes));
  multigrid_.set_sizes(sizes);
  multigrid_.apply(orphans_.empty() ? r : r_.span(), z);
  if (wide_steps_ == 0) return;
  const Timer timer("wide rows");
  for (int step = 0; step < wide_steps_; ++step) op_.relax_wide_rows<C>(r, z);
}

template <int C>
std::int64_t BasicEllipticMultigrid<C>::bytes() const {
  return multigrid_.bytes() + static_cast<std::int64_t>(r_.bytes() + 4 * orphans_.size());
}

template class BasicEllipticMultigrid<1>;
template class BasicEllipticMultigrid<2>;
template class BasicEllipticMultigrid<3>;
template class BasicEllipticMultigrid<4>;

}  // namespace karst
