// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/wall_transfer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "eb/moving/pieces_at_blocks.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// How far a volume looks for pieces that take it, one after the other [spacings of the corners].
constexpr std::array reaches{1.75, 2.5, 4.5};

/// Fluid of the cells of level 0 of the own boxes [h0³], finer levels included, and whether a wall is in them.
class CellVolumes {
 public:
  CellVolumes(const Comm& comm, const WallPieces& walls) : layout_(walls.grid.levels[0].layout) {
    for (int own = 0; own < walls.levels[0].graph.n_local(); ++own) {
      const Box cells = walls.levels[0].graph.box(own).cells;
      boxes_[layout_.find_cell(cells.lo)] = {cells, std::vector<double>(cells.count()),
                                             std::vector<std::uint8_t>(cells.count())};
    }
    std::map<int, ByteWriter> sent;
    for (const LevelGeometry& level : walls.levels) add_level(walls.grid, level, sent);
    send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
      const auto cell = in.get<Index>();
      const auto volume = in.get<double>();
      add(cell, volume, in.get<std::uint8_t>() != 0);
    });
  }

  struct Cell {
    double volume = 0.0;
    bool cut = false;
  };
  /// Of a cell of an own box.
  Cell at(const Index& cell) const {
    const auto box = boxes_.find(layout_.find_cell(cell));
    if (box == boxes_.end()) return {};
    const std::int64_t at = box->second.cells.offset(cell);
    return {box->second.volume[at], box->second.cut[at] != 0};
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
        if (values.cut[i] != 0) f(values.cells.cell(i), values.volume[i]);
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
        if (near) f(cell, values.volume[i]);
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
    const double volume = std::ldexp(1.0, -3 * l);
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
      for (std::int64_t i = 0; i < std::ssize(kappa); ++i) {
        const Index cell = graph.cells.cell(i);
        if ((kappa[i] == 0.0 && cut[i] == 0) || (l + 1 < grid.n_levels() && grid.cell_is_refined(l, cell))) continue;
        const Index coarse{cell[0] >> l, cell[1] >> l, cell[2] >> l};
        if (l == 0) {
          add(coarse, kappa[i], cut[i] != 0);
          continue;
        }
        ByteWriter& w = sent[owner(coarse)];
        w.put(coarse);
        w.put(volume * kappa[i]);
        w.put(cut[i]);
      }
    }
  }

  const Layout& layout_;
  std::map<std::int64_t, Values> boxes_;
};

struct CellChange {
  Index cell;
  double before, after;
};

/// Of the cells that have a wall before or after, or had one beside them; each on one rank. Collective.
std::vector<CellChange> changes_of_cells(const Comm& comm, const CellVolumes& before, const CellVolumes& after) {
  std::vector<CellChange> all;
  // The fluid in `of` of cells of `mine`.
  const auto ask = [&](const CellVolumes& mine, const CellVolumes& of, auto&& for_cells, auto&& take) {
    std::map<int, std::vector<Index>> asked;
    for_cells([&](const Index& cell, double volume) {
      const int owner = of.owner(cell);
      if (owner < 0 || owner == comm.rank())
        take(cell, volume, owner < 0 ? CellVolumes::Cell() : of.at(cell));
      else
        asked[owner].push_back(cell);
    });
    ask_ranks_per_item(
        comm, asked, [](const Index& cell, ByteWriter& w) { w.put(cell); },
        [&](ByteReader& in, ByteWriter& w) { w.put(of.at(in.get<Index>())); },
        [&](const Index& cell, ByteReader& in) { take(cell, mine.at(cell).volume, in.get<CellVolumes::Cell>()); });
  };
  ask(
      after, before, [&](auto&& f) { after.for_cut_cells(f); },
      [&](const Index& cell, double now, const CellVolumes::Cell& was) {
        all.push_back({cell, was.volume, now});
      });
  ask(
      before, after, [&](auto&& f) { before.for_cells_at_walls(f); },
      [&](const Index& cell, double was, const CellVolumes::Cell& now) {
        if (!now.cut && now.volume != was) all.push_back({cell, was, now.volume});
      });
  return all;
}

