// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/comm/comm.hpp"
#include "geometry_import/prepare/prepare.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

/// Radial trend of the gray values b (ρ² - <ρ²>) + c (ρ⁴ - <ρ⁴>), ρ = distance to the axis / radius, fitted by least
/// squares to all voxels of a cylinder; means over the cylinder, so that the trend has none. Beam hardening looks like
/// that (cupping); so would a sample whose porosity grows outwards: use it on even samples only.
struct RadialTrend {
  SampleCylinder cylinder;
  double square = 0, fourth = 0;            ///< b, c [gray values]
  double mean_square = 0, mean_fourth = 0;  ///< <ρ²>, <ρ⁴>

  /// At a point of a plane [voxels]; beyond the radius as at it. [gray values]
  double at(double x, double y) const;
};

/// Collective.
RadialTrend radial_trend(const Comm& comm, ImageFile& image, const SampleCylinder& cylinder);

}  // namespace karst
