// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/cell_changes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// Those of a level in a cell of level 0.
Box cells_of(const Index& coarse, int level) {
  return {(1 << level) * coarse, (1 << level) * (coarse + Index::all(1))};
}

/// Fluid of a cell of a finer level [h0³].
struct Part {
  Index cell;
  int level;
  double volume;
};

/// A cell of level 0.
struct CoarseCell {
  double volume = 0.0;      ///< fluid [h0³], finer levels included
  bool cut = false;         ///< a wall is in it; otherwise it is all fluid, or all solid
  std::vector<Part> parts;  ///< where it is cut and refined: all that have fluid or a wall

  /// To which it is known: that of its coarsest part.
  int finest_level() const {
    if (!cut) return std::numeric_limits<int>::max();
    int level = parts.empty() ? 0 : std::numeric_limits<int>::max();
    for (const Part& part : parts) level = std::min(level, part.level);
    return level;
  }
  /// Of its cells on a level, x fastest.
  std::vector<double> volumes(const Index& cell, int level) const {
    const Box cells = cells_of(cell, level);
    std::vector<double> all(cells.count(), cut ? 0.0 : volume * std::ldexp(1.0, -3 * level));
    for (const Part& part : parts) all[cells.offset(coarse_cell(part.cell, part.level - level))] += part.volume;
    return all;
  }

  void write(ByteWriter& w) const {
    w.put(volume);
    w.put(static_cast<std::uint8_t>(cut));
    w.put_vector(parts);
  }
  static CoarseCell read(ByteReader& in) {
    CoarseCell cell;
    cell.volume = in.get<double>();
    cell.cut = in.get<std::uint8_t>() != 0;
    cell.parts = in.get_vector<Part>();
    return cell;
  }
};

/// The cells of level 0 of the own boxes.
class CoarseCells {
 public:
  CoarseCells(const Comm& comm, const WallPieces& walls) : layout_(walls.grid.levels[0].layout) {
    for (int own = 0; own < walls.levels[0].graph.n_local(); ++own) {
      const Box cells = walls.levels[0].graph.box(own).cells;
      boxes_[layout_.find_cell(cells.lo)] = {cells, std::vector<double>(cells.count()),
                                             std::vector<std::uint8_t>(cells.count())};
    }
    std::map<int, ByteWriter> sent;
    for (const LevelGeometry& level : walls.levels) add_level(walls.grid, level, sent);
    send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
      const auto cell = in.get<Index>();
      const CoarseCell some = CoarseCell::read(in);
      add(cell, some.volume, some.cut);
      if (!some.parts.empty()) parts_[cell].insert(parts_[cell].end(), some.parts.begin(), some.parts.end());
    });
    std::erase_if(parts_, [&](const auto& of) { return !at(of.first).cut; });
    for (auto& [cell, parts] : parts_)
      std::ranges::sort(parts, {}, [](const Part& p) { return std::pair(p.level, p.cell); });
  }

  /// Of an own box.
  CoarseCell at(const Index& cell) const {
    const auto box = boxes_.find(layout_.find_cell(cell));
    if (box == boxes_.end()) return {};
    const std::int64_t at = box->second.cells.offset(cell);
    CoarseCell found{box->second.volume[at], box->second.cut[at] != 0, {}};
    if (const auto parts = parts_.find(cell); parts != parts_.end()) found.parts = parts->second;
    return found;
  }
  /// Rank that has a cell; -1: none, there is no fluid.
  int owner(const Index& cell) const {
    const std::int64_t box = layout_.find_cell(cell);
    return box < 0 ? -1 : layout_.owner(box);
  }
  template <class F>
  void for_cut_cells(F&& f) const {
    for (const auto& [box, values] : boxes_)
      for (std::int64_t i = 0; i < std::ssize(values.cut); ++i)
        if (values.cut[i] != 0) f(values.cells.cell(i));
  }
  /// Also those beside them, and at the faces of boxes, where that is not known: the last cells of a grain or a pore
  /// may change from whole to whole.
  template <class F>
  void for_cells_at_walls(F&& f) const {
    for (const auto& [box, values] : boxes_)
      for (std::int64_t i = 0; i < std::ssize(values.cut); ++i) {
        const Index cell = values.cells.cell(i);
        const Box around = Box{cell, cell + Index::all(1)}.grown(1), inside = intersect(around, values.cells);
        bool near = inside != around;
        if (!near)
          for_each_cell(inside, [&](const Index& c) { near = near || values.cut[values.cells.offset(c)] != 0; });
        if (near) f(cell);
      }
  }

 private:
  struct Values {
    Box cells;
    std::vector<double> volume;
    std::vector<std::uint8_t> cut;
  };

  void add(const Index& cell, double volume, bool cut) {
    Values& values = boxes_.at(layout_.find_cell(cell));
    const std::int64_t at = values.cells.offset(cell);
    values.volume[at] += volume;
    values.cut[at] |= static_cast<std::uint8_t>(cut);
  }

  void add_level(const GridHierarchy& grid, const LevelGeometry& level, std::map<int, ByteWriter>& sent) {
    const int l = level.level;
    for (int own = 0; own < level.graph.n_local(); ++own) {
      const BoxGraph graph = level.graph.box(own);
      const auto moments = level.box(own).moments;
      std::vector<double> kappa(graph.cells.count());
      std::vector<std::uint8_t> cut(graph.cells.count());
      int row = 0;
      for_each_vof(graph, [&](int vof, int cell) {
        const bool irregular = row < graph.n_irregular && graph.row_vof[row] == vof;
        kappa[cell] += irregular ? moments[row].kappa : 1.0;
        cut[cell] |= static_cast<std::uint8_t>(irregular);
        row += irregular ? 1 : 0;
      });
      const auto [first, last] = level.joined_in(own);
      for (std::int64_t i = first; i < last; ++i) {
        kappa[level.joined[i].cell] += level.joined[i].kappa;
        cut[level.joined[i].cell] = 1;
      }
      const Box coarse_cells{coarse_cell(graph.cells.lo, l),
                             coarse_cell(graph.cells.hi - Index::all(1), l) + Index::all(1)};
      for_each_cell(coarse_cells, [&](const Index& coarse) {
        const Box all = cells_of(coarse, l), here = intersect(all, graph.cells);
        bool whole = here == all;
        CoarseCell some;
        for_each_cell(here, [&](const Index& cell) {
          const std::int64_t i = graph.cells.offset(cell);
          if (l + 1 < grid.n_levels() && grid.cell_is_refined(l, cell)) {
            whole = false;
            return;
          }
          if (kappa[i] == 0.0 && cut[i] == 0) return;
          const double volume = std::ldexp(kappa[i], -3 * l);
          some.volume += volume;
          some.cut = some.cut || cut[i] != 0;
          if (l > 0) some.parts.push_back({cell, l, volume});
        });
        if (some.volume == 0.0 && !some.cut) return;
        if (l == 0) return add(coarse, some.volume, some.cut);
        if (whole && !some.cut) some.parts.clear();
        ByteWriter& w = sent[owner(coarse)];
        w.put(coarse);
        some.write(w);
      });
    }
  }

  const Layout& layout_;
  std::map<std::int64_t, Values> boxes_;
  std::map<Index, std::vector<Part>> parts_;
};

