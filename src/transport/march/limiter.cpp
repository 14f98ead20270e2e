// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/limiter.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace karst {
namespace {

constexpr int continuous_passes = 60;  ///< with what leaves a volume counted; then without, which ends for certain
constexpr int most_passes = 120;

void prepare(const ScalarGrid& grid, LimiterScratch& s) {
  if (s.up.size() > 0) return;
  s.up = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::fields, 1.0);
  s.down = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::fields, 1.0);
  s.face = Array<double>(static_cast<std::size_t>(grid.n_faces), Purpose::fields, 1.0);
  s.wall = Array<double>(static_cast<std::size_t>(grid.n_own), Purpose::fields, 1.0);
  s.held = Array<std::uint8_t>(static_cast<std::size_t>(grid.n_values), Purpose::fields, std::uint8_t{0});
  s.look = Array<std::uint8_t>(static_cast<std::size_t>(grid.n_own), Purpose::fields, std::uint8_t{1});
  s.next = Array<std::uint8_t>(static_cast<std::size_t>(grid.n_own), Purpose::fields, std::uint8_t{0});
}

double allowed(const LimiterScratch& s, double amount, std::int32_t left, std::int32_t right) {
  const double *const up = s.up.data(), *const down = s.down.data();
  return amount >= 0.0 ? std::min(up[right], down[left]) : std::min(up[left], down[right]);
}

/// Lowers the factors of faces to what R of their two volumes allows.
void lower_factors(const ScalarGrid& grid, const Correction& c, LimiterScratch& s) {
  const double* const amount = c.amount.data();
  double* const factor = s.face.data();
  const auto lower = [&](std::int32_t face, std::int32_t left, std::int32_t right) {
    factor[face] = std::min(factor[face], allowed(s, amount[face], left, right));
  };
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int, std::int32_t) { lower(face, left, right); },
      [&](const ScalarFace& f) { lower(f.face, f.left, f.right); });
}

/// Multiplies the factors of faces and walls of the volumes that are held by R, and notes in `next` whom this concerns.
void hold_back(const ScalarGrid& grid, const Correction& c, LimiterScratch& s) {
  const double* const amount = c.amount.data();
  double* const factor = s.face.data();
  const std::uint8_t* const held = s.held.data();
  std::uint8_t* const next = s.next.data();
  const auto concerns = [&](std::int32_t v) {
    if (v < grid.n_own) std::atomic_ref(next[v]).store(1, std::memory_order_relaxed);
  };
  const auto lower = [&](std::int32_t face, std::int32_t left, std::int32_t right) {
    if ((held[left] | held[right]) == 0) return;
    factor[face] *= allowed(s, amount[face], left, right);
    concerns(left);
    concerns(right);
  };
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int, std::int32_t) { lower(face, left, right); },
      [&](const ScalarFace& f) { lower(f.face, f.left, f.right); });
  if (c.wall.empty()) return;
  parallel_for(grid.n_own, [&](std::int64_t i) {
    const auto v = static_cast<std::size_t>(i);
    if (held[v] == 0) return;
    s.wall[v] *= c.wall[v] >= 0.0 ? s.down[v] : s.up[v];
    concerns(static_cast<std::int32_t>(i));
  });
}

/// R of the volumes that would leave the range, among those whose factors changed; 1 elsewhere.
void find_excess(const ScalarGrid& grid, const Correction& c, bool credit, LimiterScratch& s) {
  const double slack = 1e-15 * (std::abs(c.range.least) + std::abs(c.range.largest));
  const double lo = c.range.least, hi = c.range.largest;
  const double *const amount = c.amount.data(), *const factor = s.face.data();
  parallel_for(grid.n_all,
               [&](std::int64_t v) { s.up[static_cast<std::size_t>(v)] = s.down[static_cast<std::size_t>(v)] = 1.0; });
  for_each_volume(grid, [&](std::int32_t volume, auto&& faces) {
    const auto v = static_cast<std::size_t>(volume);
    if (s.look[v] == 0) return;
    double in = 0.0, out = 0.0;
    faces([&](std::int32_t face, std::int32_t, double outward) {
      const double a = outward * factor[face] * amount[face];
      in -= std::min(a, 0.0);
      out += std::max(a, 0.0);
    });
    if (!c.wall.empty()) {
      const double a = s.wall[v] * c.wall[v];
      in -= std::min(a, 0.0);
      out += std::max(a, 0.0);
    }
    const double value = c.low[v] + (in - out) / grid.volume[v];
    if (value > hi + slack && in > 0.0)
      s.up[v] = std::clamp((grid.volume[v] * (hi - c.low[v]) + (credit ? out : 0.0)) / in, 0.0, 1.0);
    else if (value < lo - slack && out > 0.0)
      s.down[v] = std::clamp((grid.volume[v] * (c.low[v] - lo) + (credit ? in : 0.0)) / out, 0.0, 1.0);
  });
}

/// Notes which volumes, of other ranks too, are held; true when there is one among the own ones.
bool note_held(const ScalarGrid& grid, LimiterScratch& s) {
  return parallel_reduce(
      grid.n_all, false,
      [&](std::int64_t i) {
        const auto v = static_cast<std::size_t>(i);
        s.held[v] = s.up[v] < 1.0 || s.down[v] < 1.0 ? 1 : 0;
        return s.held[v] != 0 && i < grid.n_own;
      },
      [](bool a, bool b) { return a || b; });
}

