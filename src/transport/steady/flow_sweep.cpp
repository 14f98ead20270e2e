// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/flow_sweep.hpp"

#include <algorithm>
#include <array>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"

namespace karst {
namespace {

std::int32_t own(const CompositeNumbering& numbers, GlobalNumber g) {
  return numbers.is_own(g) ? static_cast<std::int32_t>(g - numbers.first()) : -1;
}

}  // namespace

FlowSweep::FlowSweep(const EllipticOperator& op, const ScalarGrid& grid, std::span<const double> flow) {
  const Timer timer("flow sweep set-up");
  const std::size_t n = grid.n_own;
  const int threads = n_threads();
  for (int t = 0; t <= threads; ++t)
    share_.push_back(static_cast<std::int32_t>(detail::share_begin(grid.n_own, t, threads)));
  begin_.push_back(0);
  op.for_each_row([&](std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double> weights) {
    entries_.push_back({row, 0.0F, 0.0F});
    const std::size_t diagonal = begin_.back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::int32_t c = own(op.numbering(), columns[i]);
      if (c == row) entries_[diagonal].diffusion += static_cast<float>(weights[i]);
      if (c >= 0 && c != row) entries_.push_back({c, static_cast<float>(weights[i]), 0.0F});
    }
    begin_.push_back(std::ssize(entries_));
  });
  // Neighbours across faces are nearly always in the row already; the others are slivers, which hardly carry anything.
  std::vector<std::vector<std::int32_t>> after(n);
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    Entry *const row = entries_.data() + begin_[v], *const end = entries_.data() + begin_[v + 1];
    faces([&](std::int32_t face, std::int32_t other, double outward) {
      const double out = outward * flow[face];
      if (out > 0.0) row->carried += static_cast<float>(out);
      if (out > 0.0 && other < grid.n_own && other != v) after[v].push_back(other);
      if (out >= 0.0) return;
      if (Entry* const e = std::find_if(row, end, [&](const Entry& x) { return x.column == other; }); e != end)
        e->carried += static_cast<float>(out);
    });
  });
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> downstream;
  for (const auto& of_one : after) {
    downstream.insert(downstream.end(), of_one.begin(), of_one.end());
    begin.push_back(std::ssize(downstream));
  }
  find_order(begin, downstream);
}

void FlowSweep::find_order(const std::vector<std::int64_t>& begin, const std::vector<std::int32_t>& downstream) {
  order_.resize(begin.size() - 1);
  std::vector<std::uint8_t> seen(order_.size(), 0);
  parallel_for(std::ssize(share_) - 1, [&](std::int64_t i) {
    struct Visit {
      std::int32_t vof;
      std::int64_t next;
    };
    std::vector<Visit> path;
    std::int32_t place = share_[i + 1];  // filled from the end
    const auto enter = [&](std::int32_t v) {
      if (v < share_[i] || v >= share_[i + 1] || seen[v] != 0) return;
      seen[v] = 1;
      path.push_back({v, begin[v]});
    };
    for (std::int32_t start = share_[i + 1] - 1; start >= share_[i]; --start) {
      enter(start);
      while (!path.empty()) {
        Visit& at = path.back();
        if (at.next == begin[at.vof + 1]) {
          order_[--place] = at.vof;
          path.pop_back();
        } else {
          enter(downstream[at.next++]);
        }
      }
    }
  });
}

template <int C>
void FlowSweep::apply(std::span<const double> r, std::span<double> z) {
  const Timer timer("flow sweep");
  const bool shared = share_.size() > 2;
  if (shared) {
    before_.resize(std::max(before_.size(), z.size()));
    parallel_for(std::ssize(z), [&](std::int64_t i) { before_[i] = z[i]; });
  }
  parallel_for(std::ssize(share_) - 1, [&](std::int64_t t) {
    const std::int32_t first = share_[t], end = share_[t + 1];
    for (std::int32_t k = first; k < end; ++k) {
      const std::size_t v = order_[k];
      const Entry *const row = entries_.data() + begin_[v], *const stop = entries_.data() + begin_[v + 1];
      const double diagonal = double{row->diffusion} + scale_ * double{row->carried};
      if (diagonal == 0.0) continue;  // alone
      std::array<double, C> rest;
      std::copy_n(r.data() + C * v, C, rest.data());
      for (const Entry* e = row + 1; e != stop; ++e) {
        const bool before = shared && (e->column < first || e->column >= end);
        const double* const values = (before ? before_.data() : z.data()) + C * std::int64_t{e->column};
        const double weight = double{e->diffusion} + scale_ * double{e->carried};
        for (int c = 0; c < C; ++c) rest[c] -= weight * values[c];
      }
      for (int c = 0; c < C; ++c) z[C * v + c] = rest[c] / diagonal;
    }
  });
}
template void FlowSweep::apply<1>(std::span<const double> r, std::span<double> z);
template void FlowSweep::apply<3>(std::span<const double> r, std::span<double> z);

std::int64_t FlowSweep::bytes() const {
  return static_cast<std::int64_t>(sizeof(Entry) * entries_.size() + 8 * (begin_.size() + before_.size()) +
                                   4 * order_.size());
}

}  // namespace karst
