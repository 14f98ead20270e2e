// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/core/text.hpp"

namespace karst {
namespace {

constexpr int most_levels = 10;
constexpr int most_cells = 1 << 24;   // per direction; keys hold 2^21 boxes of 8
constexpr double all_cells = 4.6e18;  // 2^62: counts of cells have 63 bits
constexpr double largest_length = 1e6;

/// The keys that a place needs are there, and no others.
void check_place(Reader& item, const Refinement& r) {
  using Where = Refinement::Where;
  if (r.where != Where::region)
    item.refuse({"lo", "hi"}, "only where = \"region\" has corners; remove it or change where");
  if (r.where != Where::front)
    item.refuse({"low", "high"}, "only where = \"front\" has bounds; remove it or change where");
  if (r.where != Where::gradient)
    item.refuse({"change"}, "only where = \"gradient\" has a change; remove it or change where");
  if (!r.follows())
    item.refuse({"component"}, "belongs to where = \"front\" and \"gradient\"; remove it or change where");
  if (r.where == Where::region) {
    item.need({"lo", "hi"}, "where = \"region\" needs both corners, lo and hi [m]");
    if (item.given("lo") && item.given("hi") && !(r.lo[0] < r.hi[0] && r.lo[1] < r.hi[1] && r.lo[2] < r.hi[2]))
      item.mistake("lo", fmt::format("({}, {}, {}) must be below hi = ({}, {}, {}) in every direction", r.lo[0],
                                     r.lo[1], r.lo[2], r.hi[0], r.hi[1], r.hi[2]));
  }
  if (r.where == Where::front) {
    item.need({"low", "high"}, "where = \"front\" needs both bounds, low and high");
    if (item.given("low") && item.given("high") && !(r.low < r.high))
      item.mistake("low", fmt::format("{} must be below high = {}", r.low, r.high));
  }
  if (r.where == Where::gradient) {
    item.need({"change"}, "where = \"gradient\" needs a change");
    if (item.given("change") && !(r.change > 0.0)) item.mistake("change", "0 refines everywhere; give a larger one");
  }
}

void read_refinement(Reader& item, Refinement& r) {
  item.integer("level", r.level, "-", "finest level there", 1, most_levels - 1);
  using Where = Refinement::Where;
  item.word(
      "where", r.where,
      {{"wall", Where::wall, "cells cut by the wall"},
       {"region", Where::region, "the box from lo to hi"},
       {"front", Where::front,
        "where a component of transient transport is between low and high, also from one cell to the next; it is "
        "followed"},
       {"gradient", Where::gradient,
        "where a component of transient transport differs by more than change from one cell to the next; it is "
        "followed"}},
      "what is refined. What is followed changes the grid during the run, and the flow must be steady; it and "
      "all else that does not go through time is computed with the level everywhere, and memory is estimated so:");
  item.vec3("lo", r.lo, "m", "low corner of the region", -largest_length, largest_length);
  item.vec3("hi", r.hi, "m", "high corner of the region", -largest_length, largest_length);
  constexpr double any = 1e300;
  item.integer(
      "buffer", r.buffer, "cells",
      "number of cells of the next coarser level added around it; what is followed reaches the end of them before "
      "the grid changes again",
      0, 16);
  item.text("component", r.component, "of transport that is followed; default: the only one");
  item.number("low", r.low, "C", "front: above this value", -any, any);
  item.number("high", r.high, "C", "front: below this value", -any, any);
  item.number("change", r.change, "C", "gradient: difference between neighbouring cells of the next coarser level", 0.0,
              any);
  check_place(item, r);
}

void check_levels(Reader& in, const GridOptions& grid) {
  const double coarse = static_cast<double>(grid.cells[0]) * grid.cells[1] * grid.cells[2];
  if (const double finest = std::ldexp(coarse, 3 * (grid.levels - 1)); finest > all_cells)
    in.mistake("grid.cells", fmt::format("{:.3g} cells on the finest level; at most {:.2g} can be counted: fewer cells "
                                         "or levels",
                                         finest, all_cells));
  if (grid.levels > 1 && grid.refine.empty()) {
    in.mistake(
        "grid.levels",
        fmt::format("{} levels, but no place to refine is given; add [[grid.refine]] or set levels = 1", grid.levels));
    return;
  }
  int finest = 0;
  for (const Refinement& r : grid.refine) finest = std::max(finest, r.level);
  if (!grid.refine.empty() && finest < grid.levels - 1)
    in.mistake("grid.levels",
               fmt::format("{} levels, but [[grid.refine]] requests levels up to {} only; set levels = {}", grid.levels,
                           finest, finest + 1));
  for (int d = 0; d < 3; ++d)
    if (const std::int64_t cells = std::int64_t{grid.cells[d]} << (grid.levels - 1); cells > most_cells)
      in.mistake("grid.levels",
                 fmt::format("{} cells on level {} along {}; at most {} are allowed: fewer cells or levels", cells,
                             grid.levels - 1, axis_names[d], most_cells));
}

}  // namespace

std::string not_cubes(const GridOptions& grid) {
  Vec3 width;
  for (int d = 0; d < 3; ++d) width[d] = grid.size[d] / grid.cells[d];
  for (int d = 1; d < 3; ++d)
    if (!(std::abs(width[d] - width[0]) <= 1e-6 * width[0]))
      return fmt::format("cells must be cubes, but size / cells gives widths of {} x {} x {} m; change size or cells",
                         width[0], width[1], width[2]);
  return {};
}

GridOptions with_flagged(GridOptions grid, std::optional<FlaggedBoxes> flagged) {
  if (flagged) grid.levels = std::max(grid.levels, 1 + static_cast<int>(flagged->size()));
  grid.flagged = std::move(flagged);
  return grid;
}

void read(Reader& in, GridOptions& grid) {
  in.changes_answers_of("grid", {});                    // cut cells tell it
  in.changes_answers_of("grid.refine", {"transport"});  // but not what a grid is going to follow
  in.index("grid.cells", grid.cells, "-", "number of cells of level 0; default with an image: one cell per voxel", 1,
           most_cells);
  in.vec3("grid.size", grid.size, "m", "size of the domain; default with an image: its size", 1e-12, largest_length);
  in.flags3("grid.periodic", grid.periodic, "directions in which the domain is periodic");
  in.integer("grid.box", grid.box, "cells", "width of a box, the unit of storage and of work distribution: 8, 16 or 32",
             8, 32);
  if (grid.box != 8 && grid.box != 16 && grid.box != 32)
    in.mistake("grid.box", fmt::format("{} is not allowed; choose 8, 16 or 32", grid.box));
  in.integer("grid.levels", grid.levels, "-", "number of levels; each has half the cell width of the previous one", 1,
             most_levels);
  in.tables("grid.refine", "places to refine", [&](Reader& item) {
    Refinement r;
    read_refinement(item, r);
    if (item.documenting()) return;
    if (r.level >= grid.levels)
      item.mistake("level", fmt::format("level {} does not exist with grid.levels = {}; levels count from 0", r.level,
                                        grid.levels));
    grid.refine.push_back(r);
  });
  if (in.documenting()) return;
  if (in.given("grid.cells") && in.given("grid.size"))
    if (const std::string wrong = not_cubes(grid); !wrong.empty()) in.mistake("grid.size", wrong);
  check_levels(in, grid);
}

}  // namespace karst
