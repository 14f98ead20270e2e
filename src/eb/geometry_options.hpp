// SPDX-License-Identifier: BSD-3-Clause
// The [geometry] table of the deck: an image, or solids described by formulas. SI units.
#pragma once

#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "eb/link/connected_pores.hpp"
#include "eb/mineral_choice.hpp"
#include "eb/shapes/sphere_list.hpp"

namespace karst {

enum class SolidShape { plane, sphere, spheres, cylinder, box, ellipsoid, torus, expression };
enum class Inside { solid, fluid };
enum class SolidOperation { union_of_solids, intersection_of_solids };

/// One [[geometry.solid]]. Only members that the shape uses are set.
struct SolidOptions {
  SolidShape shape = SolidShape::sphere;
  Inside inside = Inside::solid;  ///< fluid: all outside the shape is solid
  Vec3 center, axis{0.0, 0.0, 1.0}, point, normal{0.0, 0.0, 1.0}, lo, hi, radii;
  Vec3 rotation;  ///< about x, then y, then z [degrees]
  double radius = 0.0, major_radius = 0.0;
  double length = 0.0;    ///< of a cylinder; 0: infinite
  bool periodic = false;  ///< repeated in all directions, also where the grid is not periodic
  SphereFile file;        ///< path relative to the deck
  std::string expression;
  std::string mineral = unnamed_mineral;
};

struct GeometryOptions {
  std::string image;  ///< geometry file or raw image, relative to the deck; empty: solids
  std::vector<SolidOptions> solids;
  SolidOperation operation = SolidOperation::union_of_solids;
  std::vector<std::string> minerals;  ///< to be distinguished on the wall, see choose_minerals(); empty: all
  KeepPores keep = KeepPores::connected;
  Index copies{1, 1, 1};        ///< of the sample, side by side
  double wall_shift = 0.0;      ///< of the wall of the image into the solid [voxel widths]
  std::string directory = ".";  ///< of the deck
};

/// Declares and reads geometry.image, geometry.minerals, geometry.copies, geometry.wall_shift, geometry.keep,
/// geometry.operation and [[geometry.solid]]; validation errors: keys that a shape lacks or does not use, impossible
/// sizes, invalid expressions, files that do not exist, image and solids together, a shifted wall without an image,
/// names of minerals that are reserved, given twice or that no solid has (those that an image does not have are found
/// when it is opened). A deck with neither is not an error here.
void read(Reader& reader, GeometryOptions& options);

/// Meaning of a shape of the deck: a solid, or a region of the domain. Only the help texts differ, and a region has no
/// `inside` and no `mineral`.
enum class ShapeUse { solid, region };

/// Declares and reads the keys of a shape in a table of a list; validation errors: keys that it lacks or does not use,
/// impossible sizes, invalid expressions, files that do not exist.
void read_shape(Reader& item, SolidOptions& shape, ShapeUse use);

/// Names of the minerals of the solids, each once, in their order.
std::vector<std::string> minerals_of(const std::vector<SolidOptions>& solids);

}  // namespace karst
