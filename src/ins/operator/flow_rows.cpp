// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/face_weight.hpp"
#include "ins/operator/flow_edges.hpp"

namespace karst {
namespace {

constexpr double least_symmetric_theta = 1e-4;  ///< as in the two-point operator (two_point.cpp)
constexpr double least_area = 1e-3;             ///< of a face between flow cells
/// Of the diagonal, by edges: each of two that end a wall nearby, at a corner of it, balances the friction of that, and
/// both would make it 0 or less (a cube whose faces lie 0.0135 cells beside cell centres).
constexpr double most_by_edges = 0.9;
/// FaceArea::most_weight between levels: the velocity of a ghost, interpolated over coarse cells, does not vanish
/// towards walls as that of a cell would, and much more of it leaves the pressure undetermined in short steps.
constexpr double most_to_coarse = 2.0;

/// Of the ghost behind an end of the domain across d.
Walls mirrored(Walls walls, int d) {
  std::swap(walls.theta[low_side(d)], walls.theta[high_side(d)]);
  walls.normal[d] = -walls.normal[d];
  walls.area[d] = -walls.area[d];
  return walls;
}

/// Of the ghost in front of a coarser level across d: walls along d are those of the VoF.
Walls continued(Walls walls, int d) {
  for (const bool high : {false, true}) walls.theta[side_of(d, high)] = no_wall;
  return walls;
}

class Maker {
 public:
  Maker(const Comm& comm, const FlowLookup& lookup)
      : comm_(comm),
        lookup_(lookup),
        geometry_(lookup.geometry()),
        graph_(lookup.graph()),
        sides_(lookup.sides()),
        vofs_(lookup.vofs()),
        walls_(lookup),
        has_row_(find_rows()),
        edges_(lookup, walls_, has_row_) {}

  FlowRows make() {
    const int n = graph_.n_local();
    FlowRows result;
    result.begin = result.extra_begin = result.still_begin = {0};
    for (int b = 0; b < n; ++b)
      result.begin.push_back(result.begin.back() + std::count(has_row_.begin() + graph_.vof_begin(b),
                                                              has_row_.begin() + graph_.vof_begin(b + 1), 1));
    result.rows = Array<FlowRow>(result.begin.back(), Purpose::stencils);
    struct OfBox {
      std::vector<std::uint16_t> still;
      std::vector<FlowExtra> extra;
      FlowCounts counts;
    };
    std::vector<OfBox> boxes(n);
    parallel_for_dynamic(n, [&](std::int64_t i) {
      const int b = static_cast<int>(i);
      const OpenBox box = open(b);
      make_box(box, result.rows.span().subspan(result.begin[b], result.begin[b + 1] - result.begin[b]), boxes[b].still,
               boxes[b].counts);
      make_extra(box, boxes[b].extra, boxes[b].counts);
    });
    for (const OfBox& box : boxes) {
      result.extra_begin.push_back(result.extra_begin.back() + std::ssize(box.extra));
      result.still.insert(result.still.end(), box.still.begin(), box.still.end());
      result.still_begin.push_back(std::ssize(result.still));
    }
    result.extra = Array<FlowExtra>(result.extra_begin.back(), Purpose::stencils);
    FlowCounts counts;
    for (int b = 0; b < n; ++b) {
      std::ranges::copy(boxes[b].extra, result.extra.data() + result.extra_begin[b]);
      counts.flow_cells += boxes[b].counts.flow_cells;
      counts.walls += boxes[b].counts.walls;
      counts.walls_half_way += boxes[b].counts.walls_half_way;
      counts.open_area += boxes[b].counts.open_area;
      counts.extra_area += boxes[b].counts.extra_area;
      counts.closed_area += boxes[b].counts.closed_area;
    }
    std::array<std::int64_t, 5> sums{counts.flow_cells, result.begin.back(), std::ssize(result.still), counts.walls,
                                     counts.walls_half_way};
    comm_.sum(std::span(sums));
    std::array<double, 3> areas{counts.open_area, counts.extra_area, counts.closed_area};
    comm_.sum(std::span(areas));
    result.counts = {sums[0], sums[1], sums[2], sums[3], sums[4], areas[0], areas[1], areas[2]};
    return result;
  }

 private:
  bool is_regular(VofName v) const { return vofs_.moments(v) == nullptr; }

