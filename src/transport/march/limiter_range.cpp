// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/comm/parallel_fill.hpp"
#include "base/core/traffic.hpp"
#include "transport/march/limiter.hpp"
#include "transport/volumes/side_by_side.hpp"

namespace karst {
namespace {

constexpr int continuous_passes = 60;  ///< with the outflow credited; then without, which is sure to end
constexpr int most_passes = 120;
/// Volumes are limited by a little more than is needed to keep them in the range, because limited neighbours pass on
/// less of their outflow: by this fraction of the excess, up to this fraction of the range. At the tails of a front
/// this takes half as many passes, each over a third of the volumes.
constexpr double more = 0.25, most_more = 1e-6;
/// Relative to the values: see Leeway.
constexpr double uniform = 1e-9, near_neighbours = 1e-13, of_group = 5e-14, round_off = 1e-15;
constexpr std::uint8_t in_next = 1, in_touched = 2;  ///< of LimiterScratch::listed

/// Index of each own volume among the plain intervals or the special volumes.
void find_places(const ScalarGrid& grid, LimiterScratch& s) {
  s.place = Array<std::int32_t>(grid.n_own, Purpose::fields, 0);
  for (std::size_t p = 0; p < grid.plain.size(); ++p)
    for (std::int32_t t = 0; t < grid.plain[p].count; ++t)
      s.place[grid.plain[p].first + t] = static_cast<std::int32_t>(p);
  for (std::size_t k = 0; k < grid.special.size(); ++k) s.place[grid.special[k]] = -1 - static_cast<std::int32_t>(k);
}

/// Faces of the volumes of other ranks. The lists of the grid contain only faces of own volumes, but a limited volume
/// of another rank lowers the factors of the faces that it shares with this rank.
void find_remote_faces(const ScalarGrid& grid, LimiterScratch& s) {
  std::vector<std::vector<VolumeFace>> of(grid.n_all - grid.n_own);
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

/// f(face, other, outward) for the faces of a volume, in the order of for_each_volume(); for a volume of another rank,
/// those that it shares with own ones.
template <class F>
void for_faces_of(const ScalarGrid& grid, const LimiterScratch& s, std::int32_t volume, F&& f) {
  const auto of_list = [&](const VolumeFace* faces, std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; ++k) f(faces[k].face(), faces[k].other(), faces[k].outward());
  };
  if (volume >= grid.n_own) {
    const std::size_t r = volume - grid.n_own;
    return of_list(s.remote_faces.data(), s.remote_begin[r], s.remote_begin[r + 1]);
  }
  const std::int32_t place = s.place[volume];
  if (place < 0) {
    const std::size_t k = -1 - place;
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

/// low -= Σ amount / V in the plain volumes of an interval.
template <int C>
void correct_stretch(const ScalarGrid& grid, const Correction& b, const PlainVolumes& p) {
  std::array<const double*, 6> side;
  for (std::int32_t d = 0; d < 3; ++d) {
    side[2 * d] = b.amount.data() + C * (std::int64_t{d} * grid.n_all + p.first);
    side[2 * d + 1] = b.amount.data() + C * (std::int64_t{d} * grid.n_all + p.beyond[2 * d + 1]);
  }
  const auto [x0, x1, y0, y1, z0, z1] = side;
  double* const low = b.low.data() + C * std::int64_t{p.first};
  const double scale = 1.0 / grid.volume[p.first];
#pragma GCC ivdep
  for (std::int32_t t = 0; t < C * p.count; ++t)
    low[t] -= scale * (((x1[t] - x0[t]) + (y1[t] - y0[t])) + (z1[t] - z0[t]));
}

/// The same in a special volume, with the amount through its wall.
template <int C>
void correct_special(const ScalarGrid& grid, const Correction& b, std::int64_t i) {
  const std::int32_t v = grid.special[i];
  std::array<double, C> sum{};
  for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) {
    const VolumeFace f = grid.volume_faces[k];
    const double* const amount = b.amount.data() + C * std::int64_t{f.face()};
    for (int c = 0; c < C; ++c) sum[c] += f.outward() * amount[c];
  }
  for (int c = 0; c < C; ++c) {
    const std::int64_t at = C * std::int64_t{v} + c;
    if (!b.wall.empty()) sum[c] += b.wall[at];
    b.low[at] -= sum[c] / grid.volume[v];
  }
}

template <int C>
struct Bounds {
  explicit Bounds(const Correction& b) {
    for (int c = 0; c < C; ++c) {
      const Leeway leeway(b.range[c], b.shares);
      range[c] = leeway.range;
      least[c] = leeway.least_allowed();
      largest[c] = leeway.largest_allowed();
    }
  }
  bool has(const double* values) const {
    bool inside = true;
    for (int c = 0; c < C; ++c) inside = inside && values[c] >= least[c] && values[c] <= largest[c];
    return inside;
  }
  std::array<ScalarRange, C> range;
  std::array<double, C> least, largest;
};

/// Applies the full correction of a block, and lists the own volumes that leave the range. Only few do, so the passes
/// that follow process lists instead of the whole grid.
template <int C>
void correct_whole(const ScalarGrid& grid, const Correction& b, LimiterScratch& s, std::vector<std::int32_t>& outside) {
  const Bounds<C> bounds(b);
  const auto look_at = [&](std::int32_t v) { s.held[v] = bounds.has(b.low.data() + C * std::int64_t{v}) ? 0 : 1; };
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    correct_stretch<C>(grid, b, grid.plain[i]);
    for (std::int32_t t = 0; t < grid.plain[i].count; ++t) look_at(grid.plain[i].first + t);
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    correct_special<C>(grid, b, i);
    look_at(grid.special[i]);
  });
  outside.clear();
  for (std::int32_t v = 0; v < grid.n_own; ++v) {
    if (s.held[v] == 0) continue;
    s.held[v] = 0;
    outside.push_back(v);
  }
}

/// Corrections into and out of a volume with the current factors, per component.
template <int C>
struct Exchange {
  std::array<double, C> in{}, out{}, left_out{};  ///< left_out: Σ (1 - factor) amount, out of the volume
};

template <int C, int F>
Exchange<C> exchange_of(const ScalarGrid& grid, const Correction& b, const LimiterScratch& s, std::int32_t volume) {
  Exchange<C> e;
  const auto add = [&](const double* factor, double outward, const double* amount) {
    for (int c = 0; c < C; ++c) {
      const double a = outward * amount[c], taken = factor[F == 1 ? 0 : c] * a;
      e.in[c] -= std::min(taken, 0.0);
      e.out[c] += std::max(taken, 0.0);
      e.left_out[c] += a - taken;
    }
  };
  for_faces_of(grid, s, volume, [&](std::int32_t face, std::int32_t, double outward) {
    add(s.face.data() + F * std::int64_t{face}, outward, b.amount.data() + C * std::int64_t{face});
  });
  if (!b.wall.empty()) add(s.wall.data() + F * std::int64_t{volume}, 1.0, b.wall.data() + C * std::int64_t{volume});
  return e;
}

/// R of a volume that contains its full correction: less than 1 where its value with the current factors is outside of
/// the range. With `credit` the opposite corrections count with their current factors: R is then continuous in the
/// excess, but lowering the factors of neighbours can invalidate it, so further passes are needed. Without it, R keeps
/// the volume in the range whatever the other factors become.
template <int C, int F>
void find_excess(const ScalarGrid& grid, const Correction& b, const Bounds<C>& bounds, bool credit, std::int32_t volume,
                 LimiterScratch& s) {
  const Exchange<C> e = exchange_of<C, F>(grid, b, s, volume);
  const double size = grid.volume[volume];
  for (int c = 0; c < C; ++c) {
    const std::int64_t at = C * std::int64_t{volume} + c;
    const double value = b.low[at] + e.left_out[c] / size;
    const double over = size * (value - bounds.range[c].largest), under = size * (bounds.range[c].least - value);
    const double most = size * most_more * (bounds.range[c].largest - bounds.range[c].least);
    const auto cut = [&](double excess) { return excess + std::min(more * excess, most); };
    double up = 1.0, down = 1.0;
    if (value > bounds.largest[c] && e.in[c] > 0.0)
      up = std::clamp(1.0 - (cut(over) + (credit ? 0.0 : e.out[c])) / e.in[c], 0.0, 1.0);
    else if (value < bounds.least[c] && e.out[c] > 0.0)
      down = std::clamp(1.0 - (cut(under) + (credit ? 0.0 : e.in[c])) / e.out[c], 0.0, 1.0);
    s.up[at] = up;
    s.down[at] = down;
  }
}

template <int C>
bool is_held(const LimiterScratch& s, std::int32_t volume) {
  bool held = false;
  for (std::int64_t k = C * std::int64_t{volume}; k < C * (std::int64_t{volume} + 1); ++k)
    held = held || s.up[k] < 1.0 || s.down[k] < 1.0;
  return held;
}

/// Multiplies F factors by the smaller R of the volume that gains and the volume that loses by the correction.
template <int C, int F>
void lower_factors(const LimiterScratch& s, const double* amount, std::int32_t left, std::int32_t right,
                   double* factor) {
  std::array<double, F> allowed;
  allowed.fill(1.0);
  for (int c = 0; c < C; ++c) {
    const std::int64_t l = C * std::int64_t{left} + c, r = C * std::int64_t{right} + c;
    double& of = allowed[F == 1 ? 0 : c];
    of = std::min(of, amount[c] >= 0.0 ? std::min(s.up[r], s.down[l]) : std::min(s.up[l], s.down[r]));
  }
  for (int k = 0; k < F; ++k) factor[k] *= allowed[k];
}

/// Multiplies the factors of faces and walls of the limited volumes by R, and lists in `next` the volumes with a
/// changed factor: only these can leave the range in the next pass.
template <int C, int F>
void hold_back(const ScalarGrid& grid, const Correction& b, LimiterScratch& s) {
  const std::uint8_t* const held = s.held.data();
  parallel_for(std::ssize(s.held_list), [&](std::int64_t i) {
    const std::int32_t volume = s.held_list[i];
    for_faces_of(grid, s, volume, [&](std::int32_t face, std::int32_t other, double outward) {
      if (held[other] != 0 && other < volume) return;  // processed from the other side
      const double* const amount = b.amount.data() + C * std::int64_t{face};
      const bool leaves = outward > 0.0;
      lower_factors<C, F>(s, amount, leaves ? volume : other, leaves ? other : volume,
                          s.face.data() + F * std::int64_t{face});
    });
    if (b.wall.empty() || volume >= grid.n_own) return;
    std::array<double, F> allowed;
    allowed.fill(1.0);
    for (int c = 0; c < C; ++c) {
      const std::int64_t k = C * std::int64_t{volume} + c;
      double& of = allowed[F == 1 ? 0 : c];
      of = std::min(of, b.wall[k] >= 0.0 ? s.down[k] : s.up[k]);
    }
    for (int k = 0; k < F; ++k) s.wall[F * std::int64_t{volume} + k] *= allowed[k];
  });
  const auto concerns = [&](std::int32_t v) {
    if (v >= grid.n_own || (s.listed[v] & in_next) != 0) return;
    s.next.push_back(v);
    if ((s.listed[v] & in_touched) == 0) s.touched.push_back(v);
    s.listed[v] = in_next | in_touched;
  };
  for (const std::int32_t volume : s.held_list) {
    concerns(volume);
    for_faces_of(grid, s, volume, [&](std::int32_t, std::int32_t other, double) { concerns(other); });
  }
}

/// One pass of a block; true if any own volume was limited.
template <int C, int F>
bool pass(ScalarGrid& grid, const Correction& b, bool credit, std::span<const std::int32_t> look, LimiterScratch& s) {
  const Bounds<C> bounds(b);
  parallel_for(std::ssize(look), [&](std::int64_t i) {
    find_excess<C, F>(grid, b, bounds, credit, look[i], s);
    s.work.looks[look[i]] += C;
  });
  const auto list = [&](std::int32_t volume) {
    if (!is_held<C>(s, volume)) return;
    s.held[volume] = 1;
    s.held_list.push_back(volume);
  };
  for (const std::int32_t v : look) list(v);
  const bool any = !s.held_list.empty();
  const auto n = std::size_t{C} * grid.n_values;
  fetch_together<C, 2>(grid, {s.up.span().first(n), s.down.span().first(n)});
  for (std::int32_t v = grid.n_own; v < grid.n_all; ++v) list(v);
  hold_back<C, F>(grid, b, s);
  for (const std::int32_t volume : s.held_list) {
    s.held[volume] = 0;
    std::fill_n(s.up.begin() + C * std::int64_t{volume}, C, 1.0);
    std::fill_n(s.down.begin() + C * std::int64_t{volume}, C, 1.0);
  }
  s.held_list.clear();
  return any;
}

/// Subtracts the part of the corrections that the factors do not allow.
template <int C, int F>
void take_back(const ScalarGrid& grid, const Correction& b, const LimiterScratch& s) {
  parallel_for(std::ssize(s.touched), [&](std::int64_t i) {
    const std::int32_t volume = s.touched[i];
    const Exchange<C> e = exchange_of<C, F>(grid, b, s, volume);
    for (int c = 0; c < C; ++c) b.low[C * std::int64_t{volume} + c] += e.left_out[c] / grid.volume[volume];
  });
}

/// @param of_face  factors of a face
std::int64_t count_limited(const ScalarGrid& grid, const LimiterScratch& s, int of_face) {
  std::int64_t n = 0;
  for (const std::int32_t v : s.touched)
    for_faces_of(grid, s, v, [&](std::int32_t face, std::int32_t other, double outward) {
      for (int k = 0; k < of_face; ++k)
        if ((outward < 0.0 || other >= grid.n_all) && s.face[of_face * std::int64_t{face} + k] < counts_as_limited) ++n;
    });
  return n;
}

/// Lowers the factors until no value leaves the range, and subtracts the part of the corrections that they do not
/// allow. Returns the number of passes. A volume is evaluated again only if the factor of one of its faces has changed.
int hold_all_back(ScalarGrid& grid, std::span<const Correction> blocks, LimiterScratch& s) {
  int passes = 0;
  for (; passes < most_passes; ++passes) {
    bool any = false;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      with_factors(blocks[b], [&](auto C, auto F) {
        const std::vector<std::int32_t>& look = passes == 0 ? s.outside[b] : s.look;
        any = pass<C, F>(grid, blocks[b], passes < continuous_passes, look, s) || any;
      });
    for (const std::int32_t v : s.next) s.listed[v] = in_touched;
    std::swap(s.look, s.next);
    s.next.clear();
    if (!grid.composite->comm().any(any)) break;
  }
  s.look.clear();
  for (const std::int32_t v : s.touched) s.listed[v] = 0;
  for (const Correction& b : blocks) with_factors(b, [&](auto C, auto F) { take_back<C, F>(grid, b, s); });
  return passes;
}

}  // namespace

