// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/level_builder.hpp"

#include <cmath>
#include <map>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "eb/link/same_pieces.hpp"
#include "eb/link/vofs_from_pieces.hpp"
#include "eb/link/wall_distances.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

std::unique_ptr<LocalLevelSet> local_level_set(const LevelSet& level_set, const Box& cells, int level) {
  const double h = std::ldexp(1.0, -level);
  Vec3 lo, hi;
  for (int d = 0; d < 3; ++d) {
    lo[d] = h * (cells.lo[d] - 1);
    hi[d] = h * (cells.hi[d] + 1);
  }
  return level_set.local(lo, hi);
}

namespace {

BoxPieces cut_one(const LevelSet& level_set, const Box& cells, int level, const RefinedOctants& refined) {
  const auto phi = local_level_set(level_set, cells, level);
  return cut_box(*phi, level_set.smoothness(), cells, level, refined, static_cast<int>(level_set.minerals().size()));
}

}  // namespace

std::vector<BoxPieces> cut_own_boxes(const Layout& layout, int rank, const LevelSet& level_set, int level,
                                     const RefinedOf& refined) {
  const auto [first, last] = layout.owned(rank);
  std::vector<BoxPieces> boxes(last - first);
  parallel_for_dynamic(last - first, [&, begin = first](std::int64_t i) {
    boxes[i] = cut_one(level_set, layout.box(begin + i), level, refined(begin + i));
  });
  return boxes;
}

std::vector<std::vector<std::uint8_t>> fluid_of_parents(const Comm& comm, const Layout& fine,
                                                        const LevelGraph& coarse) {
  const auto [first, last] = fine.owned(comm.rank());
  const Layout& up = coarse.layout();
  const auto coarse_box = [&](std::int64_t fine_box) { return up.find_cell(footprint(fine.box(fine_box)).lo); };
  std::map<int, ByteWriter> questions;
  for (std::int64_t b = first; b < last; ++b)
    if (const std::int64_t c = coarse_box(b); c >= 0) questions[up.owner(c)].put(b);
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto b = in.get<std::int64_t>();
    const Box cells = footprint(fine.box(b));
    const BoxGraph graph = coarse.box(coarse.local(coarse_box(b)));
    std::vector<std::uint8_t> fluid(cells.count());
    for_each_vof(graph, [&](int, int cell) {
      if (const Index at = graph.cells.cell(cell); cells.contains(at)) fluid[cells.offset(at)] = 1;
    });
    w.put(b);
    w.put_vector(fluid);
  };
  std::vector<std::vector<std::uint8_t>> result(last - first);
  for (std::int64_t b = first; b < last; ++b) result[b - first].assign(footprint(fine.box(b)).count(), 0);
  ask_ranks(comm, std::move(questions), answer, [&, begin = first](ByteReader& in, int) {
    const auto b = in.get<std::int64_t>();
    result[b - begin] = in.get_vector<std::uint8_t>();
  });
  return result;
}

namespace {

CutCounts sum_counts(const Comm& comm, const std::vector<BoxPieces>& boxes) {
  CutCounts c;
  for (const BoxPieces& b : boxes) c += b.counts;
  std::array<std::int64_t, 8> all{c.cells_covered,     c.cells_regular,    c.cells_cut,  c.pieces,
                                  c.cells_multivalued, c.cells_subdivided, c.walls_lost, c.gaps_closed};
  comm.sum(std::span(all));
  return {all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]};
}

/// VoFs beyond the first of their cell.
std::int64_t count_multivalued(const LevelGraph& graph) {
  return static_cast<std::int64_t>(parallel_sum(graph.n_local(), [&](std::int64_t b) {
    int last = -1, n = 0;
    for_each_vof(graph.box(static_cast<int>(b)), [&](int, int cell) { n += std::exchange(last, cell) == cell; });
    return static_cast<double>(n);
  }));
}

