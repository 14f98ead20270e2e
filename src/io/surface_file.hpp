// SPDX-License-Identifier: BSD-3-Clause
// A surface of polygons as a file of ParaView (VTK PolyData, XML with appended raw data, .vtp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"

namespace karst {

/// A number per polygon.
struct SurfaceArray {
  std::string name;
  std::vector<float> values;
};

/// Polygons of this rank. Each has its own points.
struct Surface {
  std::vector<float> points;         ///< x y z x y z ... [m]
  std::vector<std::int32_t> ends;    ///< per polygon: number of points up to its last one
  std::vector<SurfaceArray> arrays;  ///< the same names on every rank
};

/// Writes the polygons of all ranks, a piece of the file per rank; rank 0 holds those of one rank at a time. Whole or
/// not at all. Throws the same Error on every rank: path and reason. Collective.
void write_surface(const Comm& comm, const std::string& path, const Surface& surface);

}  // namespace karst
