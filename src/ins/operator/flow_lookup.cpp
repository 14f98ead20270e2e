// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_lookup.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "fields/level_faces.hpp"
#include "grid/vof_loops.hpp"

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
  across_.resize(graph().vof_begin(graph().n_local()), 0);
  parallel_for_dynamic(graph().n_local(), [&](std::int64_t b) { find_across_in(static_cast<int>(b)); });
}

VofName FlowLookup::across(VofName v, int side) const {
  const int b = graph().local(box_of(v));
  if (b < 0) return find_across(v, side);
  const bool there = (across_in(b)[vof_of(v)] >> side & 1U) != 0;
  return there ? vofs_.neighbour(v, side) : no_face;
}

VofName FlowLookup::find_across(VofName v, int side) const {
  const auto is_regular = [&](VofName u) { return vofs_.moments(u) == nullptr; };
  if (is_regular(v))  // two whole cells are always neighbours
    if (const VofName n = vofs_.neighbour(v, side); is_vof(n) && is_regular(n)) return n;
  const VofName n = vofs_.aligned(v, side);
  return n != no_face && vofs_.aligned(n, opposite(side)) == v ? n : no_face;
}

/// Faces inside the box are looked at from their low side: what is across is so for both.
void FlowLookup::find_across_in(int b) {
  const BoxGraph box = graph().box(b);
  const std::span<const VofCenter> centers = geometry_.box(b).centers;
  std::vector<std::uint8_t> whole(box.n_own, 1), inside(box.n_own, 1);
  for (int r = 0; r < box.n_irregular; ++r) {
    whole[box.row_vof[r]] = 0;
    inside[box.row_vof[r]] = centers[r].inside;
  }
  std::vector<std::uint16_t> cells(box.n_own);
  std::vector<std::array<std::uint16_t, 6>> primary(box.n_own);
  for_each_vof(box, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
    cells[vof] = static_cast<std::uint16_t>(cell);
    primary[vof] = slots;
  });
  const Index size = box.cells.size();
  const std::array<int, 3> stride{1, size[0], size[0] * size[1]};
  const auto bit = [](int side) { return static_cast<std::uint8_t>(1U << side); };
  std::uint8_t* const bits = across_.data() + graph().vof_begin(b);
  for_each_vof(box, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
    for (int side = 0; side < 6; ++side) {
      const int slot = slots[side], d = direction_of(side);
      if (slot >= box.n_own) {
        if (is_vof(box.name(slot)) && find_across(vof_name(box.box, vof), side) != no_face) bits[vof] |= bit(side);
        continue;
      }
      if (!is_high(side) || !inside[vof] || !inside[slot]) continue;
      if (!whole[vof] || !whole[slot]) {
        const bool beside = cells[slot] == cell + stride[d] && cell / stride[d] % size[d] + 1 < size[d];
        if (beside ? primary[slot][opposite(side)] != vof : find_across(vof_name(box.box, vof), side) == no_face)
          continue;
      }
      bits[vof] |= bit(side);
      bits[slot] |= bit(opposite(side));
    }
  });
}

double FlowLookup::wall_on(VofName v, int side) const {
  if (across(v, side) != no_face) return no_wall;
  const VofCenter* center = vofs_.center(v);
  const double wall = center == nullptr ? no_wall : center->wall_distance[side];
  const VofName to = vofs_.neighbour(v, side);
  if (to == domain_face && wall > 0.5) return is_wall(sides_[side]) ? 0.5 : double{no_wall};
  if (to == coarse_face && wall > 1.0) return no_wall;
  return wall > 1.0 ? 0.5 : wall;
}

}  // namespace karst
