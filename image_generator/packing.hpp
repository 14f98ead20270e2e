// SPDX-License-Identifier: BSD-3-Clause
// Random packings of equal spheres: the truth behind generated images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

struct Sphere {
  Vec3 center;
  double radius;
};

struct PackingOptions {
  Index size{64, 64, 64};  ///< of the periodic box [voxels]
  double radius = 10;      ///< about; the exact one follows from the porosity [voxels]
  double porosity = 0.38;
  std::uint64_t seed = 1;
};

/// Centres of the grains of a packing in a periodic box [voxels]: random, then pushed apart while nearer than two
/// radii; as many as spheres of that radius have the volume of the solid. Throws Error when a size is below 4 radii or
/// porosity not in [0, 0.95].
std::vector<Vec3> packed_centers(const PackingOptions& options);

/// Equal spheres in a periodic box: random centres that push each other apart while they overlap, then the radius that
/// gives the porosity. Only + - * / and square roots: the same on every machine. Spheres that stick out appear once
/// more for every side they come in again. Throws Error when a size is below 4 radii or porosity not in [0.2, 0.95].
std::vector<Sphere> random_packing(const PackingOptions& options);

/// Solid fraction of every voxel of [0, size), x fastest, by 6³ sub-samples in voxels cut by a sphere: 0 outside of all
/// spheres, 1 inside of one.
std::vector<float> solid_fraction(const Index& size, std::span<const Sphere> spheres);

}  // namespace karst
