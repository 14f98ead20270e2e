// SPDX-License-Identifier: BSD-3-Clause
#include "transport/flow/carrying_flow.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/comm/parallel_fill.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "transport/flow/flow_balance.hpp"
#include "transport/flow/flow_projection.hpp"

namespace karst {
namespace {

constexpr double least_gap = 2e-15;  ///< what is as good as nothing
constexpr double small_gap = 1e-9;   ///< that the first round leaves: below the residuals of flows
constexpr int most_rounds = 6;       ///< of the projection
constexpr double goal = 0.5;  ///< of a later round, in units of what is as good as nothing: sums round off differently
constexpr double whole_enough = 0.5;  ///< volumes above this part of a cell set the step
constexpr double left_out = 0.1;      ///< of what the flow moves: in volumes that do not set it either

void find_outflow(const ScalarGrid& grid, CarryingFlow& flow) {
  const double* const f = flow.all.data();
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    double sum = 0.0;
    faces([&](std::int32_t face, std::int32_t, double outward) { sum += std::max(0.0, outward * f[face]); });
    flow.outflow[v] = sum;
  });
}

constexpr double never = std::numeric_limits<double>::infinity();

/// The least volume of a level that sets the step.
double least_volume(const ScalarGrid& grid, int level) { return whole_enough * std::pow(grid.width(level), 3); }

/// Volume / outflow of a volume, never where it does not set the step.
double step_of(const ScalarGrid& grid, const CarryingFlow& flow, double least_volume, std::int64_t v) {
  const bool counts = grid.volume[v] >= least_volume && flow.outflow[v] > 0.0;
  return counts ? grid.volume[v] / flow.outflow[v] : never;
}

void find_largest_step(const ScalarGrid& grid, CarryingFlow& flow) {
  double least = never;
  for (int l = 0; l < grid.composite->n_levels(); ++l) {
    const std::int32_t first = grid.level_begin[l];
    const double counts = least_volume(grid, l);
    least = parallel_reduce(
        grid.level_begin[l + 1] - first, least, [&](std::int64_t i) { return step_of(grid, flow, counts, first + i); },
        [](double a, double b) { return std::min(a, b); });
  }
  flow.largest_step = grid.composite->comm().min(least);
}

/// Of a level, by classes of step / largest_step. What is in them is summed as whole numbers, so that neither ranks nor
/// threads matter.
double step_of_most_on(const ScalarGrid& grid, const CarryingFlow& flow, int level) {
  constexpr int per_octave = 32, octaves = 8, n = per_octave * octaves;
  constexpr double units = 1 << 20;          // of the volume that exchanges most
  constexpr std::int64_t at_once = 1 << 14;  // volumes of a thread
  const Comm& comm = grid.composite->comm();
  const std::int64_t begin = grid.level_begin[level], end = grid.level_begin[level + 1];
  const double most =
      comm.max(std::max(0.0, parallel_max(end - begin, [&](std::int64_t i) { return flow.outflow[begin + i]; })));
  if (!(most > 0.0)) return never;
  const double counts = least_volume(grid, level);
  std::array<std::atomic<std::int64_t>, n> together{};
  parallel_for_dynamic((end - begin + at_once - 1) / at_once, [&](std::int64_t part) {
    std::array<std::int64_t, n> some{};
    for (std::int64_t v = begin + part * at_once; v < std::min(end, begin + (part + 1) * at_once); ++v) {
      const double ratio = std::min(step_of(grid, flow, counts, v) / flow.largest_step, std::ldexp(1.0, octaves));
      const auto at = static_cast<int>(per_octave * std::log2(ratio));
      some[std::clamp(at, 0, n - 1)] += std::llround(units * (flow.outflow[v] / most));
    }
    for (int k = 0; k < n; ++k)
      if (some[k] != 0) together[k] += some[k];
  });
  std::array<std::int64_t, n> held;
  std::ranges::copy(together, held.begin());
  comm.sum(std::span(held));
  const auto all = static_cast<double>(std::accumulate(held.begin(), held.end(), std::int64_t{0}));
  std::int64_t faster = 0;
  int last = 0;
  while (last < n - 1 && static_cast<double>(faster + held[last]) <= left_out * all) faster += held[last++];
  return last == 0 ? flow.largest_step : flow.largest_step * std::exp2(static_cast<double>(last) / per_octave);
}