/// New pieces with the areas by which they take. Collective.
NearPieces takers_here(const Comm& comm, const WallPieces& after, const WallRows& takes,
                       const Displacement& displacement) {
  std::vector<NearPiece> taking = pieces_here(comm, after, takes, wall_rows(after.levels), displacement);
  for (NearPiece& p : taking) p.area *= p.value;
  return {displacement.blocks().layout().domain(), std::move(taking)};
}

/// A volume that new pieces are to owe from now on. Place in spacings of the corners.
struct Owed {
  Vec3 at;
  double volume;
};

/// Calls f(x and its mirror images behind the sides of the domain that are nearer than `reach`).
template <class F>
void for_mirror_images(const Domain& domain, const Vec3& x, double reach, F&& f) {
  std::array<std::array<double, 3>, 3> at{};
  std::array<int, 3> n{1, 1, 1};
  for (int d = 0; d < 3; ++d) {
    at[d][0] = x[d];
    if (domain.periodic[d]) continue;
    if (x[d] < reach) at[d][n[d]++] = -x[d];
    if (x[d] > domain.cells[d] - reach) at[d][n[d]++] = 2.0 * domain.cells[d] - x[d];
  }
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) f(Vec3{at[0][i], at[1][j], at[2][k]});
}

/// What one rank does for the walls at its blocks of corners.
class Sharing {
 public:
  Sharing(const CornerBlocks& blocks, const NearPieces& now) : blocks_(blocks), now_(now), share_(now.all().size()) {}

  bool is_own(const Vec3& x) const { return blocks_.is_own(block_at(blocks_, x)); }
  /// Takers are found on all threads, but each piece adds up what it takes in the order of `all`.
  /// Returns what no piece takes.
  double share(std::span<const Owed> all) {
    constexpr std::size_t at_once = 4096;  // bounds the memory of the lists
    std::vector<Takers> lists(std::min(at_once, all.size()));
    double lost = 0.0;
    for (std::size_t first = 0; first < all.size(); first += at_once) {
      const std::span<const Owed> some = all.subspan(first, std::min(at_once, all.size() - first));
      parallel_for(std::ssize(some), [&](std::int64_t i) { find_takers(some[i], lists[i]); });
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (lists[i].weight == 0.0) lost += some[i].volume;
        for (const auto& [piece, w] : lists[i].pieces) share_[piece] += some[i].volume * w / lists[i].weight;
      }
    }
    return lost;
  }
  /// To the owners of the pieces: their shares, and the means of the pieces before at own ones. Collective.
  void send(const Comm& comm, const NearPieces& before, WallTransfer& to) const {
    std::vector<std::uint8_t> own(share_.size());
    std::vector<double> mean(share_.size());
    parallel_for(std::ssize(share_), [&](std::int64_t i) {
      const Vec3& at = now_.all()[i].at;
      own[i] = static_cast<std::uint8_t>(is_own(at));
      if (own[i] != 0) mean[i] = mean_at(before, at);
    });
    std::map<int, ByteWriter> sent;
    for (std::size_t i = 0; i < share_.size(); ++i) {
      const NearPiece& piece = now_.all()[i];
      if (share_[i] == 0.0 && own[i] == 0) continue;
      sent[piece.rank].put(Answer{piece.level, piece.row, share_[i], mean[i]});
    }
    send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
      const auto a = in.get<Answer>();
      to.owed[a.level][a.row] += a.owed;
      to.means[a.level][a.row] += a.mean;
    });
  }

 private:
  struct Answer {
    std::int64_t level, row;
    double owed, mean;
  };
  /// The pieces that take a volume, with their weights and the sum of these.
  struct Takers {
    std::vector<std::pair<std::size_t, double>> pieces;
    double weight = 0.0;
  };

  /// As if the walls went on behind the sides of the domain as in a mirror: a wall that moves evenly up to a side owes
  /// as much in its last cell as in the others.
  void find_takers(const Owed& owed, Takers& takers) const {
    takers.pieces.clear();
    takers.weight = 0.0;
    for (const double reach : reaches) {
      for_mirror_images(blocks_.layout().domain(), owed.at, reach, [&](const Vec3& x) {
        takers.weight += now_.around(x, reach, [&](std::size_t i, double w) { takers.pieces.emplace_back(i, w); });
      });
      if (takers.weight > 0.0) return;
      takers.pieces.clear();
    }
  }
  static double mean_at(const NearPieces& before, const Vec3& x) {
    for (const double reach : reaches)
      if (const NearPieces::Mean m = before.mean(x, reach); m.weight > 0.0) return m.sum / m.weight;
    return 0.0;
  }

  const CornerBlocks& blocks_;
  const NearPieces& now_;
  std::vector<double> share_;  ///< [h0³]
};

