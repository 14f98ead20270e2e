// SPDX-License-Identifier: BSD-3-Clause
#include "fields/vof_lookup.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <unordered_set>

#include "base/comm/parallel.hpp"
#include "base/core/items_of.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

Vec3 side_center(int side) {
  Vec3 at;
  at[direction_of(side)] = is_high(side) ? 0.5 : -0.5;
  return at;
}

ListedFace primary_face(int side, VofName to, const VofMoments* m) {
  Vec3 at = side_center(side);
  if (m == nullptr) return {side, to, true, 1.0, at};
  std::size_t axis = 0;
  for (int d = 0; d < 3; ++d)
    if (d != direction_of(side)) at[d] = double{m->face_centroid[side][axis++]};
  return {side, to, true, m->aperture[side], at};
}

}  // namespace

VofLookup::VofLookup(const LevelGeometry& geometry, const CompositeNumbering& numbering, const NumberField& slots)
    : geometry_(&geometry), numbering_(&numbering), slots_(&slots) {
  const LevelGraph& graph = geometry.graph;
  for (int b = 0; b < graph.n_local(); ++b) boxes_.push_back(graph.box(b));
  place_.resize(graph.vof_begin(graph.n_local()));
  cell_.resize(place_.size());
  parallel_for(graph.n_local(), [&](std::int64_t b) {
    const BoxGraph& g = boxes_[b];
    std::int32_t* place = place_.data() + graph.vof_begin(static_cast<int>(b));
    std::array<std::uint8_t, 3>* cell = cell_.data() + graph.vof_begin(static_cast<int>(b));
    const auto cell_of = [&](int offset) {
      const Index c = g.cells.cell(offset) - g.cells.lo;
      return std::array{static_cast<std::uint8_t>(c[0]), static_cast<std::uint8_t>(c[1]),
                        static_cast<std::uint8_t>(c[2])};
    };
    for (std::size_t r = 0; r < g.row_vof.size(); ++r) {
      place[g.row_vof[r]] = static_cast<std::int32_t>(r);
      cell[g.row_vof[r]] = cell_of(g.row_cell[r]);
    }
    for (std::size_t r = 0; r < g.runs.size(); ++r) {
      std::array<std::uint8_t, 3> at = cell_of(g.runs[r].cell);
      for (int t = 0; t < g.runs[r].length; ++t, ++at[0]) {
        place[g.runs[r].first + t] = -1 - static_cast<std::int32_t>(r);
        cell[g.runs[r].first + t] = at;
      }
    }
  });
}

std::vector<VofName> VofLookup::foreign() const {
  std::vector<VofName> names;
  for (const auto& [name, remote] : remote_) names.push_back(name);
  return names;
}

Index VofLookup::cell(VofName v) const {
  const int b = local(v);
  if (b < 0) return remote_.at(v).fixed.cell;
  const auto& at = cell_[geometry_->graph.vof_begin(b) + vof_of(v)];
  return box(b).cells.lo + Index{at[0], at[1], at[2]};
}

std::int64_t VofLookup::row(VofName own) const {
  const int b = local(own);
  const std::int32_t p = b < 0 ? -1 : place(b, vof_of(own));
  return p < 0 || p >= box(b).n_irregular ? -1 : geometry_->moments_begin[b] + p;
}

WallParts VofLookup::wall_parts(VofName v) const {
  if (local(v) >= 0) return karst::wall_parts(*geometry_, row(v));
  const auto mixed = foreign_walls_->find(v);
  return {remote_.at(v).fixed.mineral,
          mixed == foreign_walls_->end() ? std::span<const MixedWall>{} : std::span<const MixedWall>(mixed->second)};
}

GlobalNumber VofLookup::number(VofName v) const {
  const int b = local(v);
  if (b < 0) return remote_.at(v).fixed.number;
  const std::int32_t n = numbering_->number(level(), b, vof_of(v));
  return n < 0 ? no_unknown : numbering_->first() + n;
}

