// SPDX-License-Identifier: BSD-3-Clause
// The state of a flow in time: the flow; now and one step earlier its cells and faces; of both the velocities and
// fluxes of the extra faces of each box, in the rows of its first VoFs.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/comm/fail_together.hpp"
#include "ins/solve/unsteady_solver.hpp"

namespace karst {
namespace {

constexpr int of_cell = 4, of_faces = 6, of_extra = 4;
const std::string extra_faces = "extra faces";

/// VoFs of an own box that are unknowns: only they have rows in a file.
int rows_of(const StokesLevels& op, int l, int b) {
  return op.level(l).geometry().graph.slots()->n_own(b) - static_cast<int>(op.composite()->covered_in(l, b).size());
}

/// f(place of a VoF in vectors, place in its row, level, place of the face) for all extra faces, `per_row` in a row.
/// Not in the row of the VoF where they begin: a few VoFs have many, so all rows would be long and nearly all empty.
template <class F>
void for_extra(const StokesLevels& op, std::size_t per_row, F&& f) {
  for (int l = 0; l < op.n_levels(); ++l) {
    const FlowRows& rows = op.level(l).rows();
    const LevelGraph& graph = op.level(l).geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const std::span<const std::uint16_t> covered = op.composite()->covered_in(l, b);
      const std::size_t first = op.begin(l) + graph.vof_begin(b);
      std::size_t e = rows.extra_begin[b];
      const std::size_t end = e + rows.extra_of(b).size();
      for (int v = 0; v < graph.slots()->n_own(b) && e < end; ++v)
        if (!std::ranges::binary_search(covered, static_cast<std::uint16_t>(v)))
          for (std::size_t n = 0; n < per_row && e < end; ++n) f(first + v, n, l, e++);
    }
  }
}

/// So many in a row that all boxes have room for theirs. Collective.
int extra_in_a_row(const StokesLevels& op) {
  int most = 0;
  for (int l = 0; l < op.n_levels(); ++l)
    for (int b = 0; b < op.level(l).geometry().graph.n_local(); ++b)
      if (const auto n = static_cast<int>(op.level(l).rows().extra_of(b).size()); n > 0)
        most = std::max(most, 1 + (n - 1) / std::max(1, rows_of(op, l, b)));
  return static_cast<int>(op.comm().max(std::int64_t{most}));
}

/// copy(number of the state, number of the flow) for the extra faces of two flows.
/// @param rows  [VoF][width]
template <class Copy>
void for_extra_values(const StokesLevels& op, std::span<double> rows, std::size_t width, PastFlow& now,
                      PastFlow& before, Copy&& copy) {
  for_extra(op, width / of_extra, [&](std::size_t v, std::size_t n, std::size_t l, std::size_t e) {
    double* row = rows.data() + v * width + of_extra * n;
    copy(row[0], now.extra[l][e]);
    copy(row[1], now.fluxes[l][e]);
    copy(row[2], before.extra[l][e]);
    copy(row[3], before.fluxes[l][e]);
  });
}

}  // namespace

/// What stands in the solver, f(name, unit, kind, components, rows of numbers).
template <class F>
void UnsteadySolver::for_own_items(F&& f) {
  const auto cells = [](std::span<Quad> x) {
    return x.empty() ? std::span<double>() : std::span(x[0].v.data(), of_cell * x.size());
  };
  const auto rows = []<class T, std::size_t n>(std::span<std::array<T, n>> x) {
    return x.empty() ? std::span<T>() : std::span(x[0].data(), n * x.size());
  };
  const char *velocity = "F h0^2/mu", *both = "F h0^2/mu, F h0";
  f("flow", both, ItemKind::point_value, of_cell, cells(stokes_->all_values()));
  f("cells", both, ItemKind::memory, of_cell, cells(now_.cells.span()));
  f("faces", velocity, ItemKind::face_flux, of_faces, rows(now_.faces.span()));
  f("cells one step earlier", both, ItemKind::memory, of_cell, cells(before_.cells.span()));
  f("faces one step earlier", velocity, ItemKind::memory, of_faces, rows(before_.faces.span()));
  f("second difference in time", both, ItemKind::memory, of_cell, rows(bend_.span()));
}

