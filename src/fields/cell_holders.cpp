// SPDX-License-Identifier: BSD-3-Clause
#include "fields/cell_holders.hpp"

#include <algorithm>

#include "base/core/items_of.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

CellHolders::CellHolders(const LevelGeometry& level, int box) : box_(level.graph.box(box)) {
  const auto moments = level.box(box).moments;
  std::size_t r = 0;
  for_each_vof(box_, [&](int vof, int cell) {
    const bool cut = r < moments.size() && box_.row_vof[r] == vof;
    vofs_.push_back({cell, vof_name(box_.box, vof), cut ? moments[r].centroid : Vec3{}, 2.0});
    r += cut;
  });
  const auto [first, last] = level.joined_in(box);
  for (auto i = first; i < last; ++i)
    if (const JoinedPart& part = level.joined[i]; part.home != no_face && part.kappa > 0.0F)
      joined_.push_back({part.cell, part.home, {}, double{part.kappa}});
  std::ranges::stable_sort(joined_, {}, &Holder::cell);
}

VofName CellHolders::at(const CellPlace& place) const {
  const int cell = static_cast<int>(box_.cells.offset(place.cell));
  VofName found = no_face;
  double nearest = 1e30, most = 0.0;
  for (const Holder& h : items_of(vofs_, cell, &Holder::cell))
    if (const Vec3 away = h.centroid - place.at; dot(away, away) < nearest) {
      nearest = dot(away, away);
      found = h.vof;
    }
  if (found != no_face) return found;
  for (const Holder& h : items_of(joined_, cell, &Holder::cell))
    if (h.kappa > most) {
      most = h.kappa;
      found = h.vof;
    }
  return found;
}

VofName CellHolders::nearest(const CellPlace& place, const std::function<bool(int vof)>& wanted) const {
  VofName found = no_face;
  double nearest = 1e30;
  for (const Holder& h : vofs_) {
    if (!wanted(vof_of(h.vof))) continue;
    const Index step = box_.cells.cell(h.cell) - place.cell;
    const Vec3 away = h.centroid + Vec3{double(step[0]), double(step[1]), double(step[2])} - place.at;
    if (dot(away, away) >= nearest) continue;
    nearest = dot(away, away);
    found = h.vof;
  }
  return found;
}

}  // namespace karst
