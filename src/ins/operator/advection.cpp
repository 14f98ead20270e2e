// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/advection.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/flow_kernels.hpp"

namespace karst {
namespace {

using kernels::Four;

constexpr float least_volume = 0.25F;  ///< of a cell: smaller ones count as this

Four velocity(const Quad& q) { return Four{q.v[0], q.v[1], q.v[2], 0.0}; }

/// What the kernels read of a box.
struct BoxView {
  const Quad *x, *w;
  const float* t;
  const Vec3& force;

  std::array<double, 6> fluxes(std::size_t v, const std::array<std::uint16_t, 6>& n) const {
    std::array<double, 6> out;
    for (std::size_t s = 0; s < 6; ++s) out[s] = kernels::flux_out(w, t, v, n[s], s, force.v[s / 2], 1.0, 0.0);
    return out;
  }
  std::array<double, 6> fluxes(const FlowRow& row) const {
    std::array<double, 6> out{};
    for (std::size_t s = 0; s < 6; ++s)
      if (row.area[s] > 0.0F)
        out[s] =
            kernels::flux_out(w, t, row.vof, row.slot[s], s, force.v[s / 2], double{row.area[s]}, double{row.bend[s]});
    return out;
  }
  double flux(const FlowExtra& face) const { return kernels::flux_out(x, w, t, face, force); }
  /// Of an Advection::End.
  double flux(const auto& end) const {
    return kernels::flux_out(w, t, end.vof, end.slot, end.side, force.v[end.side / 2U], double{end.area},
                             double{end.bend});
  }
};

/// Σ F (x_neighbour - x) / 2 over the six sides.
template <class Fluxes>
Four carried(const Quad* x, std::size_t v, const std::array<std::uint16_t, 6>& n, const Fluxes& fluxes) {
  const Four here = velocity(x[v]);
  Four sum{};
  for (std::size_t s = 0; s < 6; ++s) sum += kernels::all(0.5 * double{fluxes[s]}) * (velocity(x[n[s]]) - here);
  return sum;
}
/// The same through an extra face.
Four carried(const Quad* x, const FlowExtra& face, double flux) {
  return kernels::all(0.5 * flux) * (velocity(x[face.neighbour]) - velocity(x[face.vof]));
}

/// What the face of an end adds to that: F (ghost - x) / 2 once more with the velocity of the end, the same with a
/// ghost at rest where fluid comes back in.
Four carried_more(const Quad* x, std::size_t vof, std::size_t slot, bool given, double flux) {
  const Four ghost = given ? velocity(x[slot]) : Four{};
  return kernels::all(0.5 * flux) * (ghost - velocity(x[vof]));
}

void add_to(Quad& y, const Four& f) {
  for (std::size_t d = 0; d < 3; ++d) y.v[d] += f[d];
}

}  // namespace

AdvectingFluxes::AdvectingFluxes(const StokesOperator& op)
    : sides(static_cast<std::size_t>(op.n_own()), Purpose::solver, {}),
      extra(op.rows().extra.size(), Purpose::solver) {}

BaseFlow::BaseFlow(const StokesOperator& op) : values(op.geometry().graph, 1, Purpose::solver), fluxes(op) {}

Advection::Advection(const StokesOperator& op)
    : op_(&op), inverse_volume_(static_cast<std::size_t>(op.n_own()), Purpose::solver, 1.0F) {
  const LevelGraph& graph = op.geometry().graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    find_ends(b);
    const BoxGraph box = graph.box(b);
    const auto moments = op.geometry().box(b).moments;
    for (std::size_t r = 0; r < moments.size(); ++r)
      inverse_volume_[graph.vof_begin(b) + box.row_vof[r]] =
          1.0F / std::max(static_cast<float>(moments[r].kappa), least_volume);
  }
}

