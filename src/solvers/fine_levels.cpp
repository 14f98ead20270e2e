// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/fine_levels.hpp"

#include "base/parallel.hpp"

namespace karst {

FineLevels::FineLevels(const Comm& comm, std::span<const TwoPointLevel> levels) : links_(comm, levels) {
  for (const TwoPointLevel& level : levels)
    levels_.push_back(std::make_unique<FineLevel>(comm, level, levels_.empty() ? 0 : n_unknowns()));
  has_links_ = comm.any(!links_.ends().empty());
  std::vector<float> inverse;
  std::vector<std::int64_t> unknown;
  const LinkEnd* before = nullptr;
  for (LinkEnd& end : links_.ends()) {
    const FineLevel& level = *levels_[static_cast<std::size_t>(end.level)];
    if (before == nullptr || before->level != end.level || before->box != end.box) {
      inverse = level.inverse_diagonal(end.box);
      unknown = level.unknowns(end.box);
    }
    end.inverse = inverse[static_cast<std::size_t>(end.vof)];
    end.unknown = unknown[static_cast<std::size_t>(end.vof)];
    before = &end;
  }
}

void FineLevels::fetch_link_values() {
  if (!has_links_) return;
  links_.fetch(values_,
               [&](int level, int box, int vof) { return levels_[static_cast<std::size_t>(level)]->x(box)[vof]; });
}

/// f(end) for all ends, threaded; the ends of one box on one thread and in order.
template <class F>
void FineLevels::for_ends(F&& f) const {
  const std::vector<std::size_t>& chunks = links_.chunks();
  parallel_for(std::ssize(chunks) - 1, [&](std::int64_t i) {
    const auto c = static_cast<std::size_t>(i);
    for (std::size_t e = chunks[c]; e < chunks[c + 1]; ++e) f(links_.ends()[e]);
  });
}

void FineLevels::first_sweep(std::span<const double> rhs, double scale, float c) {
  for (const auto& level : levels_) level->first_sweep(rhs, scale, c);
}

void FineLevels::sweep(const SweepFactors& factors) {
  fetch_link_values();
  for (const auto& level : levels_) level->sweep(factors);
  for_ends([&](const LinkEnd& e) {
    FineLevel& level = *levels_[static_cast<std::size_t>(e.level)];
    const float difference = values_[static_cast<std::size_t>(e.other)] - level.x(e.box)[e.vof];
    level.y(e.box)[e.vof] += factors.c * e.inverse * e.weight * difference;
  });
  for (const auto& level : levels_) level->accept_sweep();
}

void FineLevels::restrict_residual(std::span<float> coarse) {
  fetch_link_values();
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->restrict_residual(children_[l], coarse);
  for_ends([&](const LinkEnd& e) {
    const float x = levels_[static_cast<std::size_t>(e.level)]->x(e.box)[e.vof];
    coarse[static_cast<std::size_t>(e.node)] += e.weight * (values_[static_cast<std::size_t>(e.other)] - x);
  });
}

void FineLevels::prolong(std::span<const float> coarse) {
  for (std::size_t l = 0; l < levels_.size(); ++l) levels_[l]->prolong(coarse, children_[l]);
}

void FineLevels::write_result(double scale, std::span<double> result) const {
  for (const auto& level : levels_) level->write_result(scale, result);
}

void FineLevels::product(std::span<const double> x, std::span<double> ax) {
  for (const auto& level : levels_) level->product(x, ax);
  if (!has_links_) return;
  links_.fetch(exact_values_,
               [&](int level, int box, int vof) { return levels_[static_cast<std::size_t>(level)]->exact(box)[vof]; });
  for_ends([&](const LinkEnd& e) {
    const auto v = static_cast<std::size_t>(e.unknown);
    ax[v] -= static_cast<double>(e.weight) * (exact_values_[static_cast<std::size_t>(e.other)] - x[v]);
  });
}

std::int64_t FineLevels::bytes() const {
  std::int64_t bytes = links_.bytes() + static_cast<std::int64_t>(values_.capacity() * sizeof(float) +
                                                                  exact_values_.capacity() * sizeof(double));
  for (const auto& level : levels_) bytes += level->bytes();
  for (const FineChildren& c : children_) bytes += static_cast<std::int64_t>(c.child.bytes() + c.end.bytes());
  return bytes;
}

}  // namespace karst
