// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/advection.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/advection_kernels.hpp"

namespace karst {
namespace {

using kernels::Four;

constexpr float least_volume = 0.25F;  ///< of a cell: smaller ones count as this
/// A wall nearer than this on a grid line counts as this far away in second differences. In short steps a cell beside a
/// wall does not follow it, and what is divided by a small distance would make energy faster than friction takes it.
constexpr double nearest_wall = 0.5;
constexpr std::array<float, 6> all_open{1.0F, 1.0F, 1.0F,
                                        1.0F, 1.0F, 1.0F};  ///< open parts of the sides of a plain cell

/// A flow on one box and what it makes flow through faces, from values of the operator.
template <class Cells>
struct PresentFlow {
  PresentFlow(const Cells& carrying, const StokesOperator& op, const LevelValues& u, int b, const Vec3& drive)
      : cells(carrying), w(u.mean.box(b).data()), t(op.inverse_diagonal().box(b).data()), force(drive) {}
  Cells cells;
  const Quad* w;
  const float* t;
  Vec3 force;

  double flux(std::size_t v, std::size_t n, std::size_t s, double area, double bend) const {
    return kernels::flux_out(w, t, v, n, s, force.v[s / 2], area, bend);
  }
  /// @param row  of the cell; none: a plain one
  std::array<double, 6> fluxes(std::size_t v, const std::array<std::uint16_t, 6>& n, const FlowRow* row) const {
    std::array<double, 6> out{};
    for (std::size_t s = 0; s < 6; ++s) {
      if (row == nullptr)
        out[s] = flux(v, n[s], s, 1.0, 0.0);
      else if (row->area[s] > 0.0F)
        out[s] = flux(v, n[s], s, double{row->area[s]}, double{row->bend[s]});
    }
    return out;
  }
  double extra(const FlowExtra& face, std::size_t) const { return kernels::flux_out(cells.cells.x, w, t, face, force); }
  double at_end(const auto& end) const { return flux(end.vof, end.slot, end.side, double{end.area}, double{end.bend}); }
  double excess(const StokesOperator::LevelGhost& g) const {
    return cells.excess(g, flux(g.vof, g.slot, g.side, double{g.area}, double{g.bend}));
  }
};

/// The same of a flow that is kept, to carry.
struct KeptFlow {
  KeptFlow(const StokesOperator& op, const BaseFlow& flow, int b, double inertia)
      : cells(flow, b), bounds(inertia), kept(flow.fluxes), first(op.geometry().graph.vof_begin(b)) {}
  kernels::KeptCarrying cells;
  kernels::CarryingBounds bounds;
  const AdvectingFluxes& kept;
  std::size_t first;

  const std::array<float, 6>& fluxes(std::size_t v, const std::array<std::uint16_t, 6>&, const FlowRow*) const {
    return kept.sides[first + v];
  }
  double extra(const FlowExtra&, std::size_t e) const { return double{kept.extra[e]}; }
  double at_end(const auto& end) const { return double{kept.sides[first + end.vof][end.side]}; }
  double excess(const StokesOperator::LevelGhost& g) const { return bounds.excess(at_end(g)); }
};

/// @param f  0 in the fourth place
void add_to(Quad& y, const Four& f) { kernels::store(kernels::load(y) + f, y); }

// Own cells, halo and ghosts of a box, once its curvature is there.
void keep_carrying(const kernels::PresentCarrying& cells, int b, BaseFlow& to) {
  const std::span<Values<6>> kept = to.carrying.box(b);
  for (std::size_t v = 0; v < kept.size(); ++v)
    for (std::size_t d = 0; d < 3; ++d) {
      kept[v].v[d] = static_cast<float>(cells.through(v, d));
      kept[v].v[3 + d] = static_cast<float>(cells.curved(v, d));
    }
}
void keep_carried(const LevelValues& u, int b, BaseFlow& to) {
  const std::span<const Quad> x = u.x.box(b);
  const std::span<Values<12>> kept = to.carried.box(b);
  const auto keep = [](const Quad& from, float* at) {
    for (std::size_t c = 0; c < 3; ++c) at[c] = static_cast<float>(from.v[c]);
  };
  for (std::size_t v = 0; v < x.size(); ++v) {
    keep(x[v], kept[v].v.data());
    for (int d = 0; d < 3; ++d) keep(u.curvature.box(b, d)[v], kept[v].v.data() + 3 + 3 * d);
  }
}

}  // namespace

AdvectingFluxes::AdvectingFluxes(const StokesOperator& op)
    : sides(op.n_own(), Purpose::solver, {}), extra(op.rows().extra.size(), Purpose::solver) {}

BaseFlow::BaseFlow(const StokesOperator& op) : carrying(op.geometry().graph, 1, Purpose::solver), fluxes(op) {}

Advection::Advection(const StokesOperator& op)
    : op_(&op),
      inverse_volume_(op.n_own(), Purpose::solver, 1.0F),
      aperture_(op.geometry().graph, 1, Purpose::solver),
      halo_(op.comm(), op.geometry().graph) {
  const LevelGraph& graph = op.geometry().graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    find_ends(b);
    const BoxGraph box = graph.box(b);
    const auto moments = op.geometry().box(b).moments;
    for (std::size_t r = 0; r < moments.size(); ++r)
      inverse_volume_[graph.vof_begin(b) + box.row_vof[r]] =
          1.0F / std::max(static_cast<float>(moments[r].kappa), least_volume);
  }
  find_apertures();
}

