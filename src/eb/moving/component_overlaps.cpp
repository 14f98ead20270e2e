// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/component_overlaps.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/core/error.hpp"
#include "eb/link/level_geometry.hpp"
#include "eb/moving/matching_pieces.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

using Pair = std::pair<std::int32_t, std::int32_t>;
using Volumes = std::map<Pair, double>;

/// What a box holds, cell by cell.
class CellsOfBox {
 public:
  CellsOfBox(const ComponentsInBox& box, std::int64_t n_cells) : whole_(n_cells, -1), cut_(box.cut) {
    for (const CellsOfComponent& run : box.whole) std::fill_n(whole_.begin() + run.first, run.n, run.component);
  }
  std::int32_t whole(int cell) const { return whole_[cell]; }
  /// The pieces of a cell; cells are asked for in ascending order.
  std::span<const PieceOfComponent> pieces(int cell) {
    while (next_ < cut_.size() && cut_[next_].cell < cell) ++next_;
    const std::size_t first = next_;
    while (next_ < cut_.size() && cut_[next_].cell == cell) ++next_;
    return cut_.subspan(first, next_ - first);
  }

 private:
  std::vector<std::int32_t> whole_;
  std::span<const PieceOfComponent> cut_;
  std::size_t next_ = 0;
};

/// Pieces of a cell as the matching takes them, with their components.
struct Pieces {
  std::vector<CellPiece> pieces;
  std::vector<std::int32_t> components;

  Pieces(std::int32_t whole, std::span<const PieceOfComponent> cut) {
    if (whole >= 0) {
      pieces.push_back({1.0, {}, {}});
      components.push_back(whole);
    }
    for (const PieceOfComponent& p : cut) {
      CellPiece& piece = pieces.emplace_back(CellPiece{p.volume, {}, {}});
      for (int d = 0; d < 3; ++d) {
        piece.centroid[d] = p.centroid[d];
        piece.wall[d] = p.wall[d] / KeptPiece::full_wall;
      }
      components.push_back(p.component);
    }
  }
};

void compare_box(const ComponentsInBox& before, const ComponentsInBox& after, std::int64_t n_cells, Volumes& volumes) {
  CellsOfBox was(before, n_cells), is(after, n_cells);
  auto last = volumes.end();  // most cells are of the same pair as the one before them
  for (int cell = 0; cell < n_cells; ++cell) {
    const auto cut_before = was.pieces(cell), cut_after = is.pieces(cell);
    if (const Pair pair(was.whole(cell), is.whole(cell)); pair.first >= 0 && pair.second >= 0) {
      if (last == volumes.end() || last->first != pair) last = volumes.try_emplace(pair, 0.0).first;
      last->second += 1.0;
      continue;
    }
    const bool none_before = was.whole(cell) < 0 && cut_before.empty();
    const bool none_after = is.whole(cell) < 0 && cut_after.empty();
    if (none_before || none_after) continue;
    const Pieces old_pieces(was.whole(cell), cut_before), new_pieces(is.whole(cell), cut_after);
    for (const MatchedPieces& m : match_pieces(old_pieces.pieces, new_pieces.pieces))
      volumes[{old_pieces.components[m.before], new_pieces.components[m.after]}] += m.kept;
  }
}

/// What was in the boxes that this rank has now. Collective.
std::vector<ComponentsInBox> old_boxes(const Comm& comm, const Components& before, const Components& after) {
  const Layout &old_layout = before.layout, &layout = after.layout;
  const std::int64_t first_old = old_layout.owned(comm.rank()).first, first = layout.owned(comm.rank()).first;
  std::vector<ComponentsInBox> here(after.in_box.size());
  std::map<int, ByteWriter> sent;
  for (std::int64_t own = 0; own < std::ssize(before.in_box); ++own) {
    const std::int64_t now = layout.find(old_layout.lattice_position(first_old + own));
    if (now < 0) continue;
    ByteWriter& to = sent[layout.owner(now)];
    to.put(now);
    to.put_vector(before.in_box[own].whole);
    to.put_vector(before.in_box[own].cut);
  }
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
    ComponentsInBox& box = here[in.get<std::int64_t>() - first];
    box.whole = in.get_vector<CellsOfComponent>();
    box.cut = in.get_vector<PieceOfComponent>();
  });
  return here;
}

}  // namespace

std::vector<ComponentOverlap> component_overlaps(const Comm& comm, const Components& before, const Components& after) {
  const Layout &old_layout = before.layout, &layout = after.layout;
  require(old_layout.domain().cells == layout.domain().cells && old_layout.box_size() == layout.box_size(),
          "pores and solids of two geometries are compared whose grids differ");
  const std::vector<ComponentsInBox> was = old_boxes(comm, before, after);
  const std::int64_t first = layout.owned(comm.rank()).first;
  Volumes volumes;
  for (std::int64_t own = 0; own < std::ssize(was); ++own)
    compare_box(was[own], after.in_box[own], layout.box(first + own).count(), volumes);

  std::vector<ComponentOverlap> mine;
  for (const auto& [pair, volume] : volumes) mine.push_back({pair.first, pair.second, volume});
  std::vector<ComponentOverlap> all = comm.all_gather(std::span<const ComponentOverlap>(mine));
  const auto key = [](const ComponentOverlap& o) { return std::tuple(o.after, o.before); };
  std::ranges::sort(all, {}, [&](const ComponentOverlap& o) { return std::tuple(o.after, o.before, o.volume); });
  std::vector<ComponentOverlap> sums;
  for (const ComponentOverlap& o : all) {
    if (!sums.empty() && key(sums.back()) == key(o))
      sums.back().volume += o.volume;
    else
      sums.push_back(o);
  }
  return sums;
}

}  // namespace karst
