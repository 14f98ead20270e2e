// SPDX-License-Identifier: BSD-3-Clause
// Queries about one grid level for the set-up of flow rows.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "fields/vof_lookup.hpp"
#include "ins/operator/flow_boundary.hpp"

namespace karst {

class FlowLookup {
 public:
  /// The geometry and the numbering must outlive it. Collective.
  FlowLookup(const Comm& comm, const LevelGeometry& geometry, const CompositeNumbering& numbering,
             const FlowSides& sides);
  FlowLookup(const FlowLookup&) = delete;
  FlowLookup& operator=(const FlowLookup&) = delete;

  const LevelGeometry& geometry() const { return geometry_; }
  const LevelGraph& graph() const { return geometry_.graph; }
  const FlowSides& sides() const { return sides_; }
  VofLookup& vofs() { return vofs_; }
  const VofLookup& vofs() const { return vofs_; }

  bool is_covered(VofName v) const { return vofs_.number(v) == no_unknown; }
  /// Whether it contains its cell centre, the position of velocity and pressure.
  bool is_flow_cell(VofName v) const { return vofs_.inside(v); }
  /// The flow cell across a side, no_face without one.
  VofName across(VofName v, int side) const;
  /// Of the own VoFs of a box: bits of the sides with a flow cell across.
  std::span<const std::uint8_t> across_in(int box) const {
    return std::span(across_).subspan(graph().vof_begin(box), graph().vof_begin(box + 1) - graph().vof_begin(box));
  }
  /// Distance to the wall on the grid line towards a side, no_wall when there is none within a cell. Where neither a
  /// flow cell nor a wall is found it is taken half way.
  double wall_on(VofName v, int side) const;

  /// A closed side towards the next coarser level, because no flow cell was found there: a wall after θ cells.
  void close(VofName own, int side, double theta) { closed_[key(own, side)] = theta; }
  bool is_closed(VofName own, int side) const { return closed_.contains(key(own, side)); }
  double closed_at(VofName own, int side) const { return closed_.at(key(own, side)); }
  /// An open side of an own VoF towards the next finer level.
  void open_to_finer(VofName own, int side) { finer_.insert(key(own, side)); }
  bool is_open_to_finer(VofName own, int side) const { return finer_.contains(key(own, side)); }

 private:
  static std::uint64_t key(VofName v, int side) { return 8 * v + static_cast<std::uint64_t>(side); }
  VofName find_across(VofName v, int side) const;
  void find_across_in(int box);

  const LevelGeometry& geometry_;
  FlowSides sides_;
  NumberField numbers_;
  VofLookup vofs_;
  std::vector<std::uint8_t> across_;  ///< across_in() of all boxes
  std::unordered_map<std::uint64_t, double> closed_;
  std::unordered_set<std::uint64_t> finer_;
};

}  // namespace karst