Leeway::Leeway(const ScalarRange& data, bool shares) {
  const double size = std::max(std::abs(data.least), std::abs(data.largest)), width = data.largest - data.least;
  const double smallest = std::max(0.0, size - width);  // magnitude; 0 where the range has 0
  const double wider = shares ? uniform * smallest + of_group * size : std::max(0.0, uniform * size - width);
  range = {data.least - wider, data.largest + wider};
  slack = round_off * (std::abs(data.least) + std::abs(data.largest));
  near = (shares ? uniform : near_neighbours) * size + wider;
}

std::int64_t LimiterScratch::bytes() const {
  std::size_t sum = up.bytes() + down.bytes() + face.bytes() + wall.bytes() + held.bytes() + listed.bytes() +
                    place.bytes() + work.looks.bytes() + sizeof(std::int64_t) * remote_begin.capacity() +
                    sizeof(VolumeFace) * remote_faces.capacity();
  for (const auto* list : {&held_list, &look, &next, &touched}) sum += sizeof(std::int32_t) * list->capacity();
  for (const auto& list : outside) sum += sizeof(std::int32_t) * list.capacity();
  return static_cast<std::int64_t>(sum);
}

LimiterScratch make_limiter(const ScalarGrid& grid, int width, int factors) {
  LimiterScratch s;
  const std::size_t n_values = grid.n_values, n_own = grid.n_own;
  const auto ones = [](std::size_t n) {
    Array<double> all(n, Purpose::fields);
    parallel_fill(all.span(), 1.0);
    return all;
  };
  for (Array<double>* a : {&s.up, &s.down}) *a = ones(width * n_values);
  s.face = ones(std::int64_t{factors} * grid.n_faces);
  s.wall = ones(factors * n_own);
  std::int32_t longest = 1;
  for (const PlainVolumes& p : grid.plain) longest = std::max(longest, p.count);
  for (auto* along : {&s.near, &s.least, &s.largest}) along->resize(std::int64_t{width} * longest);
  s.held = {n_values, Purpose::fields, std::uint8_t{0}};
  s.listed = {n_own, Purpose::fields, std::uint8_t{0}};
  s.work.looks = {n_own, Purpose::fields, 0U};
  find_places(grid, s);
  find_remote_faces(grid, s);
  return s;
}

