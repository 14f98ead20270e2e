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

/// @param given  sides through which a given value enters; through others the value of the VoF behind comes back
void set_inflow(FaceField& flow, double scale, const std::array<bool, 6>& given, std::vector<TwoPointLevel>& levels) {
  for (TwoPointLevel& level : levels) {
    const LevelGraph& graph = level.geometry->graph;
    level.inflow = Array<std::array<float, 6>>(graph.vof_begin(graph.n_local()), Purpose::solver, {});
    level.entering = Array<float>(graph.vof_begin(graph.n_local()), Purpose::solver, 0.0F);
  }
  flow.for_boxes([&](int l, int b) {
    TwoPointLevel& level = levels[l];
    const BoxGraph box = level.geometry->graph.box(b);
    const std::size_t first = level.geometry->graph.vof_begin(b);
    const int first_domain = box.closed() - box.halo.n_domain();
    for_each_vof(box, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      for (int side = 0; side < 6; ++side) {
        const int slot = slots[side];
        if (slot == box.closed()) continue;
        const auto primary = flow.primary(l).box(b, direction_of(side));
        const auto in = static_cast<float>(scale * (is_high(side) ? -primary[slot] : primary[vof]));
        if (slot < first_domain || in < 0.0F)
          level.inflow[first + vof][side] = in;
        else if (given[side])
          level.entering[first + vof] += in;
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
  const EllipticProblem& problem = op_.problem();
  std::array<bool, 6> given = carried_;
  for (std::size_t side = 0; side < 6; ++side)
    given[side] |= problem.sides[side] && problem.sides[side](Vec3{}).kind == BoundaryKind::dirichlet;
  std::vector<TwoPointLevel> levels = make_two_point_levels(*op_.composite(), problem, op_.form());
  set_inflow(flow_, s, given, levels);
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