std::int64_t VofLookup::row_of(int b, int vof) const {
  const std::int32_t p = place(b, vof);
  return p < 0 || p >= box(b).n_irregular ? -1 : geometry_->moments_begin[b] + p;
}

const VofMoments* VofLookup::moments(VofName v) const {
  const int b = local(v);
  if (b < 0) return remote_.at(v).moments();
  const std::int64_t row = row_of(b, vof_of(v));
  return row < 0 ? nullptr : &geometry_->moments[row];
}

const VofCenter* VofLookup::center(VofName v) const {
  const int b = local(v);
  if (b < 0) return remote_.at(v).center();
  const std::int64_t row = row_of(b, vof_of(v));
  return row < 0 ? nullptr : &geometry_->centers[row];
}

VofName VofLookup::neighbour(VofName v, int side) const {
  const int b = local(v);
  if (b < 0) return remote_.at(v).fixed.primary[side];
  const BoxGraph& g = box(b);
  const std::int32_t p = place(b, vof_of(v));
  if (p >= 0) return g.name(g.neighbours[p][side]);
  const Run& run = g.runs[-1 - p];
  return g.name(run.neighbours(vof_of(v) - run.first)[side]);
}

void VofLookup::add_extra_faces(VofName v, std::vector<ListedFace>& result) const {
  const int b = local(v);
  if (b < 0) {
    const std::vector<ListedFace>& extra = remote_.at(v).extra;
    result.insert(result.end(), extra.begin(), extra.end());
    return;
  }
  const BoxGraph& g = box(b);
  const std::int32_t p = place(b, vof_of(v));
  if (p < 0 || p >= g.n_irregular) return;
  const auto first = std::lower_bound(g.extra.begin(), g.extra.end(), vof_of(v),
                                      [](const ExtraFace& f, int vof) { return f.vof < vof; });
  if (first == g.extra.end() || first->vof != vof_of(v)) return;
  const auto moments = geometry_->box(b).extra;
  for (auto f = first; f != g.extra.end() && f->vof == vof_of(v); ++f) {
    const ExtraFaceMoments& m = moments[f - g.extra.begin()];
    result.push_back({f->side, g.name(f->neighbour), false, m.aperture, {m.centroid[0], m.centroid[1], m.centroid[2]}});
  }
}

std::vector<ListedFace> VofLookup::faces(VofName v) const {
  std::vector<ListedFace> result;
  result.reserve(8);
  const VofMoments* m = moments(v);
  for (int side = 0; side < 6; ++side)
    if (const VofName n = neighbour(v, side); n != no_face) result.push_back(primary_face(side, n, m));
  if (m != nullptr) add_extra_faces(v, result);
  return result;
}

Index VofLookup::step(VofName from, VofName to, int side) const {
  return step_across(layout().domain(), cell(from), cell(to), side);
}

VofName VofLookup::aligned(VofName v, int side) const {
  const VofName n = neighbour(v, side);
  if (!is_vof(n) || !inside(v) || !inside(n) || step(v, n, side) != side_offset(side)) return no_face;
  return n;
}

SharedFace VofLookup::shared_face(VofName v, std::span<const ListedFace> mine, std::size_t i) const {
  const ListedFace& f = mine[i];
  const int d = direction_of(f.side), across = opposite(f.side);
  if (is_high(f.side)) return {v, f.neighbour, d, f.primary, f.aperture, f.centroid};
  if (f.primary && neighbour(f.neighbour, across) == v) {
    const ListedFace o = primary_face(across, v, moments(f.neighbour));
    return {f.neighbour, v, d, true, o.aperture, o.centroid};
  }
  // The k-th face between the two across this side is the k-th in the list of the other one.
  const auto same = [&](const ListedFace& o) { return o.side == f.side && o.neighbour == f.neighbour; };
  auto k = std::ranges::count_if(mine.first(i), same);
  for (const ListedFace& o : faces(f.neighbour))
    if (o.side == across && o.neighbour == v && k-- == 0) return {f.neighbour, v, d, o.primary, o.aperture, o.centroid};
  assert(false);
  return {};
}