/// R of all volumes for the bounds of their neighbourhood.
void find_local(const ScalarGrid& grid, const Correction& c, LimiterScratch& s) {
  const double *const amount = c.amount.data(), *const low = c.low.data(), *const before = c.before.data();
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    double lo = std::min(low[v], before[v]), hi = std::max(low[v], before[v]), in = 0.0, out = 0.0;
    faces([&](std::int32_t face, std::int32_t other, double outward) {
      const double a = outward * amount[face];
      in -= std::min(a, 0.0);
      out += std::max(a, 0.0);
      lo = std::min({lo, low[other], before[other]});
      hi = std::max({hi, low[other], before[other]});
    });
    const auto i = static_cast<std::size_t>(v);
    const double room_up = grid.volume[i] * (hi - low[v]), room_down = grid.volume[i] * (low[v] - lo);
    s.up[i] = in > room_up ? room_up / in : 1.0;
    s.down[i] = out > room_down ? room_down / out : 1.0;
  });
}

/// R on the ends of the domain where the flow leaves.
void limit_outflow(const ScalarGrid& grid, const Correction& c, std::span<const double> flow, double dt,
                   LimiterScratch& s) {
  for (std::size_t k = 0; k < grid.boundary.size(); ++k) {
    const BoundaryFace& b = grid.boundary[k];
    const auto face = static_cast<std::size_t>(b.face), slot = static_cast<std::size_t>(grid.n_all) + k;
    const double carried = dt * flow[face], amount = c.amount[face],
                 value = c.before[static_cast<std::size_t>(b.volume)];
    s.up[slot] = s.down[slot] = 1.0;
    if (!(carried > 0.0)) continue;
    const double up = carried * std::max(0.0, c.range.largest - value),
                 down = carried * std::max(0.0, value - c.range.least);
    if (amount > up) s.up[slot] = up / amount;
    if (-amount > down) s.down[slot] = down / -amount;
  }
}

}  // namespace

// A volume is looked at again when the factor of one of its faces has changed: few are, after the first pass.
bool limit_to_range(ScalarGrid& grid, std::span<const Correction> corrections, LimiterScratch& s, int& passes) {
  prepare(grid, s);
  std::ranges::fill(s.face, 1.0);
  std::ranges::fill(s.wall, 1.0);
  std::ranges::fill(s.look, std::uint8_t{1});
  const Comm& comm = grid.composite->comm();
  bool limited = false;
  for (passes = 0; passes < most_passes; ++passes) {
    bool any = false;
    std::ranges::fill(s.next, std::uint8_t{0});
    for (const Correction& c : corrections) {
      find_excess(grid, c, passes < continuous_passes, s);
      if (!comm.any(note_held(grid, s))) continue;
      any = true;
      fetch_remote(grid, s.up.span());
      fetch_remote(grid, s.down.span());
      note_held(grid, s);
      hold_back(grid, c, s);
    }
    if (!any) break;
    std::swap(s.look, s.next);
    limited = true;
  }
  return limited;
}

void limit_locally(ScalarGrid& grid, std::span<const Correction> corrections, std::span<const double> flow, double dt,
                   LimiterScratch& s) {
  prepare(grid, s);
  std::ranges::fill(s.face, 1.0);
  for (const Correction& c : corrections) {
    find_local(grid, c, s);
    fetch_remote(grid, s.up.span());
    fetch_remote(grid, s.down.span());
    limit_outflow(grid, c, flow, dt, s);
    lower_factors(grid, c, s);
  }
  const auto ends = static_cast<std::size_t>(grid.n_all);
  std::ranges::fill(s.up.span().subspan(ends), 1.0);
  std::ranges::fill(s.down.span().subspan(ends), 1.0);
}

void apply_correction(const ScalarGrid& grid, const Correction& c, bool limited, const LimiterScratch& s) {
  const double *const amount = c.amount.data(), *const factor = s.face.data();
  for_each_volume(grid, [&](std::int32_t volume, auto&& faces) {
    const auto v = static_cast<std::size_t>(volume);
    double sum = 0.0;
    if (limited)
      faces([&](std::int32_t face, std::int32_t, double outward) { sum += outward * factor[face] * amount[face]; });
    else
      faces([&](std::int32_t face, std::int32_t, double outward) { sum += outward * amount[face]; });
    if (!c.wall.empty()) sum += limited ? s.wall[v] * c.wall[v] : c.wall[v];
    c.low[v] -= sum / grid.volume[v];
  });
}

std::int64_t count_limited(const ScalarGrid& grid, const LimiterScratch& s) {
  const auto is_limited = [&](std::int32_t face) {
    return s.face[static_cast<std::size_t>(face)] < 0.99 ? std::int64_t{1} : 0;
  };
  const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
  const std::int64_t plain = parallel_reduce(
      std::ssize(grid.plain), std::int64_t{0},
      [&](std::int64_t i) {
        const PlainVolumes& p = grid.plain[static_cast<std::size_t>(i)];
        std::int64_t n = 0;
        for (std::int32_t d = 0; d < 3; ++d)
          for (std::int32_t t = 0; t < p.count; ++t) n += is_limited(d * grid.n_all + p.first + t);
        return n;
      },
      sum);
  return plain + parallel_reduce(
                     static_cast<std::int64_t>(grid.listed.size()), std::int64_t{0},
                     [&](std::int64_t i) {
                       const ScalarFace& f = grid.listed[static_cast<std::size_t>(i)];
                       const bool counts = f.right < grid.n_own || f.right >= grid.n_all;
                       return counts ? is_limited(f.face) : 0;
                     },
                     sum);
}

}  // namespace karst
