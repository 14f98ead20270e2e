// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/coarse_level.hpp"

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

/// Smallest number of values for which a sweep uses threads. The sweep of a smaller level takes no longer than a
/// barrier of the threads, and a barrier takes much longer if other programs use the cores.
constexpr std::int64_t worth_threads = 8192;

/// Rows of a window, without diagonals; nodes are numbered from the first one of the window.
RowList<std::int32_t> rows_of(const NodeGraph& graph, std::int64_t first, std::int64_t last) {
  RowList<std::int32_t> rows;
  for (std::int64_t v = first; v < last; ++v) {
    for (std::int64_t k = graph.begin[v]; k < graph.begin[v + 1]; ++k) {
      rows.column.push_back(graph.column[k]);
      rows.weight.push_back(graph.weight_of(k));
    }
    rows.end_row(static_cast<std::int32_t>(v - first), 0.0F);
  }
  return rows;
}

}  // namespace

template <int C>
BasicCoarseLevel<C>::BasicCoarseLevel(const Comm& comm, const NodeGraph& graph, NodeChildren children,
                                      std::vector<float> bond)
    : children_(std::move(children)),
      bond_(std::move(bond)),
      halo_(comm, graph.remote),
      n_nodes_(graph.size()),
      n_connections_(graph.n_connections()) {
  const std::size_t n = n_windows();
  std::vector<RowList<std::int32_t>> lists(n);
  std::vector<std::int64_t> slices(n), entries(n);
  parallel_for_dynamic(
      n_windows(), [&](std::int64_t i) { lists[i] = rows_of(graph, children_.window[i], children_.window[i + 1]); });
  parallel_for(n_windows(), [&](std::int64_t i) {
    const auto size = SlicedRows<std::int32_t>::size_of(lists[i]);
    slices[i] = size.slices;
    entries[i] = size.entries;
  });
  rows_ = SlicedRows<std::int32_t>(slices, entries);
  parallel_for_dynamic(n_windows(), [&](std::int64_t w) {
    rows_.set(w, lists[w]);
    lists[w] = {};
  });
  if constexpr (C == 3) list_own_diagonals(graph);
  set_diagonals(graph.shifts());
  const std::size_t n_all = n_nodes_ + halo_.n_received();
  x_ = Array<Value>(n_all, Purpose::solver, Value{});
  y_ = Array<Value>(n_all, Purpose::solver, Value{});
  b_ = Array<Value>(n_own(), Purpose::solver, Value{});
  residual_ = Array<Value>(n_own(), Purpose::solver, Value{});
}

/// The rows contain the mean of the smallest and largest component. With it no eigenvalue of D^-1 A of any component
/// exceeds 2, the bound on which the Chebyshev smoother relies.
template <int C>
void BasicCoarseLevel<C>::list_own_diagonals(const NodeGraph& graph) {
  if (graph.component_shift.empty()) return;
  std::size_t window = 0;
  own_diagonals_begin_.assign(1, 0);
  for (const ComponentShift& s : graph.component_shift) {
    for (; s.node >= children_.window[window + 1]; ++window) own_diagonals_begin_.push_back(own_diagonals_.size());
    const auto [least, most] = std::ranges::minmax(s.shift);
    const float middle = 0.5F * (least + most);
    own_diagonals_.push_back({s.node, 0.0F, middle, s.shift});
    for (float& more : own_diagonals_.back().more) more -= middle;
  }
  own_diagonals_begin_.resize(n_windows() + 1, own_diagonals_.size());
}

/// Diagonals of the rows from the shifts of the nodes.
template <int C>
void BasicCoarseLevel<C>::set_diagonals(std::span<const float> shift) {
  parallel_for(n_windows(), [&](std::int64_t i) {
    const std::size_t first = children_.window[i];
    std::vector<float> middle(children_.window[i + 1] - first);
    const auto own = own_diagonals_begin_.empty()
                         ? std::span<OwnDiagonal>()
                         : std::span(own_diagonals_)
                               .subspan(own_diagonals_begin_[i], own_diagonals_begin_[i + 1] - own_diagonals_begin_[i]);
    for (const OwnDiagonal& d : own) middle[d.node - first] = d.middle;
    rows_.set_diagonals(
        i, [&](std::int32_t place) { return shift[first + place]; }, [&](std::int32_t place) { return middle[place]; });
    if (own.empty()) return;
    std::vector<float>& inverse = middle;
    rows_.for_each_slice(i, [&](const Slice<std::int32_t>& slice) {
      for (std::size_t l = 0; l < slice_height; ++l) inverse[slice.row[l]] = slice.inverse[l];
    });
    for (OwnDiagonal& d : own) d.inverse = inverse[d.node - first];
  });
}

template <int C>
std::vector<float> BasicCoarseLevel<C>::set_shifts(std::span<const float> shift, float scale) {
  set_diagonals(shift);
  std::vector<float> coarse(children_.begin.size() - 1);
  for (std::size_t c = 0; c < coarse.size(); ++c) {
    double sum = 0.0;
    for (auto k = children_.begin[c]; k < children_.begin[c + 1]; ++k) {
      const std::size_t v = children_.child[k];
      sum += galerkin_factor(shift[v], bond_[v], scale) * shift[v];
    }
    coarse[c] = static_cast<float>(sum);
  }
  return coarse;
}

