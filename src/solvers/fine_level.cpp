// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/fine_level.hpp"

#include <algorithm>

#include "grid/vof_loops.hpp"

namespace karst {
namespace {

constexpr int tag_float = 21, tag_double = 22;

}  // namespace

FineLevel::FineLevel(const Comm& comm, const TwoPointLevel& level)
    : graph_(&level.geometry->graph),
      face_weight_(level.face_weight),
      regular_diagonal_(6.0F * level.face_weight + level.regular_shift),
      halo_(comm, *graph_, tag_float),
      exact_halo_(comm, *graph_, tag_double) {
  const int n = graph_->n_local();
  find_ghosts(level);
  std::vector<std::int64_t> slices(static_cast<std::size_t>(n)), entries(static_cast<std::size_t>(n));
  std::vector<RowList<std::uint16_t>> scratch(static_cast<std::size_t>(n_threads()));
  const auto rows_of = [&](std::int64_t b) -> const RowList<std::uint16_t>& {
    RowList<std::uint16_t>& rows = scratch[static_cast<std::size_t>(thread_number())];
    rows.clear();
    add_box(static_cast<int>(b), level, rows);
    return rows;
  };
  parallel_for_dynamic(n, [&](std::int64_t b) {
    const auto size = SlicedRows<std::uint16_t>::size_of(rows_of(b));
    slices[static_cast<std::size_t>(b)] = size.slices;
    entries[static_cast<std::size_t>(b)] = size.entries;
  });
  rows_ = SlicedRows<std::uint16_t>(slices, entries);
  parallel_for_dynamic(n, [&](std::int64_t b) { rows_.set(static_cast<std::size_t>(b), rows_of(b)); });

  int most = 0;
  for (const BoxView& box : boxes_) most = std::max(most, box.n_own);
  for (int t = 0; t < n_threads(); ++t) scratch_.emplace_back(static_cast<std::size_t>(most), Purpose::solver);
}

void FineLevel::find_ghosts(const TwoPointLevel& level) {
  for (int b = 0; b < graph_->n_local(); ++b) {
    const BoxGraph g = graph_->box(b);
    const int n_ghosts = g.halo.n_domain(), first = g.closed() - n_ghosts;
    const std::size_t begin = ghost_vof_.size();
    boxes_.push_back({g.runs, g.n_own, first, static_cast<std::int64_t>(begin), n_ghosts});
    if (n_ghosts == 0) continue;
    ghost_vof_.resize(begin + static_cast<std::size_t>(n_ghosts));
    ghost_factor_.resize(ghost_vof_.size());
    for_each_face(g, [&](int vof, int side, int slot) {
      if (slot < first) return;
      const std::size_t ghost = begin + static_cast<std::size_t>(slot - first);
      ghost_vof_[ghost] = static_cast<std::uint16_t>(vof);
      ghost_factor_[ghost] = level.ghost_factor[static_cast<std::size_t>(side)];
    });
  }
}

/// Rows of a box: entries of positive weight, primary faces first.
void FineLevel::add_box(int b, const TwoPointLevel& level, RowList<std::uint16_t>& rows) const {
  const BoxGraph g = graph_->box(b);
  const auto first = static_cast<std::size_t>(level.geometry->moments_begin[static_cast<std::size_t>(b)]);
  const auto first_extra = static_cast<std::size_t>(level.geometry->extra_begin[static_cast<std::size_t>(b)]);
  std::size_t extra = 0;
  for (std::size_t r = 0; r < g.row_vof.size(); ++r) {
    const bool irregular = r < static_cast<std::size_t>(g.n_irregular);
    double diagonal = irregular ? double{level.shift[first + r]} : double{level.regular_shift};
    const auto add = [&](std::uint16_t column, float weight) {
      if (weight <= 0.0F) return;
      rows.column.push_back(column);
      rows.weight.push_back(weight);
      diagonal += weight;
    };
    for (std::size_t side = 0; side < 6; ++side)
      add(g.neighbours[r][side], irregular ? level.weight[first + r][side] : level.face_weight);
    if (irregular)
      for (; extra < g.extra.size() && g.extra[extra].vof == g.row_vof[r]; ++extra)
        add(g.extra[extra].neighbour, level.extra[first_extra + extra]);
    rows.end_row(g.row_vof[r], static_cast<float>(diagonal));
  }
}

void FineLevel::first_sweep(const Field& b, double scale, float c, FloatField& bf, FloatField& x) {
  const float whole = c / regular_diagonal_;
  parallel_for(graph_->n_local(), [&](std::int64_t i) {
    const int box = static_cast<int>(i);
    const double* from = b.box(box).data();
    float *to = bf.box(box).data(), *y = x.box(box).data();
    const int n = boxes_[static_cast<std::size_t>(i)].n_own;
#pragma GCC ivdep
    for (int v = 0; v < n; ++v) {
      to[v] = static_cast<float>(scale * from[v]);
      y[v] = whole * to[v];
    }
    rows_.for_each_slice(static_cast<std::size_t>(i), [&](const Slice<std::uint16_t>& slice) {
      for (std::size_t l = 0; l < slice_height; ++l) y[slice.row[l]] = c * slice.inverse[l] * to[slice.row[l]];
    });
  });
}

void FineLevel::sweep(FloatField& x, const FloatField& b, const SweepFactors& factors, FloatField& y) {
  const float p = factors.p, q = factors.q, c = factors.c;
  const float of_b = c / regular_diagonal_, of_sum = of_b * face_weight_;
  halo_.for_boxes(x, [&](int box) {
    const BoxView& view = boxes_[static_cast<std::size_t>(box)];
    float* from = x.box(box).data();
    fill_ghosts(box, from);
    const float* rhs = b.box(box).data();
    float* to = y.box(box).data();
    if (q == 0.0F)
      for (const Run& run : view.runs)
        kernels::for_run(run, from, to,
                         [&](std::size_t v, float s) { return p * from[v] + of_b * rhs[v] + of_sum * s; });
    else
      for (const Run& run : view.runs)
        kernels::for_run(run, from, to,
                         [&](std::size_t v, float s) { return p * from[v] + q * to[v] + of_b * rhs[v] + of_sum * s; });
    const float old = q;
    kernels::for_rows(rows_, static_cast<std::size_t>(box), from, to,
                      [&](const Slice<std::uint16_t>& slice, std::size_t l, std::size_t v, float s) {
                        return p * from[v] + old * to[v] + c * slice.inverse[l] * (rhs[v] + s);
                      });
  });
}

void FineLevel::restrict_residual(FloatField& x, const FloatField& b, const FineChildren& children,
                                  std::span<float> coarse) {
  const float d = regular_diagonal_, w = face_weight_;
  halo_.for_boxes(x, [&](int box) {
    const auto i = static_cast<std::size_t>(box);
    float* from = x.box(box).data();
    fill_ghosts(box, from);
    const float* rhs = b.box(box).data();
    float* residual = scratch_[static_cast<std::size_t>(thread_number())].data();
    for (const Run& run : boxes_[i].runs)
      kernels::for_run(run, from, residual, [&](std::size_t v, float s) { return rhs[v] - d * from[v] + w * s; });
    kernels::for_rows(rows_, i, from, residual,
                      [&](const Slice<std::uint16_t>& slice, std::size_t l, std::size_t v, float s) {
                        return rhs[v] - slice.diagonal[l] * from[v] + s;
                      });
    const std::uint16_t* child = children.child.data() + graph_->vof_begin(box);
    int k = 0;
    for (std::int64_t node = children.node_begin[i]; node < children.node_begin[i + 1]; ++node) {
      float sum = 0.0F;
      for (const int end = children.end[static_cast<std::size_t>(node)]; k < end; ++k) sum += residual[child[k]];
      coarse[static_cast<std::size_t>(node)] = sum;
    }
  });
}

void FineLevel::prolong(std::span<const float> coarse, const FineChildren& children, FloatField& x) const {
  parallel_for(graph_->n_local(), [&](std::int64_t b) {
    const auto i = static_cast<std::size_t>(b);
    float* to = x.box(static_cast<int>(b)).data();
    const std::uint16_t* child = children.child.data() + graph_->vof_begin(static_cast<int>(b));
    int k = 0;
    for (std::int64_t node = children.node_begin[i]; node < children.node_begin[i + 1]; ++node) {
      const float value = coarse[static_cast<std::size_t>(node)];
      for (const int end = children.end[static_cast<std::size_t>(node)]; k < end; ++k) to[child[k]] += value;
    }
  });
}

void FineLevel::product_of_box(int b, const double* x, double* y) const {
  const double d = regular_diagonal_, w = face_weight_;
  for (const Run& run : boxes_[static_cast<std::size_t>(b)].runs)
    kernels::for_run(run, x, y, [&](std::size_t v, double s) { return d * x[v] - w * s; });
  kernels::for_rows(rows_, static_cast<std::size_t>(b), x, y,
                    [&](const Slice<std::uint16_t>& slice, std::size_t l, std::size_t v, double s) {
                      return static_cast<double>(slice.diagonal[l]) * x[v] - s;
                    });
}

std::int64_t FineLevel::bytes() const {
  std::int64_t bytes = rows_.bytes() + static_cast<std::int64_t>(boxes_.capacity() * sizeof(BoxView) +
                                                                 ghost_vof_.capacity() * sizeof(std::uint16_t) +
                                                                 ghost_factor_.capacity() * sizeof(float));
  for (const Array<float>& s : scratch_) bytes += static_cast<std::int64_t>(s.bytes());
  return bytes;
}

}  // namespace karst
