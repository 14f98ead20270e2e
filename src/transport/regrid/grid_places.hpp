// SPDX-License-Identifier: BSD-3-Clause
// Who holds the fluid at places of a grid: its volumes, and the VoFs that finer ones cover. For comparisons of grids
// (grid_change.hpp).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fields/cell_holders.hpp"
#include "fields/composite.hpp"

namespace karst {

/// A place in a box of a grid.
struct PlaceQuestion {
  std::int32_t level;
  CellPlace place;
};

/// A VoF by its name; no_face: the one with the nearest fluid in the box of the place.
struct NamedVof {
  std::int32_t level;
  VofName name;
  CellPlace near;  ///< in cells of that level: where another one is sought in place of one without values
};

/// Numbers of what holds fluid, on each rank: the own unknowns, and behind them the own VoFs that are covered, by
/// level, box and VoF. Parents of VoFs are sought where they are needed: boxes of the grid that nobody asks about cost
/// nothing.
class GridPlaces {
 public:
  explicit GridPlaces(std::shared_ptr<const Composite> grid);

  const Composite& grid() const { return *grid_; }
  /// Own unknowns and covered VoFs.
  std::int32_t n_numbers() const { return n_numbers_; }
  std::int32_t level_of(std::int32_t number) const;
  /// The VoF of a place in an own box, as CellHolders::at(). Not collective.
  VofName at(const PlaceQuestion& q);
  /// Finds the parents in all boxes that number() may need for these VoFs of any ranks, and in those around.
  /// Collective.
  void prepare(std::span<const NamedVof> asked);
  /// Number of a VoF of an own box; in place of a covered one without finer volumes, and of none, that of the nearest
  /// one of the box that has values; -1: none has. To be called after prepare() for it. Not collective.
  std::int32_t number(const NamedVof& v);
  /// find_parents() between level l and the next, no_face where they were not needed.
  std::span<const VofName> parents(int l) const { return parents_[l]; }
  /// f(level, place among the own VoFs of the level, number) for the own covered VoFs. Not collective.
  template <class F>
  void for_covered(F&& f) const {
    for (int l = 0; l < grid_->n_levels(); ++l)
      for (int b = 0; b < grid_->graph(l).n_local(); ++b) {
        std::int32_t number = covered_begin_[l][b];
        for (const std::uint16_t vof : grid_->covered_in(l, b)) f(l, grid_->graph(l).vof_begin(b) + vof, number++);
      }
  }

 private:
  std::int64_t box_of_question(const NamedVof& v) const;
  bool has_values(int level, int b, int vof) const;
  std::int32_t number_of(int level, int b, int vof) const;
  CellHolders& holders(int level, int b);
  void mark_parents(int l, std::span<const std::uint8_t> boxes);

  std::shared_ptr<const Composite> grid_;
  std::int32_t n_numbers_ = 0;
  std::vector<std::vector<std::int32_t>> covered_begin_;  // [level][own box, and the end] numbers of covered VoFs
  std::vector<std::uint8_t> has_volumes_;                 // of covered VoFs: finer ones with values are below
  std::vector<std::vector<std::uint8_t>> prepared_;       // [level][box of its layout]
  std::vector<std::vector<VofName>> parents_;             // [level][own VoF of the next finer level]
  std::optional<CellHolders> holders_;
  std::pair<int, int> holders_of_{-1, -1};
};

}  // namespace karst
