// SPDX-License-Identifier: BSD-3-Clause
#include "transport/march/limiter.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace karst {
namespace {

constexpr int continuous_passes = 60;  ///< with what leaves a volume counted; then without, which ends for certain
constexpr int most_passes = 120;

/// Where each own volume is found among plain and special ones.
void find_places(const ScalarGrid& grid, LimiterScratch& s) {
  s.place = Array<std::int32_t>(static_cast<std::size_t>(grid.n_own), Purpose::fields, 0);
  for (std::size_t p = 0; p < grid.plain.size(); ++p)
    for (std::int32_t t = 0; t < grid.plain[p].count; ++t)
      s.place[grid.plain[p].first + t] = static_cast<std::int32_t>(p);
  for (std::size_t k = 0; k < grid.special.size(); ++k) s.place[grid.special[k]] = -1 - static_cast<std::int32_t>(k);
}

/// Faces of the volumes of other ranks: they are found from the own side alone.
void find_remote_faces(const ScalarGrid& grid, LimiterScratch& s) {
  std::vector<std::vector<VolumeFace>> of(static_cast<std::size_t>(grid.n_all - grid.n_own));
  const auto add = [&](std::int32_t face, std::int32_t left, std::int32_t right) {
    const auto is_remote = [&](std::int32_t v) { return v >= grid.n_own && v < grid.n_all; };
    if (is_remote(left)) of[left - grid.n_own].push_back({face, right, true});
    if (is_remote(right)) of[right - grid.n_own].push_back({face, left, false});
  };
  for (const PlainVolumes& p : grid.plain)
    for (std::int32_t d = 0; d < 3; ++d)
      for (std::int32_t t = 0; t < p.count; ++t) add(d * grid.n_all + p.first + t, p.beyond[2 * d] + t, p.first + t);
  for (const ScalarFace& f : grid.listed) add(f.face, f.left, f.right);
  s.remote_begin.assign(1, 0);
  for (const std::vector<VolumeFace>& faces : of) {
    s.remote_faces.insert(s.remote_faces.end(), faces.begin(), faces.end());
    s.remote_begin.push_back(std::ssize(s.remote_faces));
  }
}

void prepare(const ScalarGrid& grid, LimiterScratch& s) {
  if (s.up.size() > 0) return;
  s.up = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::fields, 1.0);
  s.down = Array<double>(static_cast<std::size_t>(grid.n_values), Purpose::fields, 1.0);
  s.face = Array<double>(static_cast<std::size_t>(grid.n_faces), Purpose::fields, 1.0);
  s.wall = Array<double>(static_cast<std::size_t>(grid.n_own), Purpose::fields, 1.0);
  s.held = Array<std::uint8_t>(static_cast<std::size_t>(grid.n_values), Purpose::fields, std::uint8_t{0});
  s.listed = Array<std::uint8_t>(static_cast<std::size_t>(grid.n_own), Purpose::fields, std::uint8_t{0});
  for (std::vector<std::int32_t>* list : {&s.held_list, &s.look, &s.next}) list->reserve(s.up.size());
  find_places(grid, s);
  find_remote_faces(grid, s);
}

/// f(face, other, outward) for the faces of a volume, in the order of for_each_volume(); of a volume of another rank,
/// those that it shares with own ones.
template <class F>
void for_faces_of(const ScalarGrid& grid, const LimiterScratch& s, std::int32_t volume, F&& f) {
  const auto of_list = [&](const VolumeFace* faces, std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) f(faces[k].face(), faces[k].other(), faces[k].outward());
  };
  if (volume >= grid.n_own) {
    const auto r = static_cast<std::size_t>(volume - grid.n_own);
    return of_list(s.remote_faces.data(), s.remote_begin[r], s.remote_begin[r + 1]);
  }
  const std::int32_t place = s.place[volume];
  if (place < 0) {
    const auto k = static_cast<std::size_t>(-1 - place);
    return of_list(grid.volume_faces.data(), grid.special_begin[k], grid.special_begin[k + 1]);
  }
  const PlainVolumes& p = grid.plain[place];
  const std::int32_t t = volume - p.first;
  for (std::int32_t d = 0; d < 3; ++d) {
    const std::int32_t low = p.beyond[2 * d] + t, high = p.beyond[2 * d + 1] + t;
    f(d * grid.n_all + volume, low, -1.0);
    f(d * grid.n_all + high, high, 1.0);
  }
}