void count_graph(const Comm& comm, const LevelGeometry& geometry, LevelReport& report) {
  const LevelGraph& graph = geometry.graph;
  const GraphCounts& n = graph.counts();
  std::array<std::int64_t, 7> all{n.vofs,
                                  n.irregular,
                                  n.extra_faces,
                                  count_multivalued(graph),
                                  n.slots,
                                  graph.bytes(),
                                  geometry.bytes_of_moments()};
  comm.sum(std::span(all));
  report.vofs = report.vofs_composite = all[0];
  report.irregular = all[1];
  report.extra_faces = all[2];
  report.multivalued_vofs = all[3];
  report.slots = all[4];
  report.bytes_connectivity = all[5];
  report.bytes_moments = all[6];
}

}  // namespace

Classify weight_of_box(const LevelSet& level_set, int level) {
  return [&level_set, level](const Box& cells) {
    constexpr double cut_cost = 6.0;  // building: about 0.5 µs per fluid cell, 3 µs per cut cell (docs/performance.md)
    const BoxContent content =
        classify(*local_level_set(level_set, cells, level), level_set.smoothness(), cells, level);
    if (content.kind == BoxContent::Kind::no_fluid) return 0.0;
    return 1.0 + content.fluid_cells + cut_cost * content.cut_cells;
  };
}

namespace {

/// Own boxes as they were, moved out of those that are kept, by own number; those are cut that were not there, or had
/// other finer octants.
class OwnBoxes {
 public:
  OwnBoxes(const Layout& layout, int rank, int level, const RefinedOf& refined, KeptBoxes* kept)
      : first_(layout.owned(rank).first), before_(layout.owned(rank).second - first_), serves_(before_.size()) {
    if (kept == nullptr) return;
    for (std::size_t b = 0; b < before_.size(); ++b) {
      const std::int64_t box = first_ + static_cast<std::int64_t>(b);
      before_[b] = kept->take(level, layout.box(box));
      serves_[b] = before_[b] && before_[b]->refined == refined(box) ? 1 : 0;
    }
  }
  std::vector<BoxPieces> cut(const Layout& layout, const LevelSet& level_set, int level, const RefinedOf& refined) {
    std::vector<BoxPieces> boxes(before_.size());
    parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t i) {
      boxes[i] = serves_[i] != 0 ? std::move(before_[i]->cut)
                                 : cut_one(level_set, layout.box(first_ + i), level, refined(first_ + i));
    });
    return boxes;
  }
  /// Homes of pieces in boxes that are cut as before, with the same boxes beside them, which are, too: a home is at
  /// most in the next cell.
  KnownHomes homes(const PieceBoxes& boxes) const {
    KnownHomes known(before_.size(), nullptr);
    parallel_for(std::ssize(known), [&](std::int64_t b) {
      bool stay = serves_[b] != 0;
      for (int side = 0; stay && side < 6; ++side) {
        const int beside = boxes.box(static_cast<int>(b)).neighbour[side];
        stay = beside < 0 ? (before_[b]->beside >> side & 1U) == 0 : beside < boxes.n_own() && serves_[beside] != 0;
      }
      if (stay) known[b] = &before_[b]->homes;
    });
    return known;
  }
  /// [own box]: where it is cut, merged and selected as before.
  std::vector<SameParts> same(const PieceBoxes& boxes, const Homes& homes, const Pores& pores) {
    std::vector<SameParts> same(before_.size());
    parallel_for_dynamic(std::ssize(same), [&](std::int64_t b) {
      if (!before_[b]) return;
      KeptBox& was = *before_[b];
      const PieceBox& now = boxes.box(static_cast<int>(b));
      const LinkedBox linked{now, homes.of[b], pores.kept[b]};
      if (serves_[b] != 0) {
        const bool whole = was.homes == linked.homes && was.kept == linked.kept;
        same[b] = whole ? SameParts::all() : same_parts(linked, {now, was.homes, was.kept});
        return;
      }
      PieceBox cut_before;
      cut_before.cut = std::move(was.cut);
      number_pieces(cut_before);
      same[b] = same_parts(linked, {cut_before, was.homes, was.kept});
    });
    return same;
  }

 private:
  std::int64_t first_;
  std::vector<std::optional<KeptBox>> before_;
  std::vector<std::uint8_t> serves_;  ///< their cut is that of this geometry
};

