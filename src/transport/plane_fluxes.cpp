// SPDX-License-Identifier: BSD-3-Clause
#include "transport/plane_fluxes.hpp"

#include <cmath>

#include "base/parallel.hpp"
#include "eb/link/faces.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

int part_of(std::uint8_t quarters, int direction) { return quarters >> 2 * direction & 3; }

std::uint8_t quarters_of(const Layout& layout, const Index& cell) {
  unsigned bits = 0;
  for (int d = 0; d < 3; ++d) {
    const int n = layout.domain().cells[d], at = (cell[d] % n + n) % n;
    bits |= static_cast<unsigned>(4 * std::int64_t{at} / n) << 2 * d;
  }
  return static_cast<std::uint8_t>(bits);
}

}  // namespace

PlaneFluxes::PlaneFluxes(EllipticOperator& op)
    : op_(op),
      fluxes_(op),
      faces_(op.composite()),
      of_unknown_(static_cast<std::size_t>(op.numbering().n_own()), Purpose::solver),
      part_(of_unknown_.size(), Purpose::solver),
      result_(of_unknown_.size(), Purpose::solver) {
  for (int l = 0; l < op.composite()->n_levels(); ++l) {
    const LevelGraph& level = op.composite()->graph(l);
    ByteField& quarters = quarters_.emplace_back(level, 1, Purpose::solver);
    parallel_for(level.n_local(), [&](std::int64_t b) {
      const int box = static_cast<int>(b);
      const BoxGraph graph = level.box(box);
      for_each_vof(graph, [&](int vof, int cell) {
        const std::uint8_t at = quarters_of(level.layout(), graph.cells.cell(cell));
        quarters.box(box)[static_cast<std::size_t>(vof)] = at;
        if (const auto n = op.numbering().number(l, box, vof); n >= 0) of_unknown_[static_cast<std::size_t>(n)] = at;
      });
    });
    fill_halo(op.comm(), level, quarters);
  }
}

// Seen from the domain, a jump adds H beyond its upper end and takes it away below its lower one. Rows of the first
// quarter see the latter, as -H in the upper half of the domain; rows of the last quarter see the former, as H in the
// lower half. Rows that do not reach so far see exact zeros.
void PlaneFluxes::add_jump(int direction, double jump, std::span<double> y) {
  for (const bool first : {true, false}) {
    parallel_for(std::ssize(y), [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      const bool beyond = (part_of(of_unknown_[v], direction) >= 2) == first;
      part_[v] = beyond ? (first ? -jump : jump) : 0.0;
    });
    op_.apply(part_.span(), result_.span());
    parallel_for(std::ssize(y), [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      if (part_of(of_unknown_[v], direction) == (first ? 0 : 3)) y[v] += result_[v];
    });
  }
}

/// Σ f(level, box) over all boxes, threaded, in an order that depends on nothing.
template <class F>
double PlaneFluxes::sum_boxes(F&& f) {
  std::vector<std::vector<double>> sums;
  for (const ByteField& level : quarters_) sums.emplace_back(static_cast<std::size_t>(level.n_local()));
  faces_.for_boxes([&](int l, int b) { sums[static_cast<std::size_t>(l)][static_cast<std::size_t>(b)] = f(l, b); });
  double sum = 0.0;
  for (const auto& level : sums)
    for (const double of_box : level) sum += of_box;
  return op_.comm().sum(sum);
}

