// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/moved_state.hpp"

#include <cmath>

#include "base/core/error.hpp"

namespace karst {
namespace {

/// Rows of a set that are the unknowns, in their order; all of them. Collective.
std::vector<std::int64_t> rows_of_unknowns(const State& state, const std::string& set, const Composite& grid) {
  const VofSet unknowns = unknowns_of(grid.geometry(), grid.numbering()), &all = set_of(state, set);
  const bool same = all.size == unknowns.size;
  const bool complete = all.size == all_vofs(grid.geometry()).size;
  require(!grid.comm().any(!same && !complete),
          "change of grid: \"{}\" stands in some volumes alone, and cannot be kept", set);
  std::vector<std::int64_t> rows(unknowns.size);
  for (std::int64_t u = 0; u < unknowns.size; ++u) rows[u] = same || unknowns.all ? u : unknowns.vofs[u];
  return rows;
}

/// Times a power of the width of each volume's level.
void scale_levels(const ScalarGrid& grid, int power, std::span<double> values) {
  for (int l = 1; l < grid.composite->n_levels(); ++l) {
    const double factor = std::ldexp(1.0, -l * power);
    for (std::int32_t v = grid.level_begin[l]; v < grid.level_begin[l + 1]; ++v) values[v] *= factor;
  }
}

}  // namespace

double content_of(const ScalarGrid& grid, std::span<const double> values) {
  return grid.composite->comm().sum(
      parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v] * values[v]; }));
}

State moved_state(const ScalarGrid& from, const ScalarGrid& to, const State& state, const MoveValues& move) {
  const Composite &old_grid = *from.composite, &new_grid = *to.composite;
  State moved{.numbers = state.numbers, .other_grid = true};
  for (const StateItem& item : state.items) {
    if (item.kind == ItemKind::face_flux || item.kind == ItemKind::memory || item.kind == ItemKind::on_wall) continue;
    const bool everywhere = item.set == all_vofs(old_grid.geometry()).name;
    VofSet set = everywhere ? all_vofs(new_grid.geometry()) : unknowns_of(new_grid.geometry(), new_grid.numbering());
    const std::string name = set.name;
    add_set(moved, std::move(set));
    const std::vector<std::int64_t> rows = rows_of_unknowns(state, item.set, old_grid),
                                    new_rows = rows_of_unknowns(moved, name, new_grid);
    const std::span<const double> was = std::get<std::span<const double>>(item.values);
    Array<double> now(set_of(moved, name).size * item.components, Purpose::buffers, 0.0);
    std::vector<double> of_old(rows.size());
    for (int c = 0; c < item.components; ++c) {
      for (std::size_t u = 0; u < rows.size(); ++u) of_old[u] = was[rows[u] * item.components + c];
      if (c == item.times_width) scale_levels(from, -1, of_old);
      std::vector<double> of_new = move(item, c, of_old);
      if (c == item.times_width) scale_levels(to, 1, of_new);
      for (std::size_t u = 0; u < of_new.size(); ++u) now[new_rows[u] * item.components + c] = of_new[u];
    }
    StateItem copy = item;
    copy.set = name;
    add_owned(moved, std::move(copy), std::move(now));
  }
  return moved;
}

}  // namespace karst
