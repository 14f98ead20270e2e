// SPDX-License-Identifier: BSD-3-Clause
// The state of a flow in time as rows of VoFs, which have a place on any number of ranks:
//
//   flow 4 | now: cells 4, faces 6, velocities and fluxes of n extra faces | one step earlier: the same
//
// n: most extra faces that begin in one VoF.
#include <algorithm>
#include <type_traits>

#include "base/error.hpp"
#include "ins/solve/unsteady_solver.hpp"

namespace karst {
namespace {

constexpr int of_cell = 4, of_faces = 6;

/// f(place of its VoF in vectors, which of the VoF's it is, level, its place) for all extra faces.
template <class F>
void for_extra(const StokesLevels& op, F&& f) {
  std::vector<int> seen;
  for (int l = 0; l < op.n_levels(); ++l) {
    const FlowRows& rows = op.level(l).rows();
    const LevelGraph& graph = op.level(l).geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      seen.assign(static_cast<std::size_t>(graph.slots()->n_own(b)), 0);
      auto e = static_cast<std::size_t>(rows.extra_begin[b]);
      for (const FlowExtra& face : rows.extra_of(b))
        f(static_cast<std::size_t>(op.begin(l) + graph.vof_begin(b)) + face.vof, seen[face.vof]++,
          static_cast<std::size_t>(l), e++);
    }
  }
}

int most_extra(const StokesLevels& op) {
  int most = 0;
  for_extra(op, [&](std::size_t, int n, std::size_t, std::size_t) { most = std::max(most, n + 1); });
  return static_cast<int>(op.comm().max(std::int64_t{most}));
}

/// copy(number of the state, number of the flow) for all numbers of a past flow; `at`: where its part of a row begins.
template <class Values, class Past, class Copy>
void for_past(const StokesLevels& op, Values& values, std::size_t width, std::size_t at, Past& past, Copy&& copy) {
  for (std::size_t v = 0; v < past.cells.size(); ++v) {
    auto* row = values.data() + v * width + at;
    for (auto& x : past.cells[v].v) copy(*row++, x);
    for (auto& x : past.faces[v]) copy(*row++, x);
  }
  for_extra(op, [&](std::size_t v, int n, std::size_t l, std::size_t e) {
    auto* row = values.data() + v * width + at + of_cell + of_faces + 2 * static_cast<std::size_t>(n);
    copy(row[0], past.extra[l][e]);
    copy(row[1], past.fluxes[l][e]);
  });
}

}  // namespace

UnsteadyState UnsteadySolver::room_for_state() const {
  UnsteadyState room;
  room.width = of_cell + 2 * (of_cell + of_faces + 2 * most_extra(stokes_->op()));
  room.values.assign(now_.cells.size() * static_cast<std::size_t>(room.width), 0.0);
  return room;
}

UnsteadyState UnsteadySolver::state() const {
  UnsteadyState state = room_for_state();
  state.time = time_;
  state.dt = dt_;
  state.outflow = outflow_;
  state.shift = stokes_->preconditioner().shift();
  const auto width = static_cast<std::size_t>(state.width), past = (width - of_cell) / 2;
  const std::span<const Quad> x = stokes_->all_values();
  for (std::size_t v = 0; v < x.size(); ++v)
    std::copy_n(x[v].v.begin(), of_cell, state.values.begin() + static_cast<std::ptrdiff_t>(v * width));
  const auto put = [](double& to, double from) { to = from; };
  for_past(stokes_->op(), state.values, width, of_cell, now_, put);
  for_past(stokes_->op(), state.values, width, of_cell + past, before_, put);
  return state;
}

void UnsteadySolver::go_on(const UnsteadyState& state) {
  const UnsteadyState room = room_for_state();
  require(state.width == room.width && state.values.size() == room.values.size(),
          "unsteady flow: a state of {} rows {} wide in place of {} rows {} wide", state.values.size(), state.width,
          room.values.size(), room.width);
  time_ = state.time;
  dt_ = state.dt;
  outflow_ = state.outflow;
  const auto width = static_cast<std::size_t>(state.width), past = (width - of_cell) / 2;
  const std::span<Quad> x = stokes_->all_values();
  for (std::size_t v = 0; v < x.size(); ++v)
    std::copy_n(state.values.begin() + static_cast<std::ptrdiff_t>(v * width), of_cell, x[v].v.begin());
  const auto take = [](double from, auto& to) { to = static_cast<std::remove_reference_t<decltype(to)>>(from); };
  for_past(stokes_->op(), state.values, width, of_cell, now_, take);
  for_past(stokes_->op(), state.values, width, of_cell + past, before_, take);
  if (state.shift > 0.0) stokes_->preconditioner().set_slow(state.shift);
  stokes_->list_unknowns();
}

}  // namespace karst