State UnsteadySolver::state() {
  State state;
  state.numbers = {{"time", time_},         {"dt", dt_},
                   {"outflow", outflow_},   {"carried_size", carried_size_},
                   {"n_in_row", n_in_row_}, {"shift", stokes_->preconditioner().shift()}};
  const StokesLevels& op = stokes_->op();
  add_set(state, all_vofs(op.composite()->geometry()));
  const std::string set = state.sets.back().name;
  for_own_items([&](const char* name, const char* unit, ItemKind kind, int components, auto values) {
    state.items.push_back({name, unit, kind, components, set, values});
    if (kind == ItemKind::point_value) state.items.back().times_width = 3;  // the pressure
  });
  if (const int width = of_extra * extra_in_a_row(op); width > 0) {
    Array<double> rows(now_.cells.size() * width, Purpose::buffers, 0.0);
    for_extra_values(op, rows.span(), width, now_, before_, [](double& to, double from) { to = from; });
    add_owned(state, {extra_faces, "F h0^2/mu, F h0^4/mu", ItemKind::face_flux, width, set, {}}, std::move(rows));
  }
  return state;
}

void UnsteadySolver::go_on(const State& state) {
  if (state.other_grid) return go_on_from_other_grid(state);
  StokesLevels& op = stokes_->op();
  const int width = of_extra * extra_in_a_row(op);
  Array<double> rows(now_.cells.size() * width, Purpose::buffers);
  fail_together(op.comm(), [&] {
    for_own_items([&](const char* name, const char*, ItemKind, int components, auto values) {
      take_item(state, name, components, values);
    });
    if (width > 0) take_item(state, extra_faces, width, rows.span());
  });
  if (width > 0)
    for_extra_values(op, rows.span(), width, now_, before_,
                     [](double from, auto& to) { to = static_cast<std::remove_reference_t<decltype(to)>>(from); });
  const Json& numbers = state.numbers;
  time_ = numbers.at("time");
  dt_ = numbers.at("dt");
  outflow_ = numbers.at("outflow");
  carried_size_ = numbers.at("carried_size");
  n_in_row_ = numbers.at("n_in_row");
  for (PastFlow* flow : {&now_, &before_}) op.find_ghosts(stokes_->values(), *flow);
  if (const double shift = numbers.at("shift"); shift > 0.0) stokes_->preconditioner().set_slow(shift);
  stokes_->list_unknowns();
}

/// As at a start, but at the time of the state. The pressure is a first guess alone: it would move fluxes of faces by
/// what its interpolation leaves of its gradient, and a flow that has just begun is much slower than that.
void UnsteadySolver::go_on_from_other_grid(const State& state) {
  fail_together(stokes_->op().comm(), [&] {
    for_own_items([&](const char* name, const char*, ItemKind kind, int components, auto values) {
      if (kind == ItemKind::point_value) take_item(state, name, components, values);
    });
  });
  const std::span<Quad> x = stokes_->all_values();
  std::vector<double> pressure(x.size());
  for (std::size_t v = 0; v < x.size(); ++v) {
    if (volume_[v] == 0.0F) x[v] = {};
    pressure[v] = std::exchange(x[v].v[3], 0.0);
  }
  const double time = state.numbers.at("time");
  const StokesDrive ends = velocities_of(drive_at_(time), stokes_->op().sides());  // nothing drives it in no time
  begin_here(ends);
  jump(ends);
  time_ = time;
  for (std::size_t v = 0; v < x.size(); ++v) x[v].v[3] = now_.cells[v].v[3] = pressure[v];
}

}  // namespace karst
