// SPDX-License-Identifier: BSD-3-Clause
// Level set of a segmented image, from the voxel faces between the phases.
//
// Such a face stands for a piece of wall whose height h along the normal of the face is known to half a voxel. Faces of
// one orientation beside each other are linked where the wall goes on from one to the other: at the same height, or
// over a stair of one or two voxels. Heights spread along the links,
//   h_f <- h_f + c Σ_links (h_g + Δ_fg - h_f),   Δ_fg = height of face g above face f,   c <= 1/6,
// n = ceil(3 σ²) times with c = σ² / 2n: a Gaussian of σ voxels on a plane wall. Taken twice, 2 h₁ - h₂, it keeps walls
// of any curvature where they are, to leading order (Tukey's twicing). What one face gains its neighbour loses (links
// are mutual but where voxels meet at an edge), so the volume behind the wall stays. Where the wall turns a corner
// there is no link and nothing is spread: flat walls stay on the faces of the voxels up to their corners, stairs become
// slopes.
//
// φ of a voxel beside the wall is the mean over its faces of (1/2 ± h) n, weighted with n², n = (1 + |∇h|²)^-½
// the part of the normal of the wall along that of the face.
//
// A trilinear interpolant rounds corners: with this φ alone a square duct loses 0.44 voxel² of its area, which is 44 %
// of a capillary of one voxel. Two things give most of that back where walls are flat (|h| + |∇h| small); slits and
// plane walls have neither. |φ| of a voxel across the edge of a corner is 1/4 instead of √2 - 1/2. φ of a voxel with
// four or more faces at the wall, so one of a feature that is one voxel wide in two directions, is 1.4 to 2 times as
// large: its walls move out by 0.08 to 0.17 voxel to make up for its corners.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "geometry_import/voxels/window.hpp"

namespace karst {

/// Planes that the level set depends on, each side: smoothing by σ voxels.
int segmented_reach(double sigma);

/// The faces of a window, and how the wall lies at each of them: all that the level set of its planes `kept` depends on
/// but a shift. Keeps 3 to 4 bytes per voxel and 8 per face.
class WallFaces {
 public:
  /// Not collective.
  /// @param phase  1 in the pore, 0 in the solid [voxels of the window]
  /// @param sigma  smoothing [voxels]; 0: the wall is made of the faces themselves
  /// @param kept   planes wanted, at least segmented_reach away from window ends that are not ends of the image
  WallFaces(const ImageWindow& window, std::span<const std::uint8_t> phase, double sigma, const ImageWindow& kept);
  WallFaces(WallFaces&&) noexcept;
  WallFaces& operator=(WallFaces&&) noexcept;
  ~WallFaces();
  /// φ of a segmented image: of voxels with a face at the wall or across the edge of a sharp corner as above, of others
  /// signed_distance(); no voxel centre changes its phase, see keep_phase(). Not collective.
  /// @param shift  moves the wall into the solid, in proportion to min(1, 2 (|h| + |∇h|)): flat walls stay [voxels]
  /// @param[out] phi  over `kept` [voxels]
  void level_set(float shift, std::span<float> phi) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same for one shift. Not collective.
inline void segmented_level_set(const ImageWindow& window, std::span<const std::uint8_t> phase, double sigma,
                                float shift, const ImageWindow& kept, std::span<float> phi) {
  WallFaces(window, phase, sigma, kept).level_set(shift, phi);
}

}  // namespace karst
