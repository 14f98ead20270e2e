// SPDX-License-Identifier: BSD-3-Clause
#include "eb/moving/volume_events.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/core/error.hpp"
#include "base/core/items_of.hpp"
#include "grid/questions.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// A volume with fluid in a cell.
struct InCell {
  std::int64_t cell;  ///< of the level
  VofName volume;
  friend auto operator<=>(const InCell&, const InCell&) = default;
};

struct Successors {
  VofName before, after;
  friend auto operator<=>(const Successors&, const Successors&) = default;
};

std::vector<InCell> volumes_in_cells(const LevelGeometry& level) {
  std::vector<InCell> all;
  const Layout& layout = level.graph.layout();
  const Box domain = layout.domain().box();
  for (int own = 0; own < level.graph.n_local(); ++own) {
    const BoxGraph graph = level.graph.box(own);
    const std::int64_t box = layout.find_cell(graph.cells.lo);
    for_each_vof(graph, [&](int vof, int cell) {
      all.push_back({domain.offset(graph.cells.cell(cell)), vof_name(box, vof)});
    });
    const auto [first, last] = level.joined_in(own);
    for (std::int64_t i = first; i < last; ++i) {
      const JoinedPart& part = level.joined[i];
      if (part.kappa > 0.0F && is_vof(part.home))
        all.push_back({domain.offset(graph.cells.cell(part.cell)), part.home});
    }
  }
  return all;
}

/// To the rank that compares a cell: the owner of its box, if possible of the new one.
std::vector<InCell> sent_to_comparing_rank(const Comm& comm, const std::vector<InCell>& mine, const Layout& before,
                                           const Layout& after) {
  std::map<int, ByteWriter> sent;
  const Box domain = after.domain().box();
  for (const InCell& v : mine) {
    const Index cell = domain.cell(v.cell);
    const std::int64_t box = after.find_cell(cell);
    sent[box >= 0 ? after.owner(box) : before.owner(before.find_cell(cell))].put(v);
  }
  std::vector<InCell> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) { here.push_back(in.get<InCell>()); });
  std::ranges::sort(here);
  erase_repeated(here);
  return here;
}

std::vector<Successors> successors_in_cells(const std::vector<InCell>& before, const std::vector<InCell>& after) {
  std::vector<Successors> all;
  for (std::size_t i = 0, j = 0; i < before.size() && j < after.size();) {
    const std::int64_t cell = std::max(before[i].cell, after[j].cell);
    while (i < before.size() && before[i].cell < cell) ++i;
    while (j < after.size() && after[j].cell < cell) ++j;
    std::size_t last_i = i, last_j = j;
    while (last_i < before.size() && before[last_i].cell == cell) ++last_i;
    while (last_j < after.size() && after[last_j].cell == cell) ++last_j;
    if (last_i - i == last_j - j) {
      for (; i < last_i; ++i, ++j) all.push_back({before[i].volume, after[j].volume});
    } else {
      for (std::size_t a = i; a < last_i; ++a)
        for (std::size_t b = j; b < last_j; ++b) all.push_back({before[a].volume, after[b].volume});
    }
    i = last_i, j = last_j;
  }
  return all;
}

/// Volumes of this rank without any and with several of the others.
struct Counts {
  std::int64_t none = 0, several = 0;
};

/// @param pairs  of the volumes of this rank, first the volume, then the other
Counts count(const LevelGraph& graph, std::vector<Successors> pairs) {
  std::ranges::sort(pairs);
  erase_repeated(pairs);
  Counts counts;
  std::int64_t with_any = 0;
  for (std::size_t i = 0; i < pairs.size();) {
    std::size_t last = i;
    while (last < pairs.size() && pairs[last].before == pairs[i].before) ++last;
    counts.several += last - i > 1;
    ++with_any;
    i = last;
  }
  counts.none = graph.counts().vofs - with_any;
  return counts;
}

/// Pairs to the owners of their first volumes.
std::vector<Successors> sent_to_owner(const Comm& comm, const std::vector<Successors>& pairs, const Layout& layout) {
  std::map<int, ByteWriter> sent;
  for (const Successors& pair : pairs) sent[layout.owner(box_of(pair.before))].put(pair);
  std::vector<Successors> here;
  send_to_ranks(comm, std::move(sent), [&](ByteReader& in, int) { here.push_back(in.get<Successors>()); });
  return here;
}

}  // namespace

VolumeEvents compare_volumes(const Comm& comm, const LevelGeometry& before, const LevelGeometry& after) {
  const Layout &old_layout = before.graph.layout(), &new_layout = after.graph.layout();
  require(old_layout.domain().cells == new_layout.domain().cells && old_layout.box_size() == new_layout.box_size(),
          "volumes of two geometries are compared whose grids differ");
  const auto there = [&](const LevelGeometry& level) {
    return sent_to_comparing_rank(comm, volumes_in_cells(level), old_layout, new_layout);
  };
  const std::vector<InCell> in_old = there(before), in_new = there(after);
  std::vector<Successors> pairs = successors_in_cells(in_old, in_new);
  const Counts old_counts = count(before.graph, sent_to_owner(comm, pairs, old_layout));
  for (Successors& pair : pairs) std::swap(pair.before, pair.after);
  const Counts new_counts = count(after.graph, sent_to_owner(comm, pairs, new_layout));
  std::array<std::int64_t, 4> sums{new_counts.none, old_counts.none, new_counts.several, old_counts.several};
  comm.sum(std::span(sums));
  return {sums[0], sums[1], sums[2], sums[3]};
}

}  // namespace karst
