// SPDX-License-Identifier: BSD-3-Clause
#include "transport/volumes/scalar_grid.hpp"

#include <algorithm>

#include "base/core/error.hpp"

namespace karst {
namespace {

using Place = ScalarGrid::Place;

double& number_at(FaceField& faces, const Place& p) {
  const std::size_t place = p.place;
  if (p.kind == Place::Kind::primary) return faces.primary(p.level).data(p.direction)[place];
  if (p.kind == Place::Kind::extra) return faces.extra(p.level)[place];
  return faces.coarse_fine(p.level)[place];
}

/// Calls f(level, volume) for the own volumes, threaded.
template <class F>
void for_own(const ScalarGrid& grid, F&& f) {
  for (int l = 0; l < grid.composite->n_levels(); ++l) {
    const std::int32_t begin = grid.level_begin[l];
    parallel_for(grid.level_begin[l + 1] - begin, [&](std::int64_t i) { f(l, begin + static_cast<std::int32_t>(i)); });
  }
}

}  // namespace

std::int64_t ScalarGrid::bytes() const {
  const std::size_t lists = plain.capacity() * sizeof(PlainVolumes) + boundary.capacity() * sizeof(BoundaryFace) +
                            (places.capacity() + read_only.capacity()) * sizeof(Place) +
                            slots.capacity() * sizeof(std::int64_t);
  std::size_t weights = 0;
  for (const GradientWeights& g : gradients) weights += g.weight.bytes();
  return static_cast<std::int64_t>(lists + weights + special.bytes() + special_begin.bytes() + volume_faces.bytes() +
                                   listed.bytes() + offsets.bytes() + conductance.bytes() + volume.bytes() +
                                   centroid.bytes() + fragment.bytes() + arrived.bytes()) +
         remote.bytes();
}

void list_fluxes(const ScalarGrid& grid, FaceField& faces, std::span<double> flux) {
  require(faces.grid().id() == grid.composite->id(),
          "transport: the fluxes to be read are on ground {}, the volumes on ground {}", faces.grid().id(),
          grid.composite->id());
  faces.for_boxes([](int, int) {});
  const std::size_t n = grid.n_all;
  parallel_for(std::ssize(flux), [&](std::int64_t i) { flux[i] = 0.0; });
  for (int d = 0; d < 3; ++d)
    for_own(grid, [&](int l, std::int32_t i) { flux[d * n + i] = faces.primary(l).data(d)[grid.slots[i]]; });
  const auto read = [&](const Place& p) {
    const double x = p.kind == Place::Kind::entering ? faces.entering(p.level)[p.place] : number_at(faces, p);
    flux[p.face] = p.sign * x;
  };
  for (const Place& p : grid.read_only) read(p);
  for (const Place& p : grid.places) read(p);
}

void store_fluxes(const ScalarGrid& grid, std::span<const double> flux, FaceField& faces) {
  require(faces.grid().id() == grid.composite->id(),
          "transport: the fluxes to be filled are on ground {}, the volumes on ground {}", faces.grid().id(),
          grid.composite->id());
  const Composite& composite = *grid.composite;
  const std::size_t n = grid.n_all;
  for (int l = 0; l < composite.n_levels(); ++l) {
    faces.primary(l).fill(0.0);
    std::ranges::fill(faces.extra(l), 0.0);
    if (l + 1 < composite.n_levels()) std::ranges::fill(faces.coarse_fine(l), 0.0);
  }
  for (int d = 0; d < 3; ++d)
    for_own(grid, [&](int l, std::int32_t i) { faces.primary(l).data(d)[grid.slots[i]] = flux[d * n + i]; });
  for (const Place& p : grid.places) number_at(faces, p) = p.sign * flux[p.face];
}

template <int C>
void fetch_remote(ScalarGrid& grid, std::span<double> values) {
  using Many = std::array<double, C>;
  const std::span<Many> all(reinterpret_cast<Many*>(values.data()), grid.n_all);
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(all.subspan(grid.n_own), [&](std::size_t i) { return all[exchange.sent()[i]]; });
  exchange.finish();
}

template <int C, std::size_t K>
void fetch_together(ScalarGrid& grid, const std::array<std::span<double>, K>& lists) {
  using Many = std::array<double, C * K>;
  const std::size_t n = grid.n_all - grid.n_own;
  if (grid.arrived.size() < C * K * n) grid.arrived = {C * K * n, Purpose::buffers, 0.0};
  const std::span<Many> arrived(reinterpret_cast<Many*>(grid.arrived.data()), n);
  ListExchange& exchange = grid.remote.exchange();
  exchange.begin(arrived, [&](std::size_t i) {
    Many many;
    for (std::size_t k = 0; k < K; ++k)
      std::copy_n(lists[k].data() + C * std::int64_t{exchange.sent()[i]}, C, many.data() + C * k);
    return many;
  });
  exchange.finish();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < K; ++k)
      std::copy_n(arrived[i].data() + C * k, C, lists[k].data() + C * (grid.n_own + i));
}

