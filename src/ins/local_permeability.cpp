// SPDX-License-Identifier: BSD-3-Clause
#include "ins/local_permeability.hpp"

#include <algorithm>
#include <cmath>

#include "base/timer.hpp"

namespace karst {
namespace {

constexpr int n_cycles = 4;  ///< on one level; on several one cycle, as the correction of its error diverged there
constexpr double least = 1e-4, most = 1e4;  // [cells²]

/// left = what is left of -Δk = 1, of the symmetric form; `product` has that of the level's own rows.
void find_residual(const StokesLevels& op, std::span<const Quad> product, std::span<float> left) {
  op.for_boxes([&](int l, int b, std::size_t first, std::size_t n) {
    const double width = StokesLevels::width(l);
    const FlowRows& rows = op.level(l).rows();
    for (std::size_t v = first; v < first + n; ++v)
      left[v] = static_cast<float>(width * (width * width - product[v].v[0]));
    for (const FlowRow& row : rows.of(b)) left[first + row.vof] *= row.symmetric_scale;
    for (const std::uint16_t v : rows.still_in(b)) left[first + v] = 0.0F;
  });
}

}  // namespace

std::vector<FloatField> find_permeable_lengths(StokesLevels& op, BasicGraphMultigrid<3>& velocity) {
  const Timer timer("local permeability");
  const auto n_vofs = static_cast<std::size_t>(op.n_vofs());
  Array<Quad> product(n_vofs, Purpose::buffers);
  Array<float> step(n_vofs, Purpose::buffers, 0.0F);
  op.for_boxes([&](int l, int b, std::size_t, std::size_t) { std::ranges::fill(op.level(l).values().own(b), Quad{}); });
  const int last = op.n_levels() == 1 ? n_cycles : 1;
  for (int cycle = 0; cycle < last; ++cycle) {
    op.apply(product.span());
    find_residual(op, product.span(), step.span());
    velocity.apply(
        [&](std::int64_t first, std::int32_t n, Values<3>* to) {
          const float* from = step.data() + op.place_of(first).vof;
          for (std::int32_t v = 0; v < n; ++v) to[v].v = {from[v], 0.0F, 0.0F};
        },
        [&](std::int64_t first, std::int32_t n, const Values<3>* from) {
          float* to = step.data() + op.place_of(first).vof;
          for (std::int32_t v = 0; v < n; ++v) to[v] = from[v].v[0];
        });
    op.for_boxes([&](int l, int b, std::size_t first, std::size_t) {
      for (Quad& q : op.level(l).values().own(b)) q.v[0] += double{step[first++]};
    });
  }
  std::vector<FloatField> lengths;
  for (int l = 0; l < op.n_levels(); ++l) lengths.emplace_back(op.level(l).geometry().graph, 1, Purpose::solver);
  op.for_boxes([&](int l, int b, std::size_t, std::size_t) {
    const double cells = 1.0 / (StokesLevels::width(l) * StokesLevels::width(l));
    std::ranges::transform(op.level(l).values().own(b), lengths[static_cast<std::size_t>(l)].own(b).begin(),
                           [cells](const Quad& q) {
                             return static_cast<float>(std::sqrt(std::min(std::max(least, cells * q.v[0]), most)));
                           });
  });
  op.fill_lengths(lengths);
  return lengths;
}

}  // namespace karst
