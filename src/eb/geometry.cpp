// SPDX-License-Identifier: BSD-3-Clause
#include "eb/geometry.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "eb/cut/throats.hpp"
#include "eb/link/solids.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// Octants that the next finer level covers in a box and beyond its faces: no face of a cell touches others.
RefinedOctants refined_octants(const GridHierarchy& grid, int level, std::int64_t box) {
  RefinedOctants refined;
  if (level + 1 >= grid.n_levels()) return refined;
  const Layout& layout = grid.levels[level].layout;
  refined.width = layout.box_size() / 2;
  refined.size = layout.box(box).size();
  const Index finer = 2 * layout.lattice_position(box);
  for_each_cell(Box{Index::all(-1), Index::all(3)}, [&](const Index& octant) {
    int outside = 0;
    for (int d = 0; d < 3; ++d) outside += octant[d] < 0 || octant[d] * refined.width >= refined.size[d] ? 1 : 0;
    if (outside < 2 && grid.is_refined(level, finer + octant)) refined.add(octant);
  });
  return refined;
}

/// Σ κ, Σ wall area and number of the VoFs that no finer level covers, this rank.
struct CompositeSums {
  double volume = 0.0, wall_area = 0.0, vofs = 0.0, irregular = 0.0;
  std::vector<double> minerals;  ///< wall area of each
};

CompositeSums composite_sums(const LevelGeometry& geometry, const RefinedOf& refined, std::size_t n_minerals) {
  const int n = geometry.graph.n_local();
  CompositeSums total;
  total.minerals.assign(n_minerals, 0.0);
  std::vector<CompositeSums> of_box(n, total);
  parallel_for_dynamic(n, [&](std::int64_t b) {
    const BoxGraph graph = geometry.graph.box(static_cast<int>(b));
    const RefinedOctants octants = refined(graph.box);
    const auto covered = [&](int cell) { return octants.covers(graph.cells.cell(cell) - graph.cells.lo); };
    CompositeSums& sum = of_box[b];
    for_each_vof(graph, [&](int, int cell) { sum.vofs += covered(cell) ? 0.0 : 1.0; });
    sum.volume = sum.vofs;  // corrected by the irregular ones
    const auto moments = geometry.box(static_cast<int>(b)).moments;
    for (std::size_t r = 0; r < moments.size(); ++r) {
      if (covered(graph.row_cell[r])) continue;
      sum.volume += moments[r].kappa - 1.0;
      sum.wall_area += moments[r].wall_area;
      sum.irregular += 1.0;
      for_each_mineral(geometry, geometry.moments_begin[b] + static_cast<std::int64_t>(r),
                       [&](MineralNumber mineral, double area) { sum.minerals[mineral] += area; });
    }
  });
  for (const CompositeSums& s : of_box) {
    total.volume += s.volume;
    total.wall_area += s.wall_area;
    total.vofs += s.vofs;
    total.irregular += s.irregular;
    for (std::size_t m = 0; m < n_minerals; ++m) total.minerals[m] += s.minerals[m];
  }
  return total;
}

/// Of the minerals; together they have what the fluid leaves.
void set_volumes(const std::vector<double>& found, double domain, GeometryReport& report) {
  double sum = 0.0;
  for (const double v : found) sum += v;
  for (std::size_t m = 0; m < found.size(); ++m)
    report.minerals[m].volume = sum > 0.0 ? found[m] * ((1.0 - report.porosity) * domain / sum) : 0.0;
}

/// nullptr: none that could be copied. Where faces were closed each box has its part of their number.
const LevelGeometry* level_before(const GeometryBefore& before, int level) {
  if (before.boxes == nullptr || before.geometry == nullptr) return nullptr;
  const Geometry& geometry = *before.geometry;
  if (level >= geometry.grid.n_levels() || geometry.report.levels[level].closed_faces > 0) return nullptr;
  return &geometry.levels[level];
}

/// Regions that refine nothing are a mistake, often of units.
void require_regions_inside(const GridOptions& grid) {
  const auto inside = [&](const Refinement& r, int d) {
    return grid.periodic[d] || (r.hi[d] > 0.0 && r.lo[d] < grid.size[d]);
  };
  for (std::size_t i = 0; i < grid.refine.size(); ++i) {
    const Refinement& r = grid.refine[i];
    require(r.where != Refinement::Where::region || (inside(r, 0) && inside(r, 1) && inside(r, 2)),
            "grid.refine[{}]: the region from lo = ({:g}, {:g}, {:g}) to hi = ({:g}, {:g}, {:g}) m lies outside of the "
            "domain, which goes from 0 to ({:g}, {:g}, {:g}) m; check lo and hi (in metres)",
            i, r.lo[0], r.lo[1], r.lo[2], r.hi[0], r.hi[1], r.hi[2], grid.size[0], grid.size[1], grid.size[2]);
  }
}

/// All of it: samples are what a crop of a scan happens to hold, while described solids that leave no fluid are a
/// mistake.
bool may_be_solid(const LevelSet& level_set) { return level_set.smoothness().sample_spacing > 0.0; }

}  // namespace