/// The least of the levels: where cells are finer there is something that others would miss.
void find_step_of_most(const ScalarGrid& grid, CarryingFlow& flow) {
  flow.step_of_most = never;
  if (!std::isfinite(flow.largest_step)) return;
  for (int l = 0; l < grid.composite->n_levels(); ++l)
    flow.step_of_most = std::min(flow.step_of_most, step_of_most_on(grid, flow, l));
}

/// What a volume exchanges: volume / step, or its outflow where that is more.
double exchange_of(const ScalarGrid& grid, const CarryingFlow& flow, std::int64_t v) {
  const double rate = std::isfinite(flow.largest_step) ? 1.0 / flow.largest_step : 0.0;
  return std::max(rate * grid.volume[v], flow.outflow[v]);
}

/// Largest |Σ flow| / exchange.
double largest_gap(const ScalarGrid& grid, const CarryingFlow& flow, std::span<const double> divergence) {
  return grid.composite->comm().max(std::max(0.0, parallel_max(grid.n_own, [&](std::int64_t v) {
                                               const double size = exchange_of(grid, flow, v);
                                               return size > 0.0 ? std::abs(divergence[v]) / size : 0.0;
                                             })));
}

/// Takes the divergence out: where it may be anywhere by an irrotational flow, of a potential as given or by rounds,
/// but for a small gap, then by what balance_flow() adds.
void project(ScalarGrid& grid, std::span<const double> potential, std::span<double> divergence, Gaps gaps,
             CarryingFlow& flow, FlowContinuity& result) {
  const Conductances open = open_faces(grid, flow.all.span());
  Array<double> exchange(grid.n_own, Purpose::solver);
  parallel_for(grid.n_own, [&](std::int64_t v) { exchange[v] = exchange_of(grid, flow, v); });
  const auto balance = [&] {
    balance_flow(grid, open, exchange.span(), flow.all.span());
    add_up(grid, flow.all.span(), divergence);
    result.after = largest_gap(grid, flow, divergence);
  };
  if (gaps == Gaps::in_places) return balance();
  Array<double> given(flow.all.size(), Purpose::buffers);
  parallel_copy<double>(flow.all.span(), given.span());
  const auto take = [&] {
    parallel_copy<double>(given.span(), flow.all.span());
    add_irrotational(grid, open, flow.potential.span(), flow.all.span());
    balance();
  };
  if (flow.potential.size() == 0) flow.potential = Array<double>(grid.n_values, Purpose::fields);
  parallel_fill(flow.potential.span(), 0.0);
  if (grid.composite->comm().any(!potential.empty())) {  // a rank without volumes has none of it
    parallel_copy(potential, flow.potential.span());
    take();
    return;
  }
  double enough = small_gap;
  for (int round = 0; round < most_rounds && result.after > least_gap; ++round) {
    if (result.after > enough) {
      FlowProjection projection(grid, open, flow.all.span());
      result.iterations += projection.round(divergence, exchange.span(), enough, flow.potential.span());
    }
    take();
    enough = goal * least_gap;
  }
}

}  // namespace