std::vector<std::pair<SharedFace, int>> VofLookup::shared_faces(VofName v) const {
  std::vector<std::pair<SharedFace, int>> result;
  const std::vector<ListedFace> mine = faces(v);
  result.reserve(mine.size());
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (is_vof(mine[i].neighbour)) result.emplace_back(shared_face(v, mine, i), mine[i].side);
  return result;
}

VofLookup::Remote VofLookup::describe(VofName v) const {
  Remote r{{number(v), cell(v), moments(v) != nullptr, {}, {}, {}, 0}, {}};
  add_extra_faces(v, r.extra);
  for (int side = 0; side < 6; ++side) r.fixed.primary[side] = neighbour(v, side);
  if (r.fixed.irregular) {
    r.fixed.moments = *moments(v);
    r.fixed.center = *center(v);
    r.fixed.mineral = wall_parts(v).mineral;
  }
  return r;
}

void VofLookup::ask(const Comm& comm, const std::vector<VofName>& names) {
  std::map<int, ByteWriter> questions;
  for (const VofName v : names)
    if (!knows(v)) questions[layout().owner(box_of(v))].put(v);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto v = in.get<VofName>();
    const Remote r = describe(v);
    w.put(v);
    w.put(r.fixed);
    w.put_vector(r.extra);
    const auto mixed = r.fixed.irregular ? wall_parts(v).mixed : std::span<const MixedWall>{};
    w.put_vector(std::vector<MixedWall>(mixed.begin(), mixed.end()));
  };
  ask_ranks(comm, std::move(questions), answer, [&](ByteReader& in, int) {
    const auto v = in.get<VofName>();
    Remote r{};
    r.fixed = in.get<Remote::Fixed>();
    r.extra = in.get_vector<ListedFace>();
    if (auto mixed = in.get_vector<MixedWall>(); !mixed.empty()) foreign_walls_->emplace(v, std::move(mixed));
    remote_.emplace(v, std::move(r));
  });
}

void VofLookup::fetch(const Comm& comm, std::vector<VofName> names, int rings) {
  if (comm.size() == 1) return;  // all are own
  std::unordered_set<VofName> seen;
  for (int ring = 0; ring < rings; ++ring) {
    ask(comm, names);
    std::vector<VofName> next;
    seen.insert(names.begin(), names.end());
    if (ring + 1 < rings)
      for (const VofName v : names)
        for (const ListedFace& f : faces(v))
          if (is_vof(f.neighbour) && seen.insert(f.neighbour).second) next.push_back(f.neighbour);
    names = std::move(next);
  }
}

bool VofLookup::touches_other_level(VofName v) const {
  return std::ranges::any_of(faces(v), [&](const ListedFace& f) {
    return f.neighbour == coarse_face ||
           (is_vof(f.neighbour) && (!knows(f.neighbour) || number(f.neighbour) == no_unknown));
  });
}

void VofLookup::add_beyond(VofName own, std::span<const PointBeyond> points) {
  std::vector<PointBeyond>& list = beyond_[own];
  list.insert(list.end(), points.begin(), points.end());
}

void VofLookup::fetch_beyond(const Comm& comm) {
  for (auto& [name, list] : beyond_) {
    std::ranges::sort(list, {}, &PointBeyond::at);
    erase_repeated(list, &PointBeyond::unknown);
  }
  std::map<int, ByteWriter> questions;
  for (const auto& [name, remote] : remote_)
    if (touches_other_level(name)) questions[layout().owner(box_of(name))].put(name);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto name = in.get<VofName>();
    const auto found = beyond_.find(name);
    if (found == beyond_.end()) return;
    w.put(name);
    w.put_vector(found->second);
  };
  ask_ranks(comm, std::move(questions), answer, [&](ByteReader& in, int) {
    const auto name = in.get<VofName>();
    beyond_[name] = in.get_vector<PointBeyond>();
  });
}

std::span<const PointBeyond> VofLookup::beyond(VofName v) const {
  const auto found = beyond_.find(v);
  return found == beyond_.end() ? std::span<const PointBeyond>{} : found->second;
}

}  // namespace karst