double allowed(const LimiterScratch& s, double amount, std::int32_t left, std::int32_t right) {
  const double *const up = s.up.data(), *const down = s.down.data();
  const double to_right = std::min(up[right], down[left]), to_left = std::min(up[left], down[right]);
  return amount >= 0.0 ? to_right : to_left;
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
      [&](const ScalarFace& f, std::int64_t) { lower(f.face, f.left, f.right); });
}

/// Multiplies the factors of faces and walls of the volumes that are held by R, and lists in `next` whom this concerns.
void hold_back(const ScalarGrid& grid, const Correction& c, LimiterScratch& s) {
  const double* const amount = c.amount.data();
  double* const factor = s.face.data();
  const std::uint8_t* const held = s.held.data();
  parallel_for(std::ssize(s.held_list), [&](std::int64_t i) {
    const std::int32_t volume = s.held_list[i];
    for_faces_of(grid, s, volume, [&](std::int32_t face, std::int32_t other, double outward) {
      if (held[other] != 0 && other < volume) return;  // done from there
      factor[face] *= outward > 0.0 ? allowed(s, amount[face], volume, other) : allowed(s, amount[face], other, volume);
    });
    const auto v = static_cast<std::size_t>(volume);
    if (!c.wall.empty() && volume < grid.n_own) s.wall[v] *= c.wall[v] >= 0.0 ? s.down[v] : s.up[v];
  });
  const auto concerns = [&](std::int32_t v) {
    if (v >= grid.n_own || s.listed[v] != 0) return;
    s.listed[v] = 1;
    s.next.push_back(v);
  };
  for (const std::int32_t volume : s.held_list) {
    concerns(volume);
    for_faces_of(grid, s, volume, [&](std::int32_t, std::int32_t other, double) { concerns(other); });
  }
}

/// R of a volume: less than 1 where it would leave the range.
template <class Faces>
void find_excess(const ScalarGrid& grid, const Correction& c, bool credit, std::int32_t volume, Faces&& faces,
                 LimiterScratch& s) {
  const auto v = static_cast<std::size_t>(volume);
  const double slack = 1e-15 * (std::abs(c.range.least) + std::abs(c.range.largest));
  const double lo = c.range.least, hi = c.range.largest;
  const double *const amount = c.amount.data(), *const factor = s.face.data();
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
  double up = 1.0, down = 1.0;
  if (value > hi + slack && in > 0.0)
    up = std::clamp((grid.volume[v] * (hi - c.low[v]) + (credit ? out : 0.0)) / in, 0.0, 1.0);
  else if (value < lo - slack && out > 0.0)
    down = std::clamp((grid.volume[v] * (c.low[v] - lo) + (credit ? in : 0.0)) / out, 0.0, 1.0);
  s.up[v] = up;
  s.down[v] = down;
}

/// R of all own volumes in the first pass, then of those in `look`.
void find_excesses(const ScalarGrid& grid, const Correction& c, bool first, bool credit, LimiterScratch& s) {
  if (first)
    return for_each_volume(grid,
                           [&](std::int32_t volume, auto&& faces) { find_excess(grid, c, credit, volume, faces, s); });
  parallel_for(std::ssize(s.look), [&](std::int64_t i) {
    const std::int32_t volume = s.look[i];
    find_excess(
        grid, c, credit, volume, [&](auto&& f) { for_faces_of(grid, s, volume, f); }, s);
  });
}

