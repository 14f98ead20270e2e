// SPDX-License-Identifier: BSD-3-Clause
#include "fields/same_boxes.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/comm/parallel.hpp"
#include "fields/staying_vofs.hpp"
#include "grid/morton.hpp"
#include "grid/vof_loops.hpp"

namespace karst {
namespace {

/// Cells around a box that are compared, on its level; those of the next levels as far. Rows of an operator read
/// unknowns within 7 (row_makers.cpp), and products of rows those around these.
constexpr int cells_around = 16;

/// A box of a level on one of the two grids.
struct Place {
  const Composite& grid;
  int level, box;

  const LevelGeometry& geometry() const { return grid.level(level); }
  const Layout& layout() const { return geometry().graph.layout(); }
  BoxGraph graph() const { return geometry().graph.box(box); }
};

bool same_halo(const Place& a, const Place& b) {
  const HaloNames x = a.graph().halo, y = b.graph().halo;
  if (x.n_vofs() != y.n_vofs() || x.n_coarse() != y.n_coarse() || x.n_domain() != y.n_domain()) return false;
  if (x.groups().size() != y.groups().size()) return false;
  for (std::size_t g = 0; g < x.groups().size(); ++g)
    if (a.layout().keys()[x.groups()[g].box] != b.layout().keys()[y.groups()[g].box] ||
        !std::ranges::equal(x.vofs_of_group(g), y.vofs_of_group(g)))
      return false;
  return true;
}

bool same_moments(const Place& a, const Place& b) {
  const auto same_row = [](const VofMoments& m, const VofMoments& n) {
    return m.kappa == n.kappa && m.centroid == n.centroid && m.wall == n.wall && m.wall_area == n.wall_area &&
           m.wall_centroid == n.wall_centroid && m.aperture == n.aperture && m.face_centroid == n.face_centroid;
  };
  const auto same_extra = [](const ExtraFaceMoments& m, const ExtraFaceMoments& n) {
    return m.aperture == n.aperture && m.centroid == n.centroid;
  };
  const auto same_center = [](const VofCenter& m, const VofCenter& n) {
    return m.inside == n.inside && m.wall_distance == n.wall_distance;
  };
  const BoxMoments x = a.geometry().box(a.box), y = b.geometry().box(b.box);
  return std::ranges::equal(x.moments, y.moments, same_row) && std::ranges::equal(x.extra, y.extra, same_extra) &&
         std::ranges::equal(x.centers, y.centers, same_center);
}

bool same_minerals(const Place& a, const Place& b) {
  const auto of = [](const Place& p) {
    const LevelGeometry& level = p.geometry();
    const std::int64_t first = level.moments_begin[p.box], end = level.moments_begin[p.box + 1];
    std::vector<std::pair<MineralNumber, double>> all;
    for (std::int64_t row = first; level.mineral.size() > 0 && row < end; ++row) {
      all.emplace_back(level.mineral[row], -1.0);
      for_each_mineral(level, row, [&](MineralNumber mineral, double area) { all.emplace_back(mineral, area); });
    }
    return all;
  };
  return of(a) == of(b);
}

/// Of the VoFs; runs are cut where neighbours in other boxes are.
std::vector<std::uint16_t> cells_of(const BoxGraph& box) {
  std::vector<std::uint16_t> cells;
  cells.reserve(box.n_own);
  for_each_vof(box, [&](int, int cell) { cells.push_back(static_cast<std::uint16_t>(cell)); });
  return cells;
}

/// The same VoFs, and the same of them covered.
bool same_vofs(const Place& a, const Place& b) {
  const BoxGraph x = a.graph(), y = b.graph();
  return x.cells == y.cells && x.n_own == y.n_own && x.n_irregular == y.n_irregular &&
         std::ranges::equal(x.row_vof, y.row_vof) && std::ranges::equal(x.row_cell, y.row_cell) &&
         cells_of(x) == cells_of(y) && same_moments(a, b) && same_minerals(a, b) &&
         std::ranges::equal(a.grid.covered_in(a.level, a.box), b.grid.covered_in(b.level, b.box));
}

/// Of the same VoFs: with the same neighbours.
bool same_neighbours(const Place& a, const Place& b) {
  const BoxGraph x = a.graph(), y = b.graph();
  return std::ranges::equal(x.runs, y.runs) && std::ranges::equal(x.neighbours, y.neighbours) &&
         std::ranges::equal(x.extra, y.extra) && same_halo(a, b);
}

/// Lattice positions of a level, by Morton key.
using Positions = std::unordered_set<std::uint64_t>;

/// Whether one of the positions in a region of the lattice, which may reach beyond the domain, is among these.
bool any_in(const Positions& some, const Domain& domain, const Index& lattice, const Box& region) {
  bool found = false;
  for_each_cell(region, [&](Index at) {
    for (int d = 0; d < 3; ++d) {
      if (domain.periodic[d]) at[d] = ((at[d] % lattice[d]) + lattice[d]) % lattice[d];
      if (at[d] < 0 || at[d] >= lattice[d]) return;
    }
    found = found || some.contains(morton_encode(at));
  });
  return found;
}

/// Of a box: lattice positions up to `cells_around` away.
Box surroundings(const Layout& layout, std::int64_t box) {
  const Index at = layout.lattice_position(box);
  const int size = layout.box_size();
  return Box{at, at + Index::all(1)}.grown((cells_around + size - 1) / size);
}

/// Leaves out boxes with something around them that has changed.
/// @param changed  positions of each level
void keep_far(std::span<const Positions> changed, const Composite& grid, SameBoxes& boxes) {
  for (int l = 0; l < grid.n_levels(); ++l) {
    const LevelGraph& graph = grid.graph(l);
    const Domain& domain = graph.layout().domain();
    const int size = graph.layout().box_size();
    parallel_for_dynamic(graph.n_local(), [&](std::int64_t b) {
      const Box around = surroundings(graph.layout(), graph.first_box() + b);
      bool near = any_in(changed[l], domain, lattice_size(domain, size), around);
      if (!near && l > 0) {
        const Domain& coarse = grid.graph(l - 1).layout().domain();
        Box under;
        for (int d = 0; d < 3; ++d) {
          under.lo[d] = around.lo[d] >> 1;
          under.hi[d] = (around.hi[d] + 1) >> 1;
        }
        near = any_in(changed[l - 1], coarse, lattice_size(coarse, size), under);
      }
      if (!near && l + 1 < std::ssize(changed)) {
        const Domain fine = domain.refined();
        near = any_in(changed[l + 1], fine, lattice_size(fine, size), {2 * around.lo, 2 * around.hi});
      }
      if (near) boxes.boxes[l][b] = {};
    });
  }
}

}  // namespace

std::vector<std::vector<std::uint8_t>> far_from_others(const SameBoxes& same, const Composite& now) {
  std::vector<std::vector<std::uint8_t>> far;
  for (int l = 0; l < now.n_levels(); ++l) {
    const LevelGraph& graph = now.graph(l);
    const Layout& layout = graph.layout();
    Positions others(layout.keys().begin(), layout.keys().end());
    for (int b = 0; b < graph.n_local(); ++b)
      if (same.of(l, b).box >= 0) others.erase(layout.keys()[graph.first_box() + b]);
    std::vector<std::uint8_t>& of_level = far.emplace_back(graph.n_local());
    parallel_for_dynamic(graph.n_local(), [&](std::int64_t b) {
      const Box around = surroundings(layout, graph.first_box() + b);
      of_level[b] = any_in(others, layout.domain(), lattice_size(layout.domain(), layout.box_size()), around) ? 0 : 1;
    });
  }
  return far;
}

SameBoxes compare_boxes(const Composite& was, const Composite& now) {
  SameBoxes all;
  all.now.assign(was.numbering().n_own(), -1);
  const int n_levels = std::max(was.n_levels(), now.n_levels());
  std::vector<Positions> changed(n_levels);
  for (int l = 0; l < n_levels; ++l) {
    if (l < was.n_levels()) changed[l].insert(was.graph(l).layout().keys().begin(), was.graph(l).layout().keys().end());
    if (l >= now.n_levels()) continue;
    const LevelGraph& graph = now.graph(l);
    std::vector<SameBoxes::Box>& boxes = all.boxes.emplace_back(graph.n_local());
    std::vector<SameBoxes::Box>& partly = all.partly.emplace_back(graph.n_local());
    std::vector<std::uint8_t> same(graph.n_local(), 0);
    if (l < was.n_levels())
      parallel_for_dynamic(graph.n_local(), [&](std::int64_t b) {
        const std::int64_t there = was.graph(l).layout().find(graph.layout().lattice_position(graph.first_box() + b));
        const int own = there < 0 ? -1 : was.graph(l).local(there);
        const Place place{now, l, static_cast<int>(b)}, place_before{was, l, own};
        if (own < 0 || !same_vofs(place_before, place)) return;
        same[b] = 1;
        const std::int32_t first = was.numbering().box_begin(l, own), end = was.numbering().box_end(l, own);
        partly[b] = {own, first, end};
        if (same_neighbours(place_before, place)) boxes[b] = partly[b];
        for (std::int32_t i = first; i < end; ++i)
          all.now[i] = now.numbering().box_begin(l, static_cast<int>(b)) + (i - first);
      });
    for (std::int64_t b = 0; b < graph.layout().n_boxes(); ++b) {
      const std::uint64_t key = graph.layout().keys()[b];
      if (const int own = graph.local(b); own >= 0 && same[own] != 0)
        changed[l].erase(key);
      else
        changed[l].insert(key);
    }
  }
  keep_far(changed, now, all);
  for (std::size_t l = 0; l < all.boxes.size(); ++l)
    for (std::size_t b = 0; b < all.boxes[l].size(); ++b)
      if (all.boxes[l][b].box >= 0) all.partly[l][b] = {};
  all.stays = staying_unknowns(was, now, all);
  return all;
}

}  // namespace karst
