// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "transport/march/limiter.hpp"
#include "transport/volumes/side_by_side.hpp"

namespace karst {
namespace {

/// Extrema of a volume and its neighbours, before and after the low-order step, and the corrections that enter and
/// leave the volume, of one component.
struct Neighbourhood {
  double lo, hi, in = 0.0, out = 0.0;
  Neighbourhood(double low, double before) : lo(std::min(low, before)), hi(std::max(low, before)) {}
  void add(double outward_amount, double low, double before) {
    in -= std::min(outward_amount, 0.0);
    out += std::max(outward_amount, 0.0);
    lo = std::min(lo, std::min(low, before));
    hi = std::max(hi, std::max(low, before));
  }
  /// R of the inflow: the fraction of all inflowing corrections that the volume can take without exceeding the largest
  /// value of its neighbourhood. Outflow is not credited, because its factors may become 0 (Zalesak).
  double up(double volume, double low, double near, double largest) const {
    const double room = volume * (std::max(hi, std::min(hi + near, largest)) - low);
    return in > room ? room / in : 1.0;
  }
  double down(double volume, double low, double near, double least) const {
    const double room = volume * (low - std::min(lo, std::max(lo - near, least)));
    return out > room ? room / out : 1.0;
  }
};

/// Repeats the leeway of the components along the longest interval of plain volumes, so that the loop over the
/// interleaved components needs no index arithmetic and can be vectorised.
template <int C>
void lay_out_leeway(const Correction& b, LimiterScratch& s) {
  for (int c = 0; c < C; ++c) {
    const Leeway leeway(b.range[c], b.shares);
    for (std::size_t i = c; i < s.near.size(); i += C) {
      s.near[i] = leeway.near;
      s.least[i] = leeway.least_allowed();
      s.largest[i] = leeway.largest_allowed();
    }
  }
}

/// R of all volumes for the bounds of their neighbourhood. Plain volumes read their neighbours as six contiguous
/// streams, all others through their list of faces.
template <int C>
void find_ratios(const ScalarGrid& grid, const Correction& b, LimiterScratch& s) {
  const double *const amount = b.amount.data(), *const low = b.low.data(), *const before = b.before.data();
  double *const up = s.up.data(), *const down = s.down.data();
  lay_out_leeway<C>(b, s);
  const double *const near = s.near.data(), *const least = s.least.data(), *const largest = s.largest.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const std::int64_t first = C * std::int64_t{p.first};
    std::array<const double*, 6> a, low_of, before_of;
    for (std::int32_t d = 0; d < 3; ++d) {
      a[2 * d] = amount + C * (std::int64_t{d} * grid.n_all + p.first);
      a[2 * d + 1] = amount + C * (std::int64_t{d} * grid.n_all + p.beyond[2 * d + 1]);
    }
    for (std::size_t side = 0; side < 6; ++side) {
      low_of[side] = low + C * std::int64_t{p.beyond[side]};
      before_of[side] = before + C * std::int64_t{p.beyond[side]};
    }
    const auto [a0, a1, a2, a3, a4, a5] = a;
    const auto [l0, l1, l2, l3, l4, l5] = low_of;
    const auto [b0, b1, b2, b3, b4, b5] = before_of;
    const double volume = grid.volume[p.first];
#pragma GCC ivdep
    for (std::int32_t t = 0; t < C * p.count; ++t) {
      const double own = low[first + t];
      Neighbourhood n(own, before[first + t]);
      n.add(-a0[t], l0[t], b0[t]);
      n.add(a1[t], l1[t], b1[t]);
      n.add(-a2[t], l2[t], b2[t]);
      n.add(a3[t], l3[t], b3[t]);
      n.add(-a4[t], l4[t], b4[t]);
      n.add(a5[t], l5[t], b5[t]);
      up[first + t] = n.up(volume, own, near[t], largest[t]);
      down[first + t] = n.down(volume, own, near[t], least[t]);
    }
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    for (int c = 0; c < C; ++c) {
      const std::int64_t at = C * std::int64_t{v} + c;
      Neighbourhood n(low[at], before[at]);
      for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) {
        const VolumeFace f = grid.volume_faces[k];
        const std::int64_t other = C * std::int64_t{f.other()} + c;
        n.add(f.outward() * amount[C * std::int64_t{f.face()} + c], low[other], before[other]);
      }
      up[at] = n.up(grid.volume[v], low[at], near[c], largest[c]);
      down[at] = n.down(grid.volume[v], low[at], near[c], least[c]);
    }
  });
}

