// SPDX-License-Identifier: BSD-3-Clause
// Connected components of the fluid, or of the solid, of a geometry: what each is, the same on every rank, and in which
// cells it is, by rank. So the pores and grains of two geometries can be compared (moving/component_overlaps.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "eb/link/connected_parts.hpp"
#include "grid/layout.hpp"

namespace karst {

/// Lengths in cell widths of level 0.
struct Component {
  double volume = 0.0;
  Vec3 center{};             ///< of its volume, within the domain
  std::int64_t first = 0;    ///< place of its first piece; components are in this order
  std::uint8_t ends = 0;     ///< bit s: reaches the side s of the domain, which is not periodic
  std::uint8_t through = 0;  ///< bit d: leads through the domain along d, which is periodic

  /// Reaches an end of the domain along d, or itself beyond a periodic one.
  bool reaches(int d) const { return (ends >> (2 * d) & 3) != 0 || (through >> d & 1) != 0; }
  bool reaches_any() const { return ends != 0 || through != 0; }
};

/// Cells of a box that are all of one component.
struct CellsOfComponent {
  std::int32_t component;
  std::uint16_t first, n;  ///< offsets in the box
};
/// A piece in a cut cell.
struct PieceOfComponent {
  std::int32_t component;
  float volume;
  std::array<float, 3> centroid;  ///< from the centre of the cell
  std::array<std::int8_t, 3>
      wall;            ///< direction of its wall away from the solid, or into it, times KeptPiece::full_wall
  std::uint16_t cell;  ///< offset in the box
};
struct ComponentsInBox {
  std::vector<CellsOfComponent> whole;
  std::vector<PieceOfComponent> cut;
};

struct Components {
  std::vector<Component> all;           ///< in the order of their first pieces, on every rank
  Layout layout;                        ///< of the boxes in which there is any
  std::vector<ComponentsInBox> in_box;  ///< own boxes
};

/// Pores and grains of a geometry.
struct Topology {
  Components pores, solids;
};

/// @param facts  of this rank, with ends, passages and places. Collective.
Components components_of(const PieceBoxes& boxes, const BoxParts& parts, const Labels& label,
                         const FactsByLabel& facts);

}  // namespace karst
