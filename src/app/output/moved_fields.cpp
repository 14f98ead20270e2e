// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/vof_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "grid/questions.hpp"

namespace karst {

namespace {

/// Positions on the lattice of another level that a box covers, or that hold it.
Box positions_on(const Index& at, int level, int other) {
  if (other >= level) {
    const int n = 1 << (other - level);
    return {n * at, n * (at + Index::all(1))};
  }
  const int n = 1 << (level - other);
  const Index held{at[0] / n, at[1] / n, at[2] / n};
  return {held, held + Index::all(1)};
}

/// Ranks with boxes of a grid, of any level, that meet a box.
std::set<int> ranks_that_meet(const Geometry& grid, int level, const Index& at) {
  std::set<int> ranks;
  for (int l = 0; l < grid.grid.n_levels(); ++l) {
    const Layout& layout = grid.grid.levels[l].layout;
    for_each_cell(positions_on(at, level, l), [&](const Index& p) {
      if (const std::int64_t box = layout.find(p); box >= 0) ranks.insert(layout.owner(box));
    });
  }
  return ranks;
}

/// Values of some fields in cells of boxes, one field after the other, by level and number of the box.
class CellValues {
 public:
  explicit CellValues(std::shared_ptr<const Ground> ground) : ground_(std::move(ground)) {}

  void take(ByteReader& in) {
    const auto level = in.get<std::int32_t>();
    const auto box = in.get<std::int64_t>();
    boxes_[{level, box}] = in.get_vector<float>();
  }
  /// Of a cell, else the mean of the finer ones, else of the coarser one that holds it.
  float at(int level, const Index& cell, std::size_t field) const {
    float value = here_or_finer(level, cell, field);
    Index above = cell;
    for (int l = level - 1; std::isnan(value) && l >= 0; --l) {
      above = {above[0] / 2, above[1] / 2, above[2] / 2};
      value = here(l, above, field);
    }
    return value;
  }

 private:
  const Layout& layout(int level) const { return ground_->geometry().grid.levels[level].layout; }
  float here(int level, const Index& cell, std::size_t field) const {
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    if (level >= ground_->geometry().grid.n_levels()) return none;
    const std::int64_t box = layout(level).find_cell(cell);
    const auto found = boxes_.find({level, box});
    if (found == boxes_.end()) return none;
    const Box cells = layout(level).box(box);
    return found->second[field * cells.count() + cells.offset(cell)];
  }
  float here_or_finer(int level, const Index& cell, std::size_t field) const {
    const float value = here(level, cell, field);
    if (!std::isnan(value) || level + 1 >= ground_->geometry().grid.n_levels()) return value;
    float sum = 0.0F;
    int n = 0;
    for_each_cell({2 * cell, 2 * cell + Index::all(2)}, [&](const Index& child) {
      const float of_child = here_or_finer(level + 1, child, field);
      if (std::isnan(of_child)) return;
      sum += of_child;
      ++n;
    });
    return n > 0 ? sum / static_cast<float>(n) : value;
  }

  std::shared_ptr<const Ground> ground_;
  std::map<std::pair<int, std::int64_t>, std::vector<float>> boxes_;
};

/// To the ranks whose boxes meet them on the other grid.
CellValues sent(const Comm& comm, const Geometry& to, const std::vector<JobComponent>& fields) {
  const std::shared_ptr<const Ground>& ground = fields.front().ground;
  std::map<int, ByteWriter> written;
  for (int l = 0; l < ground->geometry().grid.n_levels(); ++l) {
    const LevelGraph& graph = ground->geometry().levels[l].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const std::int64_t box = graph.box(b).box;
      const std::size_t n = graph.box(b).cells.count();
      std::vector<float> cells(n * fields.size());
      for (std::size_t i = 0; i < fields.size(); ++i) fields[i].fill(l, b, std::span(cells).subspan(i * n, n));
      for (const int rank : ranks_that_meet(to, l, graph.layout().lattice_position(box))) {
        written[rank].put(std::int32_t{l});
        written[rank].put(box);
        written[rank].put_vector(cells);
      }
    }
  }
  CellValues values(ground);
  send_to_ranks(comm, std::move(written), [&](ByteReader& in, int) { values.take(in); });
  return values;
}

}  // namespace

void move_fields(const Comm& comm, const std::shared_ptr<const Ground>& to, std::vector<JobComponent>& fields) {
  if (fields.empty() || fields.front().ground == to) return;
  const Geometry& is = to->geometry();
  const CellValues was = sent(comm, is, fields);
  // [level][own box]: values of all fields, one after the other.
  const auto values = std::make_shared<std::vector<std::vector<std::vector<float>>>>();
  for (int l = 0; l < is.grid.n_levels(); ++l) {
    const LevelGraph& graph = is.levels[l].graph;
    auto& of_level = values->emplace_back(graph.n_local());
    for (int b = 0; b < graph.n_local(); ++b)
      for (std::size_t i = 0; i < fields.size(); ++i)
        for_each_cell(graph.box(b).cells, [&](const Index& cell) {
          of_level[b].push_back(is.grid.cell_is_refined(l, cell) ? std::numeric_limits<float>::quiet_NaN()
                                                                 : was.at(l, cell, i));
        });
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].ground = to;
    fields[i].fill = [values, i](int level, std::int64_t box, std::span<float> cells) {
      const std::vector<float>& all = (*values)[level][box];
      std::ranges::copy(std::span(all).subspan(i * cells.size(), cells.size()), cells.begin());
    };
  }
}

}  // namespace karst
