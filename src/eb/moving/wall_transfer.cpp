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
#include "eb/moving/cell_changes.hpp"
#include "eb/moving/pieces_at_blocks.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

/// How far a volume looks for pieces that take it, one after the other [widths of its cell or, if larger, of theirs].
constexpr std::array reaches{1.75, 2.5, 4.5};

/// New pieces with the areas by which they take. Collective.
NearPieces takers_here(const Comm& comm, const WallPieces& after, const WallRows& takes,
                       const Displacement& displacement) {
  std::vector<NearPiece> taking = pieces_here(comm, after, takes, wall_rows(after.levels), displacement);
  for (NearPiece& p : taking) p.area *= p.value;
  return {displacement.blocks().layout().domain(), std::move(taking)};
}

/// A volume that new pieces are to owe from now on. Place and width of its cell in spacings of the corners.
struct Owed {
  Vec3 at;
  double volume, width;
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
      const double end = reach * std::max(owed.width, now_.widest());
      for_mirror_images(blocks_.layout().domain(), owed.at, end, [&](const Vec3& x) {
        const auto take = [&](std::size_t i, double w) { takers.pieces.emplace_back(i, w); };
        takers.weight += now_.around(x, reach, take, owed.width);
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
  for (const CellChange& c : changes_of_cells(comm, before, after))
    for_ranks_around(displacement.blocks(), coarse_cell(c.cell, c.level), scale, [&](int rank) { sent[rank].put(c); });
  std::vector<CellChange> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) { here.push_back(in.get<CellChange>()); });
  std::ranges::sort(here, {}, [](const CellChange& c) { return std::pair(c.level, c.cell); });
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
    if (p.owed != 0.0 && sharing.is_own(p.at)) to_share.push_back({p.at, p.owed, p.width});
  const double lost = comm.sum(sharing.share(to_share));
  sharing.send(comm, was, all);
  return {std::move(all.owed), lost};
}

WallTransfer transfer_to_moved_walls(const Comm& comm, const WallPieces& before, const WallRows& means,
                                     const WallRows& owed, const WallPieces& after, const WallRows& takes,
                                     const Displacement& displacement, CellChanges changes) {
  const Timer timer("what walls owe");
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
    const double width = std::ldexp(1.0, displacement.level() - c.level);
    const Vec3 x = width * (to_vec(c.cell) + Vec3::all(0.5));
    if (!sharing.is_own(x)) continue;
    all.moved += c.after - c.before;
    if (c.before != c.after) to_share.push_back({x, c.before - c.after, width});
  }
  for (const NearPiece& p : was.all())
    if (p.owed != 0.0 && sharing.is_own(p.at)) to_share.push_back({p.at, p.owed, p.width});
  all.lost = sharing.share(to_share);
  sharing.send(comm, was, all);
  all.moved = comm.sum(all.moved);
  all.lost = comm.sum(all.lost);
  return all;
}

}  // namespace karst