FlowContinuity set_flow(ScalarGrid& grid, FaceField& faces, double allowed, CarryingFlow& flow,
                        std::span<const double> potential, Gaps gaps) {
  const Timer timer("flow for transport");
  const Comm& comm = grid.composite->comm();
  const std::size_t n = grid.n_own;
  if (!flow.given) {
    flow.given = true;
    flow.all = Array<double>(grid.n_faces, Purpose::fields);
    flow.outflow = Array<double>(n, Purpose::fields);
    flow.implicit_volume = Array<std::uint8_t>(grid.n_all, Purpose::fields, std::uint8_t{0});
  }
  list_fluxes(grid, faces, flow.all.span());
  find_outflow(grid, flow);
  find_largest_step(grid, flow);
  flow.at_rest = !comm.any(std::ranges::any_of(flow.all.span(), [](double f) { return f != 0.0; }));
  FlowContinuity result;
  std::vector<double> divergence(n);
  add_up(grid, flow.all.span(), divergence);
  result.before = largest_gap(grid, flow, divergence);
  require(result.before <= allowed,
          "transport: the fluxes of the flow violate continuity: a cell gains or loses {:.2e} of its flux, allowed is "
          "{:.1e}; use a smaller flow.tolerance",
          result.before, allowed);
  result.after = result.before;
  if (result.before > least_gap) {
    project(grid, potential, divergence, gaps, flow, result);
    find_outflow(grid, flow);
  }
  find_largest_step(grid, flow);
  find_step_of_most(grid, flow);
  flow.enters =
      comm.any(std::ranges::any_of(grid.boundary, [&](const BoundaryFace& b) { return flow.all[b.face] < 0.0; }));
  flow.n_implicit = 0;
  flow.largest_explicit_step = flow.chosen_for = 0.0;
  return result;
}

void choose_implicit(ScalarGrid& grid, double dt, CarryingFlow& flow) {
  if (flow.chosen_for == dt) return;
  flow.chosen_for = dt;
  const double least = parallel_reduce(
      grid.n_own, std::numeric_limits<double>::infinity(),
      [&](std::int64_t v) {
        const bool now = dt * flow.outflow[v] > grid.volume[v] * (1.0 + 1e-12);
        flow.implicit_volume[v] = now ? 1 : 0;
        return !now && flow.outflow[v] > 0.0 ? grid.volume[v] / flow.outflow[v]
                                             : std::numeric_limits<double>::infinity();
      },
      [](double a, double b) { return std::min(a, b); });
  const Comm& comm = grid.composite->comm();
  flow.largest_explicit_step = comm.min(least);
  flow.implicit_list.clear();
  std::vector<std::int32_t> place(grid.n_own, -1);
  for (std::int32_t v = 0; v < grid.n_own; ++v) {
    if (flow.implicit_volume[v] == 0) continue;
    place[v] = static_cast<std::int32_t>(flow.implicit_list.size());
    flow.implicit_list.push_back(v);
  }
  flow.n_implicit = comm.sum(std::ssize(flow.implicit_list));
  flow.implicit_faces.clear();
  if (flow.n_implicit == 0) return;
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(flow.implicit_volume.span().subspan(grid.n_own),
                 [&](std::size_t i) { return flow.implicit_volume[exchange.sent()[i]]; });
  exchange.finish();
  if (flow.explicit_part.size() == 0) flow.explicit_part = Array<double>(flow.all.size(), Purpose::fields, 0.0);
  std::ranges::copy(flow.all, flow.explicit_part.begin());
  const auto split = [&](std::int32_t face, std::int32_t left, std::int32_t right) {
    const double f = flow.all[face];
    const std::int32_t from = f >= 0.0 ? left : right, to = f >= 0.0 ? right : left;
    if (f == 0.0 || from >= grid.n_all || flow.implicit_volume[from] == 0) return;
    flow.implicit_faces.push_back({face, from, to, to < grid.n_own ? place[to] : -1, f});
    flow.explicit_part[face] = 0.0;
  };
  for (const PlainVolumes& p : grid.plain)
    for (std::int32_t d = 0; d < 3; ++d)
      for (std::int32_t t = 0; t < p.count; ++t) split(d * grid.n_all + p.first + t, p.beyond[2 * d] + t, p.first + t);
  for (const ScalarFace& f : grid.listed) split(f.face, f.left, f.right);
}

}  // namespace karst
