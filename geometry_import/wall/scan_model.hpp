// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// What the fit of the wall (wall_fit.hpp) says about the scan. Differences of image and picture are those of the
/// smoothed values, over the contrast (gray value of the pore less that of the solid).
struct ScanModel {
  double pore = 0, solid = 0;  ///< gray values
  double blur = 0;             ///< standard deviation of the blur, beyond that of the voxel [voxels]
  double misfit = 0;           ///< root mean square of image minus model at the wall [contrast]
  double scatter = 0;          ///< the same inside the phases, around their means [contrast]
  double noise = 0;            ///< inside the phases, measured apart from the picture: PlaneNoise [contrast]
  double minerals = 1;         ///< scatter over noise inside the solid, over the same inside the pore
  /// Median of image minus model inside each phase: how far its usual gray value lies from the fitted one [contrast];
  /// 0 where too few voxels tell.
  double pore_offset = 0, solid_offset = 0;
  int rounds = 0;  ///< updates of φ
};

}  // namespace karst
