// SPDX-License-Identifier: BSD-3-Clause
#include "ins/flow_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/parallel.hpp"
#include "grid/bytes.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/vof_lookup.hpp"

namespace karst {
namespace {

constexpr double least_theta = 1e-2;            ///< a wall nearer than this on a grid line counts as this far away
constexpr double least_symmetric_theta = 1e-4;  ///< the same in the two-point operator (two_point.cpp)
constexpr double least_area = 1e-3;             ///< of a face between flow cells
constexpr double least_sliver = 1e-6;           ///< own apertures are floats
constexpr int rings = 3;                        ///< around the halo, known by name

/// The face below a VoF in a direction.
struct FaceKey {
  VofName high;
  int direction;
  friend bool operator==(const FaceKey&, const FaceKey&) = default;
};
struct HashFace {
  std::size_t operator()(const FaceKey& k) const {
    return std::hash<std::uint64_t>{}(k.high * 3 + static_cast<std::uint64_t>(k.direction));
  }
};

/// Open area that counts for the face between two flow cells.
struct Sliver {
  FaceKey face;
  VofName low;
  double area;
};

class Maker {
 public:
  Maker(const Comm& comm, const Geometry& geometry, const FlowSides& sides, double slivers)
      : comm_(comm),
        geometry_(geometry.levels[0]),
        graph_(geometry_.graph),
        sides_(sides),
        part_(slivers),
        numbering_(comm, geometry),
        numbers_(numbering_.global_numbers(comm, graph_, 0)),
        vofs_(geometry_, numbering_, numbers_) {
    std::vector<VofName> around;
    for (const int b : graph_.halo_plan().boundary) {
      const HaloNames halo = graph_.box(b).halo;
      for (int i = 0; i < halo.n_vofs(); ++i)
        if (graph_.local(box_of(halo[i])) < 0) around.push_back(halo[i]);
    }
    std::ranges::sort(around);
    around.erase(std::unique(around.begin(), around.end()), around.end());
    vofs_.fetch(comm, around, rings);
    collect_slivers();
  }

  FlowRows make() {
    const int n = graph_.n_local();
    struct BoxRows {
      std::vector<FlowRow> rows;
      std::vector<std::uint16_t> still;
      FlowCounts counts;
    };
    std::vector<BoxRows> boxes(static_cast<std::size_t>(n));
    parallel_for_dynamic(n, [&](std::int64_t b) {
      BoxRows& box = boxes[static_cast<std::size_t>(b)];
      make_box(static_cast<int>(b), box.rows, box.still, box.counts);
    });
    FlowRows result;
    result.begin = result.still_begin = {0};
    for (const BoxRows& box : boxes) {
      result.begin.push_back(result.begin.back() + std::ssize(box.rows));
      result.still.insert(result.still.end(), box.still.begin(), box.still.end());
      result.still_begin.push_back(std::ssize(result.still));
    }
    result.rows = Array<FlowRow>(static_cast<std::size_t>(result.begin.back()), Purpose::stencils);
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      std::ranges::copy(boxes[b].rows, result.rows.data() + result.begin[b]);
      counts_.walls_half_way += boxes[b].counts.walls_half_way;
      counts_.open_area += boxes[b].counts.open_area;
    }
    const std::int64_t vofs = graph_.vof_begin(n);
    std::array<std::int64_t, 5> sums{vofs - std::ssize(result.still), result.begin.back(), std::ssize(result.still),
                                     counts_.walls_half_way, counts_.slivers};
    comm_.sum(std::span(sums));
    std::array<double, 3> areas{counts_.sliver_area, counts_.closed_area, counts_.open_area};
    comm_.sum(std::span(areas));
    result.counts = {sums[0], sums[1], sums[2], sums[3], sums[4], areas[0], areas[1], areas[2]};
    return result;
  }

 private:
  bool is_regular(VofName v) const { return vofs_.moments(v) == nullptr; }

  /// The flow cell across a side, no_face without one.
  VofName across(VofName v, int side) const {
    const VofName n = vofs_.aligned(v, side);
    return n != no_face && vofs_.aligned(n, opposite(side)) == v ? n : no_face;
  }

  /// Open area between the cells of two VoFs that share a primary face.
  double own_aperture(VofName low, int d) const {
    const VofCenter* center = vofs_.center(low);
    return center == nullptr ? 1.0 : double{center->own_aperture[static_cast<std::size_t>(side_of(d, true))]};
  }
  /// Of a face: what does not lie between the cells of two flow cells.
  double sliver_area(const SharedFace& f) const {
    const bool between = f.primary && across(f.low, side_of(f.direction, true)) == f.high;
    const double area = f.aperture - (between ? own_aperture(f.low, f.direction) : 0.0);
    return area > least_sliver ? area : 0.0;
  }

