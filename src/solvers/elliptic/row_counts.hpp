// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "solvers/elliptic/row_maker.hpp"

namespace karst {

constexpr std::size_t n_counts = 21;

/// f(name, count) for every count, in the order of the results.
template <class Counts, class F>
void for_each_count(Counts& c, F&& f) {
  f("wide_rows", c.wide_rows);
  f("entries", c.entries);
  f("faces_at_centroid", c.faces_at_centroid);
  f("faces_extrapolated", c.faces_extrapolated);
  f("faces_one_way", c.faces_one_way);
  f("faces_at_center", c.faces_at_center);
  f("faces_from_beside", c.faces_from_beside);
  f("faces_tight", c.faces_tight);
  f("faces_slanted", c.faces_slanted);
  f("faces_without_gradient", c.faces_without_gradient);
  f("faces_too_stiff", c.faces_too_stiff);
  f("walls_without_gradient", c.walls_without_gradient);
  f("walls_without_plane", c.walls_without_plane);
  f("walls_near", c.walls_near);
  f("lines_without_wall", c.lines_without_wall);
  f("orphans_pinned", c.orphans_pinned);
  f("orphans_joined", c.orphans_joined);
  f("orphans_at_end", c.orphans_at_end);
  f("orphans_alone", c.orphans_alone);
  f("level_faces", c.level_faces);
  f("level_faces_closed", c.level_faces_closed);
}

}  // namespace karst
