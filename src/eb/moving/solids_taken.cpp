// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/solids_taken.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "eb/moving/wall_band.hpp"
#include "eb/moving/wall_motion.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

constexpr int looked_at = 6;  ///< corners around a block in which walls that stay are looked for
static_assert(looked_at <= WallBand::halo && looked_at >= zone_of_taken_solids + farthest_known);
constexpr double as_near = 0.3;  ///< distances that differ by less are of the same wall: corners of edges are 1 apart
constexpr double widest = 0.95;  ///< part of an edge between two solids that one may have

/// What a corner has to do with solids that are taken, as numbers of an exchange: the largest of its cells counts.
constexpr double mark_beside = 1.0, mark_within = 2.0;

/// A cell with a piece of a taken solid.
struct TakenCell {
  Index cell;
  std::uint32_t within;  ///< bit n: corner n, if it is solid, is one of it
};

/// Those of a box, in the order of cells.
std::vector<TakenCell> taken_cells(const ComponentsInBox& box, const Box& cells, const std::vector<bool>& taken) {
  constexpr std::uint32_t all_corners = 255;
  std::vector<TakenCell> found;
  for (const CellsOfComponent& run : box.whole)
    for (int i = 0; i < run.n && taken[run.component]; ++i) found.push_back({cells.cell(run.first + i), all_corners});
  for (std::size_t first = 0; first < box.cut.size();) {
    std::size_t last = first;
    bool any = false, only = true;
    for (; last < box.cut.size() && box.cut[last].cell == box.cut[first].cell; ++last) {
      any = any || taken[box.cut[last].component];
      only = only && taken[box.cut[last].component];
    }
    const std::span pieces(box.cut.data() + first, last - first);
    first = last;
    if (!any) continue;
    TakenCell cell{cells.cell(pieces.front().cell), only ? all_corners : 0U};
    for (unsigned n = 0; n < 8 && !only; ++n) {
      const auto away = [n](const PieceOfComponent& p) {
        double sum = 0.0;
        for (unsigned d = 0; d < 3; ++d) {
          const double r = (n >> d & 1U) - 0.5 - p.centroid[d];
          sum += r * r;
        }
        return sum;
      };
      if (taken[std::ranges::min_element(pieces, {}, away)->component]) cell.within |= 1U << n;
    }
    found.push_back(cell);
  }
  return found;
}

/// Boxes of corners around the cells exist afterwards. Collective.
std::vector<TakenCell> all_taken_cells(const Comm& comm, const Components& solids, const std::vector<bool>& taken,
                                       Displacement& displacement) {
  std::vector<TakenCell> cells;
  std::vector<std::uint64_t> keys;
  const std::int64_t first = solids.layout.owned(comm.rank()).first;
  for (std::int64_t own = 0; own < std::ssize(solids.in_box); ++own) {
    const Box box = solids.layout.box(first + own), corners{box.lo, box.hi + Index::all(1)};
    const std::vector<TakenCell> here = taken_cells(solids.in_box[own], box, taken);
    std::vector<std::uint8_t> flags(corners.count());
    for (const TakenCell& c : here) flags[corners.offset(c.cell)] = 1;
    if (!here.empty())
      std::ranges::copy(boxes_around(displacement.blocks().layout(), corners, flags), std::back_inserter(keys));
    cells.insert(cells.end(), here.begin(), here.end());
  }
  displacement.add_boxes(comm, keys);
  return cells;
}

/// `mark_beside` and `mark_within` at own corners. Collective.
Array<double> marks_of(const Comm& comm, std::span<const TakenCell> cells, const CornerBlocks& blocks) {
  std::map<int, ByteWriter> sent;
  for (const TakenCell& c : cells) {
    std::vector<int> ranks;
    blocks.for_parts({c.cell, c.cell + Index::all(2)}, [&](std::int64_t box, const Box&, const Index&) {
      if (box >= 0) ranks.push_back(blocks.layout().owner(box));
    });
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const int rank : ranks) sent[rank].put(c);
  }
  Array<double> marks(blocks.n_stored(), Purpose::geometry, 0.0);
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) {
    const auto c = in.get<TakenCell>();
    blocks.for_parts({c.cell, c.cell + Index::all(2)}, [&](std::int64_t box, const Box& part, const Index& shift) {
      if (box < 0 || !blocks.is_own(box)) return;
      const auto own = static_cast<int>(box - blocks.first_own());
      for_each_cell(part, [&](const Index& corner) {
        unsigned n = 0;
        for (int d = 0; d < 3; ++d) n |= static_cast<unsigned>(corner[d] - c.cell[d]) << d;
        double& mark = marks.data()[blocks.begin(own) + blocks.corners(box).offset(corner + shift)];
        mark = std::max(mark, (c.within >> n & 1U) != 0 ? mark_within : mark_beside);
      });
    });
  });
  return marks;
}