  /// The faces of the pairs of flow cells whose grid lines pass nearest to a sliver: one, both when they are as near.
  void share(const SharedFace& f, double area, std::vector<Sliver>& out) const {
    const int d = f.direction;
    const VofName above = across(f.low, side_of(d, true)), below = across(f.high, side_of(d, false));
    const Index step = vofs_.step(f.low, f.high, side_of(d, true));
    double from_low = 0.0, from_high = 0.0;
    for (int e = 0; e < 3; ++e) {
      if (e == d) continue;
      from_low += std::pow(f.centroid[e], 2);
      from_high += std::pow(f.centroid[e] - step[e], 2);
    }
    constexpr double tie = 1e-5;  // centroids are floats
    const bool low = above != no_face && (below == no_face || above == f.high || from_low < from_high + tie);
    const bool high = below != no_face && above != f.high && (above == no_face || from_high < from_low + tie);
    if (low) out.push_back({{above, d}, f.low, high ? 0.5 * area : area});
    if (high) out.push_back({{f.high, d}, below, low ? 0.5 * area : area});
  }

  /// The same for a face towards a piece that joined v: the open faces in its plane, one cell beside, the nearer the
  /// more.
  void share(VofName v, const InnerFace& f, std::vector<Sliver>& out) const {
    const int d = direction_of(f.side);
    const std::size_t first = out.size();
    double sum = 0.0;
    for (int side = 0; side < 6; ++side) {
      if (direction_of(side) == d) continue;
      const VofName n = across(v, side), m = n == no_face ? no_face : across(n, f.side);
      if (m == no_face) continue;
      double square = 0.0;
      for (int e = 0; e < 3; ++e)
        if (e != d) square += std::pow(double{f.centroid[static_cast<std::size_t>(e)]} - side_offset(side)[e], 2);
      const double weight = 1.0 / (square * square);
      sum += weight;
      out.push_back({{is_high(f.side) ? m : n, d}, is_high(f.side) ? n : m, weight * f.aperture});
    }
    for (std::size_t i = first; i < out.size(); ++i) out[i].area /= sum;
  }

  /// Slivers of the own VoFs, each once: a face counts where its low VoF is, unless that one is regular.
  void collect_slivers() {
    struct Found {
      std::vector<Sliver> slivers;
      FlowCounts counts;
    };
    const int n = graph_.n_local();
    std::vector<Found> found(static_cast<std::size_t>(n));
    parallel_for_dynamic(n, [&](std::int64_t b) {
      const BoxGraph graph = graph_.box(static_cast<int>(b));
      Found& out = found[static_cast<std::size_t>(b)];
      for (std::size_t r = 0; r < static_cast<std::size_t>(graph.n_irregular); ++r)
        for (const auto& [face, side] : vofs_.shared_faces(vof_name(graph.box, graph.row_vof[r]))) {
          const double area = !is_high(side) && !is_regular(face.low) ? 0.0 : sliver_area(face);
          if (area == 0.0) continue;
          const std::size_t before = out.slivers.size();
          share(face, area, out.slivers);
          ++out.counts.slivers;
          (out.slivers.size() == before ? out.counts.closed_area : out.counts.sliver_area) += area;
        }
      for (const InnerFace& f : geometry_.box(static_cast<int>(b)).inner)
        share(vof_name(graph.box, f.vof), f, out.slivers);
    });
    std::vector<Sliver> all;
    for (const Found& f : found) {
      counts_.slivers += f.counts.slivers;
      counts_.sliver_area += f.counts.sliver_area;
      counts_.closed_area += f.counts.closed_area;
      all.insert(all.end(), f.slivers.begin(), f.slivers.end());
    }
    add_slivers(std::move(all));
  }

  /// Tells the owners of both flow cells, and adds up in an order that depends on the faces alone.
  void add_slivers(std::vector<Sliver> all) {
    std::map<int, std::vector<Sliver>> to_rank;
    const Layout& layout = graph_.layout();
    std::vector<Sliver> own;
    for (const Sliver& s : all) {
      const int low = layout.owner(box_of(s.low)), high = layout.owner(box_of(s.face.high));
      for (const int rank : {low, high}) {
        if (rank != comm_.rank())
          to_rank[rank].push_back(s);
        else
          own.push_back(s);
        if (low == high) break;
      }
    }
    std::vector<Message> out;
    for (const auto& [rank, slivers] : to_rank) {
      ByteWriter w;
      w.put(std::span<const Sliver>(slivers));
      out.push_back({rank, w.take()});
    }
    for (const Message& m : comm_.sparse_exchange(out))
      for (ByteReader in(m.bytes); !in.at_end();) own.push_back(in.get<Sliver>());
    std::ranges::sort(own, {}, [](const Sliver& s) { return std::tuple(s.face.high, s.face.direction, s.area); });
    for (const Sliver& s : own) slivers_[s.face] += s.area;
  }

