// SPDX-License-Identifier: BSD-3-Clause
// Generated rocks: geometries that are known exactly. Lengths in voxels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "image_generator/bodies.hpp"
#include "image_generator/packing.hpp"

namespace karst {

enum class RockKind { packing, polyhedra, fractures, slit, tube, sphere };

struct Mineral {
  std::string name;
  double share;  ///< of the solid
  double gray;   ///< of 8 bit: 0 to 255
};

struct RockOptions {
  RockKind kind = RockKind::packing;
  Index size{64, 64, 64};
  std::uint64_t seed = 1;
  double radius = 10;            ///< of grains (about), of the tube, of the sphere
  double porosity = 0.38;        ///< packing, polyhedra
  int facets = 6;                ///< polyhedra: random planes that cut each grain besides its neighbours
  double spread = 0.2;           ///< polyhedra: grains are smaller than the largest by up to this share
  int fractures = 0;             ///< through any kind
  double aperture = 4;           ///< of fractures and the slit
  double roughness = 0;          ///< standard deviation of the height of fractures and the slit
  double hurst = 0.8;            ///< exponent of the roughness
  Vec3 normal{0, 0, 1};          ///< slit: across; tube: along (an axis)
  std::optional<Vec3> center{};  ///< slit, tube, sphere; left out: the middle of the box
  std::vector<Mineral> minerals{{"grain", 1.0, 180.0}};  ///< labels 1, 2, ...
};

/// Convex grain: the points x with normal · (x - center) < offset for all planes.
struct Grain {
  Vec3 center;
  std::vector<FacetPlane> planes;
  double reach;  ///< of the farthest corner
  double volume, area;
  int label;
};

struct FracturePlane {
  Vec3 point, normal;
};

struct Rock {
  RockOptions options;
  std::vector<Sphere> spheres;  ///< those of a packing with their images, or the one
  std::vector<int> sphere_labels;
  std::vector<Grain> grains;  ///< polyhedra, or the cells of the matrix when it has several minerals; no images
  std::vector<FracturePlane> fractures;
  std::unique_ptr<Scene> scene;
  std::vector<Vec3> samples;  ///< sub-samples for voxels cut by a surface
};

/// - packing: random_packing.
/// - polyhedra: Voronoi cells of packed_centers, each cut by random planes, then shrunk about its centre by one factor
///   times 1 - spread × a random number; volumes go with its cube, so the porosity is exact. Periodic.
/// - fractures: random planes through a solid; slit, tube, sphere: one body. Where the solid has several minerals
/// there,
///   it is made of whole Voronoi cells.
/// Minerals: each grain in turn is given to the mineral that lacks most volume. The same on every machine.
/// Throws Error, with the allowed range, for options out of range and shares that do not add up to 1.
Rock make_rock(const RockOptions& options);

/// A number and how it was found.
struct Known {
  double value;
  std::string how;
};

/// Porosity in closed form where there is one, else by the sub-samples (`sampled`: share of the pore in them).
Known true_porosity(const Rock& rock, double sampled);
/// Area of the wall inside the box [voxel²], in closed form or summed over points of the surface.
Known true_wall_area(const Rock& rock);
/// That of each mineral of the options: Σ over its grains in closed form for polyhedra without fractures, else summed
/// over points of the surface.
std::vector<Known> true_mineral_areas(const Rock& rock);

/// JSON: kind, options, exact bodies, porosity, wall area, labels and their shares.
std::string rock_json(const Rock& rock, const std::vector<double>& shares);
/// JSON: {"labels": {"pore": 0, name: 1, ...}}.
std::string label_json(const Rock& rock);
const char* name_of(RockKind kind);

}  // namespace karst
