// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/null_space.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"

namespace karst {

namespace {

/// Parts of the own unknowns that rows connect; merged by name over the ranks.
class Parts {
 public:
  explicit Parts(const EllipticOperator& op) : parent_(op.numbering().n_own()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    std::vector<std::int32_t> pinned;
    std::vector<GlobalNumber> wanted;
    const CompositeNumbering& numbers = op.numbering();
    op.for_each_row([&](std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights) {
      double sum = 0.0, size = 0.0;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        sum += weights[i];
        size += std::abs(weights[i]);
        if (numbers.is_own(columns[i])) {
          join(row, static_cast<std::int32_t>(columns[i] - numbers.first()));
        } else {
          links_.push_back({row, columns[i]});
          wanted.push_back(columns[i]);
        }
      }
      if (std::abs(sum) > 1e-11 * size) pinned.push_back(row);
    });
    label_.resize(parent_.size());
    for (std::size_t i = 0; i < label_.size(); ++i) label_[i] = numbers.first() + root(static_cast<std::int32_t>(i));
    spread(op, std::move(wanted));
    for (const std::int32_t row : pinned) pinned_.push_back(label_[row]);
  }
  const std::vector<GlobalNumber>& labels() const { return label_; }  ///< per own unknown: a number of its part
  const std::vector<GlobalNumber>& pinned() const {
    return pinned_;
  }  ///< labels of parts with a row that does not sum to 0

 private:
  struct Link {
    std::int32_t row;
    GlobalNumber far;
  };
  std::int32_t root(std::int32_t i) {
    while (parent_[i] != i) {
      auto& p = parent_[i];
      p = parent_[p];
      i = p;
    }
    return i;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }
  /// Smaller labels win across ranks until nothing changes.
  void spread(const EllipticOperator& op, std::vector<GlobalNumber> wanted) {
    RemoteValues<GlobalNumber> far(op.comm(), op.numbering(), std::move(wanted));
    for (bool changed = op.comm().size() > 1; changed;) {
      far.begin(label_);
      far.finish();
      std::map<std::int32_t, GlobalNumber> lower;
      for (const Link& link : links_) {
        const GlobalNumber theirs = far.values()[far.place(link.far)];
        if (theirs >= label_[link.row]) continue;
        const auto [at, fresh] = lower.try_emplace(root(link.row), theirs);
        if (!fresh) at->second = std::min(at->second, theirs);
      }
      for (std::size_t i = 0; i < label_.size() && !lower.empty(); ++i)
        if (const auto at = lower.find(root(static_cast<std::int32_t>(i))); at != lower.end()) label_[i] = at->second;
      changed = op.comm().any(!lower.empty());
    }
  }

  std::vector<std::int32_t> parent_;
  std::vector<Link> links_;
  std::vector<GlobalNumber> label_, pinned_;
};

void sort_unique(std::vector<GlobalNumber>& x) {
  std::sort(x.begin(), x.end());
  x.erase(std::unique(x.begin(), x.end()), x.end());
}

}  // namespace

NullSpace::NullSpace(const EllipticOperator& op, bool none) : comm_(op.comm()) {
  if (none) return;
  const Timer timer("null space");
  const Parts parts(op);
  const auto all_of = [&](std::vector<GlobalNumber> mine) {
    sort_unique(mine);
    std::vector<GlobalNumber> all = comm_.all_gather<GlobalNumber>(std::span<const GlobalNumber>(mine));
    sort_unique(all);
    return all;
  };
  const std::vector<GlobalNumber> pinned = all_of(parts.pinned()), labels = all_of(parts.labels());
  std::vector<GlobalNumber> singular;
  std::set_difference(labels.begin(), labels.end(), pinned.begin(), pinned.end(), std::back_inserter(singular));
  if (singular.empty()) return;
  for (const GlobalNumber label : parts.labels()) {
    const auto at = std::lower_bound(singular.begin(), singular.end(), label);
    const bool found = at != singular.end() && *at == label;
    pore_.push_back(found ? static_cast<std::int32_t>(at - singular.begin()) : -1);
  }
  for (const double volume : op.volumes()) balance_.push_back(volume > 0.0);
  size_.assign(singular.size(), 0.0);
  size_ = sums([](std::size_t) { return 1.0; });
  balances_ = sums([&](std::size_t i) { return static_cast<double>(balance_[i]); });
}

template <class F>
std::vector<double> NullSpace::sums(F&& value) const {
  std::vector<double> sum(size_.size(), 0.0);
  for (std::size_t i = 0; i < pore_.size(); ++i)
    if (pore_[i] >= 0) sum[pore_[i]] += value(i);
  comm_.sum(std::span(sum));
  return sum;
}

template <int C>
void NullSpace::remove(std::span<double> x) const {
  if (size_.empty()) return;
  std::vector<double> mean(C * size_.size(), 0.0);
  for (std::size_t i = 0; i < pore_.size(); ++i)
    if (pore_[i] >= 0)
      for (int c = 0; c < C; ++c) mean[C * std::int64_t{pore_[i]} + c] += x[C * i + c];
  comm_.sum(std::span(mean));
  for (std::size_t m = 0; m < mean.size(); ++m) mean[m] /= size_[m / C];
  for (std::size_t i = 0; i < pore_.size(); ++i)
    if (pore_[i] >= 0)
      for (int c = 0; c < C; ++c) x[C * i + c] -= mean[C * std::int64_t{pore_[i]} + c];
}
template void NullSpace::remove<1>(std::span<double> x) const;
template void NullSpace::remove<3>(std::span<double> x) const;

double NullSpace::make_compatible(std::span<double> b, const std::string& solve, double allowed) const {
  if (size_.empty()) return 0.0;
  const double before = imbalance(b);
  require(before <= allowed,
          "solve {}: the system is singular ({} pores with Neumann conditions all around) and the right-hand side is "
          "not compatible: inflow and sources differ from the outflow by a relative {:.2e}, allowed is {:.2e}; balance "
          "sources and fluxes, or fix the value somewhere",
          solve, n_pores(), before, allowed);
  const std::vector<double> sum = sums([&](std::size_t i) { return balance_[i] * b[i]; });
  for (std::size_t i = 0; i < pore_.size(); ++i)
    if (pore_[i] >= 0 && balance_[i] != 0) b[i] -= sum[pore_[i]] / balances_[pore_[i]];
  return before;
}

void NullSpace::spread(std::span<const double> b, std::span<const double> weights, std::span<double> mean) const {
  std::ranges::fill(mean, 0.0);
  if (size_.empty()) return;
  const std::vector<double> sum = sums([&](std::size_t i) { return balance_[i] * b[i]; });
  const std::vector<double> weight = sums([&](std::size_t i) { return weights[i]; });
  for (std::size_t i = 0; i < pore_.size(); ++i)
    if (pore_[i] >= 0) mean[i] = sum[pore_[i]] / weight[pore_[i]];
}

double NullSpace::imbalance(std::span<const double> b) const {
  if (size_.empty()) return 0.0;
  const std::vector<double> sum = sums([&](std::size_t i) { return balance_[i] * b[i]; });
  const std::vector<double> size = sums([&](std::size_t i) { return balance_[i] * std::abs(b[i]); });
  double worst = 0.0;
  for (std::size_t p = 0; p < sum.size(); ++p)
    if (size[p] > 0.0) worst = std::max(worst, std::abs(sum[p]) / size[p]);
  return worst;
}

}  // namespace karst