void Advection::find_ends(int b) {
  const BoxGraph graph = op_->geometry().graph.box(b);
  const std::span<const FlowRow> rows = op_->rows().of(b);
  const auto first = static_cast<std::size_t>(op_->geometry().graph.vof_begin(b));
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

/// cell(box, its first own VoF, VoF, slots, fluxes) for all flow cells, extra(box, first, face, its index, flux) for
/// all extra faces, at_end(box, first, end, flux) for ends_: fluxes of u.
template <class Cell, class Extra, class AtEnd>
void Advection::for_faces(const LevelValues& u, const Vec3& force, Cell&& cell, Extra&& extra, AtEnd&& at_end) const {
  const LevelGraph& graph = op_->geometry().graph;
  parallel_for(graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const auto first = static_cast<std::size_t>(graph.vof_begin(b));
    const BoxView view{u.x.box(b).data(), u.mean.box(b).data(), op_->inverse_diagonal().box(b).data(), force};
    kernels::for_plain(graph.box(b), [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      if (op_->is_plain(first + v)) cell(b, first, v, n, view.fluxes(v, n));
    });
    for (const FlowRow& row : op_->rows().of(b)) cell(b, first, row.vof, row.slot, view.fluxes(row));
    auto e = static_cast<std::size_t>(op_->rows().extra_begin[b]);
    for (const FlowExtra& face : op_->rows().extra_of(b)) extra(b, first, face, e++, view.flux(face));
    const auto box = static_cast<std::size_t>(b);
    for (auto k = static_cast<std::size_t>(ends_begin_[box]); k < static_cast<std::size_t>(ends_begin_[box + 1]); ++k)
      at_end(b, first, ends_[k], view.flux(ends_[k]));
  });
}

void Advection::add(double factor, const LevelValues& u, const StokesDrive& drive, std::span<Quad> y) const {
  const auto part = [&](std::size_t v) { return kernels::all(factor * double{inverse_volume_[v]}); };
  for_faces(
      u, drive.force,
      [&](int b, std::size_t first, std::size_t v, const std::array<std::uint16_t, 6>& n, const auto& fluxes) {
        add_to(y[first + v], part(first + v) * carried(u.x.box(b).data(), v, n, fluxes));
      },
      [&](int b, std::size_t first, const FlowExtra& face, std::size_t, double flux) {
        add_to(y[first + face.vof], part(first + face.vof) * carried(u.x.box(b).data(), face, flux));
      },
      [&](int b, std::size_t first, const End& e, double flux) {
        if (e.given || flux < 0.0)
          add_to(y[first + e.vof], part(first + e.vof) * carried_more(u.x.box(b).data(), e.vof, e.slot, e.given, flux));
      });
}

void Advection::set_base(const LevelValues& u, const StokesDrive& drive, BaseFlow& to) const {
  const LevelGraph& graph = op_->geometry().graph;
  parallel_for(graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    std::ranges::copy(u.x.box(b), to.values.box(b).begin());
  });
  for_faces(
      u, drive.force,
      [&](int, std::size_t first, std::size_t v, const std::array<std::uint16_t, 6>&, const auto& fluxes) {
        for (std::size_t s = 0; s < 6; ++s) to.fluxes.sides[first + v][s] = static_cast<float>(fluxes[s]);
      },
      [&](int, std::size_t, const FlowExtra&, std::size_t e, double flux) {
        to.fluxes.extra[e] = static_cast<float>(flux);
      },
      [](int, std::size_t, const End&, double) {});
}

