// SPDX-License-Identifier: BSD-3-Clause
// The state of a flow in time as rows of VoFs, which have a place on any number of ranks: the flow; now and one step
// earlier its cells and faces; of both the velocities and fluxes of the extra faces of the box, dealt out to its VoFs.
#include <algorithm>
#include <type_traits>

#include "base/core/error.hpp"
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
template <class Copy>
void for_extra_values(const StokesLevels& op, const UnsteadyState::Part& part, PastFlow& now, PastFlow& before,
                      Copy&& copy) {
  const std::size_t width = part.width;
  for_extra(op, width / of_extra, [&](std::size_t v, std::size_t n, std::size_t l, std::size_t e) {
    double* row = std::get<0>(part.values).data() + v * width + of_extra * n;
    copy(row[0], now.extra[l][e]);
    copy(row[1], now.fluxes[l][e]);
    copy(row[2], before.extra[l][e]);
    copy(row[3], before.fluxes[l][e]);
  });
}

}  // namespace

/// Those that stand in the solver.
std::vector<UnsteadyState::Part> UnsteadySolver::own_parts() {
  const auto cells = [](std::span<Quad> x) {
    return x.empty() ? std::span<double>() : std::span(x[0].v.data(), of_cell * x.size());
  };
  const auto rows = []<class T, std::size_t n>(std::span<std::array<T, n>> x) {
    return x.empty() ? std::span<T>() : std::span(x[0].data(), n * x.size());
  };
  return {{"flow", of_cell, cells(stokes_->all_values())},
          {"cells", of_cell, cells(now_.cells.span())},
          {"faces", of_faces, rows(now_.faces.span())},
          {"cells one step earlier", of_cell, cells(before_.cells.span())},
          {"faces one step earlier", of_faces, rows(before_.faces.span())},
          {"second difference in time", of_cell, rows(bend_.span())}};
}

/// All of them; the extra faces have no values yet.
std::vector<UnsteadyState::Part> UnsteadySolver::all_parts() {
  std::vector<UnsteadyState::Part> parts = own_parts();
  if (const int n = extra_in_a_row(stokes_->op()); n > 0) parts.push_back({extra_faces, of_extra * n, {}});
  return parts;
}

UnsteadyState UnsteadySolver::empty_state() {
  UnsteadyState state;
  state.parts = all_parts();
  state.n_rows = now_.cells.size();
  for (UnsteadyState::Part& part : state.parts) std::visit([](auto& values) { values = {}; }, part.values);
  return state;
}

void UnsteadyState::make_room() {
  const auto deal_out = [this]<class T>(Array<T>& to) {
    std::size_t width = 0;
    for (const Part& part : parts)
      if (std::holds_alternative<std::span<T>>(part.values)) width += part.width;
    to = Array<T>(n_rows * width, Purpose::buffers, T{});
    std::span<T> left = to.span();
    for (Part& part : parts)
      if (auto* values = std::get_if<std::span<T>>(&part.values)) {
        *values = left.first(n_rows * part.width);
        left = left.subspan(values->size());
      }
  };
  deal_out(room);
  deal_out(single_room);
}

UnsteadyState UnsteadySolver::state() {
  UnsteadyState state;
  state.time = time_;
  state.dt = dt_;
  state.outflow = outflow_;
  state.carried_size = carried_size_;
  state.n_in_row = n_in_row_;
  state.shift = stokes_->preconditioner().shift();
  state.parts = all_parts();
  state.n_rows = now_.cells.size();
  if (UnsteadyState::Part& extra = state.parts.back(); extra.name == extra_faces) {
    state.room = Array<double>(state.n_rows * extra.width, Purpose::buffers, 0.0);
    extra.values = state.room.span();
    for_extra_values(stokes_->op(), extra, now_, before_, [](double& to, double from) { to = from; });
  }
  return state;
}

void UnsteadySolver::go_on(const UnsteadyState& state) {
  const std::size_t n = now_.cells.size();
  const auto fits = [n](const UnsteadyState::Part& part, const UnsteadyState::Part& here) {
    return part.name == here.name && part.width == here.width && part.values.index() == here.values.index() &&
           std::visit([](auto values) { return values.size(); }, part.values) == n * here.width;
  };
  require(std::ranges::equal(state.parts, all_parts(), fits),
          "unsteady flow: the state belongs to another flow; its parts do not have {} rows each as here", n);
  time_ = state.time;
  dt_ = state.dt;
  outflow_ = state.outflow;
  carried_size_ = state.carried_size;
  n_in_row_ = static_cast<int>(state.n_in_row);
  const std::vector<UnsteadyState::Part> own = own_parts();
  for (std::size_t i = 0; i < own.size(); ++i)
    std::visit([&](auto to) { std::ranges::copy(std::get<decltype(to)>(state.parts[i].values), to.begin()); },
               own[i].values);
  if (state.parts.size() > own.size())
    for_extra_values(stokes_->op(), state.parts.back(), now_, before_,
                     [](double from, auto& to) { to = static_cast<std::remove_reference_t<decltype(to)>>(from); });
  for (PastFlow* flow : {&now_, &before_}) stokes_->op().find_ghosts(stokes_->values(), *flow);
  if (state.shift > 0.0) stokes_->preconditioner().set_slow(state.shift);
  stokes_->list_unknowns();
}

}  // namespace karst
