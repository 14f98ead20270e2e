// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/connected_pores.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "eb/link/connected_parts.hpp"

namespace karst {

namespace {

/// Applies keep to the pores this rank is the owner of, with the totals of all ranks.
template <class Stays>
Pores conclude(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label, const FactsByLabel& mine,
               Stays&& make_rule) {
  const Comm& comm = boxes.comm();
  std::map<ComponentLabel, std::vector<int>> askers;
  const auto whole = gather_at_owners(boxes, mine, askers);
  Pores pores;
  for (const auto& [l, f] : whole)
    for (int d = 0; d < 3; ++d) pores.percolates[d] |= f.percolates(d);
  for (bool& p : pores.percolates) p = comm.any(p);

  const auto stays = make_rule(whole, pores);
  std::map<ComponentLabel, bool> verdict;
  for (const auto& [l, f] : whole) {
    verdict[l] = stays(l, f);
    ++pores.n_pores;
    pores.volume += f.volume;
    if (!verdict[l]) {
      ++pores.n_removed;
      pores.removed_volume += f.volume;
    } else if (!f.percolates()) {
      pores.closed_volume += f.volume;
    }
  }
  pores.n_pores = comm.sum(pores.n_pores);
  pores.n_removed = comm.sum(pores.n_removed);
  pores.volume = comm.sum(pores.volume);
  pores.removed_volume = comm.sum(pores.removed_volume);
  pores.closed_volume = comm.sum(pores.closed_volume);

  pores.kept = flag_pieces(boxes, parts, label, verdict, askers);
  return pores;
}

/// Fluid that stays and leads through a periodic direction of one cell: a piece with faces on both sides of its cell.
bool leads_through_one_cell(const PieceBoxes& boxes, const Flags& kept, int d) {
  bool found = false;
  for (int slot = 0; slot < boxes.n_own(); ++slot) {
    const PieceBox& box = boxes.box(slot);
    const auto stays = [&](int id) { return kept[slot][id] != 0; };
    for (int c = 0; c < box.n_cells(); ++c)
      found = found || (box.kind(c) == CellKind::regular && stays(box.id_of_cell(c)));
    for (int p = 0; p < box.n_pieces(); ++p) {
      const Piece& piece = box.cut.pieces[p];
      unsigned sides = 0;
      for (std::uint32_t f = piece.first_face; f < piece.first_face + piece.n_faces; ++f)
        sides |= 1U << box.cut.faces[f].side;
      found = found || (stays(box.id_of_piece(p)) && (sides >> (2 * d) & 3U) == 3U);
    }
  }
  return boxes.comm().any(found);
}

/// Directions in which pores connect the ends by pieces of any kind. Collective.
std::array<bool, 3> joined_ends(const PieceBoxes& boxes, const std::array<bool, 3>& percolates, Flags flow) {
  std::array<bool, 3> joined = percolates;
  if (std::ranges::all_of(joined, std::identity())) return joined;
  for (std::vector<std::uint8_t>& box : flow) std::ranges::fill(box, 1);
  const std::array<Flags, 3> by_any = passages(boxes, &flow);
  for (std::size_t d = 0; d < 3; ++d)
    joined[d] = boxes.comm().any(joined[d] || std::ranges::any_of(by_any[d], [](const std::vector<std::uint8_t>& box) {
                                   return std::ranges::find(box, 1) != box.end();
                                 }));
  return joined;
}

}  // namespace

Pores find_pores(const PieceBoxes& boxes, const Homes& homes, KeepPores keep, bool keep_components) {
  const Domain& domain = boxes.layout().domain();
  const Flags flow = pieces_with_flow(boxes, homes);
  const std::array<Flags, 3> passes = passages(boxes, &flow);
  const BoxParts parts = find_parts(boxes);
  const auto label = spread_labels(boxes, parts);
  const auto mine = collect_facts(
      boxes, parts, label, {.ends = keep_components, .flow = &flow, .passes = &passes, .places = keep_components});
  Pores found = conclude(boxes, parts, label, mine, [&](const FactsByLabel& whole, const Pores& pores) {
    double largest = 0.0;
    for (const auto& [l, f] : whole) largest = std::max(largest, f.volume);
    // Of pores as large as the largest but for the round-off of sums, the one that comes first in the domain.
    largest = boxes.comm().max(largest) * (1.0 - 1e-10);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& [l, f] : whole)
      if (f.volume >= largest) first = std::min(first, f.first);
    first = boxes.comm().min(first);
    const bool any_percolates = pores.percolates[0] || pores.percolates[1] || pores.percolates[2];
    return [=](ComponentLabel, const ComponentFacts& f) {
      if (keep == KeepPores::largest) return f.volume >= largest && f.first == first;
      return keep == KeepPores::all || !any_percolates || f.percolates();
    };
  });
  if (keep_components) found.components = components_of(boxes, parts, label, mine);
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[d] && domain.cells[d] == 1) found.percolates[d] = leads_through_one_cell(boxes, found.kept, d);
  found.joined = joined_ends(boxes, found.percolates, flow);
  return found;
}

Pores find_pores_of_refined_level(const PieceBoxes& boxes, const std::vector<std::vector<std::uint8_t>>& parent_kept) {
  const BoxParts parts = find_parts(boxes);
  const auto label = spread_labels(boxes, parts);
  const auto mine = collect_facts(boxes, parts, label, {.parent_kept = &parent_kept});
  return conclude(boxes, parts, label, mine, [](const FactsByLabel&, const Pores&) {
    return [](ComponentLabel, const ComponentFacts& f) { return f.vouched != 0; };
  });
}

}  // namespace karst
