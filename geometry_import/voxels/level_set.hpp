// SPDX-License-Identifier: BSD-3-Clause
// Level set of an image: one number per voxel centre, in units of the voxel width, φ > 0 in the pore and < 0 in the
// solid; the wall is where the trilinear interpolant is zero.
//
// Gray image: smoothing is the convolution with (1 + a) G_σ - a G_σ∗G_σ. A plain Gaussian (a = 0) moves a wall of mean
// curvature H by σ² H, which is 2 % of the volume of a sphere of radius 12 voxels at σ = 1. Here a = 1 + √2, with which
// walls stay to leading order: no second moment along the wall among the values at it, (1 + a) σ² G_σ(0) = a 2σ²
// G_√2σ(0) in one dimension. White noise of standard deviation 1 becomes 0.33 at σ = 1. Then φ = ±(g - T) / G, g
// smoothed, G = mean length of ∇g [gray values per voxel] over the voxels at the wall. The zero set does not depend on
// G, which only turns φ into a distance near the wall.
//
// Segmented image: φ0 = distance to the nearest voxel centre of the opposite phase minus 1/2, exact (separable:
// Felzenszwalb & Huttenlocher, Theory of Computing 8 (2012) 415; in integers, and as distances are clipped the minimum
// is taken over the few offsets that matter). Voxels beside the wall: wall_faces.hpp. Then the sign is put back and |φ|
// held at or above phase_margin, so that no voxel centre changes its phase: a throat or a wall one voxel wide stays.
//
// Every value depends on a fixed number of planes around it, so results do not depend on how the image is cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "geometry_import/voxels/window.hpp"

namespace karst {

inline constexpr float level_set_clip = 16.0F;  ///< |φ| at most [voxels]
inline constexpr float phase_margin = 0.1F;     ///< |φ| at least, segmented images [voxels]
inline constexpr float gray_margin =
    1.0F / 1024;                           ///< |φ| at least, elsewhere: keeps the cutter off exact zeros [voxels]
inline constexpr int distance_reach = 17;  ///< planes a clipped distance depends on, each side

/// Planes a Gaussian of σ voxels is summed over, each side: ceil(4 σ).
int smoothing_reach(double sigma);

/// Signed distance to the opposite phase. Not collective.
/// @param phase     1 in the pore, 0 in the solid [voxels of the window]
/// @param[out] phi  φ0, clipped at ± level_set_clip; exact in planes at least distance_reach away from window ends
///                  that are not ends of the image [voxels]
void signed_distance(const ImageWindow& window, std::span<const std::uint8_t> phase, std::span<float> phi);
/// The squares of these distances to centres of the opposite phase in planes `kept` of the window, < 0 in the solid,
/// which beyond level_set_clip are not those of the nearest; and φ0 of such squares.
/// @param[out] square  over `kept` [voxels²]
void squared_distance(const ImageWindow& window, std::span<const std::uint8_t> phase, const ImageWindow& kept,
                      std::span<std::int16_t> square);
void distances_of_squares(std::span<const std::int16_t> square, std::span<float> phi);

/// Convolution with a Gaussian of σ voxels, cut at smoothing_reach and normalised; values beyond the image repeat its
/// end. In place. Right in planes at least smoothing_reach away from window ends that are not ends of the image.
void gaussian(const ImageWindow& window, double sigma, std::span<float> values);

/// Smoothing of gray values that keeps walls, see above; depends on 2 smoothing_reach planes each side. In place.
void smooth(const ImageWindow& window, double sigma, std::span<float> values);

/// The sign of the phase, and phase_margin <= |φ| <= level_set_clip, rounded to 2^-12 voxel.
void keep_phase(std::span<const std::uint8_t> phase, std::span<float> phi);

/// The sign of φ, - at 0, and gray_margin <= |φ| <= level_set_clip, rounded to 2^-12 voxel.
float kept_off_zero(float phi);

struct GrayScale {
  double threshold = 0;     ///< T [gray values]
  double gradient = 1;      ///< G [gray values per voxel]
  bool pore_above = false;  ///< the pore is where g > T (else where g < T; g = T is solid)
};

/// φ = ±(g - T) / G, gray_margin <= |φ| <= level_set_clip, rounded to 2^-12 voxel. phi may be gray.
void gray_level_set(std::span<const float> gray, const GrayScale& scale, std::span<float> phi);

struct GradientSums {
  std::int64_t voxels = 0;  ///< with a neighbour across a face on the other side of the threshold
  double length = 0;        ///< Σ |∇g| over them, central differences [gray values per voxel]
  GradientSums& operator+=(const GradientSums& o) {
    voxels += o.voxels;
    length += o.length;
    return *this;
  }
};

/// Sums over planes [first, last); the window must hold one more plane on each side where the image does.
/// @param sample  [ny][nx], 0 for voxels left out in every plane; empty: none
GradientSums wall_gradient(const ImageWindow& window, std::span<const float> gray, double threshold, int first,
                           int last, std::span<const std::uint8_t> sample = {});

/// Volume of the pore: of whole voxels, and as the trilinear interpolant of φ has it on 4 x 4 lines per voxel.
/// Integers, so that sums do not depend on their order.
inline constexpr std::int64_t volume_parts = 1 << 16;  ///< of a voxel
struct WallSums {
  std::int64_t voxels = 0;       ///< with φ > 0
  std::int64_t pore_volume = 0;  ///< where φ > 0, in parts of a voxel
};

/// Sums over planes [first, last); the window must hold one more plane on each side where the image does. Planes and
/// rows beyond the image repeat its end.
WallSums wall_sums(const ImageWindow& window, std::span<const float> phi, int first, int last);

/// A bound of |∇φ| of the trilinear interpolant: the largest √(Σ_d max |φ differences along d|²) over the cubes between
/// eight voxel centres whose low plane is in [first, last). The window must hold plane `last` where the image does.
double steepest_slope(const ImageWindow& window, std::span<const float> phi, int first, int last);

}  // namespace karst
