// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/graph_multigrid.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/timer.hpp"
#include "solvers/chebyshev.hpp"

namespace karst {
namespace {

/// Bound of the eigenvalues of D^-1 A: rows of A have no positive off-diagonal entries and sums >= 0 (Gershgorin).
constexpr double largest_eigenvalue = 2.0;
/// With links between grid levels D lacks a part of them: 14/6 in regular VoFs with three coarse-fine sides.
constexpr double largest_eigenvalue_with_links = 2.4;

bool is_one_block(const NodeGraph& graph) {
  return std::ranges::all_of(graph.key, [](std::uint64_t key) { return (key & ~grid_level_bits) == 0; });
}

}  // namespace

GraphMultigrid::GraphMultigrid(const Comm& comm, std::span<const TwoPointLevel> levels, const MultigridOptions& options)
    : comm_(comm), fine_(comm, levels) {
  const double largest = fine_.has_links() ? largest_eigenvalue_with_links : largest_eigenvalue;
  fine_sweeps_ = chebyshev_sweeps(options.fine_degree, largest / options.fine_fraction, largest);
  coarse_sweeps_ =
      chebyshev_sweeps(options.coarse_degree, largest_eigenvalue / options.coarse_fraction, largest_eigenvalue);
  twice_ = chebyshev_sweeps(2, options.twice_low, options.twice_high);
  first_twice_ = static_cast<std::size_t>(options.first_twice);
  last_twice_ = static_cast<std::size_t>(options.last_twice);
  CoarsenedLevels first = coarsen(comm, levels, fine_.links(), static_cast<float>(options.coarse_scale));
  fine_.set_children(std::move(first.children));
  nodes_.push_back(comm.sum(fine_.n_unknowns()));
  std::int64_t extra_faces = 0;
  for (const TwoPointLevel& level : levels) extra_faces += level.geometry->graph.counts().extra_faces;
  const auto fine_entries = static_cast<double>(7 * nodes_[0] + comm.sum(extra_faces));  // closed sides counted
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
  visit(k + 1);
  level.prolong(result(k + 1));
  smooth_coarse(level, false);
}

/// x = M b on coarse level k: one cycle, or two that are combined as Chebyshev's method would.
void GraphMultigrid::visit(std::size_t k) {
  cycle(k);
  if (k + 1 < first_twice_ || k + 1 > last_twice_ || k >= coarse_.size()) return;
  coarse_[k]->begin_second(twice_[0].c);
  cycle(k);
  const float m = -twice_[1].q;
  coarse_[k]->end_second(1.0F + m, twice_[1].c);
}

void GraphMultigrid::apply(std::span<const double> b, std::span<double> x) {
  {
    const Timer timer("fine pre-smoothing");
    fine_.first_sweep(b, 1.0 / size_, fine_sweeps_[0].c);
    for (std::size_t k = 1; k < fine_sweeps_.size(); ++k) {
      SweepFactors factors = fine_sweeps_[k];
      if (k == 1) factors.q = 0.0F;  // the iterate before was 0
      fine_.sweep(factors);
    }
  }
  {
    const Timer timer("fine residual");
    fine_.restrict_residual(rhs(0));
  }
  {
    const Timer timer("coarse levels");
    visit(0);
  }
  {
    const Timer timer("fine prolongation");
    fine_.prolong(result(0));
  }
  const Timer timer("fine post-smoothing");
  for (const SweepFactors& factors : fine_sweeps_) fine_.sweep(factors);
  fine_.write_result(size_, x);
}

std::int64_t GraphMultigrid::bytes() const {
  std::int64_t bytes =
      fine_.bytes() + coarsest_.bytes() + static_cast<std::int64_t>(shared_.capacity() * sizeof(double));
  for (const auto& level : coarse_) bytes += level->bytes();
  return bytes;
}

std::string GraphMultigrid::summary() const {
  return fmt::format("{} levels of {} nodes, operator complexity {:.2f}", nodes_.size(), fmt::join(nodes_, " "),
                     operator_complexity_);
}

}  // namespace karst
