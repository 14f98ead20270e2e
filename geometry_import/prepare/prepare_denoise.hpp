// SPDX-License-Identifier: BSD-3-Clause
// Noise filters on some planes of an image. Voxels beyond the image repeat its end. The Gaussian is gaussian() of
// level_set.hpp.
#pragma once

#include <span>

#include "base/comm/comm.hpp"
#include "geometry_import/read/image_file.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {

/// Median of the (2 radius + 1)³ voxels around each.
/// @param in        planes of the window, which must reach `radius` planes beyond [first, last) where the image does
/// @param[out] out  planes [first, last)
void median(const ImageWindow& window, std::span<const float> in, int radius, int first, int last,
            std::span<float> out);

/// Planes the bilateral filter looks at, each side: ceil(2 σ).
int bilateral_reach(double sigma);

/// Edge-preserving mean, Σ w g / Σ w over the (2 reach + 1)³ voxels around each, with
///   w = exp(-distance² / 2σ²) (1 - (difference of gray values / step)²)², 0 from a difference of `step` on:
/// Tomasi & Manduchi, Proc. ICCV (1998) 839, with Tukey's biweight for the difference. Chosen over anisotropic
/// diffusion because it is one pass of fixed reach (few planes around a layer, however strong) and leaves walls with a
/// contrast of `step` or more exactly as they are.
/// @param in        planes of the window, which must reach bilateral_reach() beyond [first, last) where the image does
/// @param[out] out  planes [first, last)
struct Bilateral {
  double sigma;  ///< [voxels]
  double step;   ///< [gray values]
};
void bilateral(const ImageWindow& window, std::span<const float> in, const Bilateral& filter, int first, int last,
               std::span<float> out);

/// Standard deviation of the noise: 1.4826 / √2 times the median of |g(x + 1) - g(x)| over every eighth plane, good to
/// 0.4 %; 0 when most neighbours are equal. Collective.
double noise_of(const Comm& comm, ImageFile& image);

}  // namespace karst