template <int C>
void add_up(const ScalarGrid& grid, std::span<const double> flux, std::span<double> out) {
  const double* const q = flux.data();
  double* const sum_of = out.data();
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    std::array<double, C> sum{};
    faces([&](std::int32_t face, std::int32_t, double outward) {
      for (int c = 0; c < C; ++c) sum[c] += outward * q[C * std::int64_t{face} + c];
    });
    for (int c = 0; c < C; ++c) sum_of[C * std::int64_t{v} + c] = sum[c];
  });
}

template <int C>
void find_gradient(ScalarGrid& grid, std::span<const Vec3> weights, std::span<const double> values,
                   const Gradient& gradient) {
  const double* const c = values.data();
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes p = grid.plain[i];
    const double scale = 0.5 / grid.width(p.level);
    for (std::size_t d = 0; d < 3; ++d) {
      double* const g = gradient[d].data() + C * std::int64_t{p.first};
      const double* const low = c + C * std::int64_t{p.beyond[2 * d]};
      const double* const high = c + C * std::int64_t{p.beyond[2 * d + 1]};
#pragma GCC ivdep
      for (std::int32_t t = 0; t < C * p.count; ++t) g[t] = scale * (high[t] - low[t]);
    }
  });
  parallel_for(static_cast<std::int64_t>(grid.special.size()), [&](std::int64_t s) {
    const double* const own = c + C * std::int64_t{grid.special[s]};
    std::array<Vec3, C> sum{};
    for (auto k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k) {
      const Vec3& weight = weights[k];
      if (weight == Vec3{}) continue;  // the value there may mean nothing
      const double* const other = c + C * std::int64_t{grid.volume_faces[k].other()};
      for (int m = 0; m < C; ++m) sum[m] += (other[m] - own[m]) * weight;
    }
    for (std::size_t d = 0; d < 3; ++d)
      for (int m = 0; m < C; ++m) gradient[d][C * std::int64_t{grid.special[s]} + m] = sum[m][static_cast<int>(d)];
  });
  fetch_together<C, 3>(grid, gradient);
}

template <int C>
void upwind_step(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values, double dt,
                 std::span<double> after) {
  const double *const u = flow.data(), *const c = values.data(), *const volume = grid.volume.data();
  double* const to = after.data();
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    std::array<double, C> sum{};
    faces([&](std::int32_t face, std::int32_t other, double outward) {
      const double out = outward * u[face];
      for (int m = 0; m < C; ++m) {
        const double own = c[C * std::int64_t{v} + m], beyond = c[C * std::int64_t{other} + m];  // both read: no branch
        sum[m] += out * (out >= 0.0 ? own : beyond);
      }
    });
    for (int m = 0; m < C; ++m) to[C * std::int64_t{v} + m] = c[C * std::int64_t{v} + m] - dt * sum[m] / volume[v];
  });
}

namespace {

/// Calls write(C face + c, C left + c, C right + c, F, value that F carries to second order), threaded; every face once
/// for each of C fields.
template <int C, class Write>
void for_linear_upwind(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values,
                       const Gradient& gradient, Write&& write) {
  const double *const u = flow.data(), *const c = values.data();
  for_all_faces(
      grid,
      [&](std::int32_t face, std::int32_t left, std::int32_t right, int d, std::int32_t level) {
        const double* const g = gradient[d].data();
        const double half = 0.5 * grid.width(level);
        for (int m = 0; m < C; ++m) {
          const std::int64_t l = C * std::int64_t{left} + m, r = C * std::int64_t{right} + m;
          const double from_left = c[l] + half * g[l], from_right = c[r] - half * g[r];
          write(C * std::int64_t{face} + m, l, r, u[face], u[face] >= 0.0 ? from_left : from_right);
        }
      },
      [&](const ScalarFace& f, std::int64_t i) {
        const bool from_left = u[f.face] >= 0.0;
        const std::int32_t k = from_left ? f.left : f.right;
        const Vec3& at = from_left ? grid.offsets[i].from_left : grid.offsets[i].from_right;
        for (int m = 0; m < C; ++m) {
          const std::int64_t of = C * std::int64_t{k} + m;
          double value = c[of];
          if (k < grid.n_all)
            for (std::size_t d = 0; d < 3; ++d) value += gradient[d][of] * at[static_cast<int>(d)];
          write(C * std::int64_t{f.face} + m, C * std::int64_t{f.left} + m, C * std::int64_t{f.right} + m, u[f.face],
                value);
        }
      });
}

}  // namespace