/// Lists the volumes that are held: own ones, and when `remote` those of other ranks, whose R has come.
void list_held(const ScalarGrid& grid, bool first, bool remote, LimiterScratch& s) {
  const auto look_at = [&](std::int32_t volume) {
    const auto v = static_cast<std::size_t>(volume);
    if (!(s.up[v] < 1.0 || s.down[v] < 1.0)) return;
    s.held[v] = 1;
    s.held_list.push_back(volume);
  };
  if (remote) {
    for (std::int32_t v = grid.n_own; v < grid.n_all; ++v) look_at(v);
  } else if (first) {
    for (std::int32_t v = 0; v < grid.n_own; ++v) look_at(v);
  } else {
    for (const std::int32_t v : s.look) look_at(v);
  }
}

/// Ends a pass of one component: R is 1 everywhere.
void release(LimiterScratch& s) {
  for (const std::int32_t volume : s.held_list) {
    const auto v = static_cast<std::size_t>(volume);
    s.held[v] = 0;
    s.up[v] = s.down[v] = 1.0;
  }
  s.held_list.clear();
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
    const double carried = dt * flow[face], amount = c.amount[face], value = c.before[b.volume];
    s.up[slot] = s.down[slot] = 1.0;
    if (!(carried > 0.0)) continue;
    const double up = carried * std::max(0.0, c.range.largest - value),
                 down = carried * std::max(0.0, value - c.range.least);
    if (amount > up) s.up[slot] = up / amount;
    if (-amount > down) s.down[slot] = down / -amount;
  }
}

}  // namespace

std::size_t LimiterScratch::bytes() const {
  return up.bytes() + down.bytes() + face.bytes() + wall.bytes() + held.bytes() + listed.bytes() + place.bytes() +
         sizeof(std::int32_t) * (held_list.capacity() + look.capacity() + next.capacity()) +
         sizeof(std::int64_t) * remote_begin.capacity() + sizeof(VolumeFace) * remote_faces.capacity();
}

// A volume is looked at again when the factor of one of its faces has changed: few are, after the first pass.
bool limit_to_range(ScalarGrid& grid, std::span<const Correction> corrections, LimiterScratch& s, int& passes) {
  prepare(grid, s);
  std::ranges::fill(s.face, 1.0);
  std::ranges::fill(s.wall, 1.0);
  std::ranges::fill(s.up, 1.0);
  std::ranges::fill(s.down, 1.0);
  const Comm& comm = grid.composite->comm();
  bool limited = false;
  for (passes = 0; passes < most_passes; ++passes) {
    const bool first = passes == 0;
    bool any = false;
    for (const Correction& c : corrections) {
      find_excesses(grid, c, first, passes < continuous_passes, s);
      list_held(grid, first, false, s);
      if (comm.any(!s.held_list.empty())) {
        any = true;
        fetch_remote(grid, s.up.span());
        fetch_remote(grid, s.down.span());
        list_held(grid, first, true, s);
        hold_back(grid, c, s);
      }
      release(s);
    }
    for (const std::int32_t v : s.next) s.listed[v] = 0;
    std::swap(s.look, s.next);
    s.next.clear();
    if (!any) break;
    limited = true;
  }
  s.look.clear();
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
  const auto is_limited = [&](std::int32_t face) { return s.face[face] < 0.99 ? std::int64_t{1} : 0; };
  const auto sum = [](std::int64_t a, std::int64_t b) { return a + b; };
  const std::int64_t plain = parallel_reduce(
      std::ssize(grid.plain), std::int64_t{0},
      [&](std::int64_t i) {
        const PlainVolumes& p = grid.plain[i];
        std::int64_t n = 0;
        for (std::int32_t d = 0; d < 3; ++d)
          for (std::int32_t t = 0; t < p.count; ++t) n += is_limited(d * grid.n_all + p.first + t);
        return n;
      },
      sum);
  return plain + parallel_reduce(
                     static_cast<std::int64_t>(grid.listed.size()), std::int64_t{0},
                     [&](std::int64_t i) {
                       const ScalarFace& f = grid.listed[i];
                       const bool counts = f.right < grid.n_own || f.right >= grid.n_all;
                       return counts ? is_limited(f.face) : 0;
                     },
                     sum);
}

}  // namespace karst