  void make_box(int b, std::vector<FlowRow>& rows, std::vector<std::uint16_t>& still, FlowCounts& counts) const {
    const BoxGraph graph = graph_.box(b);
    std::size_t r = 0;
    const auto n_irregular = static_cast<std::size_t>(graph.n_irregular);
    for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      const VofName v = vof_name(graph.box, vof);
      const bool irregular = r < n_irregular && graph.row_vof[r] == vof;
      r += irregular;
      if (irregular && !vofs_.inside(v)) {
        still.push_back(static_cast<std::uint16_t>(vof));
      } else if (irregular || needs_row(graph, v, slots)) {
        rows.push_back(make_row(graph, v, slots, counts));
      } else {
        counts.open_area += 3.0;
      }
    });
  }

  /// A regular cell next to something that is no whole face between flow cells.
  bool needs_row(const BoxGraph& graph, VofName v, const std::array<std::uint16_t, 6>& slots) const {
    for (int side = 0; side < 6; ++side) {
      const VofName n = graph.name(slots[static_cast<std::size_t>(side)]);
      if (n == domain_face) {
        if (sides_[static_cast<std::size_t>(side)] == FlowSide::no_slip) return true;
      } else if (is_vof(n) && !is_regular(n) && across(v, side) != n) {
        return true;
      } else if (is_vof(n) && slivers_.contains({is_high(side) ? n : v, direction_of(side)})) {
        return true;
      }
    }
    return false;
  }

  struct Side {
    double theta = 1.0;
    bool open = false;
    double area = 0.0;
  };

  /// Of a face on the end of the domain.
  double aperture(VofName v, int side) const {
    const VofMoments* m = vofs_.moments(v);
    return m == nullptr ? 1.0 : std::min(m->aperture[static_cast<std::size_t>(side)], 1.0);
  }

  Side look(VofName v, int side, VofName to, FlowCounts& counts) const {
    const VofCenter* center = vofs_.center(v);
    const double wall = center == nullptr ? no_wall : center->wall_distance[static_cast<std::size_t>(side)];
    if (to == domain_face && wall > 0.5) {
      if (sides_[static_cast<std::size_t>(side)] == FlowSide::no_slip) return {0.5, false, 0.0};
      double beside = 0.0;
      for (const ListedFace& f : vofs_.faces(v))
        if (!f.primary && f.side == side && f.neighbour == domain_face) beside += f.aperture;
      return {1.0, true, std::max(aperture(v, side) + part_ * beside, least_area)};
    }
    if (const VofName n = is_vof(to) ? across(v, side) : no_face; n != no_face) {
      const bool high = is_high(side);
      const auto found = slivers_.find({high ? n : v, direction_of(side)});
      const double own = std::min(own_aperture(high ? v : n, direction_of(side)), 1.0);
      return {1.0, true, std::max(own + (found == slivers_.end() ? 0.0 : part_ * found->second), least_area)};
    }
    if (wall > 1.0) ++counts.walls_half_way;
    return {wall > 1.0 ? 0.5 : wall, false, 0.0};
  }

  FlowRow make_row(const BoxGraph& graph, VofName v, const std::array<std::uint16_t, 6>& slots,
                   FlowCounts& counts) const {
    FlowRow row{};
    row.vof = static_cast<std::uint16_t>(vof_of(v));
    double diagonal = 0.0, symmetric = 0.0;
    for (int d = 0; d < 3; ++d) {
      std::array<Side, 2> ends;
      std::array<double, 2> theta;
      for (std::size_t e = 0; e < 2; ++e) {
        const int side = side_of(d, e == 1);
        ends[e] = look(v, side, graph.name(slots[static_cast<std::size_t>(side)]), counts);
        theta[e] = std::max(ends[e].theta, least_theta);
        symmetric += 1.0 / std::max(ends[e].theta, least_symmetric_theta);
      }
      const double factor = 2.0 / (theta[0] + theta[1]);
      const int n_open = ends[0].open + ends[1].open;
      for (std::size_t e = 0; e < 2; ++e) {
        const auto s = static_cast<std::size_t>(side_of(d, e == 1));
        diagonal += factor / theta[e];
        row.theta[s] = static_cast<float>(ends[e].theta);
        row.slot[s] = ends[e].open ? slots[s] : static_cast<std::uint16_t>(graph.closed());
        if (!ends[e].open) continue;
        row.viscous[s] = static_cast<float>(factor / theta[e]);
        row.gradient[s] = (e == 1 ? 1.0F : -1.0F) / static_cast<float>(n_open);
        row.area[s] = static_cast<float>(ends[e].area);
        if (e == 1) counts.open_area += ends[e].area;
      }
    }
    row.diagonal = static_cast<float>(diagonal);
    row.symmetric_scale = static_cast<float>(symmetric / diagonal);
    return row;
  }

  const Comm& comm_;
  const LevelGeometry& geometry_;
  const LevelGraph& graph_;
  FlowSides sides_;
  double part_;
  CompositeNumbering numbering_;
  Field numbers_;
  VofLookup vofs_;
  std::unordered_map<FaceKey, double, HashFace> slivers_;
  FlowCounts counts_;
};

}  // namespace

FlowRows make_flow_rows(const Comm& comm, const Geometry& geometry, const FlowSides& sides, double slivers) {
  return Maker(comm, geometry, sides, slivers).make();
}

}  // namespace karst
