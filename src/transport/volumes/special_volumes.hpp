// SPDX-License-Identifier: BSD-3-Clause
// The lists of a ScalarGrid about volumes that are not plain, from the faces of each box. For set-up.
#pragma once

#include <span>
#include <vector>

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// A face in the making: a ScalarFace and what stands in lists beside it.
struct MadeFace {
  std::int32_t face, left, right;
  std::uint8_t direction;
  bool fragment;
  double conductance;
  FaceOffsets at;
};

/// Between neighbours on a grid line, of which one is not plain, as the box of the right one lists them; that of the
/// left one where the right one is of another rank.
struct FacesOfBox {
  std::int32_t begin = 0, end = 0;  ///< own volumes of the box
  std::vector<MadeFace> faces;
  std::vector<std::int32_t> crossing;  ///< those whose left volume is an own one of another box
};

/// Fills the lists of faces and of special volumes of the grid. Threaded; not collective.
/// @param boxes     by increasing volumes
/// @param others    all other faces
/// @param is_plain  per own volume
void list_special(std::span<const FacesOfBox* const> boxes, const std::vector<MadeFace>& others,
                  std::span<const std::uint8_t> is_plain, ScalarGrid& grid);

}  // namespace karst
