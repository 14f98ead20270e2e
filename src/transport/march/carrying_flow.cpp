// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/carrying_flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/timer.hpp"
#include "transport/march/flow_projection.hpp"

namespace karst {
namespace {

constexpr double least_gap = 2e-15;   ///< what is as good as nothing
constexpr int most_rounds = 6;        ///< of the projection
constexpr double whole_enough = 0.5;  ///< volumes above this part of a cell set the step

void find_outflow(const ScalarGrid& grid, CarryingFlow& flow) {
  const double* const f = flow.all.data();
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    double sum = 0.0;
    faces([&](std::int32_t face, std::int32_t, double outward) { sum += std::max(0.0, outward * f[face]); });
    flow.outflow[v] = sum;
  });
}

void find_steps(const ScalarGrid& grid, CarryingFlow& flow) {
  double least = std::numeric_limits<double>::infinity();
  for (int l = 0; l < grid.composite->n_levels(); ++l) {
    const double whole = std::pow(grid.width(l), 3);
    for (auto v = static_cast<std::size_t>(grid.level_begin[l]);
         v < static_cast<std::size_t>(grid.level_begin[static_cast<std::size_t>(l) + 1]); ++v)
      if (grid.volume[v] >= whole_enough * whole && flow.outflow[v] > 0.0)
        least = std::min(least, grid.volume[v] / flow.outflow[v]);
  }
  flow.largest_step = grid.composite->comm().min(least);
}

/// Largest |Σ flow| / (what the volume exchanges: volume / step, or its outflow where that is more).
double largest_gap(const ScalarGrid& grid, const CarryingFlow& flow, std::span<const double> divergence) {
  const double rate = std::isfinite(flow.largest_step) ? 1.0 / flow.largest_step : 0.0;
  return grid.composite->comm().max(std::max(0.0, parallel_max(grid.n_own, [&](std::int64_t i) {
                                               const auto v = static_cast<std::size_t>(i);
                                               const double size = std::max(rate * grid.volume[v], flow.outflow[v]);
                                               return size > 0.0 ? std::abs(divergence[v]) / size : 0.0;
                                             })));
}

}  // namespace

FlowContinuity set_flow(ScalarGrid& grid, FaceField& faces, double allowed, CarryingFlow& flow) {
  const Timer timer("flow for transport");
  const Comm& comm = grid.composite->comm();
  const auto n = static_cast<std::size_t>(grid.n_own);
  if (!flow.given) {
    flow.given = true;
    flow.all = Array<double>(static_cast<std::size_t>(grid.n_faces), Purpose::fields);
    flow.outflow = Array<double>(n, Purpose::fields);
    flow.implicit_volume = Array<std::uint8_t>(static_cast<std::size_t>(grid.n_all), Purpose::fields, std::uint8_t{0});
  }
  list_fluxes(grid, faces, flow.all.span());
  find_outflow(grid, flow);
  find_steps(grid, flow);
  flow.at_rest = !comm.any(std::ranges::any_of(flow.all.span(), [](double f) { return f != 0.0; }));
  FlowContinuity result;
  std::vector<double> divergence(n);
  add_up(grid, flow.all.span(), divergence);
  result.before = largest_gap(grid, flow, divergence);
  require(
      result.before <= allowed,
      "transport: the fluxes of the flow miss continuity: a cell gains or loses {:.2e} of what it exchanges, {:.1e} "
      "is allowed; solve the flow to a smaller tolerance",
      result.before, allowed);
  result.after = result.before;
  if (result.before > least_gap) {
    FlowProjection projection(grid, flow.all.span());
    for (int round = 0; round < most_rounds && result.after > least_gap; ++round) {
      result.iterations += projection.round(divergence, flow.all.span());
      add_up(grid, flow.all.span(), divergence);
      result.after = largest_gap(grid, flow, divergence);
    }
    find_outflow(grid, flow);
  }
  find_steps(grid, flow);
  flow.n_implicit = 0;
  flow.largest_explicit_step = 0.0;
  return result;
}

void choose_implicit(ScalarGrid& grid, double dt, CarryingFlow& flow) {
  struct Choice {
    std::int64_t n = 0;
    bool changed = false;
    double least = std::numeric_limits<double>::infinity();
  };
  const Choice here = parallel_reduce(
      grid.n_own, Choice{},
      [&](std::int64_t i) {
        const auto v = static_cast<std::size_t>(i);
        Choice c;
        const std::uint8_t now = dt * flow.outflow[v] > grid.volume[v] * (1.0 + 1e-12) ? 1 : 0;
        if (now == 0 && flow.outflow[v] > 0.0) c.least = grid.volume[v] / flow.outflow[v];
        c.n = now;
        c.changed = now != flow.implicit_volume[v];
        flow.implicit_volume[v] = now;
        return c;
      },
      [](const Choice& a, const Choice& b) {
        return Choice{a.n + b.n, a.changed || b.changed, std::min(a.least, b.least)};
      });
  const bool changed = here.changed;
  const Comm& comm = grid.composite->comm();
  flow.largest_explicit_step = comm.min(here.least);
  const bool fresh = flow.n_implicit == 0;
  flow.n_implicit = comm.sum(here.n);
  if (flow.n_implicit == 0 || (!comm.any(changed) && !fresh)) return;
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(flow.implicit_volume.span().subspan(grid.n_own),
                 [&](std::size_t i) { return flow.implicit_volume[exchange.sent()[i]]; });
  exchange.finish();
  if (flow.explicit_part.size() == 0) flow.explicit_part = Array<double>(flow.all.size(), Purpose::fields, 0.0);
  std::ranges::copy(flow.all, flow.explicit_part.begin());
  flow.implicit_faces.clear();
  const auto split = [&](std::int32_t face, std::int32_t left, std::int32_t right) {
    const double f = flow.all[face];
    const std::int32_t from = f >= 0.0 ? left : right;
    if (f == 0.0 || from >= grid.n_all || flow.implicit_volume[from] == 0) return;
    flow.implicit_faces.push_back({face, from, f >= 0.0 ? right : left, f});
    flow.explicit_part[face] = 0.0;
  };
  for (const PlainVolumes& p : grid.plain)
    for (std::int32_t d = 0; d < 3; ++d)
      for (std::int32_t t = 0; t < p.count; ++t) split(d * grid.n_all + p.first + t, p.beyond[2 * d] + t, p.first + t);
  for (const ScalarFace& f : grid.listed) split(f.face, f.left, f.right);
}

void add_implicit_flux(const CarryingFlow& flow, std::span<const double> values, std::span<double> flux) {
  if (flow.n_implicit == 0) return;
  for (const ImplicitFace& f : flow.implicit_faces) flux[f.face] += f.flow * values[f.from];
}

}  // namespace karst
