// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/graph_multigrid.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/parallel.hpp"
#include "base/timer.hpp"
#include "solvers/chebyshev.hpp"

namespace karst {
namespace {

/// Bound of the eigenvalues of D^-1 A: rows of A have no positive off-diagonal entries and sums >= 0 (Gershgorin).
constexpr double largest_eigenvalue = 2.0;

std::vector<SweepFactors> sweeps_of(int degree, double fraction) {
  return chebyshev_sweeps(degree, largest_eigenvalue / fraction, largest_eigenvalue);
}

bool is_one_block(const NodeGraph& graph) {
  return std::ranges::all_of(graph.key, [](std::uint64_t key) { return (key & ~grid_level_bits) == 0; });
}

}  // namespace

GraphMultigrid::GraphMultigrid(const Comm& comm, const TwoPointLevel& level, const MultigridOptions& options)
    : comm_(comm),
      fine_(comm, level),
      fine_sweeps_(sweeps_of(options.fine_degree, options.fine_fraction)),
      coarse_sweeps_(sweeps_of(options.coarse_degree, options.coarse_fraction)),
      x_(level.geometry->graph, 1, Purpose::solver),
      y_(level.geometry->graph, 1, Purpose::solver),
      b_(level.geometry->graph, 1, Purpose::solver) {
  CoarsenedLevel first = coarsen(comm, level, static_cast<float>(options.coarse_scale));
  children_ = std::move(first.children);
  const GraphCounts& counts = fine_.graph().counts();
  nodes_.push_back(comm.sum(counts.vofs));
  const auto fine_entries =
      static_cast<double>(comm.sum(7 * counts.vofs + counts.extra_faces));  // closed sides counted: an upper bound
  operator_complexity_ = 0.0;
  build_coarse(std::move(first.graph), options);
  operator_complexity_ = 1.0 + operator_complexity_ / fine_entries;
}

/// Levels are gathered when they are small, or when pieces that end at the borders of ranks do not get any larger.
void GraphMultigrid::build_coarse(NodeGraph graph, const MultigridOptions& options) {
  bool gathered = comm_.size() == 1, stalled = false;
  for (;;) {
    const Comm here = gathered ? Comm::self() : comm_;
    const std::int64_t n = here.sum(graph.size());
    if (!gathered && (stalled || n <= std::max(options.gather_below, options.direct_below))) {
      n_gathered_ = graph.size();
      first_gathered_ = comm_.exclusive_sum(n_gathered_);
      gathered_ = coarse_.size();
      graph = gather(comm_, graph);
      shared_.resize(graph.shift.size());
      gathered = true;
      stalled = false;
      continue;
    }
    if (stalled || n <= options.direct_below) break;
    const bool one_block = here.min(std::int64_t{is_one_block(graph)}) == 1;
    CoarsenedNodes next = coarsen(here, graph, static_cast<float>(options.coarse_scale));
    stalled = one_block && here.sum(next.graph.size()) == n;
    if (stalled) continue;
    add_entries(here, graph);
    coarse_.push_back(std::make_unique<CoarseLevel>(here, graph, std::move(next.children)));
    graph = std::move(next.graph);
  }
  add_entries(Comm::self(), graph);
  coarsest_ = DirectSolve(graph);
}

void GraphMultigrid::add_entries(const Comm& here, const NodeGraph& graph) {
  nodes_.push_back(here.sum(graph.size()));
  operator_complexity_ += static_cast<double>(here.sum(graph.size() + graph.n_connections()));
}

std::span<float> GraphMultigrid::own_part(std::size_t k, std::span<float> all) const {
  if (k != gathered_ || shared_.empty()) return all;
  return all.subspan(static_cast<std::size_t>(first_gathered_), static_cast<std::size_t>(n_gathered_));
}

std::span<float> GraphMultigrid::rhs(std::size_t k) {
  return own_part(k, k < coarse_.size() ? coarse_[k]->rhs() : coarsest_.rhs());
}
std::span<float> GraphMultigrid::result(std::size_t k) {
  return own_part(k, k < coarse_.size() ? coarse_[k]->result() : coarsest_.result());
}

/// Every rank gets the right-hand side of the first gathered level. A sum of one value and zeros is exact.
void GraphMultigrid::share_rhs() {
  std::ranges::fill(shared_, 0.0);
  const std::span<float> own = rhs(gathered_);
  std::ranges::copy(own, shared_.begin() + first_gathered_);
  comm_.sum(std::span(shared_));
  const std::span<float> all = gathered_ < coarse_.size() ? coarse_[gathered_]->rhs() : coarsest_.rhs();
  std::ranges::transform(shared_, all.begin(), [](double x) { return static_cast<float>(x); });
}

void GraphMultigrid::smooth_coarse(CoarseLevel& level, bool from_zero) {
  for (std::size_t k = 0; k < coarse_sweeps_.size(); ++k) {
    SweepFactors factors = coarse_sweeps_[k];
    if (from_zero && k == 0) {
      level.first_sweep(factors.c);
      continue;
    }
    if (from_zero && k == 1) factors.q = 0.0F;  // the iterate before was 0
    level.sweep(factors);
  }
}

/// From the right-hand side of coarse level k to its result.
void GraphMultigrid::cycle(std::size_t k) {
  if (k == gathered_ && !shared_.empty()) share_rhs();
  if (k == coarse_.size()) {
    coarsest_.solve();
    return;
  }
  CoarseLevel& level = *coarse_[k];
  smooth_coarse(level, true);
  level.restrict_residual(rhs(k + 1));
  cycle(k + 1);
  level.prolong(result(k + 1));
  smooth_coarse(level, false);
}

void GraphMultigrid::apply(const Field& b, Field& x) {
  const auto smooth = [&](const SweepFactors& factors) {
    fine_.sweep(x_, b_, factors, y_);
    std::swap(x_, y_);
  };
  {
    const Timer timer("fine pre-smoothing");
    fine_.first_sweep(b, 1.0 / size_, fine_sweeps_[0].c, b_, x_);
    for (std::size_t k = 1; k < fine_sweeps_.size(); ++k) {
      SweepFactors factors = fine_sweeps_[k];
      if (k == 1) factors.q = 0.0F;  // the iterate before was 0
      smooth(factors);
    }
  }
  {
    const Timer timer("fine residual");
    fine_.restrict_residual(x_, b_, children_, rhs(0));
  }
  {
    const Timer timer("coarse levels");
    cycle(0);
  }
  {
    const Timer timer("fine prolongation");
    fine_.prolong(result(0), children_, x_);
  }
  const Timer timer("fine post-smoothing");
  for (const SweepFactors& factors : fine_sweeps_) smooth(factors);
  parallel_for(x.n_local(), [&](std::int64_t box) {
    const auto from = x_.own(static_cast<int>(box));
    const auto to = x.own(static_cast<int>(box));
    for (std::size_t v = 0; v < from.size(); ++v) to[v] = size_ * static_cast<double>(from[v]);
  });
}

std::int64_t GraphMultigrid::bytes() const {
  std::int64_t bytes = fine_.bytes() + coarsest_.bytes() +
                       static_cast<std::int64_t>(children_.child.bytes() + children_.end.bytes() + x_.bytes() +
                                                 y_.bytes() + b_.bytes() + shared_.capacity() * sizeof(double));
  for (const auto& level : coarse_) bytes += level->bytes();
  return bytes;
}

std::string GraphMultigrid::summary() const {
  return fmt::format("{} levels of {} nodes, operator complexity {:.2f}", nodes_.size(), fmt::join(nodes_, " "),
                     operator_complexity_);
}

}  // namespace karst