void Advection::find_apertures() {
  for (int b = 0; b < op_->geometry().graph.n_local(); ++b) {
    const std::span<Values<3>> to = aperture_.box(b);
    const auto closed = op_->geometry().graph.box(b).closed();
    for_cells(b, [&](std::size_t v, const auto& n, const std::array<float, 6>& area, const FlowRow* row) {
      const auto meets_wall = [&](std::size_t s) { return n[s] == closed || (row != nullptr && row->theta[s] < 1.0F); };
      for (std::size_t d = 0; d < 3; ++d) {
        const auto [least, most] = std::minmax(area[2 * d], area[2 * d + 1]);
        const float shared = least > 0.0F ? least : most;
        to[v].v[d] = meets_wall(2 * d) || meets_wall(2 * d + 1) ? -shared : shared;
      }
    });
  }
  HaloExchange<Values<3>>(op_->comm(), op_->geometry().graph).for_boxes(aperture_, [&](int b) {
    const std::span<Values<3>> to = aperture_.box(b);
    for (const StokesOperator::LevelGhost& g : op_->level_ghosts_of(b)) to[g.slot] = to[g.vof];
    for (const StokesOperator::Ghost& g : op_->ghosts_of(b)) to[g.slot] = to[g.vof];
  });
}

void Advection::find_ends(int b) {
  const BoxGraph graph = op_->geometry().graph.box(b);
  const std::span<const FlowRow> rows = op_->rows().of(b);
  const std::size_t first = op_->geometry().graph.vof_begin(b);
  const auto add = [&](std::uint16_t vof, std::uint16_t slot, std::size_t s) {
    const EndInflow inflow = inflow_at(op_->sides()[s]);
    if (graph.name(slot) != domain_face || inflow == EndInflow::as_inside ||
        std::ranges::binary_search(op_->rows().still_in(b), vof))
      return;
    End end{vof, slot, static_cast<std::uint8_t>(s), inflow == EndInflow::as_given, 1.0F, 0.0F};
    if (!op_->is_plain(first + vof)) {
      const auto row = std::ranges::lower_bound(rows, vof, {}, &FlowRow::vof);
      if (row == rows.end() || row->vof != vof || row->area[s] == 0.0F) return;
      end.area = row->area[s];
      end.bend = row->bend[s];
    }
    ends_.push_back(end);
  };
  if (graph.halo.n_domain() > 0)
    for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      for (std::size_t s = 0; s < 6; ++s)
        if (slots[s] != graph.closed()) add(static_cast<std::uint16_t>(vof), slots[s], s);
    });
  ends_begin_.push_back(std::ssize(ends_));
}

/// cell(VoF, slots, open parts of its sides, its row if it has one) for all flow cells of a box.
template <class Cell>
void Advection::for_cells(int b, Cell&& cell) const {
  const std::size_t first = op_->geometry().graph.vof_begin(b);
  kernels::for_plain(op_->geometry().graph.box(b), [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
    if (op_->is_plain(first + v)) cell(v, n, all_open, static_cast<const FlowRow*>(nullptr));
  });
  for (const FlowRow& row : op_->rows().of(b)) cell(std::size_t{row.vof}, row.slot, row.area, &row);
}