  /// A box while its rows are made.
  struct OpenBox {
    BoxGraph graph;
    std::vector<int> place;             ///< by VoF: its row, -1 without
    std::vector<FlowProfile> profiles;  ///< by row
  };

  OpenBox open(int b) const {
    OpenBox box{graph_.box(b), {}, {}};
    box.place.resize(box.graph.n_own, -1);
    for (int vof = 0; vof < box.graph.n_own; ++vof) {
      if (!has_row_[graph_.vof_begin(b) + vof]) continue;
      box.place[vof] = static_cast<int>(box.profiles.size());
      Seen seen;
      box.profiles.push_back(find_profile(vof_name(box.graph.box, vof), seen));
    }
    return box;
  }

  /// Holds what a profile is made of for VoFs of other ranks, and a profile.
  struct Seen {
    Walls walls;
    std::vector<FlowEdge> edges;
    std::optional<FlowProfile> profile;
  };

  /// @param[out] seen  must outlive it
  FlowProfile find_profile(VofName v, Seen& seen) const { return {walls_.of(v, seen.walls), edges_.of(v, seen.edges)}; }
  const FlowProfile& profile_of(const OpenBox& box, VofName v, Seen& seen) const {
    const int row = box_of(v) == box.graph.box ? box.place[vof_of(v)] : -1;
    return row >= 0 ? box.profiles[row] : seen.profile.emplace(find_profile(v, seen));
  }

  void make_box(const OpenBox& box, std::span<FlowRow> rows, std::vector<std::uint16_t>& still,
                FlowCounts& counts) const {
    const BoxGraph& graph = box.graph;
    const int b = graph_.local(graph.box);
    int next = 0;
    for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      const VofName v = vof_name(graph.box, vof);
      if (box.place[vof] < 0) {
        if (vofs_.is_covered(b, vof)) return;
        if (!vofs_.inside(v)) return still.push_back(static_cast<std::uint16_t>(vof));
        ++counts.flow_cells;
        counts.open_area += 3.0;
        return;
      }
      ++counts.flow_cells;
      Neighbourhood around{box, slots, {}};
      for (int d = 0; d < 3; ++d)
        if (const int slot = slots[low_side(d)]; slot < graph.n_own && box.place[slot] >= 0 && box.place[slot] < next)
          around.low[d] = &rows[box.place[slot]];
      rows[next++] = make_row(around, v, counts);
    });
  }

