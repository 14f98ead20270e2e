// SPDX-License-Identifier: BSD-3-Clause
// What is done to an image before its walls are looked for, in this order: crop, flip and exchange of axes (a view of
// the file); resampling to cubic voxels; beam hardening; noise. Steps that look at neighbours or move z leave their
// result in a scratch file beside the output (4 bytes a voxel; at most two exist at a time), so that each is done once
// and no rank holds the image. Every value depends on a fixed number of planes: the number of ranks does not matter.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/read/image_file.hpp"
#include "geometry_import/voxels/source_lattice.hpp"

namespace karst {

struct Messages;

class Reader;

enum class Denoise { none, median, gaussian, bilateral };

struct PrepareOptions {
  Index crop_low;                       ///< first voxel kept, axes of the file
  Index crop_high;                      ///< first voxel not kept; 0: up to the end
  std::array<bool, 3> flip{};           ///< axes of the file
  Index axes{0, 1, 2};                  ///< axes of the file that become x, y, z
  double resample = 0;                  ///< new voxel width [m]; 0: the smallest of the three, labels: cube_width()
  bool beam_hardening = false;          ///< remove the radial trend of the gray values
  Denoise denoise = Denoise::none;      ///< gray images only
  std::optional<double> width;          ///< of the noise filter: radius of the median, else σ [voxels]; none: 1
  std::optional<double> step;           ///< bilateral: difference that counts as a wall; none: 4.5 times the noise
  bool cylinder = false;                ///< the sample is a cylinder along z
  std::vector<double> sample_center;    ///< x and y [voxels of the prepared image]; empty: its middle
  std::optional<double> sample_radius;  ///< none: up to the nearest side of the image [voxels of the prepared image]
};

/// Declares the keys of [geometry.import] that belong here.
void read(Reader& in, PrepareOptions& options);

/// A cylinder along z. Voxel i reaches from i to i + 1.
struct SampleCylinder {
  double x = 0, y = 0, radius = 0;  ///< [voxels]
  /// Distance of the centres of a plane's voxels to its surface, > 0 inside. [ny][nx] [voxels]
  std::vector<float> distance(const Index& image) const;
};

/// The cylinder of the options, or the largest one about their centre. Throws Error: not inside the image.
SampleCylinder sample_cylinder(const PrepareOptions& options, const Index& image);

struct PreparedImage {
  std::unique_ptr<ImageFile> image;
  double voxel = 0;                ///< [m]
  SourceLattice lattice;           ///< of labels that were resampled
  std::vector<std::string> steps;  ///< what was done, one line each; empty: nothing
  std::vector<std::string> warnings;
};

/// Notes filters that do not suit each other or the image. Not collective.
/// @param labels  the values are names of phases
void check_prepare(const PrepareOptions& options, bool labels, Messages& mistakes);

/// Prepares an image; hands it back untouched when nothing is to be done.
/// @param spacing  widths of its voxels [m]
/// @param pore     labels: the value of the pore space; resampling does not mix values, filters are errors. None: gray
/// @param scratch  start of the names of scratch files
/// Throws Error on all ranks: crop beyond the image, sizes beyond reason, filters that do not suit. Collective.
PreparedImage prepare(const Comm& comm, std::unique_ptr<ImageFile> image, const Vec3& spacing,
                      const PrepareOptions& options, const std::optional<double>& pore, const std::string& scratch);

}  // namespace karst