/// Of the own VoFs of a box: by parabolas through the neighbours, or the points where grid lines meet a wall.
void Advection::find_curvature(int b, LevelValues& u, const StokesDrive& drive, Carries carries) const {
  const Quad* x = u.x.box(b).data();
  const std::array<Quad*, 3> second{u.curvature.box(b, 0).data(), u.curvature.box(b, 1).data(),
                                    u.curvature.box(b, 2).data()};
  const auto closed = op_->geometry().graph.box(b).closed();
  for_cells(b, [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const auto&, const FlowRow* row) {
    const Four at = kernels::velocity(x[v]);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t low = 2 * d, high = low + 1;
      const Four below = kernels::velocity(x[n[low]]) - at, above = kernels::velocity(x[n[high]]) - at;
      if (row == nullptr) {
        kernels::store(below + above, second[d][v]);
        continue;
      }
      const auto theta = [&](std::size_t s) {
        return n[s] == closed ? std::max(double{row->theta[s]}, nearest_wall) : double{row->theta[s]};
      };
      const double l = theta(low), h = theta(high);
      kernels::store(kernels::all(2.0 / (l + h)) * (below / kernels::all(l) + above / kernels::all(h)), second[d][v]);
    }
  });
  for (const StokesOperator::EndWall& wall : op_->end_walls_of(b))
    for (std::size_t c = 0; c < 3; ++c)
      second[wall.side / 2U][wall.vof].v[c] += double{wall.viscous} * drive.of_wall[wall.side].v[c];
  if (carries == Carries::no) return;
  for_cells(b, [&](std::size_t v, const auto&, const std::array<float, 6>& area, const FlowRow*) {
    for (std::size_t d = 0; d < 3; ++d)
      second[d][v].v[3] = area == all_open ? second[0][v].v[d] + second[1][v].v[d] + second[2][v].v[d] : 0.0;
  });
}

/// Ghosts are as curved as their cells; behind an end without flow through it the normal velocity is odd.
void Advection::fill_ghosts(int b, QuadField& curvature) const {
  for (int d = 0; d < 3; ++d) {
    const std::span<Quad> second = curvature.box(b, d);
    for (const StokesOperator::LevelGhost& g : op_->level_ghosts_of(b)) second[g.slot] = second[g.vof];
    for (const StokesOperator::Ghost& g : op_->ghosts_of(b)) {
      second[g.slot] = second[g.vof];
      if (op_->sides()[g.side] != FlowSide::symmetry) continue;
      second[g.slot].v[g.side / 2U] *= -1.0;
      if (d == g.side / 2) second[g.slot].v[3] *= -1.0;
    }
  }
}

/// of_box(box) for all own boxes, with the curvature of u there, halo and level ghosts included; K where u carries.
template <class OfBox>
void Advection::with_curvature(LevelValues& u, const StokesDrive& drive, Carries carries, OfBox&& of_box) const {
  const LevelGraph& graph = op_->geometry().graph;
  if (u.curvature.n_components() == 0) u.curvature = QuadField(graph, 3, Purpose::solver);
  parallel_for_shares(graph.slots()->begin,
                      [&](std::int64_t b) { find_curvature(static_cast<int>(b), u, drive, carries); });
  halo_.for_boxes(u.curvature, [&](int b) {
    fill_ghosts(b, u.curvature);
    of_box(b);
  });
}

/// y += factor (w·∇)u on one box.
/// @param deciding  the flow whose fluxes tell where fluid comes back in
template <class Carrying, class Carried, class Deciding>
void Advection::carry(int b, double factor, const Carrying& w, const Carried& u, const Deciding& deciding,
                      std::span<Quad> y) const {
  const LevelGraph& graph = op_->geometry().graph;
  const std::size_t first = graph.vof_begin(b);
  const auto part = [&](std::size_t v) { return kernels::all(factor * double{inverse_volume_[first + v]}); };
  for_cells(b, [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const std::array<float, 6>& area,
                   const FlowRow* row) {
    const auto& fluxes = w.fluxes(v, n, row);
    if (row == nullptr) {
      add_to(y[first + v], part(v) * kernels::carried_by_plain(w.cells, u, v, n, fluxes));
      return;
    }
    const Four here = u.at(v);
    Four sum{};
    for (std::size_t s = 0; s < 6; ++s)
      if (area[s] > 0.0F)
        sum += kernels::all(0.5 * double{fluxes[s]}) * (u.at(n[s]) - here) +
               kernels::beyond_means(w.cells, u, {v, n[s], s, double{area[s]}, 0.0});
    add_to(y[first + v], part(v) * sum);
  });
  std::size_t e = op_->rows().extra_begin[b];
  for (const FlowExtra& face : op_->rows().extra_of(b))
    add_to(y[first + face.vof],
           part(face.vof) * kernels::all(0.5 * w.extra(face, e++)) * (u.at(face.neighbour) - u.at(face.vof)));
  for (const StokesOperator::LevelGhost& g : op_->level_ghosts_of(b))
    if (const double excess = w.excess(g); excess != 0.0)
      add_to(y[first + g.vof], part(g.vof) * kernels::all(0.5 * excess) * (u.at(g.vof) - u.at(g.slot)));
  // F (ghost - u) / 2 once more with the velocity of the end, the same with a ghost at rest where fluid comes back in.
  for (const End& end : ends_of(b)) {
    if (!end.given && deciding.at_end(end) >= 0.0) continue;
    const Four ghost = end.given ? u.at(end.slot) : Four{};
    add_to(y[first + end.vof], part(end.vof) * kernels::all(0.5 * w.at_end(end)) * (ghost - u.at(end.vof)));
  }
}