template <int C>
void linear_upwind_flux(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values,
                        const Gradient& gradient, std::span<double> flux) {
  double* const q = flux.data();
  for_linear_upwind<C>(grid, flow, values, gradient,
                       [&](std::int64_t at, std::int64_t, std::int64_t, double u, double value) { q[at] = u * value; });
}

template <int C>
void upwind_difference(const ScalarGrid& grid, std::span<const double> flow, std::span<const double> values,
                       const Gradient& gradient, std::span<const double> before, double factor,
                       std::span<double> difference) {
  const double* const c = before.data();
  double* const q = difference.data();
  for_linear_upwind<C>(grid, flow, values, gradient,
                       [&](std::int64_t at, std::int64_t left, std::int64_t right, double u, double value) {
                         const double c_left = c[left], c_right = c[right];
                         q[at] = factor * (u * value - u * (u >= 0.0 ? c_left : c_right));
                       });
}

template void fetch_remote<1>(ScalarGrid&, std::span<double>);
template void fetch_remote<2>(ScalarGrid&, std::span<double>);
template void fetch_remote<3>(ScalarGrid&, std::span<double>);
template void fetch_remote<4>(ScalarGrid&, std::span<double>);
template void fetch_together<1, 2>(ScalarGrid&, const std::array<std::span<double>, 2>&);
template void fetch_together<2, 2>(ScalarGrid&, const std::array<std::span<double>, 2>&);
template void fetch_together<3, 2>(ScalarGrid&, const std::array<std::span<double>, 2>&);
template void fetch_together<4, 2>(ScalarGrid&, const std::array<std::span<double>, 2>&);
template void add_up<1>(const ScalarGrid&, std::span<const double>, std::span<double>);
template void add_up<2>(const ScalarGrid&, std::span<const double>, std::span<double>);
template void add_up<3>(const ScalarGrid&, std::span<const double>, std::span<double>);
template void add_up<4>(const ScalarGrid&, std::span<const double>, std::span<double>);
template void find_gradient<1>(ScalarGrid&, std::span<const Vec3>, std::span<const double>, const Gradient&);
template void find_gradient<2>(ScalarGrid&, std::span<const Vec3>, std::span<const double>, const Gradient&);
template void find_gradient<3>(ScalarGrid&, std::span<const Vec3>, std::span<const double>, const Gradient&);
template void find_gradient<4>(ScalarGrid&, std::span<const Vec3>, std::span<const double>, const Gradient&);
template void upwind_step<1>(const ScalarGrid&, std::span<const double>, std::span<const double>, double,
                             std::span<double>);
template void upwind_step<2>(const ScalarGrid&, std::span<const double>, std::span<const double>, double,
                             std::span<double>);
template void upwind_step<3>(const ScalarGrid&, std::span<const double>, std::span<const double>, double,
                             std::span<double>);
template void upwind_step<4>(const ScalarGrid&, std::span<const double>, std::span<const double>, double,
                             std::span<double>);
template void linear_upwind_flux<1>(const ScalarGrid&, std::span<const double>, std::span<const double>,
                                    const Gradient&, std::span<double>);
template void linear_upwind_flux<2>(const ScalarGrid&, std::span<const double>, std::span<const double>,
                                    const Gradient&, std::span<double>);
template void linear_upwind_flux<3>(const ScalarGrid&, std::span<const double>, std::span<const double>,
                                    const Gradient&, std::span<double>);
template void linear_upwind_flux<4>(const ScalarGrid&, std::span<const double>, std::span<const double>,
                                    const Gradient&, std::span<double>);
template void upwind_difference<1>(const ScalarGrid&, std::span<const double>, std::span<const double>, const Gradient&,
                                   std::span<const double>, double, std::span<double>);
template void upwind_difference<2>(const ScalarGrid&, std::span<const double>, std::span<const double>, const Gradient&,
                                   std::span<const double>, double, std::span<double>);
template void upwind_difference<3>(const ScalarGrid&, std::span<const double>, std::span<const double>, const Gradient&,
                                   std::span<const double>, double, std::span<double>);
template void upwind_difference<4>(const ScalarGrid&, std::span<const double>, std::span<const double>, const Gradient&,
                                   std::span<const double>, double, std::span<double>);

}  // namespace karst
