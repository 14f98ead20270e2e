// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/voxels/histogram.hpp"

namespace karst {

/// Gray value at the edges of an image of two phases (after Kittler, Illingworth & Foeglein, Comput. Vision Graph.
/// Image Process. 30 (1985) 125):
///   T = Σ |∇g|⁴ g / Σ |∇g|⁴   over voxels with |∇g| > e and |g - h| < c,
/// ∇g by central differences; the fourth power (there it is the first) leaves noise behind that e lets through. Where
/// blur has a step between two values the gradient is largest halfway between them, also where pores are so thin that
/// their peak in the histogram is away from the value of the phase. Small convex grains raise T, small convex pores
/// lower it: by 2 % of the contrast in packings of 12 voxels per radius, 5 % at 4.
///   e  1.95 times the median of |∇g|, three times the standard deviation of a difference where most voxels hold only
///      noise; but at most the 90 % quantile
///   h  halfway_threshold(), c three quarters of the distance between the peaks
/// Voxels without two neighbours along each axis longer than 1, or outside the sample or at its surface, are left out.
/// h when no voxel is left. Reads the image. Collective.
/// @param histogram  of the image
double edge_threshold(const ImageLayers& image, const Histogram& histogram);

}  // namespace karst
