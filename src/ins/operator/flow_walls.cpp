// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_walls.hpp"

#include "base/comm/parallel.hpp"
#include "ins/operator/flow_lookup.hpp"

namespace karst {
namespace {

constexpr double flat = 0.9;       ///< |area vector| / area of a wall that counts as a plane
constexpr double planar = 0.9999;  ///< the same of a wall that is one

}  // namespace

std::uint8_t Walls::met() const {
  unsigned bits = 0;
  for (std::size_t side = 0; side < 6; ++side) bits |= unsigned{theta[side] <= 1.0} << side;
  return static_cast<std::uint8_t>(bits);
}

CellWalls::CellWalls(const FlowLookup& lookup) : lookup_(lookup) {
  const LevelGraph& graph = lookup.graph();
  for (unsigned bits = 0; bits < of_whole_.size(); ++bits)
    for (std::size_t s = 0; s < 6; ++s)
      if ((bits >> s & 1U) != 0) of_whole_[bits].theta[s] = 0.5;
  cut_.resize(lookup.geometry().moments.size());
  met_.resize(graph.vof_begin(graph.n_local()), 0);
  parallel_for_dynamic(graph.n_local(), [&](std::int64_t b) { find_in(static_cast<int>(b)); });
}

void CellWalls::find_in(int b) {
  const BoxGraph box = lookup_.graph().box(b);
  const std::span<const std::uint8_t> across = lookup_.across_in(b);
  Walls* cut = cut_.data() + lookup_.geometry().moments_begin[b];
  std::uint8_t* const met = met_.data() + lookup_.graph().vof_begin(b);
  for (int vof = 0, row = 0; vof < box.n_own; ++vof) {
    const VofName v = vof_name(box.box, vof);
    if (row < box.n_irregular && box.row_vof[row] == vof) {
      met[vof] = (cut[row++] = find(v)).met();
      continue;
    }
    for (int side = 0; side < 6; ++side)
      if ((across[vof] >> side & 1U) == 0 && lookup_.wall_on(v, side) <= 1.0)
        met[vof] |= static_cast<std::uint8_t>(1U << side);
  }
}

Walls CellWalls::find(VofName v) const {
  Walls walls;
  for (int side = 0; side < 6; ++side) walls.theta[side] = lookup_.wall_on(v, side);
  const VofMoments* m = lookup_.vofs().moments(v);
  if (m == nullptr || m->wall_area <= 0.0) return walls;
  walls.area = m->wall;
  const double length = norm(m->wall);
  walls.plane = length > planar * m->wall_area;
  if (length > flat * m->wall_area) walls.normal = (1.0 / length) * m->wall;
  return walls;
}

const Walls& CellWalls::of(VofName v, Walls& scratch) const {
  const LevelGraph& graph = lookup_.graph();
  const int b = graph.local(box_of(v));
  if (b < 0) return scratch = find(v);
  const std::int64_t row = lookup_.vofs().row(v);
  return row >= 0 ? cut_[row] : of_whole_[met_[graph.vof_begin(b) + vof_of(v)]];
}

std::uint8_t CellWalls::met(VofName v) const {
  const LevelGraph& graph = lookup_.graph();
  const int b = graph.local(box_of(v));
  return b < 0 ? find(v).met() : met_[graph.vof_begin(b) + vof_of(v)];
}

std::span<const std::uint8_t> CellWalls::met_in(int b) const {
  const LevelGraph& graph = lookup_.graph();
  return std::span(met_).subspan(graph.vof_begin(b), graph.vof_begin(b + 1) - graph.vof_begin(b));
}

}  // namespace karst
