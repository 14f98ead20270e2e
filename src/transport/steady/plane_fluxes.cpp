// SPDX-License-Identifier: BSD-3-Clause
#include "transport/steady/plane_fluxes.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/core/text.hpp"
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

std::vector<std::string> narrow_periods(std::string_view job, const Domain& domain) {
  std::vector<std::string> found;
  for (int d = 0; d < 3; ++d) {
    const int n = domain.cells[d];
    if (domain.periodic[d] && n > 1 && n < least_cells_of_planes)
      found.push_back(
          fmt::format("{}: the domain is periodic along {} and {} cells wide there; at least {} are needed (or one, "
                      "for a 2-D problem): use smaller cells or several periods",
                      job, axis_names[d], n, least_cells_of_planes));
  }
  return found;
}

PlaneFluxes::PlaneFluxes(EllipticOperator& op)
    : op_(op),
      fluxes_(op),
      faces_(op.composite()),
      wall_(op.composite()),
      of_unknown_(op.numbering().n_own(), Purpose::solver),
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
        quarters.box(box)[vof] = at;
        if (const auto n = op.numbering().number(l, box, vof); n >= 0) of_unknown_[n] = at;
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
    parallel_for(std::ssize(y), [&](std::int64_t v) {
      const bool beyond = (part_of(of_unknown_[v], direction) >= 2) == first;
      part_[v] = beyond ? (first ? -jump : jump) : 0.0;
    });
    op_.apply(part_.span(), result_.span());
    if (advection_ != nullptr) advection_->add(part_.span(), result_.span());
    parallel_for(std::ssize(y), [&](std::int64_t v) {
      if (part_of(of_unknown_[v], direction) == (first ? 0 : 3)) y[v] += result_[v];
    });
  }
}

/// Σ f(level, box) over all boxes, threaded, in an order that depends on nothing.
template <class F>
PlaneFluxes::Sums PlaneFluxes::sum_boxes(F&& f) {
  std::vector<std::vector<Sums>> sums;
  for (const ByteField& level : quarters_) sums.emplace_back(level.n_local());
  faces_.for_boxes([&](int l, int b) { sums[l][b] = f(l, b); });
  Sums sum{};
  for (const auto& level : sums)
    for (const Sums& of_box : level)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_box[i];
  op_.comm().sum(std::span(sum));
  return sum;
}

/// Through all planes, over the faces for which counts(quarters of the VoF behind the plane).
template <class F>
PlaneFluxes::Sums PlaneFluxes::between(F&& counts) {
  const Composite& grid = *op_.composite();
  return sum_boxes([&](int l, int b) {
    const BoxGraph graph = grid.graph(l).box(b);
    const auto at = quarters_[l].box(b);
    Sums sum{};
    // A flux from the quarters `left` into the quarters `right`.
    const auto add = [&](std::uint8_t left, std::uint8_t right, auto&& flux) {
      if (left == right) return;
      for (int e = 0; e < 3; ++e) {
        const int to = part_of(right, e);
        if (to % 2 != 0 || part_of(left, e) != (to + 3) % 4 || !counts(right)) continue;
        sum[2 * e + to / 2] += flux();
      }
    };
    const auto is_vof_slot = [&](int slot) { return slot < graph.n_own + graph.halo.n_vofs(); };
    for_each_vof(graph, [&](int v, int, const std::array<std::uint16_t, 6>& slots) {
      for (int side = 0; side < 6; ++side) {
        const int slot = slots[side];
        if (!is_vof_slot(slot)) continue;
        add(at[slot], at[v], [&] {
          const auto flux = faces_.primary(l).box(b, direction_of(side));
          return is_high(side) ? -flux[slot] : flux[v];
        });
      }
    });
    std::size_t e = grid.level(l).extra_begin[b];
    for (const ExtraFace& face : graph.extra) {
      if (is_vof_slot(face.neighbour)) add(at[face.neighbour], at[face.vof], [&] { return -faces_.extra(l)[e]; });
      ++e;
    }
    if (l == 0) return sum;
    for (auto i = grid.coarse_fine_begin(l - 1, b); i < grid.coarse_fine_begin(l - 1, b + 1); ++i) {
      const LevelFace& face = grid.coarse_fine(l - 1)[i];
      if (!face.behind.found) continue;
      Index coarse = face.place.cell;
      for (int d = 0; d < 3; ++d) coarse[d] += static_cast<int>(std::lround(face.behind.center[d]));
      const std::uint8_t fine = at[vof_of(face.vof)], behind = quarters_of(grid.graph(l - 1).layout(), coarse);
      add(behind, fine, [&] { return -faces_.coarse_fine(l - 1)[i]; });
      add(fine, behind, [&] { return faces_.coarse_fine(l - 1)[i]; });
    }
    return sum;
  });
}

