// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/vof_assembly.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <tuple>

#include "base/comm/parallel.hpp"

namespace karst {

namespace {

/// Order of faces: VoF, side, primary ones first, then the VoF they lead to.
struct FaceKey {
  std::uint32_t place;  ///< vof, side, not primary
  std::uint32_t face;   ///< position in the list: equal faces keep their order
  VofName to;
  int cell;  ///< of faces that lead to no VoF: the cell that they belong to, as seen from the cell of the VoF
  friend auto operator<=>(const FaceKey& a, const FaceKey& b) {
    return std::tie(a.place, a.to, a.cell, a.face) <=> std::tie(b.place, b.to, b.cell, b.face);
  }
  bool same_face(const FaceKey& o) const { return place == o.place && to == o.to && cell == o.cell; }
};

/// A number for the cell, within one step of that of the VoF, at which a face towards no VoF lies.
int cell_beside(const VofFace& f) {
  if (is_vof(f.to)) return 0;
  int number = 0;
  for (int d = 0; d < 3; ++d) {
    const double out = d == direction_of(f.side) ? (is_high(f.side) ? 0.5 : -0.5) : 0.0;
    number = 3 * number + static_cast<int>(std::lround(f.centroid[d] - out)) + 1;
  }
  return number;
}

/// Adds the faces between the same VoFs across the same side, and those of one cell towards no VoF; the centroid
/// becomes the area-weighted mean.
std::vector<VofFace> merged(const std::vector<VofFace>& faces) {
  std::vector<FaceKey> keys;
  keys.reserve(faces.size());
  for (const VofFace& f : faces) {
    const std::uint32_t place = (std::uint32_t{f.vof} << 4) | (std::uint32_t{f.side} << 1) | (f.primary ? 0u : 1u);
    keys.push_back({place, static_cast<std::uint32_t>(keys.size()), f.to, cell_beside(f)});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<VofFace> result;
  for (std::size_t i = 0; i < keys.size();) {
    VofFace sum = faces[keys[i].face];
    sum.centroid *= sum.aperture;
    const std::size_t first = i;
    for (++i; i < keys.size() && keys[i].same_face(keys[first]); ++i) {
      const VofFace& f = faces[keys[i].face];
      sum.aperture += f.aperture;
      sum.centroid += f.aperture * f.centroid;
    }
    sum.centroid *= 1.0 / sum.aperture;
    result.push_back(sum);
  }
  return result;
}

void put_primary(const VofFace& face, VofMoments& m) {
  const std::size_t s = face.side;
  m.aperture[s] = face.aperture;
  std::size_t axis = 0;
  for (int d = 0; d < 3; ++d)
    if (d != direction_of(face.side)) m.face_centroid[s][axis++] = static_cast<float>(face.centroid[d]);
}

/// Walls of one VoF by mineral, each once. What no piece told of (faces that were closed, round-off) counts for the
/// mineral of the largest area, the first one where there is none, so that the areas add up to the wall's.
void add_up(std::vector<MineralArea>& walls, double wall_area) {
  std::ranges::stable_sort(walls, {}, &MineralArea::mineral);
  std::size_t n = 0;
  for (const MineralArea& wall : walls) {
    if (n > 0 && walls[n - 1].mineral == wall.mineral)
      walls[n - 1].area += wall.area;
    else
      walls[n++] = wall;
  }
  walls.resize(n);
  if (walls.empty() && wall_area > 0.0) walls.push_back({0.0, 0});
  if (walls.empty()) return;
  double rest = wall_area;
  for (const MineralArea& wall : walls) rest -= wall.area;
  std::ranges::max_element(walls, {}, &MineralArea::area)->area += rest;
}

/// Minerals of the next row of the lists.
void put_minerals(std::vector<MineralArea>& walls, double wall_area, BoxMomentLists& lists) {
  add_up(walls, wall_area);
  const auto row = static_cast<std::uint32_t>(lists.mineral.size());
  const auto most = std::ranges::max_element(walls, {}, &MineralArea::area);
  lists.mineral.push_back(most == walls.end() ? no_mineral : most->mineral);
  for (const MineralArea& wall : walls)
    if (walls.size() > 1) lists.mixed.push_back({wall.area, row, wall.mineral});
}

/// No wall, nothing missing: round-off of sums is forgiven.
bool is_whole(const VofMoments& m) {
  constexpr double tolerance = 1e-14;
  if (m.wall_area > tolerance || std::abs(m.kappa - 1.0) > tolerance) return false;
  return std::ranges::all_of(m.aperture, [](double a) { return std::abs(a - 1.0) <= tolerance; });
}

}  // namespace

BoxAdjacency assemble(VofAssembly&& vofs, BoxMomentLists& lists) {
  const std::vector<VofFace> faces = merged(vofs.faces);
  lists.joined = std::move(vofs.joined);
  BoxAdjacency box;
  box.cell = std::move(vofs.cell);
  const std::size_t n = box.cell.size();
  box.irregular.resize(n);
  box.primary.resize(n);
  std::size_t next_regular = 0, f = 0, w = 0;
  std::ranges::stable_sort(vofs.minerals, {}, &VofMineral::vof);
  std::vector<MineralArea> walls;
  for (std::size_t v = 0; v < n; ++v) {
    if (vofs.regular[v]) {
      box.primary[v] = vofs.regular_neighbours[next_regular++];
      continue;
    }
    VofMoments& m = vofs.moments[v];
    m.aperture = {};
    m.face_centroid = {};
    box.primary[v].fill(no_face);
    bool has_extra = false;
    for (; f < faces.size() && faces[f].vof == v; ++f) {
      const VofFace& face = faces[f];
      auto& primary = box.primary[v][face.side];
      if (face.primary && primary == no_face) {
        primary = face.to;
        put_primary(face, m);
      } else {
        has_extra = true;
        box.extra.push_back({face.vof, face.side, face.to});
        lists.extra.push_back({face.aperture, {}});
        for (int d = 0; d < 3; ++d) lists.extra.back().centroid[d] = static_cast<float>(face.centroid[d]);
      }
    }
    walls.clear();
    while (w < vofs.minerals.size() && vofs.minerals[w].vof < v) ++w;
    for (; w < vofs.minerals.size() && vofs.minerals[w].vof == v; ++w) walls.push_back(vofs.minerals[w].wall);
    if (has_extra || !is_whole(m)) {
      if (vofs.n_minerals > 1) put_minerals(walls, m.wall_area, lists);
      box.irregular[v] = 1;
      lists.moments.push_back(m);
      if (!vofs.holds_center.empty()) lists.holds_center.push_back(vofs.holds_center[v]);
    }
  }
  return box;
}

namespace {

/// Moments of a box of another geometry, in which neighbours may have other numbers.
BoxMomentLists copy_of(const LevelGeometry& before, int box, const Layout& layout) {
  const BoxMoments of = before.box(box);
  BoxMomentLists lists;
  lists.moments.assign(of.moments.begin(), of.moments.end());
  lists.extra.assign(of.extra.begin(), of.extra.end());
  for (const VofCenter& c : of.centers) lists.holds_center.push_back(c.inside ? 1 : 0);
  const auto [first, last] = before.joined_in(box);
  lists.joined.assign(before.joined.begin() + first, before.joined.begin() + last);
  for (JoinedPart& part : lists.joined)
    if (is_vof(part.home))
      part.home = vof_name(place_in(before.graph.layout(), box_of(part.home), layout), vof_of(part.home));
  if (before.mineral.size() == 0) return lists;
  const std::int64_t begin = before.moments_begin[box], end = before.moments_begin[box + 1];
  lists.mineral.assign(before.mineral.begin() + begin, before.mineral.begin() + end);
  const auto rows = before.mixed.span();
  auto at = std::ranges::lower_bound(rows, static_cast<std::uint32_t>(begin), {}, &MixedWall::row);
  for (; at != rows.end() && at->row < static_cast<std::uint32_t>(end); ++at)
    lists.mixed.push_back({at->area, at->row - static_cast<std::uint32_t>(begin), at->mineral});
  return lists;
}

}  // namespace

LevelGeometry build_level_geometry(const Comm& comm, const Layout& layout, int level,
                                   const std::function<VofAssembly(int own_box)>& make, const KeptVofs& kept) {
  const auto [first, last] = layout.owned(comm.rank());
  const std::size_t n = last - first;
  std::vector<BoxMomentLists> lists(n);
  LevelGeometry geometry;
  geometry.level = level;
  geometry.graph = build_level_graph(
      comm, layout,
      [&, begin = first](std::int64_t box) {
        return assemble(make(static_cast<int>(box - begin)), lists[box - begin]);
      },
      kept.graph());
  parallel_for_dynamic(static_cast<std::int64_t>(n), [&](std::int64_t b) {
    if (const int same = kept.of(static_cast<int>(b)); same >= 0) lists[b] = copy_of(*kept.before, same, layout);
  });
  geometry.moments_begin.assign(n + 1, 0);
  geometry.extra_begin.assign(n + 1, 0);
  geometry.joined_begin.assign(n + 1, 0);
  std::vector<std::int64_t> mixed_begin(n + 1, 0);
  for (std::size_t b = 0; b < n; ++b) {
    geometry.moments_begin[b + 1] = geometry.moments_begin[b] + static_cast<std::int64_t>(lists[b].moments.size());
    geometry.extra_begin[b + 1] = geometry.extra_begin[b] + static_cast<std::int64_t>(lists[b].extra.size());
    geometry.joined_begin[b + 1] = geometry.joined_begin[b] + static_cast<std::int64_t>(lists[b].joined.size());
    mixed_begin[b + 1] = mixed_begin[b] + static_cast<std::int64_t>(lists[b].mixed.size());
  }
  geometry.moments = Array<VofMoments>(geometry.moments_begin[n], Purpose::geometry);
  geometry.extra = Array<ExtraFaceMoments>(geometry.extra_begin[n], Purpose::geometry);
  geometry.joined = Array<JoinedPart>(geometry.joined_begin[n], Purpose::geometry);
  const bool centers_known = std::ranges::any_of(lists, [](const auto& l) { return !l.holds_center.empty(); });
  if (centers_known) geometry.centers = {geometry.moments.size(), Purpose::geometry};
  if (std::ranges::any_of(lists, [](const auto& l) { return !l.mineral.empty(); })) {
    geometry.mineral = {geometry.moments.size(), Purpose::geometry};
    geometry.mixed = Array<MixedWall>(mixed_begin[n], Purpose::geometry);
  }
  parallel_for(static_cast<std::int64_t>(n), [&](std::int64_t b) {
    std::ranges::copy(lists[b].moments, geometry.moments.begin() + geometry.moments_begin[b]);
    std::ranges::copy(lists[b].extra, geometry.extra.begin() + geometry.extra_begin[b]);
    std::ranges::copy(lists[b].joined, geometry.joined.begin() + geometry.joined_begin[b]);
    std::ranges::copy(lists[b].mineral, geometry.mineral.begin() + geometry.moments_begin[b]);
    for (MixedWall& wall : lists[b].mixed) wall.row += static_cast<std::uint32_t>(geometry.moments_begin[b]);
    std::ranges::copy(lists[b].mixed, geometry.mixed.begin() + mixed_begin[b]);
    VofCenter center;
    center.wall_distance.fill(no_wall);
    for (std::size_t r = 0; r < lists[b].holds_center.size(); ++r) {
      center.inside = lists[b].holds_center[r] != 0;
      geometry.centers[geometry.moments_begin[b] + r] = center;
    }
    if (const int same = kept.of(static_cast<int>(b)); same >= 0)  // with their distances
      std::ranges::copy(kept.before->box(same).centers, geometry.centers.begin() + geometry.moments_begin[b]);
    lists[b] = {};
  });
  return geometry;
}

}  // namespace karst
