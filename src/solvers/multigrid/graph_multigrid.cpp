// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/graph_multigrid.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/comm/timer.hpp"
#include "solvers/multigrid/chebyshev.hpp"

namespace karst {
namespace {

/// Bound of the eigenvalues of D^-1 A: rows of A have no positive off-diagonal entries and sums >= 0 (Gershgorin).
constexpr double largest_eigenvalue = 2.0;
/// With links between grid levels D lacks a part of them: 14/6 in regular VoFs with three coarse-fine sides.
constexpr double largest_eigenvalue_with_links = 2.4;

/// Eigenvalues of D^-1 A in 1 -+ this: two sweeps for them leave 1 / (2 / 0.4² - 1) = 9 % at most, as little as a
/// cycle.
constexpr double loose_coupling = 0.4;

bool is_one_block(const NodeGraph& graph) {
  return std::ranges::all_of(graph.key, [](std::uint64_t key) { return (key & ~grid_level_bits) == 0; });
}

/// So many neighbouring ranks give their nodes to one of them.
int ranks_to_merge(int ranks, std::int64_t nodes, std::int64_t wanted_each) {
  const std::int64_t left = std::max<std::int64_t>(1, nodes / wanted_each);
  return static_cast<int>((ranks + left - 1) / left);
}

}  // namespace

template <int C>
BasicGraphMultigrid<C>::BasicGraphMultigrid(const Comm& comm, std::span<const TwoPointLevel> levels,
                                            const MultigridOptions& options)
    : comm_(comm),
      fine_(comm, levels),
      scale_(static_cast<float>(options.coarse_scale)),
      has_inflow_(!options.fine_steps.empty()) {
  const double largest = fine_.has_links() ? largest_eigenvalue_with_links : largest_eigenvalue;
  fine_sweeps_ = smoothers(options.fine_degrees, options.fine_steps, largest / options.fine_fraction, largest);
  coarse_sweeps_ = smoothers(options.coarse_degrees, options.coarse_steps, largest_eigenvalue / options.coarse_fraction,
                             largest_eigenvalue);
  twice_ = chebyshev_sweeps(2, options.twice_low, options.twice_high);
  size_.fill(1.0);
  first_twice_ = options.first_twice;
  last_twice_ = options.last_twice;
  CoarsenedLevels first = coarsen(comm, levels, fine_.links(), scale_);
  fine_.set_children(std::move(first.children));
  side_shift_ = first.graph.side_shift;
  n_first_ = first.graph.size();
  nodes_.push_back(comm.sum(fine_.n_unknowns()));
  std::int64_t extra_faces = 0;
  for (const TwoPointLevel& level : levels) extra_faces += level.geometry->graph.counts().extra_faces;
  const auto fine_entries = static_cast<double>(7 * nodes_[0] + comm.sum(extra_faces));  // closed sides counted
  operator_complexity_ = 0.0;
  build_coarse(std::move(first.graph), options);
  operator_complexity_ = 1.0 + operator_complexity_ / fine_entries;
  choose_sweeps(levels);
}

/// @param steps  of Jacobi; empty: Chebyshev for eigenvalues in [low, high]
template <int C>
typename BasicGraphMultigrid<C>::Smoothers BasicGraphMultigrid<C>::smoothers(const std::array<int, 2>& degrees,
                                                                             const std::vector<float>& steps,
                                                                             double low, double high) {
  Smoothers both;
  for (std::size_t i = 0; i < both.size(); ++i)
    both[i] = steps.empty() ? chebyshev_sweeps(degrees[i], low, high) : jacobi_sweeps(steps);
  return both;
}

/// Coarse levels have nothing to do where all unknowns, next to walls as well, hang more on their shifts than on each
/// other (Gershgorin).
template <int C>
void BasicGraphMultigrid<C>::choose_sweeps(std::span<const TwoPointLevel> levels) {
  const double largest = fine_.has_links() ? largest_eigenvalue_with_links : largest_eigenvalue,
               coupling = (largest - 1.0) * comm_.max(fine_.coupling(levels));
  alone_.clear();
  if (coupling <= loose_coupling && !has_inflow_) alone_ = chebyshev_sweeps(2, 1.0 - coupling, 1.0 + coupling);
}

/// Levels go to fewer ranks when these have few nodes each, and are gathered when they are small, or when pieces that
/// end at the borders of ranks do not get any larger.
template <int C>
void BasicGraphMultigrid<C>::build_coarse(NodeGraph graph, const MultigridOptions& options) {
  last_ = comm_;
  bool gathered = false, stalled = false;
  for (;;) {
    gathered = gathered || last_->size() == 1;
    const Comm here = gathered ? Comm::self() : *last_;
    const std::int64_t n = here.sum(graph.size());
    if (!gathered && (stalled || n <= std::max(options.gather_below, options.direct_below))) {
      n_gathered_ = graph.size();
      first_gathered_ = here.exclusive_sum(n_gathered_);
      gathered_ = coarse_.size();
      graph = gather(here, graph);
      shared_.resize(C * graph.shift.size());
      gathered = true;
      stalled = false;
      continue;
    }
    if (!gathered && n < options.merge_below * here.size()) {
      const int group = ranks_to_merge(here.size(), n, std::max(options.merge_to, options.merge_below));
      merges_.push_back({coarse_.size(), BasicMergedRanks<C>(here, group, graph.size())});
      graph = merge(here, graph, group);
      last_ = here.every(group);
      if (!last_) break;
      continue;
    }
    if (stalled || n <= options.direct_below) break;
    const bool one_block = here.min(std::int64_t{is_one_block(graph)}) == 1;
    CoarsenedNodes next = coarsen(here, graph, scale_);
    stalled = one_block && here.sum(next.graph.size()) == n;
    if (stalled) continue;
    add_entries(here, graph);
    coarse_.push_back(
        std::make_unique<BasicCoarseLevel<C>>(here, graph, std::move(next.children), std::move(next.bond)));
    graph = std::move(next.graph);
  }
  if (last_) add_entries(Comm::self(), graph);
  tell_all_ranks();
  if (!last_) return;
  coarsest_ = BasicDirectSolve<C>(graph);
  coarsest_graph_ = std::move(graph);
}

template <int C>
void BasicGraphMultigrid<C>::set_shifts(std::span<const TwoPointLevel> levels) {
  fine_.set_shifts(levels);
  choose_sweeps(levels);
  std::vector<float> shift(n_first_);
  for (const SideShift& s : side_shift_) shift[s.node] = s.shift;
  fine_.add_shifts(levels, scale_, shift);
  for (std::size_t k = 0; k <= coarse_.size(); ++k) {
    if (BasicMergedRanks<C>* const ranks = merged(k)) {
      shift = ranks->collect(shift);
      if (!ranks->leads()) return;
    }
    if (k == gathered_ && !shared_.empty()) shift = last_->all_gather(std::span<const float>(shift));
    if (k < coarse_.size()) shift = coarse_[k]->set_shifts(shift, scale_);
  }
  coarsest_graph_.shift = std::move(shift);
  coarsest_ = BasicDirectSolve<C>(coarsest_graph_);
}

template <int C>
void BasicGraphMultigrid<C>::add_entries(const Comm& here, const NodeGraph& graph) {
  nodes_.push_back(here.sum(graph.size()));
  operator_complexity_ += static_cast<double>(here.sum(graph.size() + graph.n_connections()));
}

/// Ranks that have gone do not know of the last levels. Rank 0 stays.
template <int C>
void BasicGraphMultigrid<C>::tell_all_ranks() {
  if (merges_.empty()) return;
  auto n = static_cast<std::int64_t>(nodes_.size());
  comm_.broadcast(std::span(&n, 1));
  nodes_.resize(n);
  comm_.broadcast(std::span(nodes_));
  comm_.broadcast(std::span(&operator_complexity_, 1));
}

/// Of a level that goes to fewer ranks; null: it does not.
template <int C>
BasicMergedRanks<C>* BasicGraphMultigrid<C>::merged(std::size_t k) {
  for (Merge& m : merges_)
    if (m.level == k) return &m.ranks;
  return nullptr;
}

template <int C>
std::span<NodeValue<C>> BasicGraphMultigrid<C>::own_part(std::size_t k, std::span<Value> all) const {
  if (k != gathered_ || shared_.empty()) return all;
  return all.subspan(first_gathered_, n_gathered_);
}

template <int C>
std::span<NodeValue<C>> BasicGraphMultigrid<C>::rhs_here(std::size_t k) {
  return own_part(k, k < coarse_.size() ? coarse_[k]->rhs() : coarsest_.rhs());
}
template <int C>
std::span<NodeValue<C>> BasicGraphMultigrid<C>::result_here(std::size_t k) {
  return own_part(k, k < coarse_.size() ? coarse_[k]->result() : coarsest_.result());
}
template <int C>
std::span<NodeValue<C>> BasicGraphMultigrid<C>::rhs(std::size_t k) {
  BasicMergedRanks<C>* const ranks = merged(k);
  return ranks != nullptr ? ranks->rhs() : rhs_here(k);
}
template <int C>
std::span<NodeValue<C>> BasicGraphMultigrid<C>::result(std::size_t k) {
  BasicMergedRanks<C>* const ranks = merged(k);
  return ranks != nullptr ? ranks->result() : result_here(k);
}

/// Every rank that is left gets the right-hand side of the first gathered level. A sum of one value and zeros is exact.
template <int C>
void BasicGraphMultigrid<C>::share_rhs() {
  std::ranges::fill(shared_, 0.0);
  const std::span<Value> own = rhs_here(gathered_);
  std::copy_n(numbers(own.data()), C * own.size(), shared_.begin() + C * first_gathered_);
  last_->sum(std::span(shared_));
  const std::span<Value> all = gathered_ < coarse_.size() ? coarse_[gathered_]->rhs() : coarsest_.rhs();
  std::ranges::transform(shared_, numbers(all.data()), [](double x) { return static_cast<float>(x); });
}

template <int C>
void BasicGraphMultigrid<C>::smooth_coarse(BasicCoarseLevel<C>& level, Guess guess) {
  const bool from_zero = guess == Guess::zero;
  const std::vector<SweepFactors>& sweeps = coarse_sweeps_[from_zero ? 0 : 1];
  for (std::size_t k = 0; k < sweeps.size(); ++k) {
    SweepFactors factors = sweeps[k];
    if (from_zero && k == 0) {
      level.first_sweep(factors.c);
      continue;
    }
    if (from_zero && k == 1) factors.q = 0.0F;  // the iterate before was 0
    level.sweep(factors);
  }
}

/// From the right-hand side of coarse level k to its result.
template <int C>
void BasicGraphMultigrid<C>::cycle(std::size_t k) {
  if (k == coarse_.size()) {
    coarsest_.solve();
    return;
  }
  BasicCoarseLevel<C>& level = *coarse_[k];
  smooth_coarse(level, Guess::zero);
  level.restrict_residual(rhs(k + 1));
  visit(k + 1);
  level.prolong(result(k + 1));
  smooth_coarse(level, Guess::given);
}

/// x = M b on coarse level k, by the ranks that work on it.
template <int C>
void BasicGraphMultigrid<C>::visit(std::size_t k) {
  BasicMergedRanks<C>* const ranks = merged(k);
  if (ranks == nullptr) return visit_here(k);
  const bool leads = ranks->leads();
  ranks->collect(leads ? rhs_here(k) : std::span<Value>());
  if (leads) visit_here(k);
  ranks->hand_out(leads ? result_here(k) : std::span<Value>());
}

/// One cycle, or two that are combined as Chebyshev's method would.
template <int C>
void BasicGraphMultigrid<C>::visit_here(std::size_t k) {
  if (k == gathered_ && !shared_.empty()) share_rhs();
  cycle(k);
  if (k + 1 < first_twice_ || k + 1 > last_twice_ || k >= coarse_.size()) return;
  coarse_[k]->begin_second(twice_[0].c);
  cycle(k);
  const float m = -twice_[1].q;
  coarse_[k]->end_second(1.0F + m, twice_[1].c);
}

template <int C>
void BasicGraphMultigrid<C>::smooth_from_zero(const LoadValues<C>& b, std::span<const SweepFactors> sweeps) {
  fine_.first_sweep(b, sweeps[0].c);
  for (std::size_t k = 1; k < sweeps.size(); ++k) {
    SweepFactors factors = sweeps[k];
    if (k == 1) factors.q = 0.0F;  // the iterate before was 0
    fine_.sweep(factors);
  }
}

template <int C>
void BasicGraphMultigrid<C>::apply(const LoadValues<C>& b, const StoreValues<C>& x) {
  if (!alone_.empty()) {
    const Timer timer("fine smoothing");
    smooth_from_zero(b, alone_);
    fine_.write_result(x);
    return;
  }
  {
    const Timer timer("fine pre-smoothing");
    smooth_from_zero(b, fine_sweeps_[0]);
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
  for (const SweepFactors& factors : fine_sweeps_[1]) fine_.sweep(factors);
  fine_.write_result(x);
}

template <int C>
void BasicGraphMultigrid<C>::set_sizes(const std::array<double, C>& sizes) {
  for (std::size_t c = 0; c < C; ++c) size_[c] = sizes[c] > 0.0 ? sizes[c] : 1.0;
}

template <int C>
void BasicGraphMultigrid<C>::apply(std::span<const double> b, std::span<double> x) {
  const std::array<double, C> size = size_;
  std::array<double, C> to_one;
  for (std::size_t c = 0; c < C; ++c) to_one[c] = 1.0 / size[c];
  apply(
      [&](std::int64_t unknown, std::int32_t count, Value* values) {
        const double* from = b.data() + C * unknown;
        float* to = numbers(values);
        for (std::int32_t v = 0; v < count; ++v)
          for (std::int32_t c = 0; c < C; ++c) to[C * v + c] = static_cast<float>(to_one[c] * from[C * v + c]);
      },
      [&](std::int64_t unknown, std::int32_t count, const Value* values) {
        const float* from = numbers(values);
        double* to = x.data() + C * unknown;
        for (std::int32_t v = 0; v < count; ++v)
          for (std::int32_t c = 0; c < C; ++c) to[C * v + c] = size[c] * from[C * v + c];
      });
}

template <int C>
std::int64_t BasicGraphMultigrid<C>::bytes() const {
  std::int64_t bytes =
      fine_.bytes() + coarsest_.bytes() + static_cast<std::int64_t>(shared_.capacity() * sizeof(double));
  for (const auto& level : coarse_) bytes += level->bytes();
  for (const Merge& m : merges_) bytes += m.ranks.bytes();
  return bytes;
}

template <int C>
std::string BasicGraphMultigrid<C>::summary() const {
  return fmt::format("{} levels of {} nodes, operator complexity {:.2f}", nodes_.size(), fmt::join(nodes_, " "),
                     operator_complexity_);
}

template class BasicGraphMultigrid<1>;
template class BasicGraphMultigrid<2>;
template class BasicGraphMultigrid<3>;
template class BasicGraphMultigrid<4>;

}  // namespace karst