GridHierarchy build_grid(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, const BoxCosts& costs,
                         KeptBoxes* kept) {
  const Timer timer("layout");
  const auto holds_wall = [&](int level, const Box& cells) {
    return classify(*local_level_set(level_set, cells, level), level_set.smoothness(), cells, level).kind ==
           BoxContent::Kind::mixed;
  };
  require_regions_inside(grid);
  int buffer = 0;  // by which φ is asked for beyond a box
  bool has_throats = false;
  for (const Refinement& r : grid.refine) {
    const bool throat = r.where == Refinement::Where::throat;
    has_throats = has_throats || throat;
    buffer = std::max(buffer, throat ? reach_of_throats(r.cells) : r.buffer);
  }
  ThroatBoxes throats;
  const auto fetch = [&](int level, std::span<const Box> boxes) {
    std::vector<Box> cells(boxes.begin(), boxes.end());
    for (Box& box : cells) box = box.grown(buffer);
    level_set.fetch(comm, level, cells);
    if (has_throats) throats.find(comm, grid, level_set, level, boxes);
  };
  GridHierarchy built = build_hierarchy(
      comm, grid, holds_wall,
      [&](int level, const Box& cells) {
        const Classify classify = weight_of_box(level_set, level);
        return kept == nullptr ? classify(cells) : kept->weight(level, cells, classify);
      },
      costs, fetch,
      [&](const Refinement&, int level, const Box& octant) { return throats.meets(grid, level, octant); });
  const bool empty = built.levels[0].layout.n_boxes() == 0;
  require(
      !empty || may_be_solid(level_set),
      "geometry: no cell of the domain ({} x {} x {} cells, {:g} x {:g} x {:g} m) contains any fluid; check inside and "
      "outside of the shapes, and whether their places and sizes are in metres",
      grid.cells[0], grid.cells[1], grid.cells[2], grid.size[0], grid.size[1], grid.size[2]);
  int asked = 0;  // finest level that the deck names a place of
  for (const Refinement& r : grid.refine)
    if (!(r.follows() && grid.flagged) && r.where != Refinement::Where::throat) asked = std::max(asked, r.level);
  require(empty || built.n_levels() > asked,
          "grid.refine: nothing to refine on level {}, although grid.levels = {}; check lo and hi (in metres, inside "
          "the domain) or use fewer levels",
          built.n_levels(), grid.levels);
  return built;
}

std::int64_t next_geometry_id() {
  static std::atomic<std::int64_t> last{0};
  return ++last;
}

Geometry build_geometry(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, KeepPores keep,
                        const VolumeOptions& volumes, const BoxCosts& costs, const GeometryBefore& before) {
  const Timer timer("geometry");
  require(before.boxes == nullptr || !volumes.keep_pieces, "geometry: boxes are kept where walls stand alone");
  if (before.boxes != nullptr) before.boxes->begin();
  Geometry geometry;
  geometry.grid = build_grid(comm, grid, level_set, costs, before.boxes);
  GeometryReport& report = geometry.report;
  double volume = 0.0, wall_area = 0.0;
  std::vector<double> mineral_volumes;
  for (const std::string& name : level_set.minerals()) report.minerals.push_back({name});
  for (int l = 0; l < geometry.grid.n_levels(); ++l) {
    const GridLevel& level = geometry.grid.levels[l];
    const auto refined = [&](std::int64_t box) { return refined_octants(geometry.grid, l, box); };
    LevelSources sources{.boxes = before.boxes, .before = level_before(before, l)};
    if (l > 0) sources.parents = fluid_of_parents(comm, level.layout, geometry.levels.back().graph);
    BuiltLevel built = build_level(comm, level.layout, level_set, l, refined, keep, volumes, sources);
    built.report.boxes_asked = level.candidates;
    built.report.imbalance = level.imbalance;
    if (l == 0) report.percolates = built.percolates, report.joined = built.joined;
    if (l == 0 && volumes.keep_pieces) {
      const Layout& layout = level.layout;
      Solids solids = find_solids(comm, layout.domain(), layout.box_size(), level_set);
      geometry.topology = {std::move(built.pores), std::move(solids.components)};
      mineral_volumes = std::move(solids.volumes);
    }

    const CompositeSums sums = composite_sums(built.geometry, refined, report.minerals.size());
    built.report.vofs_composite = static_cast<std::int64_t>(comm.sum(sums.vofs));
    built.report.irregular_composite = static_cast<std::int64_t>(comm.sum(sums.irregular));
    volume += comm.sum(sums.volume) * std::ldexp(1.0, -3 * l);
    wall_area += comm.sum(sums.wall_area) * std::ldexp(1.0, -2 * l);
    for (std::size_t m = 0; m < report.minerals.size(); ++m)
      report.minerals[m].area += comm.sum(sums.minerals[m]) * std::ldexp(1.0, -2 * l);
    report.levels.push_back(built.report);
    geometry.levels.push_back(std::move(built.geometry));
  }
  require(report.levels[0].vofs > 0 || may_be_solid(level_set),
          "geometry: no fluid was found in the domain of {} x {} x {} cells", grid.cells[0], grid.cells[1],
          grid.cells[2]);
  level_set.drop_cache();
  if (before.boxes != nullptr) before.boxes->finish();
  const double domain = static_cast<double>(grid.domain().box().count());
  report.connected_porosity = std::max(volume - report.levels[0].closed_volume, 0.0) / domain;
  report.porosity = (volume + report.levels[0].removed_volume) / domain;
  report.wall_area = wall_area;
  report.specific_surface = wall_area / domain;
  set_volumes(mineral_volumes, domain, report);
  return geometry;
}

}  // namespace karst
