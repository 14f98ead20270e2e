// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/low_order.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/timer.hpp"

namespace karst {
namespace {

/// h² / D Σ g / V of ordinary volumes: 6 whole ones, up to 7 at walls.
constexpr double usual_exchange = 7.0;
constexpr int least_count =
    2;  ///< with one, a front's foot is a cell wide, and all that corrections spread beyond it has to be limited
constexpr int most_count = 400;  ///< a sub-step is about as much work as a sweep of the implicit solve

/// Tells other ranks which of their neighbours are implicit.
void share(ScalarGrid& grid, std::span<std::uint8_t> values) {
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(values.subspan(grid.n_own), [&](std::size_t i) { return values[exchange.sent()[i]]; });
  exchange.finish();
}

/// Lists the inner faces, with g cut so that no volume gives more of its old value in a sub-step than it holds.
void list_inner(ScalarGrid& grid, const LowOrderTerms& terms, SubSteps& steps) {
  steps.inner.clear();
  std::vector<double> asked(grid.n_all, 0.0);  // then the part of it that is given
  const auto is_implicit = [&](std::int32_t v) { return v < grid.n_all && steps.is_implicit[v] != 0; };
  for (std::int64_t k = 0; k < std::ssize(grid.listed); ++k) {
    const ScalarFace& f = grid.listed[k];
    if (terms.g.listed[k] == 0.0 || !is_implicit(f.left) || !is_implicit(f.right)) continue;
    steps.inner.push_back({k, f.left, f.right, terms.g.listed[k]});
    steps.listed[k] = 0.0;
    asked[f.left] += steps.length * terms.g.listed[k];
    asked[f.right] += steps.length * terms.g.listed[k];
  }
  steps.any_inner = grid.composite->comm().any(!steps.inner.empty());
  if (!steps.any_inner) return;
  for (std::int32_t v = 0; v < grid.n_own; ++v) asked[v] = asked[v] > grid.volume[v] ? grid.volume[v] / asked[v] : 1.0;
  fetch_remote(grid, std::span<double>(asked));
  for (SubSteps::Inner& f : steps.inner) f.g *= std::min(asked[f.left], asked[f.right]);
}

/// now += length x source.
template <int C>
void add_sources(const ScalarGrid& grid, double length, const std::array<std::span<const double>, C>& source,
                 std::span<double> now) {
  for (int c = 0; c < C; ++c)
    if (!source[c].empty()) parallel_for(grid.n_own, [&](std::int64_t v) { now[C * v + c] += length * source[c][v]; });
}

/// Puts the new values of implicit volumes in place of their old ones.
template <int C>
void advance_implicit(ScalarGrid& grid, const LowOrderTerms& terms, std::span<double> now, std::span<double> room,
                      std::vector<double>& inner_sum) {
  const SubSteps& steps = terms.sub_steps;
  const double length = steps.length;
  for (const SubSteps::Implicit& i : steps.implicit)
    std::copy_n(now.data() + C * std::int64_t{i.volume}, C, room.data() + C * std::int64_t{i.volume});
  for (std::size_t k = 0; k < steps.inner.size(); ++k) {
    const SubSteps::Inner& f = steps.inner[k];
    for (int c = 0; c < C; ++c) {
      const std::int64_t l = C * std::int64_t{f.left} + c, r = C * std::int64_t{f.right} + c;
      const double amount = length * f.g * (now[l] - now[r]);
      inner_sum[C * k + c] += amount;
      if (f.left < grid.n_own) room[l] -= amount / grid.volume[f.left];
      if (f.right < grid.n_own) room[r] += amount / grid.volume[f.right];
    }
  }
  for (const SubSteps::Implicit& i : steps.implicit) {
    std::array<double, C> sum{};
    for (std::int64_t k = grid.special_begin[i.special]; k < grid.special_begin[i.special + 1]; ++k) {
      const double* const other = now.data() + C * std::int64_t{grid.volume_faces[k].other()};
      for (int c = 0; c < C; ++c) sum[c] += steps.of_faces[k] * other[c];
    }
    const double wall = terms.wall.size() > 0 ? terms.wall[i.volume] * terms.equilibrium[i.volume] : 0.0;
    for (int c = 0; c < C; ++c) {
      double& value = room[C * std::int64_t{i.volume} + c];
      value = (grid.volume[i.volume] * value + length * (sum[c] + wall)) / i.volume_and_more;
    }
  }
  for (const SubSteps::Implicit& i : steps.implicit)
    std::copy_n(room.data() + C * std::int64_t{i.volume}, C, now.data() + C * std::int64_t{i.volume});
  if (steps.any_implicit) fetch_remote<C>(grid, now);
}

/// One explicit sub-step of all others; exposure += length x now.
template <int C>
void advance_explicit(const ScalarGrid& grid, const LowOrderTerms& terms, bool first, std::span<const double> now,
                      std::span<double> next, std::span<double> exposure) {
  const SubSteps& steps = terms.sub_steps;
  const double length = steps.length, diffusivity = terms.diffusivity;
  const double* const x = now.data();
  double *const to = next.data(), *const sum_of = exposure.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double h = grid.width(p.level), part = length * diffusivity / (h * h);
    std::array<const double*, 6> side;
    for (std::size_t s = 0; s < 6; ++s) side[s] = x + C * std::int64_t{p.beyond[s]};
    const auto [x0, x1, x2, x3, x4, x5] = side;
    const std::int64_t begin = C * std::int64_t{p.first};
    const double* const own = x + begin;
    double *const out = to + begin, *const sum = sum_of + begin;
#pragma GCC ivdep
    for (std::int32_t t = 0; t < C * p.count; ++t) {
      const double v = own[t];
      out[t] = v + part * ((((x0[t] - v) + (x1[t] - v)) + ((x2[t] - v) + (x3[t] - v))) + ((x4[t] - v) + (x5[t] - v)));
      sum[t] = (first ? 0.0 : sum[t]) + length * v;
    }
  });
  parallel_for(C * std::int64_t{grid.n_all - grid.n_own}, [&](std::int64_t i) {
    const std::int64_t k = C * std::int64_t{grid.n_own} + i;
    sum_of[k] = (first ? 0.0 : sum_of[k]) + length * x[k];
  });
  const bool wall = terms.wall.size() > 0;
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    const double* const own = x + C * std::int64_t{v};
    double* const sum_here = sum_of + C * std::int64_t{v};
    for (int c = 0; c < C; ++c) sum_here[c] = (first ? 0.0 : sum_here[c]) + length * own[c];
    std::array<double, C> sum{};
    if (steps.is_implicit[v] == 0) {
      for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) {
        const double* const other = x + C * std::int64_t{grid.volume_faces[k].other()};
        for (int c = 0; c < C; ++c) sum[c] += steps.of_faces[k] * (other[c] - own[c]);
      }
      if (wall)
        for (int c = 0; c < C; ++c) sum[c] += terms.wall[v] * (terms.equilibrium[v] - own[c]);
    }
    for (int c = 0; c < C; ++c) to[C * std::int64_t{v} + c] = own[c] + length / grid.volume[v] * sum[c];
  });
}

}  // namespace

