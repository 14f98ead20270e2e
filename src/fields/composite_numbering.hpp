// SPDX-License-Identifier: BSD-3-Clause
// The unknowns of a composite grid (composite.hpp): the VoFs that are not covered by a finer level. A rank numbers its
// own ones level after level, box after box (Morton order), VoF after VoF; the global number adds those of the lower
// ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "eb/geometry.hpp"
#include "grid/field.hpp"

namespace karst {

using GlobalNumber = std::int64_t;  ///< of an unknown
inline constexpr GlobalNumber no_unknown = -1;

class CompositeNumbering {
 public:
  /// Throws Error if one rank has 2^31 unknowns or more. Collective.
  CompositeNumbering(const Comm& comm, const Geometry& geometry);

  int n_levels() const { return static_cast<int>(levels_.size()); }
  std::int64_t n_own() const { return n_own_; }
  std::int64_t n_global() const { return ranges_.back(); }
  GlobalNumber first() const { return ranges_[rank_]; }  ///< of this rank
  bool is_own(GlobalNumber g) const { return g >= first() && g < first() + n_own_; }
  int owner(GlobalNumber g) const;                                     ///< O(log n_ranks)
  const std::vector<std::int64_t>& ranges() const { return ranges_; }  ///< first unknown of each rank, then n_global

  /// First own number of the unknowns of a level; n_levels(): n_own().
  std::int64_t level_begin(int level) const { return level == n_levels() ? n_own_ : of(level).begin.front(); }
  /// First own number of the unknowns of an own box.
  std::int32_t box_begin(int level, int local) const { return of(level).begin[local]; }
  std::int32_t box_end(int level, int local) const { return of(level).begin[local + 1]; }
  /// Own number per VoF of the box, -1 where covered. Empty if no VoF of the box is covered; numbers are then
  /// box_begin() + VoF.
  std::span<const std::int32_t> numbers(int level, int local) const;
  /// Own number of an own VoF, -1 when it is covered.
  std::int32_t number(int level, int local, int vof) const {
    const auto table = numbers(level, local);
    return table.empty() ? box_begin(level, local) + vof : table[vof];
  }
  /// Global numbers of all slots that are VoFs, halo included; no_unknown where covered and in ghosts. Collective.
  NumberField global_numbers(const Comm& comm, const LevelGraph& graph, int level) const;
  std::int64_t bytes() const;

 private:
  struct Level {
    std::vector<std::int32_t> begin{0};  // per own box, and the end
    std::vector<std::int64_t> table;     // per own box: first entry of its table, -1 without one
    std::vector<std::int32_t> entries;   // tables of partly or wholly covered boxes
    std::vector<std::int32_t> n_vofs;    // per own box
  };
  const Level& of(int level) const { return levels_[level]; }

  std::vector<Level> levels_;
  std::vector<std::int64_t> ranges_;
  std::int64_t n_own_ = 0;
  int rank_ = 0;
};

}  // namespace karst
