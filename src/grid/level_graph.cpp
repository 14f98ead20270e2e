// SPDX-License-Identifier: BSD-3-Clause
#include "grid/level_graph.hpp"

#include <cassert>

#include "grid/vof_loops.hpp"

namespace karst {
namespace {

template <class T>
std::span<const T> part(const Array<T>& all, std::int64_t first, std::int32_t n) {
  return all.span().subspan(first, n);
}

template <class T>
std::int64_t bytes_of(const std::vector<T>& v) {
  return static_cast<std::int64_t>(v.capacity() * sizeof(T));
}

}  // namespace

VofName HaloNames::operator[](int i) const {
  if (i >= n_vofs()) return i < n_vofs() + n_coarse_ ? coarse_face : domain_face;
  const auto after =
      std::upper_bound(groups_.begin(), groups_.end(), i, [](int slot, const HaloGroup& g) { return slot < g.begin; });
  return vof_name(std::prev(after)->box, vof_[i]);
}

int HaloNames::find(VofName name) const {
  if (!is_vof(name)) return -1;
  const auto group = std::lower_bound(groups_.begin(), groups_.end(), box_of(name),
                                      [](const HaloGroup& g, std::int64_t box) { return g.box < box; });
  if (group == groups_.end() || group->box != box_of(name)) return -1;
  const auto vofs = vofs_of_group(group - groups_.begin());
  const auto at = std::lower_bound(vofs.begin(), vofs.end(), vof_of(name));
  if (at == vofs.end() || *at != vof_of(name)) return -1;
  return group->begin + static_cast<int>(at - vofs.begin());
}

std::int64_t HaloPlan::bytes() const {
  return bytes_of(local) + bytes_of(local_begin) + bytes_of(receives) + bytes_of(receives_begin) +
         bytes_of(n_messages) + bytes_of(interior) + bytes_of(boundary) + bytes_of(peers) + bytes_of(sends) +
         bytes_of(sends_begin) + static_cast<std::int64_t>(send_vofs.bytes()) + bytes_of(readers) +
         bytes_of(readers_begin);
}

std::int64_t GraphStorage::bytes() const {
  return bytes_of(tables) + bytes_of(boxes) +
         static_cast<std::int64_t>(runs.bytes() + row_vof.bytes() + row_cell.bytes() + halo_vof.bytes() +
                                   neighbours.bytes() + extra.bytes() + groups.bytes());
}

LevelGraph::LevelGraph(Layout layout, int rank, GraphStorage storage)
    : layout_(std::move(layout)), rank_(rank), storage_(std::move(storage)) {
  const auto [first, last] = layout_.owned(rank);
  assert(last - first == static_cast<std::int64_t>(storage_.boxes.size()));
  first_box_ = first;
  auto slots = std::make_shared<SlotMap>(SlotMap{{0}, {0}});
  for (int b = 0; b < n_local(); ++b) {
    const BoxGraph g = box(b);
    slots->begin.push_back(slots->begin.back() + g.n_slots());
    slots->vof_begin.push_back(slots->vof_begin.back() + g.n_own);
    counts_.vofs += g.n_own;
    counts_.irregular += g.n_irregular;
    counts_.in_rows += std::ssize(g.row_vof);
    counts_.extra_faces += std::ssize(g.extra);
    counts_.halo_vofs += g.halo.n_vofs();
    counts_.coarse_ghosts += g.halo.n_coarse();
    counts_.domain_ghosts += g.halo.n_domain();
  }
  counts_.in_runs = counts_.vofs - counts_.in_rows;
  counts_.slots = slots->begin.back();
  counts_.shared_tables = n_local() - std::ssize(storage_.tables);
  slots_ = std::move(slots);
}

BoxGraph LevelGraph::box(int local) const {
  const GraphStorage::Entry& entry = storage_.boxes[local];
  const GraphStorage::Table& table = storage_.tables[entry.table];
  BoxGraph g;
  g.box = first_box_ + local;
  g.cells = layout_.box(g.box);
  g.n_own = table.n_own;
  g.n_halo = table.n_halo_vofs + table.n_coarse + table.n_domain;
  g.n_irregular = table.n_irregular;
  g.runs = part(storage_.runs, table.runs, table.n_runs);
  g.row_vof = part(storage_.row_vof, table.rows, table.n_rows);
  g.row_cell = part(storage_.row_cell, table.rows, table.n_rows);
  g.neighbours = part(storage_.neighbours, table.rows, table.n_rows);
  g.extra = part(storage_.extra, table.extra, table.n_extra);
  g.halo = HaloNames(part(storage_.groups, entry.groups, entry.n_groups),
                     part(storage_.halo_vof, table.halo, table.n_halo_vofs), table.n_coarse, table.n_domain);
  return g;
}

std::int64_t LevelGraph::bytes() const {
  return storage_.bytes() + plan_.bytes() + bytes_of(slots_->begin) + bytes_of(slots_->vof_begin);
}

BoxAdjacency adjacency_of(const BoxGraph& graph) {
  const std::size_t n = graph.n_own;
  BoxAdjacency a;
  a.cell.resize(n);
  a.irregular.assign(n, 0);
  a.primary.resize(n);
  for_each_vof(graph, [&](int v, int cell, const std::array<std::uint16_t, 6>& neighbours) {
    a.cell[v] = static_cast<std::uint16_t>(cell);
    for (std::size_t s = 0; s < 6; ++s) a.primary[v][s] = graph.name(neighbours[s]);
  });
  for (int r = 0; r < graph.n_irregular; ++r) a.irregular[graph.row_vof[r]] = 1;
  for (const ExtraFace& e : graph.extra) a.extra.push_back({e.vof, e.side, graph.name(e.neighbour)});
  return a;
}

}  // namespace karst