std::int64_t SubSteps::bytes() const {
  return static_cast<std::int64_t>(sizeof(Implicit) * implicit.capacity() + sizeof(Inner) * inner.capacity() +
                                   of_faces.bytes() + listed.bytes() + sum.bytes() + is_implicit.bytes());
}

void find_conductances(const ScalarGrid& grid, LowOrderTerms& terms) {
  terms.g = make_conductances(grid, terms.diffusivity, [&](const ScalarFace& f, std::int64_t) {
    return f.right < grid.n_all || terms.fixed[grid.boundary[f.right - grid.n_all].side];
  });
}

void choose_sub_steps(ScalarGrid& grid, LowOrderTerms& terms, double dt) {
  SubSteps& steps = terms.sub_steps;
  if (steps.dt == dt) return;
  steps.dt = dt;
  const double h = grid.width(grid.composite->n_levels() - 1);
  const double count = std::ceil(usual_exchange * terms.diffusivity * dt / (h * h));
  steps.count = count > most_count ? 0 : std::max(least_count, static_cast<int>(count));
  if (steps.count == 0) return;
  steps.length = dt / steps.count;
  const auto copy = [](const Array<double>& from, Array<double>& to) {
    if (to.size() == 0) to = {from.size(), Purpose::stencils};
    std::ranges::copy(from, to.begin());
  };
  copy(terms.g.of_faces, steps.of_faces);
  copy(terms.g.listed, steps.listed);
  copy(terms.g.sum, steps.sum);
  if (steps.is_implicit.size() == 0)
    steps.is_implicit = Array<std::uint8_t>(grid.n_all, Purpose::fields, std::uint8_t{0});
  const bool wall = terms.wall.size() > 0;
  parallel_for(grid.n_own, [&](std::int64_t v) {
    if (wall) steps.sum[v] += terms.wall[v];
    steps.is_implicit[v] = steps.length * steps.sum[v] > grid.volume[v] ? 1 : 0;
  });
  share(grid, steps.is_implicit.span());
  list_inner(grid, terms, steps);
  steps.implicit.clear();
  for (std::int64_t i = 0; i < std::ssize(grid.special); ++i) {
    const std::int32_t v = grid.special[i];
    if (steps.is_implicit[v] == 0) continue;
    for (std::int64_t k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) {
      const std::int32_t other = grid.volume_faces[k].other();
      if (other >= grid.n_all || steps.is_implicit[other] == 0) continue;
      steps.sum[v] -= steps.of_faces[k];
      steps.of_faces[k] = 0.0;
    }
    steps.implicit.push_back({v, i, grid.volume[v] + steps.length * steps.sum[v]});
  }
  steps.any_implicit = grid.composite->comm().any(!steps.implicit.empty());
}

