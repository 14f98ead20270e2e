// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/grid_places.hpp"

#include <algorithm>

#include "fields/parents.hpp"
#include "grid/questions.hpp"

namespace karst {

GridPlaces::GridPlaces(std::shared_ptr<const Composite> grid) : grid_(std::move(grid)) {
  auto next = static_cast<std::int32_t>(grid_->numbering().n_own());
  for (int l = 0; l < grid_->n_levels(); ++l) {
    const LevelGraph& graph = grid_->graph(l);
    std::vector<std::int32_t>& begin = covered_begin_.emplace_back();
    for (int b = 0; b < graph.n_local(); ++b) {
      begin.push_back(next);
      next += static_cast<std::int32_t>(grid_->covered_in(l, b).size());
    }
    begin.push_back(next);
    prepared_.emplace_back(graph.layout().n_boxes(), 0);
    if (l > 0) parents_.emplace_back(graph.vof_begin(graph.n_local()), no_face);
  }
  n_numbers_ = next;
  has_volumes_.assign(n_numbers_ - grid_->numbering().n_own(), 0);
}

std::int32_t GridPlaces::level_of(std::int32_t number) const {
  const CompositeNumbering& numbering = grid_->numbering();
  int l = grid_->n_levels() - 1;
  while (l > 0 && number < (number < numbering.n_own() ? numbering.level_begin(l) : covered_begin_[l].front())) --l;
  return l;
}

VofName GridPlaces::at(const PlaceQuestion& q) {
  const LevelGraph& graph = grid_->graph(q.level);
  return holders(q.level, graph.local(graph.layout().find_cell(q.place.cell))).at(q.place);
}

std::int64_t GridPlaces::box_of_question(const NamedVof& v) const {
  return v.name == no_face ? grid_->graph(v.level).layout().find_cell(v.near.cell) : box_of(v.name);
}

/// What is in a box may lie in one of the boxes beside (cell merging), and so on from level to level.
void GridPlaces::prepare(std::span<const NamedVof> mine) {
  const int n_levels = grid_->n_levels();
  if (n_levels == 1) return;
  std::vector<std::vector<std::int64_t>> asked(n_levels);
  for (const NamedVof& v : mine) asked[v.level].push_back(box_of_question(v));
  std::vector<std::vector<std::uint8_t>> fresh(n_levels);  // [level][own box]
  for (int l = 0; l + 1 < n_levels; ++l) {
    std::vector<std::int64_t>& boxes = asked[l];
    std::ranges::sort(boxes);
    boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
    boxes = grid_->comm().all_gather(std::span<const std::int64_t>(boxes));
    const LevelGraph& finer = grid_->graph(l + 1);
    const Layout &layout = grid_->graph(l).layout(), &above = finer.layout();
    const Index lattice = lattice_size(layout.domain(), layout.box_size());
    fresh[l + 1].assign(finer.n_local(), 0);
    for (const std::int64_t box : boxes) {
      const Index at = layout.lattice_position(box);
      for_each_cell(Box{at, at + Index::all(1)}.grown(1), [&](Index beside) {
        for (int d = 0; d < 3; ++d) {
          if (layout.domain().periodic[d]) beside[d] = (beside[d] + lattice[d]) % lattice[d];
          if (beside[d] < 0 || beside[d] >= lattice[d]) return;
        }
        for_each_cell(Box{2 * beside, 2 * beside + Index::all(2)}, [&](const Index& octant) {
          const std::int64_t found = above.find(octant);
          if (found < 0 || prepared_[l + 1][found] != 0) return;
          prepared_[l + 1][found] = 1;
          if (const int own = finer.local(found); own >= 0) {
            fresh[l + 1][own] = 1;
            asked[l + 1].push_back(found);
          }
        });
      });
    }
  }
  for (int l = n_levels - 2; l >= 0; --l) mark_parents(l, fresh[l + 1]);
}

/// Parents of level l of the VoFs in these own boxes of the next finer one, and which of them have volumes below.
void GridPlaces::mark_parents(int l, std::span<const std::uint8_t> boxes) {
  const Comm& comm = grid_->comm();
  if (!comm.any(std::ranges::count(boxes, 1) > 0)) return;
  const LevelGraph &graph = grid_->graph(l), &finer = grid_->graph(l + 1);
  const std::vector<VofName> found = find_parents(*grid_, l, boxes);
  std::map<int, std::vector<VofName>> to_owner;
  for (int b = 0; b < finer.n_local(); ++b) {
    if (boxes[b] == 0) continue;
    const std::int64_t first = finer.vof_begin(b), end = finer.vof_begin(b + 1);
    std::copy(found.begin() + first, found.begin() + end, parents_[l].begin() + first);
    for (std::int64_t i = first; i < end; ++i)
      if (found[i] != no_face && has_values(l + 1, b, static_cast<int>(i - first)))
        to_owner[graph.layout().owner(box_of(found[i]))].push_back(found[i]);
  }
  send_values(comm, std::move(to_owner), [&](VofName parent, int) {
    const std::int32_t number = number_of(l, graph.local(box_of(parent)), vof_of(parent));
    if (number >= grid_->numbering().n_own()) has_volumes_[number - grid_->numbering().n_own()] = 1;
  });
}

std::int32_t GridPlaces::number_of(int level, int b, int vof) const {
  const std::int32_t own = grid_->numbering().number(level, b, vof);
  if (own >= 0) return own;
  const auto covered = grid_->covered_in(level, b);
  return covered_begin_[level][b] + static_cast<std::int32_t>(std::ranges::lower_bound(covered, vof) - covered.begin());
}

bool GridPlaces::has_values(int level, int b, int vof) const {
  const std::int32_t number = number_of(level, b, vof);
  return number < grid_->numbering().n_own() || has_volumes_[number - grid_->numbering().n_own()] != 0;
}

std::int32_t GridPlaces::number(const NamedVof& v) {
  const int b = grid_->graph(v.level).local(box_of_question(v));
  VofName name = v.name;
  if (name == no_face || !has_values(v.level, b, vof_of(name)))
    name = holders(v.level, b).nearest(v.near, [&](int vof) { return has_values(v.level, b, vof); });
  return name == no_face ? -1 : number_of(v.level, b, vof_of(name));
}

CellHolders& GridPlaces::holders(int level, int b) {
  if (!holders_ || holders_of_ != std::pair{level, b}) holders_.emplace(grid_->level(level), b);
  holders_of_ = {level, b};
  return *holders_;
}

}  // namespace karst