void Advection::add(double factor, LevelValues& u, const StokesDrive& drive, std::span<Quad> y) const {
  with_curvature(u, drive, Carries::yes, [&](int b) {
    const PresentFlow flow(kernels::PresentCarrying(*this, u, b, factor), *op_, u, b, drive.force);
    carry(b, factor, flow, flow.cells.cells, flow, y);
  });
}

void Advection::set_base(double inertia, LevelValues& u, const StokesDrive& drive, BaseFlow& to) const {
  if (to.carried.n_components() == 0) to.carried = BasicField<Values<12>>(op_->geometry().graph, 1, Purpose::solver);
  with_curvature(u, drive, Carries::yes, [&](int b) {
    const kernels::PresentCarrying cells(*this, u, b, inertia);
    keep_carrying(cells, b, to);
    keep_carried(u, b, to);
    const std::size_t first = op_->geometry().graph.vof_begin(b);
    const PresentFlow flow(cells, *op_, u, b, drive.force);
    for_cells(b, [&](std::size_t v, const std::array<std::uint16_t, 6>& n, const auto&, const FlowRow* row) {
      const std::array<double, 6> fluxes = flow.fluxes(v, n, row);
      std::ranges::transform(fluxes, to.fluxes.sides[first + v].begin(),
                             [](double f) { return static_cast<float>(f); });
    });
    std::size_t e = op_->rows().extra_begin[b];
    for (const FlowExtra& face : op_->rows().extra_of(b)) {
      to.fluxes.extra[e] = static_cast<float>(flow.extra(face, e));
      ++e;
    }
  });
}

void Advection::set_carrying(double inertia, LevelValues& w, const StokesDrive& drive, BaseFlow& to) const {
  with_curvature(w, drive, Carries::yes,
                 [&](int b) { keep_carrying(kernels::PresentCarrying(*this, w, b, inertia), b, to); });
}

void Advection::add_linearised(double factor, const BaseFlow& u, LevelValues& v, std::span<Quad> y) const {
  with_curvature(v, {}, Carries::yes, [&](int b) {
    const KeptFlow base(*op_, u, b, factor);
    const PresentFlow change(kernels::ChangeOfCarrying(*this, v, u, b, factor), *op_, v, b, {});
    carry(b, factor, base, change.cells.cells, base, y);
    carry(b, factor, change, kernels::KeptCarried(u, b), base, y);
  });
}

void Advection::add_carried(double factor, const BaseFlow& w, LevelValues& v, const StokesDrive& drive,
                            std::span<Quad> y) const {
  with_curvature(v, drive, Carries::no, [&](int b) {
    const KeptFlow base(*op_, w, b, factor);
    carry(b, factor, base, kernels::PresentCells(v, b), base, y);
  });
}

double Advection::flux_through(const StokesOperator::LevelGhost& g, const BaseFlow& w) const {
  return double{w.fluxes.sides[op_->geometry().graph.vof_begin(g.box) + g.vof][g.side]};
}

double Advection::combine(const std::array<Past, 2>& flows, AdvectingFluxes& to) const {
  const LevelGraph& graph = op_->geometry().graph;
  parallel_for(graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const std::size_t first = graph.vof_begin(b);
    for_cells(b, [&](std::size_t v, const auto&, const std::array<float, 6>& area, const FlowRow*) {
      for (std::size_t s = 0; s < 6; ++s) {
        double mean = 0.0;
        for (const Past& flow : flows)
          if (flow.weight != 0.0) mean += flow.weight * flow.velocities[first + v][s];
        to.sides[first + v][s] = static_cast<float>(double{area[s]} * mean);
      }
    });
  });
  parallel_for(std::ssize(to.extra.span()), [&](std::int64_t e) {
    double flux = 0.0;
    for (const Past& flow : flows)
      if (flow.weight != 0.0) flux += flow.weight * double{flow.extra[e]};
    to.extra[e] = static_cast<float>(flux);
  });
  return parallel_max(std::ssize(to.sides.span()), [&](std::int64_t v) {
    double out = 0.0;
    for (const float f : to.sides[v]) out += std::max(0.0F, f);
    return out * double{inverse_volume_[v]};
  });
}

}  // namespace karst
