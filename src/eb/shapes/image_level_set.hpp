// SPDX-License-Identifier: BSD-3-Clause
// The wall of a rock image: samples of φ at voxel centres, or on a finer lattice, interpolated trilinearly.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "base/comm/memory.hpp"
#include "eb/shapes/level_set.hpp"
#include "grid/box.hpp"

namespace karst {

/// Where the samples are and how they are read.
struct ImageSource {
  Index voxels{};      ///< size of the image
  double voxel = 1.0;  ///< voxel width in level-0 cells
  /// 0: samples are at the centres of voxels. n: at nodes, which are the corners of voxels and n - 1 places between
  /// them along each direction, so n · voxels + 1 of them.
  int nodes = 0;
  double shift = 0.0;  ///< added to the samples, > 0 makes the pores wider [voxel widths]
  Vec3 origin{};       ///< low corner of the image in level-0 cells (0 without reservoirs)
  /// Bound of |∇φ| of the interpolation inside the image (and so outside, where the outermost samples continue); 0 when
  /// it is not known. Must hold over the ends where the image repeats itself.
  double lipschitz = 0.0;
  /// Directions in which the image repeats itself; in the others the outermost samples continue outwards.
  std::array<bool, 3> periodic{};
  /// Fills `out` (x fastest) with the samples of a box of voxels inside the image: φ in voxel widths, at voxel centres;
  /// voxel (i, j, k) has its centre at (i + 1/2, j + 1/2, k + 1/2) voxel widths from the origin. Of nodes: of a box of
  /// these; node (i, j, k) is (i, j, k) / n voxel widths from the origin, and where the image repeats itself its last
  /// nodes are the first ones. Called by one thread at a time, never twice for the same samples unless the cache was
  /// dropped.
  std::function<void(const Box& samples, std::span<float> out)> read{};
  std::vector<std::string> minerals{unnamed_mineral};  ///< LevelSet::minerals()
  /// Like read, the mineral of each voxel, no_mineral in the pore; called where there are several minerals.
  std::function<void(const Box& voxels, std::span<MineralNumber> out)> read_minerals{};
};

/// φ(x) = voxel * (trilinear interpolation of the samples + shift): where φ is a distance, all walls move by the shift
/// along their normals, and nothing else changes, for it is added after the interpolation. Bricks of 32^3 samples are
/// read when first needed and kept (bytes counted as geometry), so that a rank holds only what its boxes touch. A local
/// level set holds a copy of the few samples around its box and outlives the cache.
///
/// The mineral at a point of the wall is that of the nearest voxel of the solid: it has a part of 1/n in it where n
/// voxels are equally near, to 1e-9 voxel². Where none is within three voxels (walls that were moved far) it is number
/// 0.
///
/// Smoothness: the interpolant has no feature between points half a voxel apart along a line (of nodes: as far as from
/// one to the next, which lie on the edges of cells that are whole voxels), and the slope the source states. Of nodes,
/// which may be cut off far from the wall, the samples around a box bound the sign, too.
class ImageLevelSet final : public LevelSet {
 public:
  /// Throws Error when the image has no voxel, the voxel width is not positive or no reader is given (of minerals: of
  /// several).
  explicit ImageLevelSet(ImageSource source);
  ~ImageLevelSet() override;
  Smoothness smoothness() const override;
  /// Thread-safe. Throws Error when a sample is not a number, and what the reader throws.
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override;

  std::vector<std::string> minerals() const override { return source_.minerals; }

  void drop_cache() const override;   ///< frees all bricks; they are read again when needed
  std::int64_t cached_bytes() const;  ///< of the bricks held now

 private:
  struct Lattice;
  struct Cache;
  Lattice sample_lattice() const;
  Lattice voxel_lattice() const;
  Box block_around(const Lattice& lattice, const Vec3& lo, const Vec3& hi, int margin) const;

  ImageSource source_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace karst
