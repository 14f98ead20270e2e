// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "base/core/text.hpp"

namespace karst {
namespace {

constexpr int most_levels = 10;
constexpr int most_cells = 1 << 24;   // per direction; keys hold 2^21 boxes of 8
constexpr double all_cells = 4.6e18;  // 2^62: counts of cells have 63 bits
constexpr double largest_length = 1e6;

using Where = Refinement::Where;

bool is_one_of(Where where, std::initializer_list<Where> all) { return std::ranges::count(all, where) > 0; }

/// A key that belongs to some places is not given for others.
struct PlaceKey {
  const char* key;
  std::initializer_list<Where> places;
  const char* refusal;
};
const std::initializer_list<PlaceKey> place_keys{
    {"lo", {Where::region}, "only where = \"region\" has corners; remove it or change where"},
    {"hi", {Where::region}, "only where = \"region\" has corners; remove it or change where"},
    {"low", {Where::front}, "only where = \"front\" has bounds; remove it or change where"},
    {"high", {Where::front}, "only where = \"front\" has bounds; remove it or change where"},
    {"change", {Where::gradient}, "only where = \"gradient\" has a change; remove it or change where"},
    {"cells", {Where::throat}, "only where = \"throat\" has a width; remove it or change where"},
    {"component",
     {Where::front, Where::gradient, Where::rate},
     "belongs to where = \"front\", \"gradient\" and \"rate\"; remove it or change where"},
    {"mineral", {Where::rate}, "only where = \"rate\" has a mineral; remove it or change where"},
    {"above",
     {Where::speed, Where::vorticity, Where::rate, Where::formula},
     "belongs to where = \"speed\", \"vorticity\", \"rate\" and \"formula\"; a gradient has a change, a front low and "
     "high"},
    {"relative",
     {Where::speed, Where::vorticity},
     "belongs to where = \"speed\" and \"vorticity\", which have a mean; remove it"},
    {"formula", {Where::formula}, "only where = \"formula\" has one; remove it or change where"},
    {"keep",
     {Where::gradient, Where::speed, Where::vorticity, Where::rate, Where::formula},
     "belongs to what has one threshold: where = \"gradient\", \"speed\", \"vorticity\", \"rate\" and \"formula\"; "
     "remove it"}};

/// The keys that a place needs are there, and no others.
void check_place(Reader& item, const Refinement& r) {
  for (const PlaceKey& k : place_keys)
    if (!is_one_of(r.where, k.places)) item.refuse({k.key}, k.refusal);
  if (r.where == Where::region) {
    item.need({"lo", "hi"}, "where = \"region\" needs both corners, lo and hi [m]");
    if (item.given("lo") && item.given("hi") && !(r.lo[0] < r.hi[0] && r.lo[1] < r.hi[1] && r.lo[2] < r.hi[2]))
      item.mistake("lo", fmt::format("({}, {}, {}) must be below hi = ({}, {}, {}) in every direction", r.lo[0],
                                     r.lo[1], r.lo[2], r.hi[0], r.hi[1], r.hi[2]));
  }
  if (r.where == Where::throat) item.need({"cells"}, "where = \"throat\" needs a width, in cells");
  if (r.where == Where::front) {
    item.need({"low", "high"}, "where = \"front\" needs both bounds, low and high");
    if (item.given("low") && item.given("high") && !(r.low < r.high))
      item.mistake("low", fmt::format("{} must be below high = {}", r.low, r.high));
  }
  if (r.where == Where::gradient) {
    item.need({"change"}, "where = \"gradient\" needs a change");
    if (item.given("change") && !(r.change > 0.0)) item.mistake("change", "0 refines everywhere; give a larger one");
  }
  if (is_one_of(r.where, {Where::speed, Where::vorticity, Where::rate})) {
    item.need({"above"}, "the value from which on it is refined is missing");
    if (item.given("above") && !(r.above > 0.0))
      item.mistake("above", fmt::format("{} refines everywhere; give a value above 0", r.above));
  }
  if (r.where == Where::formula) item.need({"formula"}, "where = \"formula\" needs one");
  if (r.where == Where::rate && item.given("component"))
    item.refuse({"mineral"}, "a rate is of a component or of a mineral; remove one of them");
  if (r.keep && r.threshold() < *r.keep)
    item.mistake("keep", fmt::format("{} must not be above {} = {}: what is refined stays so down to keep", *r.keep,
                                     r.where == Where::gradient ? "change" : "above", r.threshold()));
  if (r.keep && r.where != Where::formula && !(*r.keep > 0.0))
    item.mistake("keep", fmt::format("{} keeps all that was ever refined; give a value above 0", *r.keep));
}

const char* unit_of(Where where) {
  switch (where) {
    case Where::speed:
      return "m/s";
    case Where::vorticity:
      return "1/s";
    case Where::rate:
      return "mol/m2/s";
    case Where::gradient:
      return "C";
    default:
      return "-";
  }
}

void read_refinement(Reader& item, Refinement& r) {
  item.integer("level", r.level, "-", "finest level there", 1, most_levels - 1);
  item.word(
      "where", r.where,
      {{"wall", Where::wall, "cells cut by the wall"},
       {"region", Where::region, "the box from lo to hi"},
       {"throat", Where::throat, "pores whose width, from wall to wall, is less than so many cells"},
       {"front", Where::front,
        "where a component of transient transport is between low and high, also from one cell to the next; it is "
        "followed"},
       {"gradient", Where::gradient,
        "where a component of transient transport differs by more than change from one cell to the next; it is "
        "followed"},
       {"speed", Where::speed, "where the speed of the flow is above a value; it is followed"},
       {"vorticity", Where::vorticity, "where the vorticity (curl of the velocity) is above a value; it is followed"},
       {"rate", Where::rate,
        "cells at walls where more than a value is taken or given off per area and time, in transient transport; it is "
        "followed from the first step on"},
       {"formula", Where::formula, "where a formula of fields, place and time is above a value; it is followed"}},
      "what is refined. What is followed changes the grid during the run; a steady flow and "
      "all else that does not go through time is computed with the level everywhere, and memory is estimated so:");
  item.vec3("lo", r.lo, "m", "low corner of the region", -largest_length, largest_length);
  item.vec3("hi", r.hi, "m", "high corner of the region", -largest_length, largest_length);
  constexpr double any = 1e300;
  item.integer(
      "buffer", r.buffer, "cells",
      "number of cells of the next coarser level added around it; what is followed reaches the end of them before "
      "the grid changes again",
      0, 16);
  item.integer("cells", r.cells, "cells",
               "throat: a pore is refined as long as it has fewer cells of the next coarser level across", 1, 64);
  item.text("component", r.component,
            "front, gradient, rate: of transport that is followed; default: the only one, of a rate the largest of all "
            "components and minerals");
  item.number("low", r.low, "C", "front: above this value", -any, any);
  item.number("high", r.high, "C", "front: below this value", -any, any);
  item.number("change", r.change, "C", "gradient: difference between neighbouring cells of the next coarser level", 0.0,
              any);
  item.number("above", r.above, item.documenting() ? "m/s, 1/s, mol/m2/s" : unit_of(r.where),
              "speed, vorticity, rate: refined above this value; formula: above this value of it, so that a comparison "
              "needs none",
              -any, any);
  constexpr double most_kept = 1e100;
  double keep = -any;  // not set
  item.number("keep", keep, item.documenting() ? "as above" : unit_of(r.where),
              "what is refined stays so down to this value, which is not above the threshold; default: half of above "
              "or change",
              -most_kept, most_kept);
  if (item.given("keep")) r.keep = keep;
  item.flag("relative", r.relative,
            "speed, vorticity: above and keep are multiples of the mean over the fluid, in place of a value with unit");
  item.text("mineral", r.mineral, "rate: of [[chemistry.mineral]]");
  item.text("formula", r.formula,
            "formula: of x, y, z (m), t (s), speed (m/s), vorticity (1/s) and components of transient transport by "
            "their names, such as \"tracer > 0.1 && x > 1e-3\"");
  check_place(item, r);
}

void read_limits(Reader& in, GridOptions& grid) {
  double most = static_cast<double>(grid.max_cells);
  in.number("grid.max_cells", most, "-",
            "no more unknowns (fluid cells of all levels that no finer level covers): the boxes whose rules exceed "
            "their thresholds most come first. What the other rules of [[grid.refine]] need has to fit; what is "
            "computed with the level everywhere is not limited. Default: any number",
            1.0, 1e15);
  if (in.given("grid.max_cells")) grid.max_cells = static_cast<std::int64_t>(most);
  in.integer("grid.follow_every", grid.follow_every, "steps",
             "from one look at whether the solution needs other boxes to the next; whether fewer would do is asked "
             "every tenth time",
             1, 1000000);
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
  in.changes_answers_of("grid", {});  // cut cells tell it
  for (const char* key : {"grid.refine", "grid.max_cells", "grid.follow_every"})
    in.changes_answers_of(key, {"flow in time", "transport"});  // but not what a grid is going to follow
  in.index("grid.cells", grid.cells, "-", "number of cells of level 0; default with an image: one cell per voxel", 1,
           most_cells);
  in.vec3("grid.size", grid.size, "m", "size of the domain; default with an image: its size", 1e-12, largest_length,
          {1e-9, 1e3});
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
  read_limits(in, grid);
  if (in.documenting()) return;
  if (!grid.follows()) in.refuse({"grid.follow_every"}, "no [[grid.refine]] follows the solution; remove it");
  const bool has_cells = grid.cells[0] > 0 && grid.cells[1] > 0 && grid.cells[2] > 0;  // else it is said why not
  if (has_cells && in.given("grid.cells") && in.given("grid.size"))
    if (const std::string wrong = not_cubes(grid); !wrong.empty()) in.mistake("grid.size", wrong);
  check_levels(in, grid);
}

}  // namespace karst
