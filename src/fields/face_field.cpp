// SPDX-License-Identifier: BSD-3-Clause
#include "fields/face_field.hpp"

#include <algorithm>

#include "base/core/error.hpp"

namespace karst {
namespace {

/// Of the faces that the slots of a box hold.
void primary_balance(const BoxGraph& graph, const Field& flux, int b, double* out) {
  for (int d = 0; d < 3; ++d) {
    const double* const f = flux.box(b, d).data();
    const std::size_t high = high_side(d);
    const auto add = [&](std::size_t v, double balance) { out[v] = d == 0 ? balance : out[v] + balance; };
    for (const Run& run : graph.runs)
      for (int t = 0; t < run.length; ++t) {
        const std::size_t v = run.first + t;
        add(v, f[run.neighbours(t)[high]] - f[v]);
      }
    for (std::size_t r = 0; r < graph.row_vof.size(); ++r)
      add(graph.row_vof[r], f[graph.neighbours[r][high]] - f[graph.row_vof[r]]);
  }
}

}  // namespace

FaceField::FaceField(std::shared_ptr<const Composite> composite) : composite_(std::move(composite)) {
  const Composite& g = *composite_;
  for (int l = 0; l < g.n_levels(); ++l) {
    const std::size_t n = g.coarse_fine(l).size();
    levels_.push_back({Field(g.graph(l), 3), Array<double>(g.level(l).extra.size(), Purpose::fields, 0.0),
                       Array<double>(n + g.remote_entrances(l).size(), Purpose::fields, 0.0), n,
                       ListExchange(g.comm(), g.remote_entrances(l)), HaloExchange<double>(g.comm(), g.graph(l))});
  }
}

std::int64_t FaceField::bytes() const {
  std::size_t sum = 0;
  for (const Level& l : levels_) sum += l.primary.bytes() + l.extra.bytes() + l.coarse_fine.bytes();
  return static_cast<std::int64_t>(sum);
}

void divergence(FaceField& flux, CellField& out, int component) {
  require(flux.composite() == out.composite(), "divergence: fluxes and result are on different grids");
  const Composite& grid = flux.grid();
  flux.for_boxes([&](int l, int b) {
    const BoxGraph graph = grid.graph(l).box(b);
    double* const sum = out.level(l).own(b, component).data();
    primary_balance(graph, flux.primary(l), b, sum);
    const auto part = [b](const auto& of_level, const auto& begin) {
      return of_level.subspan(begin[b], begin[b + 1] - begin[b]);
    };
    const auto extra = part(flux.extra(l), grid.level(l).extra_begin);
    for (std::size_t e = 0; e < extra.size(); ++e) sum[graph.extra[e].vof] += extra[e];
    if (l > 0)
      for (auto i = grid.coarse_fine_begin(l - 1, b); i < grid.coarse_fine_begin(l - 1, b + 1); ++i)
        sum[vof_of(grid.coarse_fine(l - 1)[i].vof)] += flux.coarse_fine(l - 1)[i];
    if (l + 1 < grid.n_levels())
      for (const CoarseEntrance& e : grid.entrances_in(l, b)) sum[e.vof] -= flux.entering(l)[e.value];
    for (const std::uint16_t v : grid.covered_in(l, b)) sum[v] = 0.0;
  });
}

}  // namespace karst
