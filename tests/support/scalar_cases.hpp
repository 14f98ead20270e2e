// SPDX-License-Identifier: BSD-3-Clause
// Flows and walls for transport whose solution is known.
#pragma once

#include <cmath>
#include <functional>

#include "eb/link/faces.hpp"
#include "support/field_cases.hpp"
#include "support/flux_cases.hpp"
#include "support/grid_cases.hpp"
#include "transport/march/transport_stepper.hpp"

namespace karst::test {

/// Thin in z: n cells along x and y, one along z, which is periodic.
inline GridOptions plane_grid(int n, bool periodic = false, int box = 16) {
  return flow_grid({n, n, 1}, {periodic, periodic, true}, box);
}

/// Fluxes of the plane flow u = (∂ψ/∂y, -∂ψ/∂x), exact through each face: differences of ψ over its open part. On one
/// level. Positions in h0.
inline void set_stream(FaceField& flux, const std::function<double(double x, double y)>& psi) {
  const Composite& grid = flux.grid();
  const LevelGeometry& level = grid.level(0);
  for (int b = 0; b < level.graph.n_local(); ++b) {
    const BoxGraph box = level.graph.box(b);
    std::size_t extra = level.extra_begin[b];
    for_each_face(box, level.box(b), [&](const FaceView& f) {
      const int d = direction_of(f.side), e = 1 - d;
      double along = 0.0;
      if (d < 2) {
        const Index cell = box.cells.cell(f.cell);
        const Vec3 at = Vec3{cell[0] + 0.5, cell[1] + 0.5, 0.5} + f.centroid;
        Vec3 lo = at, hi = at;
        lo[e] -= 0.5 * f.aperture;
        hi[e] += 0.5 * f.aperture;
        along = (d == 0 ? 1.0 : -1.0) * (psi(hi[0], hi[1]) - psi(lo[0], lo[1]));
      }
      const VofName to = box.name(f.neighbour);
      if (!f.primary)
        flux.extra(0)[extra++] = is_high(f.side) ? along : -along;
      else if (!is_high(f.side))
        flux.primary(0).box(b, d)[f.vof] = along;
      else if (to == domain_face)
        flux.primary(0).box(b, d)[f.neighbour] = along;
    });
  }
}

/// f at the centroids of all volumes of this rank.
inline std::vector<double> at_centroids(const ScalarGrid& grid, const std::function<double(const Vec3&)>& f) {
  std::vector<double> values;
  for (const Vec3& x : grid.centroid) values.push_back(f(x));
  return values;
}

/// The least and the largest value of all ranks. Collective.
inline std::pair<double, double> range_of(const Comm& comm, std::span<const double> values) {
  double low = 1e30, high = -1e30;
  for (const double x : values) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  return {comm.min(low), comm.max(high)};
}

/// Nothing flows, and the first component is 1 everywhere.
inline TransportState full_at_rest(TransportStepper& stepper) {
  FaceField flow(stepper.grid().composite);
  stepper.set_flow(flow);
  TransportState state = stepper.make_state();
  stepper.set_values(state, 0, [](const Vec3&) { return 1.0; });
  return state;
}

/// An annulus in a square of length 2, of n by n cells, that turns as a whole.
struct TurningAnnulus {
  explicit TurningAnnulus(int cells) : n(cells) {}
  double radius(double x, double y) const { return h * std::hypot(x - center[0], y - center[1]); }
  DistanceFunction walls() const {
    return DistanceFunction([*this](const Vec3& x) {
      const double r = radius(x[0], x[1]);
      return std::min(r - 0.25, 0.93 - r) / h;
    });
  }
  void set_flow(FaceField& flow) const {
    set_stream(flow, [*this](double x, double y) { return -0.5 * radius(x, y) * radius(x, y) / (h * h); });
  }
  /// A blob that it carries, at a time.
  auto blob(double t) const {
    return [*this, t](const Vec3& x) {
      const double a = h * (x[0] - center[0]) - 0.5 * std::cos(t), b = h * (x[1] - center[1]) - 0.5 * std::sin(t);
      return std::exp(-(a * a + b * b) / (2.0 * 0.15 * 0.15));
    };
  }
  int n;
  double h = 2.0 / n;
  Vec3 center{0.5 * n + 0.137, 0.5 * n - 0.211, 0.0};
};

/// What walls of a body of this radius consume, with a diffusivity of 1 radius² per time.
/// @param damkohler  rate × radius / diffusivity
inline ScalarComponent consumed_at_walls(double radius, double damkohler) {
  ScalarComponent c;
  c.diffusivity = radius * radius;
  c.wall = [=](const WallPiece&) { return ScalarWall{damkohler * radius, 0.0}; };
  return c;
}

/// At time 0: the blob in the annulus, on the grid of its plane, and what carries it.
struct TurningBlob {
  TurningBlob(const Comm& comm, int cells, const std::vector<ScalarComponent>& components = {ScalarComponent{}})
      : annulus(cells),
        flow(composite_of(comm, plane_grid(cells), annulus.walls())),
        stepper((annulus.set_flow(flow), flow.composite()), components),
        continuity(stepper.set_flow(flow)),
        state(stepper.make_state()) {
    for (std::size_t i = 0; i < components.size(); ++i) stepper.set_values(state, i, annulus.blob(0.0));
  }
  TurningAnnulus annulus;
  FaceField flow;
  TransportStepper stepper;
  FlowContinuity continuity;
  TransportState state;
};

/// A start for a potential flow through any geometry: a uniform one, without the faces of isolated fragments. Set with
/// options.allowed_divergence = any, the projection of set_flow() makes the potential flow of it.
inline FaceField stream_through(const ScalarGrid& grid, const Vec3& u) {
  FaceField faces(grid.composite);
  set_uniform(faces, u);
  std::vector<double> flux(grid.n_faces);
  list_fluxes(grid, faces, flux);
  for (const ScalarFace& f : grid.listed)
    if (f.fragment) flux[f.face] = 0.0;
  store_fluxes(grid, flux, faces);
  return faces;
}

/// Σ over all own volumes of weight × |c - exact|^p / Σ weight, and the largest: L1, L2, max.
inline std::array<double, 3> error_norms(const TransportStepper& stepper, std::span<const double> c,
                                         const std::function<double(const Vec3&)>& exact) {
  const ScalarGrid& grid = stepper.grid();
  std::array<double, 3> sums{};
  double largest = 0.0;
  for (std::size_t v = 0; v < grid.centroid.size(); ++v) {
    const double e = std::abs(c[v] - exact(grid.centroid[v]));
    sums[0] += grid.volume[v] * e;
    sums[1] += grid.volume[v] * e * e;
    sums[2] += grid.volume[v];
    largest = std::max(largest, e);
  }
  const Comm& comm = grid.composite->comm();
  comm.sum(std::span<double>(sums));
  return {sums[0] / sums[2], std::sqrt(sums[1] / sums[2]), comm.max(largest)};
}

}  // namespace karst::test