/// What a block reads: φ / h0 and marks around it.
struct Around {
  CornerValues p, mark;
  bool is_taken(std::int64_t at) const { return p.values[at] <= 0.0 && mark.values[at] == mark_within; }
  bool stays(std::int64_t at) const { return p.values[at] <= 0.0 && mark.values[at] != mark_within; }
};

/// Where the wall that stays crosses edges. Between a solid that stays and one that is taken there is a gap, thinner
/// than the edge.
std::vector<Vec3> crossings_of(const Around& in) {
  std::vector<Vec3> points;
  for_each_cell(in.p.box, [&](const Index& c) {
    const std::int64_t at = in.p.box.offset(c);
    for (int d = 0; d < 3; ++d) {
      if (c[d] + 1 >= in.p.box.hi[d]) continue;
      const std::int64_t next = at + in.p.stride(d);
      if (in.stays(at) == in.stays(next)) continue;
      const bool up = in.stays(at);
      const double inside = -in.p.values[up ? at : next], outside = in.p.values[up ? next : at];
      const double part = outside > 0.0 ? inside / (inside + outside) : std::min(inside, widest);
      Vec3 x = to_vec(c);
      x[d] += up ? part : 1.0 - part;
      points.push_back(x);
    }
  });
  return points;
}

/// New φ / h0 of own corners that are in the zone; p of the others.
void clear_block(const Box& own, const Around& in, std::span<double> p) {
  const std::vector<Vec3> walls = crossings_of(in);
  std::size_t i = 0;
  for_each_cell(own, [&](const Index& c) {
    double& value = p[i++];
    const std::int64_t at = in.p.box.offset(c);
    if (in.stays(at)) return;
    bool near = false;
    for_each_cell({c - Index::all(zone_of_taken_solids), c + Index::all(zone_of_taken_solids + 1)},
                  [&](const Index& other) { near = near || in.mark.values[in.mark.box.offset(other)] > 0.0; });
    if (!near) return;
    double nearest = farthest_known;
    for (const Vec3& wall : walls) nearest = std::min(nearest, norm(wall - to_vec(c)));
    if (in.is_taken(at) || nearest > value + as_near) value = nearest;
  });
}

}  // namespace

void take_solids(const Comm& comm, const Components& solids, std::span<const std::int32_t> taken, const LevelSet& phi0,
                 Displacement& displacement) {
  const Timer timer("take solids");
  require(displacement.level() == 0, "solids are taken away on level {}; expected: 0", displacement.level());
  std::vector<bool> is_taken(solids.all.size(), false);
  for (const std::int32_t number : taken) is_taken[number] = true;
  const std::vector<TakenCell> cells = all_taken_cells(comm, solids, is_taken, displacement);
  CornerBlocks& blocks = displacement.blocks();
  Array<double> marks = marks_of(comm, cells, blocks), p(blocks.n_stored(), Purpose::geometry, 0.0);
  const std::span<double> s = displacement.values();
  const auto block = [&](std::span<double> of, int own) {
    return of.subspan(blocks.begin(own), blocks.own_corners(own).count());
  };
  parallel_for_dynamic(blocks.n_own(), [&](std::int64_t i) {
    const auto own = static_cast<int>(i);
    const Box corners = blocks.own_corners(own);
    const auto phi = phi0.local(to_vec(corners.lo), to_vec(corners.hi - Index::all(1)));
    const auto here = block(p.span(), own), of = block(s, own);
    evaluate_at_corners(*phi, corners, 0, here);
    for (std::size_t n = 0; n < here.size(); ++n) here[n] -= of[n];
  });
  blocks.exchange(p.span());
  blocks.exchange(marks.span());
  parallel_for_dynamic(blocks.n_own(), [&](std::int64_t i) {
    const auto own = static_cast<int>(i);
    const Box corners = blocks.own_corners(own), region = corners.grown(looked_at);
    std::vector<double> around_p(region.count()), around_marks(region.count());
    blocks.gather(own, looked_at, marks.span(), CornerBlocks::Missing::zero, around_marks);
    if (std::ranges::none_of(around_marks, [](double m) { return m > 0.0; })) return;
    blocks.gather(own, looked_at, p.span(), CornerBlocks::Missing::nearest, around_p);
    const auto before = block(p.span(), own), of = block(s, own);
    std::vector<double> after(before.begin(), before.end());
    clear_block(corners, {{region, around_p}, {region, around_marks}}, after);
    for (std::size_t n = 0; n < after.size(); ++n) of[n] += before[n] - after[n];
  });
  const WallSpeed none = [](std::span<const Vec3>, double, std::span<double> speed) { std::ranges::fill(speed, 0.0); };
  move_wall(comm, phi0, none, 0.0, 0.0, displacement);  // no motion: bounds of the slopes of s
}

}  // namespace karst