/// Own boxes whose VoFs are those of before: they are the same, and so are all boxes around them near them. A VoF and
/// its faces depend on pieces, homes and numbers at most three cells away from its box. Collective.
/// @param same  OwnBoxes::same()
std::vector<int> same_vofs(const Comm& comm, const Layout& layout, const LevelGeometry& before,
                           std::span<const SameParts> same) {
  const std::vector<SameParts> all = comm.all_gather<SameParts>(same);  // of the layout: ranks hold intervals
  const Layout& was = before.graph.layout();
  const std::int64_t first = layout.owned(comm.rank()).first;
  std::vector<int> boxes(same.size(), -1);
  parallel_for(std::ssize(boxes), [&](std::int64_t b) {
    const Index at = layout.lattice_position(first + b);
    if (!same[b].has({})) return;
    bool alike = true;
    for_each_cell(Box{Index::all(-1), Index::all(2)}, [&](const Index& step) {
      const std::int64_t now = layout.find(at + step), then = was.find(at + step);
      alike = alike && (now < 0) == (then < 0) && (now < 0 || all[now].has(-step));
    });
    if (alike) boxes[b] = before.graph.local(was.find(at));
  });
  return boxes;
}

/// Of the next geometry.
void keep_boxes(PieceBoxes& boxes, const RefinedOf& refined, Homes& homes, Pores& pores, KeptBoxes& kept) {
  for (int b = 0; b < boxes.n_own(); ++b) {
    std::uint8_t beside = 0;
    for (int side = 0; side < 6; ++side)
      if (boxes.box(b).neighbour[side] >= 0) beside |= static_cast<std::uint8_t>(1U << side);
    kept.put(boxes.level(),
             {refined(boxes.box(b).box), boxes.take_cut(b), std::move(homes.of[b]), std::move(pores.kept[b]), beside});
  }
}

}  // namespace

BuiltLevel build_level(const Comm& comm, const Layout& layout, const LevelSet& level_set, int level,
                       const RefinedOf& refined, KeepPores keep, const VolumeOptions& volumes,
                       const LevelSources& sources) {
  BuiltLevel built;
  LevelReport& report = built.report;
  report.cells = layout.domain().cells;
  report.boxes = layout.n_boxes();

  OwnBoxes own_boxes(layout, comm.rank(), level, refined, sources.boxes);
  std::vector<BoxPieces> cut;
  {
    const Timer timer("cut cells");
    const auto [first, last] = layout.owned(comm.rank());
    std::vector<Box> own;
    for (std::int64_t b = first; b < last; ++b) own.push_back(layout.box(b));
    level_set.fetch(comm, level, own);
    cut = own_boxes.cut(layout, level_set, level, refined);
  }
  report.cut = sum_counts(comm, cut);
  const Timer timer("link fragments");
  PieceBoxes boxes(comm, layout, level, std::move(cut), refined);
  Homes homes = find_homes(boxes, volumes.volumes, own_boxes.homes(boxes));
  Pores pores = level == 0 ? find_pores(boxes, homes, keep, volumes.keep_pieces)
                           : find_pores_of_refined_level(boxes, sources.parents);
  built.pores = std::move(pores.components);
  built.percolates = pores.percolates;
  built.joined = pores.joined;
  report.joined = comm.sum(homes.joined);
  report.orphans = comm.sum(homes.orphans);
  report.orphan_volume = comm.sum(homes.orphan_volume);
  report.pores = pores.n_pores;
  report.pores_removed = pores.n_removed;
  report.volume = pores.volume;
  report.removed_volume = pores.removed_volume;
  report.closed_volume = level == 0 ? pores.closed_volume : 0.0;
  {
    const Timer graph_timer("VoF graph");
    KeptVofs kept;
    if (sources.before != nullptr)
      kept = {sources.before, same_vofs(comm, layout, *sources.before, own_boxes.same(boxes, homes, pores))};
    built.geometry =
        vofs_from_pieces(boxes, homes, pores, static_cast<int>(level_set.minerals().size()), volumes.keep_pieces, kept);
    find_wall_distances(level_set, built.geometry, kept.graph());
  }
  if (sources.boxes != nullptr) keep_boxes(boxes, refined, homes, pores, *sources.boxes);
  report.closed_faces = comm.sum(built.geometry.closed_faces);
  count_graph(comm, built.geometry, report);
  return built;
}

}  // namespace karst