/// R on domain faces with outflow; 1 on all others. Without it a correction could make the concentration of the
/// outflow leave the range although all volumes remain in it.
template <int C>
void limit_outflow(const ScalarGrid& grid, const Correction& b, std::span<const double> flow, double dt,
                   LimiterScratch& s) {
  for (std::size_t k = 0; k < grid.boundary.size(); ++k) {
    const BoundaryFace& face = grid.boundary[k];
    const double carried = dt * flow[face.face];
    for (int c = 0; c < C; ++c) {
      const std::int64_t at = C * (std::int64_t{grid.n_all} + static_cast<std::int64_t>(k)) + c;
      s.up[at] = s.down[at] = 1.0;
      if (!(carried > 0.0)) continue;
      const double amount = b.amount[C * std::int64_t{face.face} + c],
                   value = b.before[C * std::int64_t{face.volume} + c];
      const Leeway leeway(b.range[c], b.shares);
      const double up = carried * std::max(0.0, leeway.largest_allowed() - value),
                   down = carried * std::max(0.0, value - leeway.least_allowed());
      if (amount > up) s.up[at] = up / amount;
      if (-amount > down) s.down[at] = down / -amount;
    }
  }
}

/// Lowers the factors of faces to the smaller R of their two volumes: that of the volume that gains and that of the
/// volume that loses by the correction. For the first block the factors are set. Blocks and components that share a
/// factor (F = 1) get the smallest one, which preserves linear relations between them.
template <int C, int F>
void lower_factors(const ScalarGrid& grid, const Correction& b, bool first, LimiterScratch& s) {
  const double *const up = s.up.data(), *const down = s.down.data(), *const amount = b.amount.data();
  double* const factor = s.face.data();
  const auto lower = [&](std::int32_t face, std::int32_t left, std::int32_t right) {
    std::array<double, F> f;
    for (int k = 0; k < F; ++k) f[k] = first ? 1.0 : factor[F * std::int64_t{face} + k];
    for (int c = 0; c < C; ++c) {
      const std::int64_t l = C * std::int64_t{left} + c, r = C * std::int64_t{right} + c;
      const double to_right = std::min(up[r], down[l]), to_left = std::min(up[l], down[r]);
      double& of = f[F == 1 ? 0 : c];
      of = std::min(of, amount[C * std::int64_t{face} + c] >= 0.0 ? to_right : to_left);
    }
    for (int k = 0; k < F; ++k) factor[F * std::int64_t{face} + k] = f[k];
  };
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int, std::int32_t) { lower(face, left, right); },
      [&](const ScalarFace& f, std::int64_t) { lower(f.face, f.left, f.right); });
}

/// low -= Σ factor amount / V.
template <int C, int F>
void apply_factors(const ScalarGrid& grid, const Correction& b, const LimiterScratch& s) {
  const double *const amount = b.amount.data(), *const factor = s.face.data(), *const volume = grid.volume.data();
  double* const low = b.low.data();
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    std::array<double, C> sum{};
    faces([&](std::int32_t face, std::int32_t, double outward) {
      for (int c = 0; c < C; ++c)
        sum[c] += outward * factor[F * std::int64_t{face} + (F == 1 ? 0 : c)] * amount[C * std::int64_t{face} + c];
    });
    for (int c = 0; c < C; ++c) low[C * std::int64_t{v} + c] -= sum[c] / volume[v];
  });
}

/// @param of_face  factors of a face
std::int64_t count_limited(const ScalarGrid& grid, std::span<const double> factor, int of_face) {
  // A face between two ranks is counted by the owner of its right volume.
  const auto is_limited = [&](std::int32_t face) {
    return std::ranges::count_if(factor.subspan(std::int64_t{of_face} * face, of_face),
                                 [](double f) { return f < counts_as_limited; });
  };
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
                     std::ssize(grid.listed), std::int64_t{0},
                     [&](std::int64_t i) {
                       const ScalarFace& f = grid.listed[i];
                       const bool counts = f.right < grid.n_own || f.right >= grid.n_all;
                       return counts ? is_limited(f.face) : 0;
                     },
                     sum);
}

}  // namespace

std::int64_t correct_within_local_bounds(ScalarGrid& grid, std::span<const Correction> blocks,
                                         std::span<const double> flow, double dt, LimiterScratch& s) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    with_factors(blocks[i], [&](auto C, auto F) {
      const Correction& b = blocks[i];
      const auto n = std::size_t{C} * grid.n_values;
      find_ratios<C>(grid, b, s);
      fetch_together<C, 2>(grid, {s.up.span().first(n), s.down.span().first(n)});
      limit_outflow<C>(grid, b, flow, dt, s);
      lower_factors<C, F>(grid, b, i == 0, s);
    });
  for (const Correction& b : blocks) with_factors(b, [&](auto C, auto F) { apply_factors<C, F>(grid, b, s); });
  return blocks.empty() ? 0 : count_limited(grid, s.face.span(), blocks.front().factors());
}

}  // namespace karst
