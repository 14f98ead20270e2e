// SPDX-License-Identifier: BSD-3-Clause
// VoFs of one level by name, on any rank: data for the set-up of stencils. For set-up only.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "eb/link/level_geometry.hpp"
#include "fields/composite_numbering.hpp"
#include "fields/wall_parts.hpp"

namespace karst {

/// One face between two VoFs, relative to the low one: both VoFs get the same numbers.
struct SharedFace {
  VofName low, high;
  int direction;
  bool primary;     ///< of the low VoF
  double aperture;  ///< area / h²
  Vec3 centroid;    ///< relative to the centre of the low VoF's cell
};

/// A face as one of its VoFs lists it.
struct ListedFace {
  int side;
  VofName neighbour;
  bool primary;
  double aperture;
  Vec3 centroid;  ///< relative to the centre of the VoF's cell
};

/// An unknown of the next finer or coarser level near a VoF at the boundary between them.
struct PointBeyond {
  GlobalNumber unknown;
  Vec3 at;  ///< from the centre of the VoF's cell, in its h
};

/// Minerals on mixed walls of other ranks, by VoF.
using ForeignWalls = std::unordered_map<VofName, std::vector<MixedWall>>;

class VofLookup {
 public:
  /// Contains the own VoFs. The geometry and the numbering must outlive it. Not collective.
  /// @param slots  CompositeNumbering::global_numbers() of the level
  VofLookup(const LevelGeometry& geometry, const CompositeNumbering& numbering, const NumberField& slots);

  /// Whether a slot of an own box is a VoF that is covered by a finer level.
  bool is_covered(int local_box, int slot) const { return slots_->box(local_box)[slot] < 0; }

  /// Fetches the VoFs of these names that are not known yet, and `rings` - 1 rings of neighbours around them, from
  /// their owners. Collective.
  void fetch(const Comm& comm, std::vector<VofName> names, int rings);

  /// Adds an unknown of another level near an own VoF.
  void add_beyond(VofName own, std::span<const PointBeyond> points);
  /// To be called after all unknowns were added: fetches those near known VoFs of other ranks. Collective.
  void fetch_beyond(const Comm& comm);
  /// Sorted by place, each unknown once.
  std::span<const PointBeyond> beyond(VofName v) const;

  int level() const { return geometry_->level; }
  const Layout& layout() const { return geometry_->graph.layout(); }
  const LevelGraph& graph() const { return geometry_->graph; }
  std::vector<VofName> foreign() const;  ///< names of the known VoFs of other ranks
  bool knows(VofName v) const { return local(v) >= 0 || remote_.contains(v); }

  Index cell(VofName v) const;
  GlobalNumber number(VofName v) const;        ///< no_unknown if covered by a finer level
  const VofMoments* moments(VofName v) const;  ///< nullptr: regular
  const VofCenter* center(VofName v) const;    ///< nullptr: regular
  std::int64_t row(VofName own) const;  ///< place of an irregular VoF in moments; -1: regular, or of another rank
  /// Of an irregular VoF. Those of other ranks point into foreign_walls().
  WallParts wall_parts(VofName v) const;
  std::shared_ptr<const ForeignWalls> foreign_walls() const { return foreign_walls_; }
  bool inside(VofName v) const {  ///< the value is at the cell centre
    const VofCenter* c = center(v);
    return c == nullptr || c->inside;
  }
  /// Position of the value, relative to the cell centre / h: 0, or the centroid of the fluid.
  Vec3 point(VofName v) const { return inside(v) ? Vec3{} : moments(v)->centroid; }
  VofName neighbour(VofName v, int side) const;  ///< primary neighbour
  /// All open faces: six sides, then extra ones.
  std::vector<ListedFace> faces(VofName v) const;
  /// The neighbour across this side, if both values are at neighbouring cell centres; otherwise no_face.
  VofName aligned(VofName v, int side) const;
  /// Steps from the cell of one VoF to that of a neighbour, the shorter way in periodic directions.
  Index step(VofName from, VofName to, int side) const;
  /// The i-th of the faces of v, which leads to a VoF of this level, as a shared face.
  /// @param mine  faces(v)
  SharedFace shared_face(VofName v, std::span<const ListedFace> mine, std::size_t i) const;
  /// Faces of v towards VoFs of this level as shared faces.
  std::vector<std::pair<SharedFace, int>> shared_faces(VofName v) const;  ///< with the side seen from v

 private:
  struct Remote {
    struct Fixed {
      GlobalNumber number;
      Index cell;
      bool irregular;
      std::array<VofName, 6> primary;
      VofMoments moments;
      VofCenter center;
      MineralNumber mineral;
    } fixed;
    std::vector<ListedFace> extra;
    const VofMoments* moments() const { return fixed.irregular ? &fixed.moments : nullptr; }
    const VofCenter* center() const { return fixed.irregular ? &fixed.center : nullptr; }
  };
  int local(VofName v) const { return geometry_->graph.local(box_of(v)); }
  std::int32_t place(int local_box, int vof) const { return place_[geometry_->graph.vof_begin(local_box) + vof]; }
  std::int64_t row_of(int local_box, int vof) const;  ///< among the irregular VoFs of the rank; -1: regular
  const BoxGraph& box(int local_box) const { return boxes_[local_box]; }
  void add_extra_faces(VofName v, std::vector<ListedFace>& faces) const;
  Remote describe(VofName v) const;
  bool touches_other_level(VofName v) const;
  void ask(const Comm& comm, const std::vector<VofName>& names);

  const LevelGeometry* geometry_;
  const CompositeNumbering* numbering_;
  const NumberField* slots_;
  std::vector<BoxGraph> boxes_;
  std::vector<std::int32_t> place_;                // per own VoF: its row, or -1 - its run
  std::vector<std::array<std::uint8_t, 3>> cell_;  // per own VoF: its cell, from the first of its box
  std::unordered_map<VofName, Remote> remote_;
  std::shared_ptr<ForeignWalls> foreign_walls_ = std::make_shared<ForeignWalls>();
  std::unordered_map<VofName, std::vector<PointBeyond>> beyond_;
};

}  // namespace karst