PlaneFluxes::Through PlaneFluxes::through(std::span<const double> c, int d, double jump) {
  Through result;
  for (const bool near_end : {false, true}) {
    if (d == nowhere && near_end) break;
    parallel_for(std::ssize(c),
                 [&](std::int64_t v) { part_[v] = near_end && part_of(of_unknown_[v], d) >= 2 ? c[v] - jump : c[v]; });
    fluxes_.find(part_.span(), faces_, wall_);
    const Sums sums =
        between([&](std::uint8_t right) { return d == nowhere || (part_of(right, d) % 3 == 0) == near_end; });
    for (int e = 0; e < 3; ++e) {
      result.end[e] += sums[2 * e];
      result.middle[e] += sums[2 * e + 1];
    }
  }
  return result;
}

void PlaneFluxes::set_advection(AdvectiveTerm* term) {
  advection_ = term;
  if (term == nullptr || sides_.size() > 0) return;
  sides_ = {of_unknown_.size(), Purpose::solver};
  parts_ = {3 * of_unknown_.size(), Purpose::solver};
}

// Values count here, not differences alone: each face has to see the function as it is on its high side. So there are
// three: as it is far from the end across d, as its low end sees it and as its high end does.
Vec3 PlaneFluxes::carried_through_ends(std::span<const double> c, int d, double jump) {
  enum Seen : unsigned { far, from_low_end, from_high_end };
  constexpr int right = 0, left = 3;
  parallel_for(std::ssize(c), [&](std::int64_t v) {
    const int along = d == nowhere ? 1 : part_of(of_unknown_[v], d);
    const Seen seen = along == 0 ? from_low_end : along == 3 ? from_high_end : far;
    unsigned sides = 0;
    for (int e = 0; e < 3; ++e) {
      const int at = part_of(of_unknown_[v], e);
      sides |= (at == left ? AdvectiveTerm::before : at == right ? AdvectiveTerm::behind + seen : 0U) << 3 * e;
    }
    sides_[v] = static_cast<std::uint16_t>(sides);
    parts_[3 * v + far] = c[v];
    parts_[3 * v + from_low_end] = along >= 2 ? c[v] - jump : c[v];
    parts_[3 * v + from_high_end] = along < 2 ? c[v] + jump : c[v];
  });
  const std::array<double, 3> sums = advection_->through_planes(parts_.span(), sides_.span());
  return {sums[0], sums[1], sums[2]};
}

EndFlux PlaneFluxes::out_of(int side, std::span<const double> c) {
  fluxes_.find(c, faces_, wall_);
  const Composite& grid = *op_.composite();
  const Sums sums = sum_boxes([&](int l, int b) {
    const BoxGraph graph = grid.graph(l).box(b);
    std::size_t e = grid.level(l).extra_begin[b];
    Sums sum{};
    for_each_face(graph, grid.level(l).box(b), [&](const FaceView& f) {
      const std::size_t extra = f.primary ? 0 : e++;
      if (f.side != side || graph.name(f.neighbour) != domain_face) return;
      const auto flux = faces_.primary(l).box(b, direction_of(side));
      const double out = !f.primary ? faces_.extra(l)[extra] : is_high(side) ? flux[f.neighbour] : -flux[f.vof];
      const Index cell = graph.cells.cell(f.cell);
      const Vec3 x = Composite::width(l) * (Vec3{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5} + f.centroid);
      for (int d = 0; d < 3; ++d) sum[d] += out * x[d];
      sum[3] += out;
    });
    return sum;
  });
  return {sums[3], (1.0 / sums[3]) * Vec3{sums[0], sums[1], sums[2]}};
}

}  // namespace karst
