// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/fine_levels.hpp"

#include "base/comm/parallel.hpp"

namespace karst {

template <int C>
BasicFineLevels<C>::BasicFineLevels(const Comm& comm, std::span<const TwoPointLevel> levels) : links_(comm, levels) {
  for (const TwoPointLevel& level : levels)
    levels_.push_back(std::make_unique<BasicFineLevel<C>>(comm, level, levels_.empty() ? 0 : n_unknowns()));
  has_links_ = comm.any(!links_.ends().empty());
  const std::vector<LevelLinks::Raised>& raised = links_.raised();
  for (std::size_t i = 0, end = 0; i < raised.size(); i = end) {
    std::vector<VofShift> more;
    for (; end < raised.size() && raised[end].level == raised[i].level && raised[end].box == raised[i].box; ++end)
      more.push_back({raised[end].vof, raised[end].by});
    levels_[raised[i].level]->raise_diagonals(levels[raised[i].level], raised[i].box, std::move(more));
  }
  tell_link_ends();
}

/// Diagonals and numbers of the VoFs at the ends of links.
template <int C>
void BasicFineLevels<C>::tell_link_ends() {
  std::vector<float> inverse;
  std::vector<std::int64_t> unknown;
  const LinkEnd* before = nullptr;
  for (LinkEnd& end : links_.ends()) {
    const BasicFineLevel<C>& level = *levels_[end.level];
    if (before == nullptr || before->level != end.level || before->box != end.box) {
      inverse = level.inverse_diagonal(end.box);
      unknown = level.unknowns(end.box);
    }
    end.inverse = inverse[end.vof];
    end.unknown = unknown[end.vof];
    before = &end;
  }
}

template <int C>
double BasicFineLevels<C>::coupling(std::span<const TwoPointLevel> levels) const {
  double largest = 0.0;
  for (std::size_t l = 0; l < levels_.size(); ++l) largest = std::max(largest, levels_[l]->coupling(levels[l]));
  return largest;
}

template <int C>
void BasicFineLevels<C>::set_shifts(std::span<const TwoPointLevel> levels) {
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->set_shifts(levels[l]);
  tell_link_ends();
}

template <int C>
void BasicFineLevels<C>::add_shifts(std::span<const TwoPointLevel> levels, float scale, std::span<float> shift) const {
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->add_shifts(levels[l], children_[l], scale, shift);
}

template <int C>
void BasicFineLevels<C>::fetch_link_values() {
  if (!has_links_) return;
  links_.fetch(values_, [&](int level, int box, int vof) { return levels_[level]->value(box, vof); });
}

/// f(end) for all ends, threaded; the ends of one box on one thread and in order.
template <int C>
template <class F>
void BasicFineLevels<C>::for_ends(F&& f) const {
  const std::vector<std::size_t>& chunks = links_.chunks();
  parallel_for(std::ssize(chunks) - 1, [&](std::int64_t c) {
    for (std::size_t e = chunks[c]; e < chunks[c + 1]; ++e) f(links_.ends()[e]);
  });
}

template <int C>
void BasicFineLevels<C>::first_sweep(const LoadValues<C>& rhs, float c) {
  for (const auto& level : levels_) level->first_sweep(rhs, c);
}

template <int C>
void BasicFineLevels<C>::sweep(const SweepFactors& factors) {
  fetch_link_values();
  for (const auto& level : levels_) level->sweep(factors);
  for_ends([&](const LinkEnd& e) {
    BasicFineLevel<C>& level = *levels_[e.level];
    const kernels::Few difference = other(e) - kernels::load<C>(level.x(e.box) + C * e.vof);
    float* y = level.y(e.box) + C * e.vof;
    kernels::store<C>(kernels::load<C>(y) + factors.c * e.inverse * e.weight * difference, y);
  });
  for (const auto& level : levels_) level->accept_sweep();
}

template <int C>
void BasicFineLevels<C>::restrict_residual(std::span<Value> coarse) {
  fetch_link_values();
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->restrict_residual(children_[l], coarse);
  for_ends([&](const LinkEnd& e) {
    const kernels::Few x = kernels::load<C>(levels_[e.level]->x(e.box) + C * e.vof);
    float* sum = numbers(coarse.data() + e.node);
    kernels::store<C>(kernels::load<C>(sum) + e.weight * (other(e) - x), sum);
  });
}

template <int C>
void BasicFineLevels<C>::prolong(std::span<const Value> coarse) {
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->prolong(coarse, children_[l]);
}

template <int C>
void BasicFineLevels<C>::write_result(const StoreValues<C>& result) const {
  for (const auto& level : levels_) level->write_result(result);
}

template <int C>
void BasicFineLevels<C>::product(const LoadValues<C>& x, const StoreValues<C>& ax) {
  for (const auto& level : levels_) level->load(x);
  fetch_link_values();
  for (const auto& level : levels_) level->product();
  for_ends([&](const LinkEnd& e) {
    BasicFineLevel<C>& level = *levels_[e.level];
    float* y = level.y(e.box) + C * e.vof;
    kernels::store<C>(kernels::load<C>(y) + e.weight * (kernels::load<C>(level.x(e.box) + C * e.vof) - other(e)), y);
  });
  for (const auto& level : levels_) {
    level->accept_sweep();
    level->write_result(ax);
  }
}

template <int C>
void BasicFineLevels<C>::product(std::span<const double> x, std::span<double> ax) requires(C == 1) {
  if constexpr (C == 1) {  // clang 14 makes this function for all C
    for (const auto& level : levels_) level->product(x, ax);
    if (!has_links_) return;
    links_.fetch(exact_values_, [&](int level, int box, int vof) { return levels_[level]->exact(box)[vof]; });
    for_ends([&](const LinkEnd& e) {
      const std::size_t v = e.unknown;
      ax[v] -= static_cast<double>(e.weight) * (exact_values_[e.other] - x[v]);
    });
  }
}

template <int C>
std::int64_t BasicFineLevels<C>::bytes() const {
  std::int64_t bytes = links_.bytes() + static_cast<std::int64_t>(values_.capacity() * sizeof(Value) +
                                                                  exact_values_.capacity() * sizeof(double));
  for (const auto& level : levels_) bytes += level->bytes();
  for (const FineChildren& c : children_) bytes += static_cast<std::int64_t>(c.child.bytes() + c.end.bytes());
  return bytes;
}

template class BasicFineLevels<1>;
template class BasicFineLevels<2>;
template class BasicFineLevels<3>;
template class BasicFineLevels<4>;

}  // namespace karst