template <int C>
int diffuse(ScalarGrid& grid, const LowOrderTerms& terms, const std::array<std::span<const double>, C>& source,
            const LowOrderVectors& vectors) {
  const SubSteps& steps = terms.sub_steps;
  const auto ends = std::size_t{C} * grid.n_all;
  std::span<double> now = vectors.first, next = vectors.second;
  std::ranges::copy(now.subspan(ends), next.begin() + ends);
  std::ranges::transform(now.subspan(ends), vectors.exposure.begin() + ends,
                         [&](double value) { return steps.dt * value; });
  vectors.inner.assign(C * steps.inner.size(), 0.0);
  for (int k = 0; k < steps.count; ++k) {
    add_sources<C>(grid, steps.length, source, now);
    fetch_remote<C>(grid, now);
    advance_implicit<C>(grid, terms, now, next, vectors.inner);
    advance_explicit<C>(grid, terms, k == 0, now, next, vectors.exposure);
    std::swap(now, next);
  }
  return steps.count;
}

template <int C>
void take_low_order(const ScalarGrid& grid, const LowOrderTerms& terms, const LowOrderVectors& vectors,
                    const DiffusedBlock& block) {
  const SubSteps& steps = terms.sub_steps;
  const double *const e = vectors.exposure.data(), *const phi = block.phi.data();
  double *const amount = block.amount.data(), *const ends = block.ends.data();
  const double diffusivity = terms.diffusivity, dt = steps.dt;
  const double* const g = steps.count > 0 ? steps.listed.data() : terms.g.listed.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double whole = diffusivity * grid.width(p.level);
    for (int d = 0; d < 3; ++d) {
      double* const to = amount + C * (std::int64_t{d} * grid.n_all + p.first);
      const std::int64_t left = C * std::int64_t{p.beyond[2 * d]}, right = C * std::int64_t{p.first};
      // As below: the rank of the volume on the left may have the face in its list.
#pragma GCC ivdep
      for (std::int32_t t = 0; t < C * p.count; ++t)
        to[t] = dt * (whole * (phi[left + t] - phi[right + t])) - whole * (e[left + t] - e[right + t]);
    }
  });
  parallel_for(std::ssize(grid.listed), [&](std::int64_t k) {
    const ScalarFace& f = grid.listed[k];
    for (int c = 0; c < C; ++c) {
      const double passed = g[k] * (e[C * std::int64_t{f.left} + c] - e[C * std::int64_t{f.right} + c]);
      double& a = amount[C * std::int64_t{f.face} + c];
      a = f.fragment ? 0.0 : dt * a - passed;
      if (f.right >= grid.n_all) ends[C * std::int64_t{f.right - grid.n_all} + c] += passed;
    }
  });
  if (steps.count == 0) return;
  for (std::size_t i = 0; i < steps.inner.size(); ++i) {
    const ScalarFace& f = grid.listed[steps.inner[i].listed];
    if (f.fragment) continue;
    for (int c = 0; c < C; ++c) amount[C * std::int64_t{f.face} + c] -= vectors.inner[C * i + c];
  }
}

template int diffuse<1>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 1>&,
                        const LowOrderVectors&);
template void take_low_order<1>(const ScalarGrid&, const LowOrderTerms&, const LowOrderVectors&, const DiffusedBlock&);
template int diffuse<2>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 2>&,
                        const LowOrderVectors&);
template void take_low_order<2>(const ScalarGrid&, const LowOrderTerms&, const LowOrderVectors&, const DiffusedBlock&);
template int diffuse<3>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 3>&,
                        const LowOrderVectors&);
template void take_low_order<3>(const ScalarGrid&, const LowOrderTerms&, const LowOrderVectors&, const DiffusedBlock&);
template int diffuse<4>(ScalarGrid&, const LowOrderTerms&, const std::array<std::span<const double>, 4>&,
                        const LowOrderVectors&);
template void take_low_order<4>(const ScalarGrid&, const LowOrderTerms&, const LowOrderVectors&, const DiffusedBlock&);

}  // namespace karst
