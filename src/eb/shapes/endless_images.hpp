// SPDX-License-Identifier: BSD-3-Clause
// Periodic images of a straight body without ends. Its axis leads out of the domain and comes in again on the other
// side, once for each period that it crosses: as many lines as that lead through the domain, and images beside them.
#pragma once

#include <string>
#include <vector>

#include "eb/shapes/sphere_list.hpp"

namespace karst {

struct EndlessImages {
  Vec3 axis;                 ///< of length 1; where it is led back by whole periods, exactly so
  std::vector<Vec3> shifts;  ///< whole periods [level-0 cells], 0 among them
};

/// All images of which one may be the nearest to a point of the domain or 8 cells around it, each line once.
///
/// Where all directions along which the axis leads are periodic, it must come back to where it began after at most 64
/// periods along each, to 1e-5 of its direction; else the images of a line lie arbitrarily close to one another. Throws
/// Error that names `what`, as it does for more than 3000 images.
/// @param center  of the body, in the domain; radius: largest distance of its wall from the axis [level-0 cells]
/// @param axis    of any length > 0, with at least two entries other than 0 or one that is not of a periodic direction
EndlessImages endless_images(const Vec3& center, const Vec3& axis, double radius, const Periods& domain,
                             const std::string& what);

}  // namespace karst
