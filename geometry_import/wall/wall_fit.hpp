// SPDX-License-Identifier: BSD-3-Clause
// The wall of a gray image of two phases, sought with a model of the scan.
//
// A scan blurs. Where the gray value is halfway between pore and solid the wall is not: a grain of radius R comes out
// smaller by σ²/R, corners fill, contacts widen (σ: blur with that of the voxel). So a wall is sought whose picture
//
//   solid + (pore - solid) D_b f(φ)
//
// is the image; f: share of each voxel where φ > 0, D_b: Gaussian of variance b on the voxels
// (diffusion.hpp). Both are compared after smoothing with D_s, s the square of `smoothing`:
//
//   r = (D_s image - solid) / (pore - solid) - D_(s+b) f(φ),
//   ψ = φ + 0.4 r / G,   G = 1 / √(2π (s + b + 1/12)), the slope of the picture at a plane wall,
//   φ <- 0.8 ψ + 0.2 D_0.64 ψ,
//
// Van Cittert's iteration with a smooth level set as prior: noise would roughen the wall. After each round least
// squares give pore, solid, b (∂D_b/∂b = Δ D_b / 2, Δ: second differences) and one shift of all walls. It ends when
// image and picture differ no more at the wall than they do by noise inside the phases (discrepancy principle of
// Morozov, 1966), or after eight rounds.
//
// Measured in decision 014. Memory: 2 bytes a voxel.
#pragma once

#include <cstdint>
#include <optional>

#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/voxels/slabs.hpp"
#include "geometry_import/wall/scan_model.hpp"

namespace karst {

struct FittedWall {
  Slabs<std::int16_t> phi;  ///< [1/4096 voxel], within ± 2.5 voxels
  double slope = 1;         ///< mean |∇φ| at the wall
  ScanModel scan;
};

/// Where the wall is at first: where the smoothed gray value passes a threshold.
struct FitStart {
  const GrayScale& scale;
  const Slabs<std::uint8_t>& labels;  ///< pore_label, a solid label, or outside_label
};

inline constexpr double fitted_unit = 4096;           ///< of FittedWall::phi, per voxel
inline constexpr double most_fitted_smoothing = 4.0;  ///< [voxels]; more would need planes beyond the next layer

/// Fits the wall. Reads the image two to ten times. The result does not depend on the number of ranks and threads.
/// Nothing when the image is no picture of two phases, or no wall is left. Collective.
/// @param start      where the wall is at first; the phase stays where all 26 neighbours have it there
/// @param smoothing  of the comparison, 0 to most_fitted_smoothing [voxels]
std::optional<FittedWall> fit_wall(const ImageLayers& image, const FitStart& start, double smoothing);

/// How far a plane wall moves when the gray value that it is found at moves by a share of the contrast, as the scan
/// blurs: share √(2π (blur² + 1/12)). [voxels]
double moved_wall(const ScanModel& scan, double share);

/// φ of fitted values as level sets of gray images have it: a distance at the wall (divided by the slope),
/// gray_margin <= |φ|. phi is over the same planes.
void fitted_level_set(std::span<const std::int16_t> fitted, double slope, std::span<float> phi);

/// pore_label where φ > 0, else 1, the label of the only solid; outside_label outside of the sample. Collective.
Slabs<std::uint8_t> fitted_labels(const ImageLayers& image, const FittedWall& wall);

}  // namespace karst
