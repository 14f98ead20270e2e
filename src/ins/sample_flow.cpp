// SPDX-License-Identifier: BSD-3-Clause
#include "ins/sample_flow.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// f(own box, VoF, its number in the solution, its cell) for all own VoFs.
template <class F>
void for_each_cell(const LevelGraph& graph, F&& f) {
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) {
      f(b, vof, static_cast<std::size_t>(graph.vof_begin(b) + vof), box.cells.cell(cell));
    });
  }
}

/// Mean pressure in the layers of cells before and behind the two end planes: { next to the sample, one further }.
std::array<std::array<double, 2>, 2> layer_pressures(StokesSolver& solver, const SampleCells& sample) {
  std::array<double, 8> sums{};  // pressures, then numbers of cells
  for_each_cell(solver.op().level(0).geometry().graph, [&](int, int, std::size_t v, const Index& cell) {
    const int at = cell[sample.axis];
    const int depth = at < sample.low ? sample.low - 1 - at : at - sample.high;
    if (depth < 0 || depth > 1) return;
    const auto layer = static_cast<std::size_t>(2 * (at >= sample.high) + depth);
    sums[layer] += solver.solution()[v].v[3];
    sums[4 + layer] += 1.0;
  });
  solver.op().comm().sum(std::span(sums));
  for (std::size_t i = 0; i < 4; ++i) sums[i] /= std::max(sums[4 + i], 1.0);
  return {{{sums[0], sums[1]}, {sums[2], sums[3]}}};
}

/// Linear from the layers next to an end plane of the sample to the plane.
double on_plane(const std::array<double, 2>& layers, int n_layers, double end) {
  return n_layers > 1 ? 1.5 * layers[0] - 0.5 * layers[1] : 2.0 * layers[0] - end;
}

/// Σ over the faces of the sample of flux times step from cell to cell, across the axis.
Vec3 sideways(StokesSolver& solver, const SampleCells& sample, const Vec3& force) {
  const Field fluxes = std::move(solver.face_fluxes()[0]);
  const StokesOperator& op = solver.op().level(0);
  Vec3 sum;
  for_each_cell(op.geometry().graph, [&](int b, int vof, std::size_t, const Index& cell) {
    if (!sample.holds(cell)) return;
    for (int e = 0; e < 3; ++e)
      if (e != sample.axis) sum[e] += fluxes.box(b, e)[static_cast<std::size_t>(vof)];
  });
  const LevelGraph& graph = op.geometry().graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    std::vector<std::uint8_t> inside(static_cast<std::size_t>(box.n_own));
    for_each_vof(
        box, [&](int vof, int cell) { inside[static_cast<std::size_t>(vof)] = sample.holds(box.cells.cell(cell)); });
    for (const FlowExtra& face : op.rows().extra_of(b))
      if (inside[face.vof] != 0)
        for (int e = 0; e < 3; ++e)
          if (e != sample.axis) sum[e] += 0.5 * op.extra_flux(b, face, force) * face.step[static_cast<std::size_t>(e)];
  }
  op.comm().sum(std::span(sum.v));
  return sum;
}

}  // namespace

SampleFlow sample_flow(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive,
                       const Vec3& velocity) {
  const LevelGraph& graph = solver.op().level(0).geometry().graph;
  const Index n = graph.layout().domain().cells;
  const int axis = sample.axis;
  SampleFlow flow;
  flow.velocity = sideways(solver, sample, drive.force);
  flow.velocity = (double(n[axis]) / (sample.high - sample.low) / (double(n[0]) * n[1] * n[2])) * flow.velocity;
  flow.velocity[axis] = velocity[axis];

  const auto layers = layer_pressures(solver, sample);
  const auto end = [&](bool high) { return drive.pressure[static_cast<std::size_t>(side_of(axis, high))]; };
  flow.pressure_fall =
      on_plane(layers[0], sample.low, end(false)) - on_plane(layers[1], n[axis] - sample.high, end(true));

  flow.speed.assign(solver.solution().size(), 0.0);
  std::array<double, 4> sums{};
  for_each_cell(graph, [&](int, int, std::size_t v, const Index& cell) {
    if (!sample.holds(cell)) return;
    const Quad& q = solver.solution()[v];
    const Vec3 u{q.v[0], q.v[1], q.v[2]};
    flow.speed[v] = norm(u);
    sums[3] += flow.speed[v];
    for (std::size_t e = 0; e < 3; ++e) sums[e] += u.v[e];
  });
  solver.op().comm().sum(std::span(sums));
  const double along = norm(Vec3{sums[0], sums[1], sums[2]});
  flow.tortuosity = along > 0.0 ? sums[3] / along : 0.0;
  return flow;
}

}  // namespace karst
