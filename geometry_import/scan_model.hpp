// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace karst {

/// What the fit of the wall (wall_fit.hpp) says about the scan.
struct ScanModel {
  double pore = 0, solid = 0;  ///< gray values
  double blur = 0;             ///< standard deviation of the blur, beyond that of the voxel [voxels]
  double misfit = 0;           ///< root mean square of image less picture at the wall [contrast]
  double noise = 0;            ///< the same inside the phases, around their means [contrast]
  double noise_ratio = 1;      ///< noise of the solid over that of the pore
  int rounds = 0;              ///< updates of φ
};

}  // namespace karst
