// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/flow_preconditioner.hpp"

#include "base/comm/timer.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// For eigenvalues anywhere in the circle about 1 through 0 and 2. No step is 1: in a straight tube flow along a period
/// of few coarse cells has eigenvalues near 2, which it would not damp, and the cycle then diverges at a cell Péclet
/// number of 20.
MultigridOptions carried_cycle() {
  MultigridOptions options;
  options.coarse_scale = 0.55;
  options.twice_high = 2.0;
  options.fine_steps = {0.6F, 0.8F};
  options.coarse_steps = {0.5F, 0.6F, 0.8F};
  return options;
}

void set_inflow(FaceField& flow, double scale, std::vector<TwoPointLevel>& levels) {
  for (TwoPointLevel& level : levels) {
    const LevelGraph& graph = level.geometry->graph;
    level.inflow = Array<std::array<float, 6>>(graph.vof_begin(graph.n_local()), Purpose::solver, {});
  }
  flow.for_boxes([&](int l, int b) {
    TwoPointLevel& level = levels[l];
    const BoxGraph box = level.geometry->graph.box(b);
    const std::size_t first = level.geometry->graph.vof_begin(b);
    for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      for (int side = 0; side < 6; ++side) {
        const int slot = slots[side];
        if (slot == box.closed()) continue;
        const auto primary = flow.primary(l).box(b, direction_of(side));
        const double in = is_high(side) ? -primary[slot] : primary[vof];
        level.inflow[first + vof][side] = static_cast<float>(scale * in);
      }
    });
  });
}

}  // namespace

template <int C>
BasicFlowPreconditioner<C>::BasicFlowPreconditioner(EllipticOperator& op, FaceField& flow, AdvectiveTerm& term,
                                                    const std::array<bool, 6>& carried)
    : op_(op), flow_(flow), term_(term), sweep_(op, term.grid(), term.flow()), carried_(carried) {}

template <int C>
void BasicFlowPreconditioner<C>::follow_operator() {
  sweep_ = FlowSweep(op_, term_.grid(), term_.flow());
  multigrid_.reset();
  set_scale(scale_);
}

template <int C>
void BasicFlowPreconditioner<C>::set_scale(double s) {
  if (multigrid_ && s == scale_) return;
  const Timer timer("graph multigrid set-up");
  scale_ = s;
  sweep_.set_scale(s);
  multigrid_.reset();
  if (s == 0.0) {
    multigrid_.emplace(op_);
    return;
  }
  // Where the flow brings a given value in, the cycle needs an inlet: as if it held on the end.
  EllipticProblem problem = op_.problem();
  for (std::size_t side = 0; side < 6; ++side)
    if (carried_[side]) problem.sides[side] = [](const Vec3&) { return dirichlet(0.0); };
  std::vector<TwoPointLevel> levels = make_two_point_levels(*op_.composite(), problem, op_.form());
  set_inflow(flow_, s, levels);
  multigrid_.emplace(op_, levels, carried_cycle());
}

template <int C>
void BasicFlowPreconditioner<C>::operator()(std::span<const double> r, std::span<double> z) {
  (*multigrid_)(r, z);
  if (scale_ != 0.0) sweep_.apply<C>(r, z);
}

template <int C>
std::int64_t BasicFlowPreconditioner<C>::bytes() const {
  return sweep_.bytes() + (multigrid_ ? multigrid_->bytes() : 0);
}

template class BasicFlowPreconditioner<1>;
template class BasicFlowPreconditioner<3>;

}  // namespace karst
