// SPDX-License-Identifier: BSD-3-Clause
// The composite grid: all levels of a geometry as one set of control volumes, the VoFs that are not covered by a finer
// level. It contains all data of the grid that do not depend on an equation: covered VoFs, the numbering of unknowns
// and the faces between levels. Fields (cell_field.hpp, face_field.hpp) are defined on it; operators read it. It is
// constant after construction.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "eb/geometry.hpp"
#include "fields/composite_numbering.hpp"
#include "fields/in_use.hpp"
#include "fields/level_faces.hpp"
#include "grid/list_exchange.hpp"

namespace karst {

/// Entry of the flux of a coarse-fine face into an own coarse VoF.
struct CoarseEntrance {
  std::uint16_t vof;
  std::uint8_t side;   ///< of the coarse VoF
  std::int32_t value;  ///< among the fluxes of the pair of levels: those of the own fine VoFs, then of other ranks
  VofName fine;
};

/// Items per own box, one box after the other.
template <class T>
struct PerBox {
  std::vector<T> items;
  std::vector<std::int64_t> begin{0};  ///< n_local + 1
  std::span<const T> of(int box) const { return std::span(items).subspan(begin[box], begin[box + 1] - begin[box]); }
};

class Composite {
 public:
  /// Collective.
  Composite(const Comm& comm, std::shared_ptr<const Geometry> geometry)
      : Composite(comm, geometry, std::make_shared<const CompositeNumbering>(comm, *geometry)) {}
  /// @param numbering  of this geometry
  Composite(const Comm& comm, std::shared_ptr<const Geometry> geometry,
            std::shared_ptr<const CompositeNumbering> numbering);

  const Comm& comm() const { return comm_; }
  const Geometry& geometry() const { return *geometry_; }
  std::int64_t id() const { return id_; }  ///< of its geometry: equal for all that is on the same one
  const CompositeNumbering& numbering() const { return *numbering_; }
  int n_levels() const { return static_cast<int>(geometry_->levels.size()); }
  const LevelGeometry& level(int l) const { return geometry_->levels[l]; }
  const LevelGraph& graph(int l) const { return level(l).graph; }
  /// Cell width of a level, in h0.
  static double width(int l) { return std::ldexp(1.0, -l); }

  /// Own VoFs that are covered by the next finer level, increasing.
  std::span<const std::uint16_t> covered_in(int l, int box) const { return parts_[l].covered.of(box); }
  /// Faces of the own VoFs of level l + 1, 0 <= l < n_levels() - 1, towards level l, box after box: all open faces of
  /// VoFs that are not covered. A face without a coarse VoF behind it (behind.found) is closed.
  std::span<const LevelFace> coarse_fine(int l) const { return parts_[l].to_coarser.items; }
  std::int64_t coarse_fine_begin(int l, int fine_box) const { return parts_[l].to_coarser.begin[fine_box]; }
  /// The same faces listed by the own VoFs of level l, box after box.
  std::span<const CoarseEntrance> entrances_in(int l, int box) const { return parts_[l].entrances.of(box); }
  /// Which fluxes of other ranks enter own VoFs of level l, for a ListExchange.
  std::span<const RemoteItem> remote_entrances(int l) const { return parts_[l].remote; }
  /// What others derive from it and share, such as the transport grid: the one part of it that changes.
  InUse& in_use() const { return in_use_; }
  std::int64_t bytes() const;  ///< of this rank, numbering included, without the geometry and what is in use

 private:
  struct Part {
    PerBox<std::uint16_t> covered;
    PerBox<LevelFace> to_coarser;  // by boxes of level l + 1; empty for the finest level
    PerBox<CoarseEntrance> entrances;
    std::vector<RemoteItem> remote;
  };
  void list_covered(int l);
  void find_coarse_fine();
  void find_entrances(int l);

  Comm comm_;
  std::shared_ptr<const Geometry> geometry_;
  std::int64_t id_;
  std::shared_ptr<const CompositeNumbering> numbering_;
  std::vector<Part> parts_;
  mutable InUse in_use_;
};

/// Of a composite, whose ownership is shared.
inline std::shared_ptr<const CompositeNumbering> numbering_of(const std::shared_ptr<const Composite>& composite) {
  return {composite, &composite->numbering()};
}

}  // namespace karst
