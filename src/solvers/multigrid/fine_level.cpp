// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/fine_level.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"

namespace karst {
template <int C>
BasicFineLevel<C>::BasicFineLevel(const Comm& comm, const TwoPointLevel& level, std::int64_t first_unknown)
    : FineRows(level, first_unknown, C),
      halo_(comm, *graph_),
      exact_halo_(comm, *graph_),
      x_(*graph_, 1, Purpose::solver),
      y_(*graph_, 1, Purpose::solver),
      b_(graph_->vof_begin(graph_->n_local()), Purpose::solver, Value{}) {
  int most = 0;
  for (int b = 0; b < graph_->n_local(); ++b) most = std::max(most, x_.slots()->n_own(b));
  for (int t = 0; t < n_threads(); ++t) {
    scratch_.emplace_back(most, Purpose::solver);
    if (C == 1) exact_scratch_.emplace_back(most, Purpose::solver);
  }
}

template <int C>
void BasicFineLevel<C>::clear_covered(int b, float* x) const {
  if (covered_begin_.empty()) return;
  for (std::int32_t k = covered_begin_[b]; k < covered_begin_[b + 1]; ++k)
    for (int c = 0; c < C; ++c) x[C * covered_[k] + c] = 0.0F;
}

template <int C>
void BasicFineLevel<C>::first_sweep(const LoadValues<C>& rhs, float c) {
  const float whole = c / regular_diagonal_;
  parallel_for(graph_->n_local(), [&](std::int64_t i) {
    const int box = static_cast<int>(i);
    Value* all = b_.data() + graph_->vof_begin(box);
    float *b = numbers(all), *x = this->x(box);
    for (const Segment& s : segments(box)) {
      rhs(s.unknown, s.count, all + s.vof);
#pragma GCC ivdep
      for (std::int32_t v = C * s.vof; v < C * (s.vof + s.count); ++v) x[v] = whole * b[v];
    }
    kernels::scale_rows<C>(rows_, i, c, b, x);
    clear_covered(box, x);
  });
}

template <int C>
void BasicFineLevel<C>::sweep(const SweepFactors& factors) {
  const float p = factors.p, q = factors.q, c = factors.c;
  const float of_b = c / regular_diagonal_, of_sum = of_b * face_weight_;
  halo_.for_boxes(x_, [&](int box) {
    const BoxView& view = boxes_[box];
    float* from = x(box);
    fill_ghosts(box, from);
    const float* rhs = b(box);
    float* to = y(box);
    if (q == 0.0F)
      for (const Run& run : view.runs)
        kernels::for_run<C>(run, from, to,
                            [&](std::size_t i, float s) { return p * from[i] + of_b * rhs[i] + of_sum * s; });
    else
      for (const Run& run : view.runs)
        kernels::for_run<C>(run, from, to, [&](std::size_t i, float s) {
          return p * from[i] + q * to[i] + of_b * rhs[i] + of_sum * s;
        });
    kernels::sweep_rows<C>(rows_, box, factors, from, from, rhs, to);
    clear_covered(box, to);
  });
}

template <int C>
void BasicFineLevel<C>::find_residual(int box, const float* rhs, float* residual) {
  const float d = regular_diagonal_, w = face_weight_;
  float* from = x(box);
  fill_ghosts(box, from);
  for (const Run& run : boxes_[box].runs)
    kernels::for_run<C>(run, from, residual, [&](std::size_t v, float s) { return rhs[v] - d * from[v] + w * s; });
  kernels::residual_rows<C>(rows_, box, from, from, rhs, residual);
}

template <int C>
void BasicFineLevel<C>::load(const LoadValues<C>& values) {
  parallel_for(graph_->n_local(), [&](std::int64_t i) {
    const int box = static_cast<int>(i);
    for (const Segment& s : segments(box)) values(s.unknown, s.count, x_.box(box).data() + s.vof);
    clear_covered(box, x(box));
  });
}

template <int C>
void BasicFineLevel<C>::product() {
  halo_.for_boxes(x_, [&](int box) {
    Value* zero = b_.data() + graph_->vof_begin(box);
    const std::size_t n = graph_->vof_begin(box + 1) - graph_->vof_begin(box);
    std::fill_n(zero, n, Value{});
    float* to = y(box);
    find_residual(box, numbers(zero), to);
    for (std::size_t v = 0; v < C * n; ++v) to[v] = -to[v];
    clear_covered(box, to);
  });
}

template <int C>
void BasicFineLevel<C>::restrict_residual(const FineChildren& children, std::span<Value> coarse) {
  halo_.for_boxes(x_, [&](int box) {
    float* residual = numbers(scratch_[thread_number()].data());
    find_residual(box, b(box), residual);
    const std::uint16_t* child = children.child.data() + graph_->vof_begin(box);
    const std::uint16_t* end = children.end.data() + (children.node_begin[box] - children.node_begin[0]);
    int k = 0;
    for (std::int64_t node = children.node_begin[box]; node < children.node_begin[box + 1]; ++node, ++end) {
      kernels::Few sum{};
      for (; k < *end; ++k) sum += kernels::load<C>(residual + C * child[k]);
      kernels::store<C>(sum, numbers(coarse.data() + node));
    }
  });
}

template <int C>
void BasicFineLevel<C>::prolong(std::span<const Value> coarse, const FineChildren& children) {
  parallel_for(graph_->n_local(), [&](std::int64_t b) {
    float* to = x(static_cast<int>(b));
    const std::uint16_t* child = children.child.data() + graph_->vof_begin(static_cast<int>(b));
    const std::uint16_t* end = children.end.data() + (children.node_begin[b] - children.node_begin[0]);
    int k = 0;
    for (std::int64_t node = children.node_begin[b]; node < children.node_begin[b + 1]; ++node, ++end) {
      const kernels::Few value = kernels::load<C>(numbers(coarse.data() + node));
      for (; k < *end; ++k) {
        float* at = to + C * child[k];
        kernels::store<C>(kernels::load<C>(at) + value, at);
      }
    }
  });
}

template <int C>
void BasicFineLevel<C>::write_result(const StoreValues<C>& result) const {
  parallel_for(graph_->n_local(), [&](std::int64_t b) {
    const Value* x = x_.box(static_cast<int>(b)).data();
    for (const Segment& s : segments(static_cast<int>(b))) result(s.unknown, s.count, x + s.vof);
  });
}

template <int C>
void BasicFineLevel<C>::product(std::span<const double> x, std::span<double> ax) requires(C == 1) {
  if (exact_.n_components() == 0) exact_ = Field(*graph_, 1, Purpose::solver);
  parallel_for(graph_->n_local(), [&](std::int64_t b) {
    double* to = exact_.box(static_cast<int>(b)).data();
    for (const Segment& s : segments(static_cast<int>(b))) std::copy_n(x.data() + s.unknown, s.count, to + s.vof);
  });
  const double d = regular_diagonal_, w = face_weight_;
  exact_halo_.for_boxes(exact_, [&](int b) {
    double* from = exact_.box(b).data();
    fill_ghosts(b, from);
    double* to = exact_scratch_[thread_number()].data();
    for (const Run& run : boxes_[b].runs)
      kernels::for_run<1>(run, from, to, [&](std::size_t v, double s) { return d * from[v] - w * s; });
    kernels::product_rows(rows_, b, from, to);
    for (const Segment& s : segments(b)) std::copy_n(to + s.vof, s.count, ax.data() + s.unknown);
  });
}

template <int C>
std::int64_t BasicFineLevel<C>::bytes() const {
  std::int64_t bytes = row_bytes() + static_cast<std::int64_t>(x_.bytes() + y_.bytes() + b_.bytes() + exact_.bytes());
  for (const auto& scratch : scratch_) bytes += static_cast<std::int64_t>(scratch.bytes());
  for (const auto& scratch : exact_scratch_) bytes += static_cast<std::int64_t>(scratch.bytes());
  return bytes;
}

template class BasicFineLevel<1>;
template class BasicFineLevel<2>;
template class BasicFineLevel<3>;
template class BasicFineLevel<4>;

}  // namespace karst