/// Changes of cells near own blocks of corners. Collective.
std::vector<CellChange> changes_here(const Comm& comm, const WallPieces& before, const WallPieces& after,
                                     const Displacement& displacement) {
  const int scale = 1 << displacement.level();
  std::map<int, ByteWriter> sent;
  for (const CellChange& c : changes_of_cells(comm, CellVolumes(comm, before), CellVolumes(comm, after)))
    for_ranks_around(displacement.blocks(), c.cell, scale, [&](int rank) { sent[rank].put(c); });
  std::vector<CellChange> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) { here.push_back(in.get<CellChange>()); });
  std::ranges::sort(here, {}, &CellChange::cell);
  return here;
}

}  // namespace

WallRows wall_rows(std::span<const LevelGeometry> levels) {
  WallRows rows;
  for (const LevelGeometry& level : levels) rows.emplace_back(level.moments.size(), 0.0);
  return rows;
}

SharedAmounts share_on_moved_walls(const Comm& comm, const WallPieces& before, const WallRows& amounts,
                                   const WallPieces& after, const WallRows& takes, const Displacement& displacement) {
  const Domain& lattice = displacement.blocks().layout().domain();
  const WallRows none = wall_rows(before.levels);
  WallTransfer all;
  all.means = wall_rows(after.levels);
  all.owed = wall_rows(after.levels);
  const NearPieces was(lattice, pieces_here(comm, before, none, amounts, displacement));
  const NearPieces now = takers_here(comm, after, takes, displacement);
  Sharing sharing(displacement.blocks(), now);
  std::vector<Owed> to_share;
  for (const NearPiece& p : was.all())
    if (p.owed != 0.0 && sharing.is_own(p.at)) to_share.push_back({p.at, p.owed});
  const double lost = comm.sum(sharing.share(to_share));
  sharing.send(comm, was, all);
  return {std::move(all.owed), lost};
}

WallTransfer transfer_to_moved_walls(const Comm& comm, const WallPieces& before, const WallRows& means,
                                     const WallRows& owed, const WallPieces& after, const WallRows& takes,
                                     const Displacement& displacement, CellChanges changes) {
  const Timer timer("what walls owe");
  const int scale = 1 << displacement.level();
  const Domain& lattice = displacement.blocks().layout().domain();
  WallTransfer all;
  all.means = wall_rows(after.levels);
  all.owed = wall_rows(after.levels);
  const NearPieces was(lattice, pieces_here(comm, before, means, owed, displacement));
  const NearPieces now = takers_here(comm, after, takes, displacement);
  Sharing sharing(displacement.blocks(), now);
  std::vector<Owed> to_share;
  std::vector<CellChange> moved;
  if (changes == CellChanges::owed) moved = changes_here(comm, before, after, displacement);
  for (const CellChange& c : moved) {
    const Vec3 x = static_cast<double>(scale) * (to_vec(c.cell) + Vec3::all(0.5));
    if (!sharing.is_own(x)) continue;
    all.moved += c.after - c.before;
    if (c.before != c.after) to_share.push_back({x, c.before - c.after});
  }
  for (const NearPiece& p : was.all())
    if (p.owed != 0.0 && sharing.is_own(p.at)) to_share.push_back({p.at, p.owed});
  all.lost = sharing.share(to_share);
  sharing.send(comm, was, all);
  all.moved = comm.sum(all.moved);
  all.lost = comm.sum(all.lost);
  return all;
}

}  // namespace karst
