// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/sample_flow.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fields/face_field.hpp"
#include "grid/vof_loops.hpp"
#include "ins/upscale/wall_drag.hpp"

namespace karst {
namespace {

/// f(own box, VoF, its number in the solution, its cell) for all own VoFs.
template <class F>
void for_each_cell(const LevelGraph& graph, F&& f) {
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) { f(b, vof, graph.vof_begin(b) + vof, box.cells.cell(cell)); });
  }
}

/// Of values that were applied: Σ u_d and u_d² over the cells of the first and of the last plane of the domain, and
/// friction on the sides outside of the sample.
struct ReservoirSums {
  std::array<double, 2> velocity{}, square{};
  double friction = 0.0;
};

/// The sums of one box.
void add_box(const StokesOperator& op, const QuadField& values, const SampleCells& sample, int b, ReservoirSums& sums) {
  const BoxGraph box = op.geometry().graph.box(b);
  const Quad* x = values.box(b).data();
  const std::span<const FlowRow> rows = op.rows().of(b);
  const std::size_t axis = sample.axis;
  const int last = op.geometry().graph.layout().domain().cells[sample.axis] - 1;
  for_each_vof(box, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
    const Index at = box.cells.cell(cell);
    if (sample.holds(at)) return;
    for (std::size_t end = 0; end < 2; ++end) {
      if (at[sample.axis] != (end == 0 ? 0 : last)) continue;
      const double u = x[vof].v[axis];
      sums.velocity[end] += u;
      sums.square[end] += u * u;
    }
    for (std::size_t s = 0; s < 6; ++s) {
      if (s / 2 == axis || !is_wall(op.sides()[s]) || box.name(slots[s]) != domain_face) continue;
      const auto row = std::ranges::lower_bound(rows, static_cast<std::uint16_t>(vof), {}, &FlowRow::vof);
      if (row != rows.end() && row->vof == vof)
        sums.friction += slope_towards(x, *row, static_cast<int>(s), to_side)[sample.axis];
    }
  });
}

/// Σ over the faces of the sample of flux times step from cell to cell, across the axis.
Vec3 sideways(StokesSolver& solver, const SampleCells& sample, const Vec3& force) {
  const FaceField all = solver.face_fluxes();
  const Field& fluxes = all.primary(0);
  const StokesOperator& op = solver.op().level(0);
  const LevelValues& u = solver.values().level(0);
  Vec3 sum;
  for_each_cell(op.geometry().graph, [&](int b, int vof, std::size_t, const Index& cell) {
    if (!sample.holds(cell)) return;
    for (int e = 0; e < 3; ++e)
      if (e != sample.axis) sum[e] += fluxes.box(b, e)[vof];
  });
  const LevelGraph& graph = op.geometry().graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    std::vector<std::uint8_t> inside(box.n_own);
    for_each_vof(box, [&](int vof, int cell) { inside[vof] = sample.holds(box.cells.cell(cell)); });
    for (const FlowExtra& face : op.rows().extra_of(b))
      if (inside[face.vof] != 0)
        for (int e = 0; e < 3; ++e)
          if (e != sample.axis) sum[e] += 0.5 * op.extra_flux(u, b, face, force) * face.step[e];
  }
  op.comm().sum(std::span(sum.v));
  return sum;
}

}  // namespace

SampleDrop sample_drop(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive, double inertia) {
  solver.residual(drive, solver.krylov().work());
  const StokesOperator& op = solver.op().level(0);
  ReservoirSums all;
  for (int b = 0; b < op.geometry().graph.n_local(); ++b) add_box(op, solver.values().level(0).x, sample, b, all);
  std::array sums{all.velocity[0], all.square[0], all.friction, all.velocity[1], all.square[1]};
  op.comm().sum(std::span(sums));
  const Domain& domain = op.geometry().graph.layout().domain();
  const double length = domain.cells[sample.axis], area = static_cast<double>(domain.box().count()) / length;
  const auto unevenness = [area](double velocity, double square) {
    return velocity != 0.0 ? square * area / (velocity * velocity) - 1.0 : 0.0;
  };
  if (domain.periodic[sample.axis])
    return {length * drive.force[sample.axis] - sums[2] / area, unevenness(sums[0], sums[1])};
  const double ends = drive.at_end[low_side(sample.axis)] - drive.at_end[high_side(sample.axis)];
  const bool upwards = sums[3] > 0.0;
  return {ends + inertia * (sums[1] - sums[4]) / area - sums[2] / area,
          upwards ? unevenness(sums[3], sums[4]) : unevenness(sums[0], sums[1])};
}

SampleFlow sample_flow(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive,
                       const Vec3& velocity) {
  const LevelGraph& graph = solver.op().level(0).geometry().graph;
  const Index n = graph.layout().domain().cells;
  const int axis = sample.axis;
  SampleFlow flow;
  flow.velocity = sideways(solver, sample, drive.force);
  flow.velocity = (double(n[axis]) / (sample.high - sample.low) / (double(n[0]) * n[1] * n[2])) * flow.velocity;
  flow.velocity[axis] = velocity[axis];

  std::array<double, 4> sums{};
  for_each_cell(graph, [&](int, int, std::size_t v, const Index& cell) {
    if (!sample.holds(cell)) return;
    const Quad& q = solver.solution()[v];
    const Vec3 u{q.v[0], q.v[1], q.v[2]};
    sums[3] += norm(u);
    for (std::size_t e = 0; e < 3; ++e) sums[e] += u.v[e];
  });
  solver.op().comm().sum(std::span(sums));
  const double along = norm(Vec3{sums[0], sums[1], sums[2]});
  flow.tortuosity = along > 0.0 ? sums[3] / along : 0.0;
  return flow;
}

}  // namespace karst
