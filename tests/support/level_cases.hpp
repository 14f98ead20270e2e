// SPDX-License-Identifier: BSD-3-Clause
// Levels of known geometry for tests of the VoF graph, and the truths they must hold.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "eb/link/faces.hpp"
#include "eb/link/level_builder.hpp"
#include "eb/shapes/combine.hpp"
#include "eb/shapes/shapes.hpp"
#include "eb/shapes/sphere_list.hpp"
#include "grid/vof_loops.hpp"

namespace karst::test {

/// Uniform in [0, 1), the same on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

/// n overlapping spheres of one radius in a domain [0, size]^3 cells.
inline std::unique_ptr<LevelSet> packing(int n, double radius, double size, bool periodic, std::uint64_t seed = 7) {
  Random random(seed);
  std::vector<Sphere> spheres;
  spheres.reserve(n);
  for (int i = 0; i < n; ++i) spheres.push_back({{size * random(), size * random(), size * random()}, radius});
  return make_sphere_list(spheres, {Vec3::all(size), {periodic, periodic, periodic}});
}

/// A solid plate of this thickness; its middle plane goes through point.
inline std::unique_ptr<LevelSet> plate(const Vec3& point, Vec3 normal, double thickness) {
  normal *= 1.0 / norm(normal);
  LevelSetParts sides;
  sides.push_back(make_level_set(HalfSpace{point + 0.5 * thickness * normal, normal}));
  sides.push_back(make_level_set(HalfSpace{point - 0.5 * thickness * normal, -normal}));
  return intersection_of_solids(std::move(sides));
}

/// Whole domain on one level.
inline BuiltLevel single_level(const Comm& comm, const LevelSet& level_set, const Domain& domain, int box_size = 8,
                               KeepPores keep = KeepPores::all,
                               ControlVolumes control_volumes = ControlVolumes::home_cells) {
  const BuiltLayout layout = build_layout(comm, domain, box_size, weight_of_box(level_set, 0));
  return build_level(
      comm, layout.layout, level_set, 0, [](std::int64_t) { return RefinedOctants{}; }, keep, control_volumes);
}

/// Free stream: largest |Σ_high α u_d - Σ_low α u_d - a_w n · u| over the own VoFs for u = (0.3, -1.1, 2).
inline double free_stream_error(const LevelGeometry& geometry) {
  const Vec3 u{0.3, -1.1, 2.0};
  double worst = 0.0;
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const BoxGraph graph = geometry.graph.box(b);
    const BoxMoments moments = geometry.box(b);
    std::vector<double> out(graph.n_own);
    for_each_face(graph, moments, [&](const FaceView& f) {
      out[f.vof] += (is_high(f.side) ? 1 : -1) * f.aperture * u[direction_of(f.side)];
    });
    for (std::size_t r = 0; r < moments.moments.size(); ++r) out[graph.row_vof[r]] -= dot(moments.moments[r].wall, u);
    for (const double x : out) worst = std::max(worst, std::abs(x));
  }
  return worst;
}

/// Σ κ and Σ wall area over all ranks, in cells of the level.
struct Totals {
  double volume = 0.0, wall_area = 0.0;
  Vec3 wall;
};
inline Totals totals(const Comm& comm, const LevelGeometry& geometry) {
  Totals t;
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const BoxGraph graph = geometry.graph.box(b);
    t.volume += graph.n_own - graph.n_irregular;
    for (const VofMoments& m : geometry.box(b).moments) {
      t.volume += m.kappa;
      t.wall_area += m.wall_area;
      t.wall += m.wall;
    }
  }
  t.volume = comm.sum(t.volume);
  t.wall_area = comm.sum(t.wall_area);
  comm.sum(std::span(t.wall.v));
  return t;
}

/// Connected components of the VoF graph of a level that lives on one rank.
inline int n_components(const LevelGraph& graph) {
  std::vector<std::int64_t> set(graph.vof_begin(graph.n_local()));
  for (std::size_t i = 0; i < set.size(); ++i) set[i] = static_cast<std::int64_t>(i);
  const auto root = [&](std::int64_t i) {
    while (set[i] != i) i = set[i];
    return i;
  };
  for (int b = 0; b < graph.n_local(); ++b)
    for_each_face(graph.box(b), [&](int vof, int, int slot) {
      const VofName n = graph.box(b).name(slot);
      if (!is_vof(n)) return;
      const auto x = root(graph.vof_begin(b) + vof), y = root(graph.vof_begin(graph.local(box_of(n))) + vof_of(n));
      set[std::max(x, y)] = std::min(x, y);
    });
  int count = 0;
  for (std::size_t i = 0; i < set.size(); ++i) count += set[i] == static_cast<std::int64_t>(i);
  return count;
}

}  // namespace karst::test
