// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <unordered_map>

#include "base/comm/parallel.hpp"
#include "grid/graph_compile.hpp"
#include "grid/halo_plan.hpp"
#include "grid/level_graph.hpp"

namespace karst {
namespace {

std::int32_t count32(std::size_t n) { return static_cast<std::int32_t>(n); }

template <class T>
Array<T> connectivity(std::int64_t n) {
  return Array<T>(n, Purpose::connectivity);
}

template <class T>
void copy_to(const std::vector<T>& from, Array<T>& to, std::int64_t at) {
  std::copy(from.begin(), from.end(), to.begin() + at);
}

/// Number of the table of each box; `first_with` gets the box that brings it.
std::vector<std::int32_t> share_tables(const std::vector<CompiledBox>& boxes, std::vector<std::size_t>& first_with) {
  std::vector<std::uint64_t> hash(boxes.size());
  parallel_for_dynamic(std::ssize(boxes), [&](std::int64_t b) { hash[b] = boxes[b].hash(); });
  std::unordered_multimap<std::uint64_t, std::int32_t> known;
  std::vector<std::int32_t> table(boxes.size());
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const auto [begin, end] = known.equal_range(hash[b]);
    const auto same =
        std::find_if(begin, end, [&](const auto& k) { return boxes[b].same_table(boxes[first_with[k.second]]); });
    if (same != end) {
      table[b] = same->second;
      continue;
    }
    table[b] = count32(first_with.size());
    known.emplace(hash[b], table[b]);
    first_with.push_back(b);
  }
  return table;
}

/// Moves all boxes into the arrays of the level.
GraphStorage store(std::vector<CompiledBox> boxes) {
  std::vector<std::size_t> first_with;
  const std::vector<std::int32_t> table_of = share_tables(boxes, first_with);
  GraphStorage s;
  GraphStorage::Table at{};
  for (const std::size_t b : first_with) {
    const CompiledBox& c = boxes[b];
    at.n_own = c.n_own;
    at.n_irregular = c.n_irregular;
    at.n_runs = count32(c.runs.size());
    at.n_rows = count32(c.row_vof.size());
    at.n_extra = count32(c.extra.size());
    at.n_halo_vofs = count32(c.halo_vof.size());
    at.n_coarse = c.n_coarse;
    at.n_domain = c.n_domain;
    s.tables.push_back(at);
    at.runs += at.n_runs;
    at.rows += at.n_rows;
    at.extra += at.n_extra;
    at.halo += at.n_halo_vofs;
  }
  std::int64_t n_groups = 0;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    s.boxes.push_back({table_of[b], count32(boxes[b].groups.size()), n_groups});
    n_groups += std::ssize(boxes[b].groups);
  }
  s.runs = connectivity<Run>(at.runs);
  s.row_vof = connectivity<std::uint16_t>(at.rows);
  s.row_cell = connectivity<std::uint16_t>(at.rows);
  s.neighbours = connectivity<std::array<std::uint16_t, 6>>(at.rows);
  s.extra = connectivity<ExtraFace>(at.extra);
  s.halo_vof = connectivity<std::uint16_t>(at.halo);
  s.groups = connectivity<HaloGroup>(n_groups);
  parallel_for(std::ssize(boxes), [&](std::int64_t b) {
    const std::size_t i = b;
    const std::size_t t = table_of[i];
    copy_to(boxes[i].groups, s.groups, s.boxes[i].groups);
    if (first_with[t] != i) return;
    const CompiledBox& c = boxes[i];
    copy_to(c.runs, s.runs, s.tables[t].runs);
    copy_to(c.row_vof, s.row_vof, s.tables[t].rows);
    copy_to(c.row_cell, s.row_cell, s.tables[t].rows);
    copy_to(c.neighbours, s.neighbours, s.tables[t].rows);
    copy_to(c.extra, s.extra, s.tables[t].extra);
    copy_to(c.halo_vof, s.halo_vof, s.tables[t].halo);
  });
  return s;
}

/// A box of another graph with the same neighbours, which may have other numbers.
CompiledBox copy_of(const LevelGraph& before, int box, const Layout& layout) {
  const BoxGraph g = before.box(box);
  const auto list = [](const auto& from) { return std::vector(from.begin(), from.end()); };
  CompiledBox copy{g.n_own,
                   g.n_irregular,
                   g.halo.n_coarse(),
                   g.halo.n_domain(),
                   list(g.runs),
                   list(g.row_vof),
                   list(g.row_cell),
                   list(g.neighbours),
                   list(g.extra),
                   {},
                   list(g.halo.groups())};
  for (std::size_t i = 0; i < copy.groups.size(); ++i) {
    const auto vofs = g.halo.vofs_of_group(i);
    copy.halo_vof.insert(copy.halo_vof.end(), vofs.begin(), vofs.end());
    copy.groups[i].box = place_in(before.layout(), copy.groups[i].box, layout);
  }
  return copy;
}

}  // namespace

std::int64_t place_in(const Layout& from, std::int64_t box, const Layout& to) {
  const std::int64_t there = to.find(from.lattice_position(box));
  assert(there >= 0);
  return there;
}

LevelGraph build_level_graph(const Comm& comm, Layout layout,
                             const std::function<BoxAdjacency(std::int64_t layout_box)>& adjacency,
                             const KeptGraph& kept) {
  const auto [first, last] = layout.owned(comm.rank());
  std::vector<CompiledBox> boxes(last - first);
  parallel_for_dynamic(last - first, [&, begin = first](std::int64_t b) {
    const int same = kept.of(b);
    boxes[b] = same < 0 ? compile_box(layout, begin + b, adjacency(begin + b)) : copy_of(*kept.before, same, layout);
  });
  LevelGraph graph(std::move(layout), comm.rank(), store(std::move(boxes)));
  graph.set_halo_plan(make_halo_plan(comm, graph));
  return graph;
}

}  // namespace karst
