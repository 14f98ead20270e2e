// SPDX-License-Identifier: BSD-3-Clause
// Separable filters of the values in a window, and the Gaussian of a lattice.
#pragma once

#include <span>
#include <vector>

#include "geometry_import/voxels/window.hpp"

namespace karst {

/// Weights of the Gaussian of a lattice, e^-t I_n(t) for n = -reach .. reach, normalised (I: modified Bessel function;
/// Lindeberg, IEEE Trans. Pattern Anal. Mach. Intell. 12 (1990) 234). Unlike those of a sampled Gaussian, their
/// variance is t however small it is, and two in turn are one of the sum of the variances: ∂/∂t = Δ/2 with Δ the second
/// difference.
/// @param variance  t >= 0 [voxel²]
std::vector<float> diffusion_weights(double variance);
/// Planes that diffuse() depends on, each side: ceil(4 √t + 1), 0 for t = 0.
int diffusion_reach(double variance);

/// Convolution with these weights along x, y and z; values beyond the image repeat its end. In place. Right in planes
/// at least diffusion_reach away from window ends that are not ends of the image. Threaded; not collective.
void diffuse(const ImageWindow& window, double variance, std::span<float> values);

/// The same with any symmetric weights, an odd number of them. Sums are of doubles, rounded at the end: a mirrored
/// image has the same bits, a turned one as good as always. Keeps a double for each voxel of as many planes as weights.
void convolve(const ImageWindow& window, const std::vector<float>& weights, std::span<float> values);

}  // namespace karst
