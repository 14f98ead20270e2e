// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_lookup.hpp"

#include <algorithm>

#include "fields/level_faces.hpp"

namespace karst {
namespace {

constexpr int rings = 5;  ///< around the halo, known by name: what the edges next to a VoF of the halo hang on

}  // namespace

FlowLookup::FlowLookup(const Comm& comm, const LevelGeometry& geometry, const CompositeNumbering& numbering,
                       const FlowSides& sides)
    : geometry_(geometry),
      sides_(sides),
      numbers_(numbering.global_numbers(comm, geometry.graph, geometry.level)),
      vofs_(geometry, numbering, numbers_) {
  std::vector<VofName> around;
  for (const int b : graph().halo_plan().boundary) {
    const HaloNames halo = graph().box(b).halo;
    for (int i = 0; i < halo.n_vofs(); ++i)
      if (graph().local(box_of(halo[i])) < 0) around.push_back(halo[i]);
  }
  std::ranges::sort(around);
  around.erase(std::unique(around.begin(), around.end()), around.end());
  vofs_.fetch(comm, around, rings);
  if (numbering.n_levels() > 1) vofs_.fetch(comm, at_level_boundary(vofs_), rings);
}

VofName FlowLookup::across(VofName v, int side) const {
  const auto is_regular = [&](VofName u) { return vofs_.moments(u) == nullptr; };
  if (is_regular(v))  // two whole cells are always neighbours
    if (const VofName n = vofs_.neighbour(v, side); is_vof(n) && is_regular(n)) return n;
  const VofName n = vofs_.aligned(v, side);
  return n != no_face && vofs_.aligned(n, opposite(side)) == v ? n : no_face;
}

double FlowLookup::wall_on(VofName v, int side) const {
  const VofCenter* center = vofs_.center(v);
  const double wall = center == nullptr ? no_wall : center->wall_distance[side];
  if (across(v, side) != no_face) return no_wall;
  const VofName to = vofs_.neighbour(v, side);
  if (to == domain_face && wall > 0.5) return is_wall(sides_[side]) ? 0.5 : double{no_wall};
  if (to == coarse_face && wall > 1.0) return no_wall;
  return wall > 1.0 ? 0.5 : wall;
}

}  // namespace karst
