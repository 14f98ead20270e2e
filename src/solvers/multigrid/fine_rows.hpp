// SPDX-License-Identifier: BSD-3-Clause
// What a grid level of the multigrid is made of, whatever the number of values per VoF: compiled once for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/level_graph.hpp"
#include "solvers/elliptic/sliced_rows.hpp"
#include "solvers/multigrid/two_point.hpp"

namespace karst {

/// VoFs of the boxes grouped into coarse nodes: child[begin, end) of node c of box b are VoFs of b.
struct FineChildren {
  std::vector<std::int64_t> node_begin;  ///< per own box, and the end: first coarse node
  Array<std::uint16_t> child;            ///< own unknowns, box after box (SlotMap::vof_begin), by coarse node
  Array<std::uint16_t> end;              ///< per coarse node: end of its children, counted from the box's first
};

struct VofShift {
  std::int32_t vof;
  float by;
};

/// Rows, ghosts and numbers of the unknowns of one grid level.
class FineRows {
 public:
  /// Adds to the diagonals of these VoFs of a box, which are rows, from now on; by VoF.
  void raise_diagonals(const TwoPointLevel& level, int box, std::vector<VofShift> by);
  /// Sets the shifts to those of a level that is equal otherwise.
  void set_shifts(const TwoPointLevel& level);
  /// shift_c += scale Σ of the shifts of the VoFs of each coarse node c.
  void add_shifts(const TwoPointLevel& level, const FineChildren& children, float scale, std::span<float> shift) const;

  /// Largest sum of connections over the diagonal of the unknowns of this rank, without links between levels: 1 where
  /// one has no shift.
  /// @param level  with the shifts that it has now
  double coupling(const TwoPointLevel& level) const;

  const LevelGraph& graph() const { return *graph_; }
  std::int64_t end_unknown() const { return end_unknown_; }

  /// 1 / diagonal of the own VoFs of a box.
  std::vector<float> inverse_diagonal(int box) const;
  /// Own numbers of the unknowns of a box, -1 where covered.
  std::vector<std::int64_t> unknowns(int box) const;

 protected:
  /// The geometry of `level` must outlive this object and must not move. Not collective.
  /// @param first_unknown  own number of the first unknown of this level
  /// @param width  numbers per VoF; where these are 3, they are the components of a vector, which sides may mirror
  FineRows(const TwoPointLevel& level, std::int64_t first_unknown, int width);
  ~FineRows() = default;

  struct BoxView {
    std::span<const Run> runs;
    std::int32_t first_ghost;  ///< slot of the first ghost
    std::int64_t ghosts, n_ghosts;
    std::size_t segments, n_segments;
  };
  /// Consecutive VoFs that are unknowns.
  struct Segment {
    std::int32_t vof, count;
    std::int64_t unknown;
  };
  std::span<const Segment> segments(int b) const {
    const BoxView& box = boxes_[b];
    return std::span(segments_).subspan(box.segments, box.n_segments);
  }
  std::int64_t row_bytes() const;

  const LevelGraph* graph_;
  float face_weight_, regular_diagonal_;
  std::int64_t end_unknown_;
  std::vector<BoxView> boxes_;
  std::vector<Segment> segments_;
  std::vector<std::int32_t> covered_begin_;  // per box; empty without covered VoFs
  std::vector<std::uint16_t> covered_;
  SlicedRows<std::uint16_t> rows_;  // window: box
  std::vector<std::uint16_t> ghost_vof_;
  std::vector<float> ghost_factor_;  // width per ghost

 private:
  void number_unknowns(const TwoPointLevel& level, int b);
  void find_ghosts(const TwoPointLevel& level, int b, int width);
  void add_rows(int b, const TwoPointLevel& level, RowList<std::uint16_t>& rows) const;
  void set_rows(const TwoPointLevel& level);
  void set_diagonals(const TwoPointLevel& level, int box);

  std::vector<std::vector<VofShift>> raised_;  // per box; empty when there are none
};

}  // namespace karst