void add_changes(const Index& cell, const CoarseCell& before, const CoarseCell& after, std::vector<CellChange>& all) {
  const int level = std::min(before.finest_level(), after.finest_level());
  if (level == 0 || (!before.cut && !after.cut)) {
    all.push_back({cell, 0, before.volume, after.volume});
    return;
  }
  const std::vector<double> was = before.volumes(cell, level), now = after.volumes(cell, level);
  const Box cells = cells_of(cell, level);
  for (std::int64_t i = 0; i < cells.count(); ++i)
    if (was[i] != now[i]) all.push_back({cells.cell(i), level, was[i], now[i]});
}

}  // namespace

std::vector<CellChange> changes_of_cells(const Comm& comm, const WallPieces& walls_before,
                                         const WallPieces& walls_after) {
  const CoarseCells before(comm, walls_before), after(comm, walls_after);
  std::vector<CellChange> all;
  // Takes, of own cells, what they are in `of`.
  const auto ask = [&](const CoarseCells& of, auto&& for_cells, auto&& take) {
    std::map<int, std::vector<Index>> asked;
    for_cells([&](const Index& cell) {
      const int owner = of.owner(cell);
      if (owner < 0 || owner == comm.rank())
        take(cell, owner < 0 ? CoarseCell() : of.at(cell));
      else
        asked[owner].push_back(cell);
    });
    ask_ranks_per_item(
        comm, asked, [](const Index& cell, ByteWriter& w) { w.put(cell); },
        [&](ByteReader& in, ByteWriter& w) { of.at(in.get<Index>()).write(w); },
        [&](const Index& cell, ByteReader& in) { take(cell, CoarseCell::read(in)); });
  };
  ask(
      before, [&](auto&& f) { after.for_cut_cells(f); },
      [&](const Index& cell, const CoarseCell& was) { add_changes(cell, was, after.at(cell), all); });
  ask(
      after, [&](auto&& f) { before.for_cells_at_walls(f); },
      [&](const Index& cell, const CoarseCell& now) {
        if (now.cut) return;
        const CoarseCell was = before.at(cell);
        if (now.volume != was.volume) add_changes(cell, was, now, all);
      });
  return all;
}

}  // namespace karst