template <int C>
template <class F>
void BasicCoarseLevel<C>::take_own_diagonals(std::size_t window, float* to, F&& f) const {
  if (own_diagonals_begin_.empty()) return;
  for (std::size_t i = own_diagonals_begin_[window]; i < own_diagonals_begin_[window + 1]; ++i) {
    const OwnDiagonal& own = own_diagonals_[i];
    const float* x = numbers(x_.data() + own.node);
    for (std::size_t c = 0; c < C; ++c) to[C * std::int64_t{own.node} + c] -= f(own) * own.more[c] * x[c];
  }
}

template <int C>
template <class F>
void BasicCoarseLevel<C>::for_windows(F&& f) const {
  const auto one = [&](std::int64_t w) { f(w, children_.window[w]); };
  if (C * n_nodes() < worth_threads)
    for (std::int64_t w = 0; w < n_windows(); ++w) one(w);
  else
    parallel_for(n_windows(), one);
}

template <int C>
void BasicCoarseLevel<C>::first_sweep(float c) {
  for_windows([&](std::size_t window, std::size_t first) {
    kernels::scale_rows<C>(rows_, window, c, numbers(b_.data() + first), numbers(x_.data() + first));
  });
}

template <int C>
void BasicCoarseLevel<C>::sweep(const SweepFactors& factors) {
  halo_.exchange(x_.span());
  for_windows([&](std::size_t window, std::size_t first) {
    kernels::sweep_rows<C>(rows_, window, factors, numbers(x_.data()), numbers(x_.data() + first),
                           numbers(b_.data() + first), numbers(y_.data() + first));
    take_own_diagonals(window, numbers(y_.data()), [&](const OwnDiagonal& own) { return factors.c * own.inverse; });
  });
  std::swap(x_, y_);
}

template <int C>
void BasicCoarseLevel<C>::find_residual(std::size_t window, std::size_t first) {
  kernels::residual_rows<C>(rows_, window, numbers(x_.data()), numbers(x_.data() + first), numbers(b_.data() + first),
                            numbers(residual_.data() + first));
  take_own_diagonals(window, numbers(residual_.data()), [](const OwnDiagonal&) { return 1.0F; });
}

template <int C>
void BasicCoarseLevel<C>::restrict_residual(std::span<Value> coarse) {
  halo_.exchange(x_.span());
  for_windows([&](std::size_t window, std::size_t first) {
    find_residual(window, first);
    for (std::int64_t c = children_.coarse_window[window]; c < children_.coarse_window[window + 1]; ++c) {
      kernels::Few sum{};
      for (auto k = children_.begin[c]; k < children_.begin[c + 1]; ++k)
        sum += kernels::load<C>(numbers(residual_.data() + children_.child[k]));
      kernels::store<C>(sum, numbers(coarse.data() + c));
    }
  });
}

template <int C>
void BasicCoarseLevel<C>::prolong(std::span<const Value> coarse) {
  for_windows([&](std::size_t window, std::size_t) {
    for (std::int64_t c = children_.coarse_window[window]; c < children_.coarse_window[window + 1]; ++c) {
      const kernels::Few value = kernels::load<C>(numbers(coarse.data() + c));
      for (auto k = children_.begin[c]; k < children_.begin[c + 1]; ++k) {
        float* x = numbers(x_.data() + children_.child[k]);
        kernels::store<C>(kernels::load<C>(x) + value, x);
      }
    }
  });
}

template <int C>
void BasicCoarseLevel<C>::begin_second(float c) {
  if (first_x_.size() == 0) first_x_ = Array<Value>(n_own(), Purpose::solver);
  const auto nodes = [&](std::size_t window) {
    return std::pair(children_.window[window], children_.window[window + 1]);
  };
  for_windows([&](std::size_t window, std::size_t) {
    const auto [first, last] = nodes(window);
    float *x = numbers(x_.data()), *kept = numbers(first_x_.data());
    for (std::int64_t i = C * first; i < C * last; ++i) kept[i] = x[i] *= c;
  });
  halo_.exchange(x_.span());
  for_windows([&](std::size_t window, std::size_t first) { find_residual(window, first); });
  std::swap(b_, residual_);
}

template <int C>
void BasicCoarseLevel<C>::end_second(float p, float c) {
  float* x = numbers(x_.data());
  const float* kept = numbers(first_x_.data());
  for (std::size_t i = 0; i < C * n_own(); ++i) x[i] = p * kept[i] + c * x[i];
}

template <int C>
std::int64_t BasicCoarseLevel<C>::bytes() const {
  return rows_.bytes() + halo_.bytes() +
         static_cast<std::int64_t>(
             x_.bytes() + y_.bytes() + b_.bytes() + residual_.bytes() +
             own_diagonals_.capacity() * sizeof(OwnDiagonal) + own_diagonals_begin_.capacity() * sizeof(std::size_t) +
             bond_.capacity() * sizeof(float) + children_.begin.capacity() * sizeof(std::int64_t) +
             children_.child.capacity() * sizeof(std::int32_t));
}

template class BasicCoarseLevel<1>;
template class BasicCoarseLevel<2>;
template class BasicCoarseLevel<3>;
template class BasicCoarseLevel<4>;

}  // namespace karst