void Advection::add_linearised(double factor, const BaseFlow& u, const LevelValues& v, std::span<Quad> y) const {
  const auto part = [&](std::size_t vof) { return kernels::all(factor * double{inverse_volume_[vof]}); };
  for_faces(
      v, {},
      [&](int b, std::size_t first, std::size_t vof, const std::array<std::uint16_t, 6>& n, const auto& fluxes) {
        const Four sum = carried(v.x.box(b).data(), vof, n, u.fluxes.sides[first + vof]) +
                         carried(u.values.box(b).data(), vof, n, fluxes);
        add_to(y[first + vof], part(first + vof) * sum);
      },
      [&](int b, std::size_t first, const FlowExtra& face, std::size_t e, double flux) {
        const Four sum =
            carried(v.x.box(b).data(), face, double{u.fluxes.extra[e]}) + carried(u.values.box(b).data(), face, flux);
        add_to(y[first + face.vof], part(first + face.vof) * sum);
      },
      [&](int b, std::size_t first, const End& e, double flux) {
        const double kept = u.fluxes.sides[first + e.vof][e.side];
        if (!e.given && kept >= 0.0) return;
        const Four sum = carried_more(v.x.box(b).data(), e.vof, e.slot, e.given, kept) +
                         carried_more(u.values.box(b).data(), e.vof, e.slot, e.given, flux);
        add_to(y[first + e.vof], part(first + e.vof) * sum);
      });
}

/// cell(box, its first own VoF, VoF, slots, areas of the faces) for all flow cells.
template <class Cell>
void Advection::for_cells(Cell&& cell) const {
  constexpr std::array<float, 6> whole{1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F};
  const LevelGraph& graph = op_->geometry().graph;
  parallel_for(graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const auto first = static_cast<std::size_t>(graph.vof_begin(b));
    kernels::for_plain(graph.box(b), [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      if (op_->is_plain(first + v)) cell(b, first, v, n, whole);
    });
    for (const FlowRow& row : op_->rows().of(b)) cell(b, first, row.vof, row.slot, row.area);
  });
}

double Advection::combine(const std::array<Past, 2>& flows, AdvectingFluxes& to) const {
  for_cells([&](int, std::size_t first, std::size_t v, const auto&, const std::array<float, 6>& area) {
    for (std::size_t s = 0; s < 6; ++s) {
      double mean = 0.0;
      for (const Past& flow : flows)
        if (flow.weight != 0.0) mean += flow.weight * flow.velocities[first + v][s];
      to.sides[first + v][s] = static_cast<float>(double{area[s]} * mean);
    }
  });
  parallel_for(std::ssize(to.extra.span()), [&](std::int64_t e) {
    double flux = 0.0;
    for (const Past& flow : flows)
      if (flow.weight != 0.0) flux += flow.weight * double{flow.extra[e]};
    to.extra[e] = static_cast<float>(flux);
  });
  return parallel_max(std::ssize(to.sides.span()), [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    double out = 0.0;
    for (const float f : to.sides[v]) out += std::max(0.0F, f);
    return out * double{inverse_volume_[v]};
  });
}

void Advection::add_carried(double factor, const AdvectingFluxes& w, const LevelValues& v, std::span<Quad> y) const {
  const auto part = [&](std::size_t i) { return kernels::all(factor * double{inverse_volume_[i]}); };
  for_cells([&](int b, std::size_t first, std::size_t i, const std::array<std::uint16_t, 6>& n, const auto&) {
    add_to(y[first + i], part(first + i) * carried(v.x.box(b).data(), i, n, w.sides[first + i]));
  });
  const LevelGraph& graph = op_->geometry().graph;
  parallel_for(graph.n_local(), [&](std::int64_t i) {
    const int b = static_cast<int>(i);
    const auto first = static_cast<std::size_t>(graph.vof_begin(b));
    auto e = static_cast<std::size_t>(op_->rows().extra_begin[b]);
    for (const FlowExtra& face : op_->rows().extra_of(b))
      add_to(y[first + face.vof], part(first + face.vof) * carried(v.x.box(b).data(), face, double{w.extra[e++]}));
    const auto box = static_cast<std::size_t>(b);
    for (auto k = static_cast<std::size_t>(ends_begin_[box]); k < static_cast<std::size_t>(ends_begin_[box + 1]); ++k) {
      const End& end = ends_[k];
      const double flux = double{w.sides[first + end.vof][end.side]};
      if (end.given || flux < 0.0)
        add_to(y[first + end.vof],
               part(first + end.vof) * carried_more(v.x.box(b).data(), end.vof, end.slot, end.given, flux));
    }
  });
}

}  // namespace karst
