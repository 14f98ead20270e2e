// SPDX-License-Identifier: BSD-3-Clause
// Connected components of the pieces of a level, over boxes and ranks: pores where the pieces are fluid, solids where
// they were cut from the level set with its signs exchanged. Pieces are connected through face pieces; the label of a
// component is its smallest name, propagated until nothing changes, so no rank stores more than its own boxes. Used
// inside eb/ only.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "eb/link/home_cells.hpp"
#include "eb/link/piece_boxes.hpp"

namespace karst {

using ComponentLabel = std::uint64_t;                     ///< box << 16 | part of the box
using Flags = std::vector<std::vector<std::uint8_t>>;     ///< [slot][id, or position in cut.pieces]
using Labels = std::vector<std::vector<ComponentLabel>>;  ///< [own slot][part]

/// A link from an own piece to a piece of another box.
struct PieceLink {
  int id, slot, other_id;
};

/// Connected parts within each box, and the links out of it.
struct BoxParts {
  std::vector<std::vector<std::uint16_t>> part;  ///< [slot][id], copies included
  std::vector<int> n_parts;                      ///< [own slot]
  std::vector<std::vector<PieceLink>> links;     ///< [own slot]
};

/// Pieces that carry flow, by position in cut.pieces, copies included; whole cells do.
Flags pieces_with_flow(const PieceBoxes& boxes, const Homes& homes);

/// @param cut   links across the periodic ends of this direction do not count; -1: all do
/// @param flow  links of other pieces, and through faces without area, do not count; nullptr: all do
BoxParts find_parts(const PieceBoxes& boxes, int cut = -1, const Flags* flow = nullptr);

/// The component of every part: labels spread over boxes and ranks until they no longer change. Collective.
Labels spread_labels(const PieceBoxes& boxes, const BoxParts& parts);

struct LabelledParts {
  BoxParts parts;
  Labels label;
};
/// Both. Collective.
LabelledParts label_parts(const PieceBoxes& boxes, int cut = -1, const Flags* flow = nullptr);

/// What is known of a component.
struct ComponentFacts {
  double volume = 0.0;  ///< Σ κ
  Vec3 moment{};        ///< ∫ x dV / h⁴, see FactsWanted::places
  Vec3 high_volume{};   ///< of this, in the upper half of the domain along each direction
  /// The first piece of its first cell, in the order of the cells of the domain: the order of components.
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::uint8_t ends = 0;      ///< bit s: touches the end of the domain on side s
  std::uint8_t passes = 0;    ///< bit d: holds a piece of a passage along d
  std::uint8_t cells_at = 0;  ///< bit s: has a cell at that end
  std::uint8_t middle = 0;    ///< bit d: has a cell in the middle of the domain along d
  std::uint8_t vouched = 0;   ///< a refined level: lies over coarse fluid that stays
  void add(const ComponentFacts& o);
  bool touches_both(int d) const { return (ends >> (2 * d) & 3) == 3; }
  bool percolates(int d) const { return (passes >> d & 1) != 0; }
  bool percolates() const { return passes != 0; }
};
using FactsByLabel = std::map<ComponentLabel, ComponentFacts>;

/// What is to be found out.
struct FactsWanted {
  bool cells = true;                             ///< volumes and first pieces, and what is vouched for or where
  bool ends = false;                             ///< which ends open faces touch
  const Flags* flow = nullptr;                   ///< of these pieces alone; nullptr: of all
  const std::array<Flags, 3>* passes = nullptr;  ///< by pieces that are part of a passage, see passages()
  const Flags* parent_kept = nullptr;            ///< refined levels: see find_pores_of_refined_level()
  bool places = false;                           ///< moments and where cells are
};

/// Facts of the components of this rank's boxes.
FactsByLabel collect_facts(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                           const FactsWanted& wanted = {});

/// Sends each component's facts to the owner of the box in its label, who knows the whole component afterwards.
/// Collective.
/// @param[out] askers  ranks that hold part of a component
FactsByLabel gather_at_owners(const PieceBoxes& boxes, const FactsByLabel& mine,
                              std::map<ComponentLabel, std::vector<int>>& askers);

/// Flags of all pieces, copies included, by a verdict on each component at its owner. Collective.
Flags flag_pieces(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                  const std::map<ComponentLabel, bool>& verdict,
                  const std::map<ComponentLabel, std::vector<int>>& askers);

/// Per direction, pieces that are part of a passage from one end to the other, a periodic direction with its ends cut
/// apart. A component that leads through all periods must hold one: between two crossings of the ends in the same sense
/// it goes from end to end. A closed one that lies across the ends holds none. Empty along directions of one cell.
/// Collective.
/// @param flow  see find_parts()
/// @param all   label_parts(boxes), if known
std::array<Flags, 3> passages(const PieceBoxes& boxes, const Flags* flow, const LabelledParts* all = nullptr);

}  // namespace karst
