// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/coarse_rows.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

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

CoarseRows::CoarseRows(const Comm& comm, const NodeGraph& graph, NodeChildren children, std::vector<float> bond,
                       int width)
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
  if (width == 3) list_own_diagonals(graph);
  set_diagonals(graph.shifts());
}

/// The rows contain the mean of the smallest and largest component. With it no eigenvalue of D^-1 A of any component
/// exceeds 2, the bound on which the Chebyshev smoother relies.
void CoarseRows::list_own_diagonals(const NodeGraph& graph) {
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
void CoarseRows::set_diagonals(std::span<const float> shift) {
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

std::vector<float> CoarseRows::set_shifts(std::span<const float> shift, float scale) {
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

std::int64_t CoarseRows::row_bytes() const {
  return rows_.bytes() + halo_.bytes() +
         static_cast<std::int64_t>(
             own_diagonals_.capacity() * sizeof(OwnDiagonal) + own_diagonals_begin_.capacity() * sizeof(std::size_t) +
             bond_.capacity() * sizeof(float) + children_.begin.capacity() * sizeof(std::int64_t) +
             children_.child.capacity() * sizeof(std::int32_t));
}

}  // namespace karst