/// From the VoFs for which left() to those for which right(), both asked of quarters.
template <class L, class R>
double PlaneFluxes::between(L&& left, R&& right) {
  const Composite& grid = *op_.composite();
  return sum_boxes([&](int l, int b) {
    const BoxGraph graph = grid.graph(l).box(b);
    const auto at = quarters_[static_cast<std::size_t>(l)].box(b);
    const auto crosses = [&](int vof, int slot) {
      return slot < graph.n_own + graph.halo.n_vofs() && right(at[static_cast<std::size_t>(vof)]) &&
             left(at[static_cast<std::size_t>(slot)]);
    };
    double sum = 0.0;
    for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      for (int side = 0; side < 6; ++side) {
        const int slot = slots[static_cast<std::size_t>(side)];
        if (!crosses(vof, slot)) continue;
        const auto flux = faces_.primary(l).box(b, direction_of(side));
        sum += is_high(side) ? -flux[static_cast<std::size_t>(slot)] : flux[static_cast<std::size_t>(vof)];
      }
    });
    auto e = static_cast<std::size_t>(grid.level(l).extra_begin[static_cast<std::size_t>(b)]);
    for (const ExtraFace& face : graph.extra) {
      if (crosses(face.vof, face.neighbour)) sum -= faces_.extra(l)[e];
      ++e;
    }
    if (l == 0) return sum;
    for (auto i = static_cast<std::size_t>(grid.coarse_fine_begin(l - 1, b));
         i < static_cast<std::size_t>(grid.coarse_fine_begin(l - 1, b + 1)); ++i) {
      const LevelFace& face = grid.coarse_fine(l - 1)[i];
      if (!face.behind.found) continue;
      Index coarse = face.place.cell;
      for (int d = 0; d < 3; ++d) coarse[d] += static_cast<int>(std::lround(face.behind.center[d]));
      const std::uint8_t fine = at[static_cast<std::size_t>(vof_of(face.vof))],
                         behind = quarters_of(grid.graph(l - 1).layout(), coarse);
      if (right(fine) && left(behind)) sum -= faces_.coarse_fine(l - 1)[i];
      if (left(fine) && right(behind)) sum += faces_.coarse_fine(l - 1)[i];
    }
    return sum;
  });
}

double PlaneFluxes::through(int e, Plane plane, std::span<const double> c, int d, double jump) {
  const int right = plane == Plane::end ? 0 : 2, left = (right + 3) % 4;
  double sum = 0.0;
  for (const bool near_end : {false, true}) {
    if (d == nowhere && near_end) break;
    parallel_for(std::ssize(c), [&](std::int64_t i) {
      const auto v = static_cast<std::size_t>(i);
      part_[v] = near_end && part_of(of_unknown_[v], d) >= 2 ? c[v] - jump : c[v];
    });
    fluxes_.find(part_.span(), faces_, wall_);
    sum += between([&](std::uint8_t at) { return part_of(at, e) == left; },
                   [&](std::uint8_t at) {
                     if (part_of(at, e) != right) return false;
                     return d == nowhere || (part_of(at, d) % 3 == 0) == near_end;
                   });
  }
  return sum;
}

EndFlux PlaneFluxes::out_of(int side, std::span<const double> c) {
  fluxes_.find(c, faces_, wall_);
  const Composite& grid = *op_.composite();
  const auto moment = [&](const auto& weight) {
    return sum_boxes([&](int l, int b) {
      const BoxGraph graph = grid.graph(l).box(b);
      auto e = static_cast<std::size_t>(grid.level(l).extra_begin[static_cast<std::size_t>(b)]);
      double sum = 0.0;
      for_each_face(graph, grid.level(l).box(b), [&](const FaceView& f) {
        const std::size_t extra = f.primary ? 0 : e++;
        if (f.side != side || graph.name(f.neighbour) != domain_face) return;
        const auto flux = faces_.primary(l).box(b, direction_of(side));
        const double out = !f.primary      ? faces_.extra(l)[extra]
                           : is_high(side) ? flux[static_cast<std::size_t>(f.neighbour)]
                                           : -flux[static_cast<std::size_t>(f.vof)];
        const Index cell = graph.cells.cell(f.cell);
        sum += out * weight(Composite::width(l) * (Vec3{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5} + f.centroid));
      });
      return sum;
    });
  };
  EndFlux flux;
  flux.total = moment([](const Vec3&) { return 1.0; });
  for (int d = 0; d < 3; ++d) flux.at[d] = moment([d](const Vec3& x) { return x[d]; }) / flux.total;
  return flux;
}

}  // namespace karst