RangeLimits correct_within_range(ScalarGrid& grid, std::span<const Correction> blocks, LimiterScratch& s) {
  if (blocks.empty()) return {};
  const int factors = blocks.front().factors();
  parallel_fill(s.face.span().first(std::int64_t{factors} * grid.n_faces), 1.0);
  parallel_fill(s.wall.span().first(std::int64_t{factors} * grid.n_own), 1.0);
  for (Array<double>* a : {&s.up, &s.down}) parallel_fill(a->span(), 1.0);
  s.outside.resize(std::max(s.outside.size(), blocks.size()));
  for (std::size_t b = 0; b < blocks.size(); ++b)
    with_width(blocks[b].width, [&](auto C) { correct_whole<C>(grid, blocks[b], s, s.outside[b]); });
  s.touched.clear();
  const double worked = seconds_worked();
  const int passes = hold_all_back(grid, blocks, s);
  s.work.seconds += seconds_worked() - worked;
  return {passes, count_limited(grid, s, factors)};
}

void correct_freely(const ScalarGrid& grid, const Correction& b) {
  with_width(b.width, [&](auto C) {
    parallel_for(std::ssize(grid.plain), [&](std::int64_t i) { correct_stretch<C>(grid, b, grid.plain[i]); });
    parallel_for(std::ssize(grid.special), [&](std::int64_t i) { correct_special<C>(grid, b, i); });
  });
}

}  // namespace karst
