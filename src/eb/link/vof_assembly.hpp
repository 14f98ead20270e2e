// SPDX-License-Identifier: BSD-3-Clause
// Converts faces of control volumes to the adjacency and the moments of a box: the last step of merging pieces with
// home cells.
#pragma once

#include <cstdint>
#include <vector>

#include "eb/link/level_geometry.hpp"

namespace karst {

/// One face of a control volume; several between the same two VoFs and sides are added up.
struct VofFace {
  std::uint16_t vof;
  std::uint8_t side;
  /// Whether the face is one of the six primary ones: the two VoFs are the main ones of two cells that touch across
  /// this side, or the far side is not a VoF. It must be the same for both VoFs of a face.
  std::uint8_t primary;
  VofName to;
  double aperture;
  Vec3 centroid;  ///< relative to the centre of the VoF's cell
};

/// Wall of one mineral of a control volume; several of the same VoF and mineral are added up.
struct VofMineral {
  std::uint16_t vof;
  MineralArea wall;
};

/// A box during assembly: VoFs in the order of their cells.
struct VofAssembly {
  std::vector<std::uint16_t> cell;  ///< per VoF
  std::vector<VofMoments> moments;  ///< per VoF; apertures and face centroids are filled by assemble()
  /// Per VoF, 1: regular, described by its six neighbours only (in regular_neighbours, same order as the regular VoFs).
  std::vector<std::uint8_t> regular;
  std::vector<std::uint8_t> holds_center;  ///< per VoF; empty: not known
  std::vector<std::array<VofName, 6>> regular_neighbours;
  std::vector<VofFace> faces;      ///< of the other VoFs, in any order
  std::vector<JoinedPart> joined;  ///< in any order
  int n_minerals = 1;
  std::vector<VofMineral> minerals;  ///< in any order; none where there is one mineral
};

/// Moments of a box as LevelGeometry stores them.
struct BoxMomentLists {
  std::vector<VofMoments> moments;
  std::vector<ExtraFaceMoments> extra;
  std::vector<std::uint8_t> holds_center;  ///< parallel to moments; empty when not known
  std::vector<JoinedPart> joined;
  std::vector<MineralNumber> mineral;  ///< parallel to moments; empty if there is one mineral
  std::vector<MixedWall> mixed;        ///< row: in the box
};

/// Sorts and adds up the faces, fills the adjacency and the lists of moments. A VoF with κ = 1, six primary apertures
/// of 1 and no wall counts as regular. Not collective.
BoxAdjacency assemble(VofAssembly&& vofs, BoxMomentLists& lists);

/// Own boxes of a level whose VoFs are those of another geometry, neighbours included.
struct KeptVofs {
  const LevelGeometry* before = nullptr;
  std::vector<int> box{};  ///< of each own box that of the geometry before; -1: none; empty: none of them
  int of(int own_box) const { return box.empty() ? -1 : box[own_box]; }
  KeptGraph graph() const { return {before == nullptr ? nullptr : &before->graph, box}; }
};

/// Builds the graph of a level and gathers the moments. make(own box number) is called once per own box, from several
/// threads, those that are kept left out. Collective.
LevelGeometry build_level_geometry(const Comm& comm, const Layout& layout, int level,
                                   const std::function<VofAssembly(int own_box)>& make, const KeptVofs& kept = {});

}  // namespace karst
