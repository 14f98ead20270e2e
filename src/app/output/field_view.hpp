// SPDX-License-Identifier: BSD-3-Clause
// Fields of a run as pictures need them, whether they are in memory or in a plotfile.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/box.hpp"
#include "page/plane_picture.hpp"

namespace karst {

struct FieldView {
  Index cells;                          ///< of level 0
  double cell_width = 0.0;              ///< of level 0 [m]
  std::vector<std::vector<Box>> boxes;  ///< per level: those of this rank, in cells of the level
  std::vector<std::string> components;
  /// One value per cell of a box, x fastest; NaN where there is none (solid, or under a finer level).
  std::function<void(int level, std::size_t box, std::size_t component, std::span<float> cells)> fill;
  bool threads_may_fill = false;  ///< several boxes at the same time

  std::optional<std::size_t> find(const std::string& component) const;
};

/// Of a plotfile, all on rank 0; the other ranks have no boxes. Throws Error on all ranks. Collective.
FieldView view_of_plotfile(const Comm& comm, const std::string& path);

/// A layer of cells of level 0 across a direction: first <= cell < end.
struct Layer {
  int direction = 0, first = 0, end = 0;
};
/// Mean over the thickness of a layer: of one component its value, of three components the length of the vector.
/// Collective; the same on every rank.
PlaneValues layer_mean(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                       const Layer& layer);
/// The layer of one cell through the middle.
PlaneValues middle_plane(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                         int direction);

/// The same with the fraction of its cells that is fluid, where the view has it. Collective.
PlaneValues middle_plane_to_walls(const Comm& comm, const FieldView& view, std::span<const std::size_t> components,
                                  int direction);
/// A plane whose fractions are known on finer pixels, 1 to 16 per cell, NaN beyond the wall: where the fraction,
/// bilinear between cell centres, is below 1/2. Others have the value of the nearest of the four cells around that has
/// one.
PlaneValues up_to_walls(const PlaneValues& plane);
/// An HTML figure of a plane: up to the wall within cut cells where its fractions are known, else in whole cells.
std::string plane_figure_to_walls(const PlaneValues& plane, PlaneLook look);

/// A vector field on equal cubes.
struct FieldLattice {
  Index size;
  double width = 1.0;  ///< of a cube [level-0 cells]
  /// x fastest: mean of the vector over the cube, 0 where there is none, and the share of the cube where there is one.
  std::vector<std::array<float, 4>> values;
  const std::array<float, 4>& at(int i, int j, int k) const {
    return values[(std::int64_t{k} * size[1] + j) * size[0] + i];
  }
};
/// Cubes of 1, 2, 4 .. cells, as few as are needed to have at most `most` of them. Empty but on rank 0. Collective.
FieldLattice lattice_of(const Comm& comm, const FieldView& view, const std::array<std::size_t, 3>& components,
                        std::int64_t most);

/// Of the two planes through an axis, that across the narrower direction.
int across(const Index& cells, int axis);

}  // namespace karst