  /// Which of the own VoFs have a row: flow cells that are cut or next to something that is no whole face between flow
  /// cells.
  std::vector<std::uint8_t> find_rows() const {
    std::vector<std::uint8_t> has_row(graph_.vof_begin(graph_.n_local()), 0);
    parallel_for_dynamic(graph_.n_local(), [&](std::int64_t b) {
      const BoxGraph graph = graph_.box(static_cast<int>(b));
      std::vector<std::uint8_t> cut(graph.n_own, 0);
      for (const std::uint16_t v : graph.row_vof.first(graph.n_irregular)) cut[v] = 1;
      std::uint8_t* const of_box = has_row.data() + graph_.vof_begin(static_cast<int>(b));
      for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
        const VofName v = vof_name(graph.box, vof);
        if (vofs_.is_covered(static_cast<int>(b), vof)) return;
        of_box[vof] = cut[vof] ? vofs_.inside(v) : needs_row(static_cast<int>(b), graph, cut, v, slots);
      });
    });
    return has_row;
  }

  /// @param v  a whole cell
  bool needs_row(int b, const BoxGraph& graph, std::span<const std::uint8_t> cut, VofName v,
                 const std::array<std::uint16_t, 6>& slots) const {
    for (int side = 0; side < 6; ++side) {
      const int slot = slots[side];
      const FlowSide kind = sides_[side];
      const bool inside = slot < graph.n_own;
      if (inside && (cut[slot] || vofs_.is_covered(b, slot))) return true;
      if (inside && !is_wall(kind)) continue;
      const VofName n = graph.name(slot);
      if (n == domain_face) {
        if (is_wall(kind) || row_at(kind).needed) return true;
      } else if (n == coarse_face) {
        if (lookup_.is_closed(v, side)) return true;
      } else if (is_vof(n)) {
        if (!is_regular(n) || vofs_.is_covered(b, slot)) return true;
        // The wall behind n bends the flux to it, which is one for both.
        if (is_wall(kind) && meets_wall(n, side)) return true;
      }
    }
    return false;
  }

  bool meets_wall(VofName v, int side) const { return (walls_.met(v) >> side & 1U) != 0; }

  struct Side {
    double theta = 1.0;
    bool open = false;
    double area = 0.0;
    FaceWeight face;
    bool in_gradient = true;
  };

  /// What is there around a flow cell that gets a row.
  struct Neighbourhood {
    const OpenBox& box;
    const std::array<std::uint16_t, 6>& slots;
    std::array<const FlowRow*, 3> low;  ///< rows of the cells across the low sides, nullptr where they are not made
  };

  /// @param here  walls of v
  Side look(const OpenBox& box, VofName v, const Walls& here, int side, VofName to, FlowCounts& counts) const {
    const double wall = here.theta[side];
    if (wall <= 1.0) {
      const VofCenter* center = vofs_.center(v);
      if (center != nullptr && center->wall_distance[side] > 1.0F && to != domain_face) ++counts.walls_half_way;
      return {wall, false, 0.0, {}};
    }
    const int d = direction_of(side);
    FaceArea area = primary_area(v, side);
    if (!is_vof(to)) {  // a ghost
      if (to == coarse_face && lookup_.is_closed(v, side)) {
        counts.closed_area += area.area;
        return {lookup_.closed_at(v, side), false, 0.0, {}};
      }
      for (const ListedFace& f : vofs_.faces(v))
        if (!f.primary && f.side == side && f.neighbour == to) {
          area.at = (1.0 / (area.area + f.aperture)) * (area.area * area.at + f.aperture * f.centroid);
          area.area += f.aperture;
        }
      if (to == domain_face)
        if (const EndRow& end = row_at(sides_[side]); end.given_flux)
          return {end.distance, true, area.area, {area.area, 0.0}, end.in_gradient};
      if (!is_high(side)) area.at[d] += 1.0;  // as seen from the ghost
      const FlowProfile& own = box.profiles[box.place[vof_of(v)]];
      const FlowProfile beyond(to == domain_face ? mirrored(here, d) : continued(here, d), {});
      if (to == coarse_face) area.most_weight = most_to_coarse;
      return {1.0, true, area.area,
              face_weight(d, is_high(side) ? own : beyond, is_high(side) ? beyond : own, to_vec(unit(d)), area)};
    }
    assert(lookup_.across(v, side) == to);
    if (lookup_.is_covered(to)) {  // its flux is that of the fine faces
      if (lookup_.is_open_to_finer(v, side)) return {1.0, true, 0.0, {}};
      ++counts.walls_half_way;
      return {0.5, false, 0.0, {}};
    }
    const bool both_whole = is_regular(v) && is_regular(to);
    if (both_whole && walls_.met(v) == 0 && walls_.met(to) == 0) return {1.0, true, 1.0, {1.0, 0.0}};
    if (!is_high(side)) area = primary_area(to, high_side(d));
    std::array<Seen, 2> seen;
    const auto profile = [&](VofName u, Seen& s) -> const FlowProfile& {  // of two whole cells one may have no row
      return both_whole ? s.profile.emplace(walls_.of(u, s.walls), std::span<const FlowEdge>{}) : profile_of(box, u, s);
    };
    const FlowProfile &own = profile(v, seen[0]), &there = profile(to, seen[1]);
    return {1.0, true, area.area,
            face_weight(d, is_high(side) ? own : there, is_high(side) ? there : own, to_vec(unit(d)), area)};
  }

  FaceArea primary_area(VofName v, int side) const {
    const VofMoments* m = vofs_.moments(v);
    FaceArea area{1.0, 0.5 * to_vec(side_offset(side))};
    if (m == nullptr) return area;
    area.area = m->aperture[side];
    std::size_t axis = 0;
    for (int e = 0; e < 3; ++e)
      if (e != direction_of(side)) area.at[e] = m->face_centroid[side][axis++];
    return area;
  }

  /// Has open faces on all sides (row.curved, or no row).
  bool is_curved(VofName v) const { return walls_.met(v) == 0; }

  /// The extra faces of a flow cell towards a coarser level are a part of its primary one there.
  bool crosses(VofName v, int side) const {
    return vofs_.neighbour(v, side) == coarse_face && vofs_.inside(v) && lookup_.wall_on(v, side) > 1.0 &&
           !lookup_.is_closed(v, side);
  }

  /// Fluid passes the end on this side, and the primary face of the flow cell there, which takes the others along
  /// (look()), does not lie in it: the cell is another one than that of the piece that joined, or a wall is between.
  bool is_apart_from_end(VofName v, int side) const {
    const FlowSide kind = sides_[side];
    return (gives_pressure(kind) || gives_velocity(kind)) && vofs_.inside(v) && !lookup_.is_covered(v) &&
           (vofs_.neighbour(v, side) != domain_face || lookup_.wall_on(v, side) <= 1.0);
  }

  /// The face of a joined piece in an end of the domain. Beyond it stands the mirror image of the flow cell, as for the
  /// primary faces there.
  FlowExtra to_end(const OpenBox& box, const ExtraFace& f, const ExtraFaceMoments& moments, FlowCounts& counts) const {
    const BoxGraph& graph = box.graph;
    const VofName v = vof_name(graph.box, f.vof);
    const int d = direction_of(f.side), at = graph.cells.cell(cell_of(graph, f.vof))[d];
    const int away = is_high(f.side) ? graph_.layout().domain().cells[d] - 1 - at : at;
    Index step;
    step[d] = 2 * away + 1;
    Vec3 centroid{moments.centroid[0], moments.centroid[1], moments.centroid[2]};
    if (!is_high(f.side)) centroid[d] += step[d];  // as seen from the ghost
    Walls scratch;
    const FlowProfile& own = box.profiles[box.place[f.vof]];
    const FlowProfile beyond(mirrored(walls_.of(v, scratch), d), {});
    const FaceWeight w = face_weight(d, is_high(f.side) ? own : beyond, is_high(f.side) ? beyond : own, to_vec(step),
                                     {moments.aperture, centroid});
    std::array<std::int8_t, 3> out{};
    out[d] = static_cast<std::int8_t>(is_high(f.side) ? step[d] : -step[d]);
    counts.extra_area += moments.aperture;
    return {f.vof, f.neighbour, f.side, 0, out, static_cast<float>(std::max(w.mean, least_area))};
  }

  /// Faces between flow cells that are no neighbours on a grid line.
  void make_extra(const OpenBox& box, std::vector<FlowExtra>& extra, FlowCounts& counts) const {
    const BoxGraph& graph = box.graph;
    const auto moments = geometry_.box(graph_.local(graph.box)).extra;
    for (std::size_t e = 0; e < graph.extra.size();) {
      const VofName v = vof_name(graph.box, graph.extra[e].vof);
      const std::vector<ListedFace> faces = vofs_.faces(v);  // extra ones last, in this order
      std::size_t listed = std::ranges::count_if(faces, &ListedFace::primary);
      for (; e < graph.extra.size() && vof_name(graph.box, graph.extra[e].vof) == v; ++e, ++listed) {
        const ExtraFace& f = graph.extra[e];
        const VofName to = graph.name(f.neighbour);
        if (to == domain_face && is_apart_from_end(v, f.side)) extra.push_back(to_end(box, f, moments[e], counts));
        if (!is_vof(to)) {
          if (to == coarse_face && !crosses(v, f.side)) counts.closed_area += moments[e].aperture;
          continue;
        }
        const SharedFace shared = vofs_.shared_face(v, faces, listed);
        if (lookup_.is_covered(v) || lookup_.is_covered(to)) continue;
        counts.extra_area += 0.5 * shared.aperture;
        if (!vofs_.inside(v) || !vofs_.inside(to)) {
          counts.closed_area += 0.5 * shared.aperture;
          continue;
        }
        const int d = shared.direction;
        const Index step = vofs_.step(shared.low, shared.high, high_side(d));
        std::array<Seen, 2> seen;
        const FaceWeight w = face_weight(d, profile_of(box, shared.low, seen[0]), profile_of(box, shared.high, seen[1]),
                                         to_vec(step), {shared.aperture, shared.centroid});
        std::array<std::int8_t, 3> away{};
        for (int c = 0; c < 3; ++c) away[c] = static_cast<std::int8_t>(is_high(f.side) ? step[c] : -step[c]);
        const auto curved = static_cast<std::uint8_t>(is_curved(v) + 2 * is_curved(to));
        extra.push_back({f.vof, f.neighbour, f.side, curved, away, static_cast<float>(std::max(w.mean, least_area))});
      }
    }
  }

  /// How far the velocity of a flow cell stands from its centre because the wall towards a side counts as least_theta
  /// away from it although it is nearer.
  double moved(VofName v, int side) const {
    if (!is_vof(v) || !meets_wall(v, side)) return 0.0;
    Walls scratch;
    return moved(walls_.of(v, scratch), side);
  }
  static double moved(const Walls& walls, int side) { return std::max(least_theta - walls.theta[side], 0.0); }

  /// The face between two flow cells in a box as the row of the one on its low side has it.
  static Side as_seen_from(const FlowRow& low, int d) {
    const double area = low.area[high_side(d)];
    return {1.0, true, area, {area, low.bend[high_side(d)]}};
  }

  FlowRow make_row(const Neighbourhood& at, VofName v, FlowCounts& counts) const {
    const auto& [box, slots, low] = at;
    const BoxGraph& graph = box.graph;
    FlowRow row{};
    row.vof = static_cast<std::uint16_t>(vof_of(v));
    Walls scratch;
    std::vector<FlowEdge> edges;
    const Walls& walls = walls_.of(v, scratch);
    double diagonal = 0.0, symmetric = 0.0;
    for (int d = 0; d < 3; ++d) {
      std::array<Side, 2> ends;
      std::array<double, 2> theta;
      for (std::size_t e = 0; e < 2; ++e) {
        const int side = side_of(d, e == 1);
        const VofName to = graph.name(slots[side]);
        if (e == 0 && low[d] != nullptr && walls.theta[side] > 1.0)
          ends[e] = as_seen_from(*low[d], d);
        else
          ends[e] = look(box, v, walls, side, to, counts);
        counts.walls += !ends[e].open;
        theta[e] = std::max(ends[e].theta, least_theta);
        if (ends[e].open) theta[e] -= moved(to, side);
        if (ends[e].open) theta[e] -= moved(walls, opposite(side));
        symmetric += 1.0 / std::max(ends[e].theta, least_symmetric_theta);
      }
      const double factor = 2.0 / (theta[0] + theta[1]);
      const int n_open = (ends[0].open && ends[0].in_gradient) + (ends[1].open && ends[1].in_gradient);
      for (std::size_t e = 0; e < 2; ++e) {
        const std::size_t s = side_of(d, e == 1);
        diagonal += factor / theta[e];
        row.theta[s] = static_cast<float>(ends[e].open ? theta[e] : ends[e].theta);
        row.slot[s] = ends[e].open ? slots[s] : static_cast<std::uint16_t>(graph.closed());
        if (!ends[e].open) continue;
        row.viscous[s] = static_cast<float>(factor / theta[e]);
        if (ends[e].in_gradient) row.gradient[s] = (e == 1 ? 1.0F : -1.0F) / static_cast<float>(n_open);
        if (ends[e].area == 0.0) continue;
        row.area[s] = static_cast<float>(std::max(ends[e].face.mean, least_area));
        row.bend[s] = static_cast<float>(ends[e].face.bend);
        if (e == 1) counts.open_area += ends[e].area;
      }
    }
    const Vec3 edge = edge_friction(edges_.of(v, edges), walls) + Vec3::all(edges_.vertex_friction(v));
    for (std::size_t c = 0; c < 3; ++c)
      row.edge[c] = static_cast<float>(std::max(edge.v[c], -most_by_edges * diagonal));
    row.diagonal = static_cast<float>(diagonal);
    row.curved = std::ranges::all_of(row.slot, [&](std::uint16_t n) { return n != graph.closed(); });
    row.symmetric_scale = static_cast<float>(symmetric / double{row.mean_diagonal()});
    return row;
  }

  const Comm& comm_;
  const FlowLookup& lookup_;
  const LevelGeometry& geometry_;
  const LevelGraph& graph_;
  FlowSides sides_;
  const VofLookup& vofs_;
  CellWalls walls_;
  std::vector<std::uint8_t> has_row_;  ///< of the own VoFs
  FlowEdges edges_;
};

}  // namespace

FlowRows make_flow_rows(const Comm& comm, const FlowLookup& lookup) {
  const Timer timer("flow rows");
  return Maker(comm, lookup).make();
}

}  // namespace karst
