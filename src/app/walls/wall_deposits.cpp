// SPDX-License-Identifier: BSD-3-Clause
#include "app/walls/wall_evolution.hpp"

#include <algorithm>
#include <limits>

#include "app/deck/reactive_plan.hpp"
#include "app/output/wall_surface.hpp"
#include "eb/mineral_choice.hpp"
#include "fields/irregular_unknowns.hpp"
#include "transport/reactive/reaction_items.hpp"

namespace karst {

namespace {

/// Own unknowns of the rows of a set.
std::vector<std::int64_t> unknowns_of_rows(const VofSet& rows, const VofSet& unknowns) {
  std::vector<std::int64_t> found;
  std::int64_t u = 0;
  for (std::int64_t r = 0; r < rows.size; ++r) {
    const std::int64_t vof = rows.all ? r : rows.vofs[r];
    while ((unknowns.all ? u : unknowns.vofs[u]) < vof) ++u;
    found.push_back(u);
  }
  return found;
}

/// Of each piece, the part of its area that a mineral may lie on.
WallRows places_for(const JobContext& run, const MineralDeck& mineral) {
  const Geometry& geometry = run.geometry();
  WallRows parts = wall_rows(geometry.levels);
  for_irregular_unknowns(*run.ground->composite(),
                         [&](std::int32_t, int l, std::int64_t row, const VofMoments& m, const Vec3&, bool inside) {
                           if (!may_react(m, inside)) return;
                           for_each_mineral(geometry.levels[l], row, [&](MineralNumber g, double a) {
                             if (lies_on(mineral, geometry.report.minerals[g].name)) parts[l][row] += a / m.wall_area;
                           });
                         });
  return parts;
}

/// The amounts of a state, on pieces of its ground.
/// @param amounts  [row][mineral] [mol/kgw]
WallRows amounts_on_pieces(const Ground& ground, const ScalarGrid& volumes, const VofSet& sites,
                           std::span<const double> amounts, std::size_t n_minerals, std::size_t mineral) {
  const Geometry& geometry = ground.geometry();
  WallRows rows = wall_rows(geometry.levels);
  std::vector<double> of_unknown(volumes.n_own, 0.0);
  const std::vector<std::int64_t> unknowns = unknowns_of_rows(sites, unknowns_of(geometry, *ground.numbering()));
  for (std::size_t r = 0; r < unknowns.size(); ++r)
    of_unknown[unknowns[r]] = amounts[r * n_minerals + mineral] * volumes.volume[unknowns[r]];
  for (const WallPlace& p : wall_places(geometry, *ground.numbering())) rows[p.level][p.row] = of_unknown[p.unknown];
  return rows;
}

}  // namespace

std::vector<WallRows> move_deposits(const JobContext& run, const Ground& before, const ScalarGrid& from,
                                    const ScalarGrid& to, const State& was, State& now) {
  const std::vector<MineralDeck>& minerals = run.config.chemistry.minerals;
  const std::string name = amounts_item(sites_at_walls);
  const auto item = std::ranges::find(was.items, name, &StateItem::name);
  if (item == was.items.end()) return {};
  const std::size_t n = minerals.size();
  const std::span<const double> amounts = std::get<std::span<const double>>(item->values);
  VofSet unknowns = unknowns_of(run.geometry(), *run.ground->numbering());
  Array<double> values(unknowns.size * n, Purpose::buffers, std::numeric_limits<double>::infinity());
  auto buried = now.numbers.at(sites_at_walls).at(buried_item).get<std::vector<double>>();
  buried.resize(n, 0.0);
  std::vector<WallRows> all;
  for (std::size_t m = 0; m < n; ++m) {
    if (!minerals[m].deposit) continue;
    SharedAmounts shared =
        share_on_moved_walls(run.comm, wall_pieces_of(before.geometry()),
                             amounts_on_pieces(before, from, set_of(was, item->set), amounts, n, m),
                             wall_pieces_of(run.geometry()), places_for(run, minerals[m]), run.walls->displacement);
    for (std::int64_t u = 0; u < unknowns.size; ++u) values[u * n + m] = 0.0;
    for (const WallPlace& p : wall_places(run.geometry(), *run.ground->numbering()))
      values[p.unknown * n + m] = shared.amounts[p.level][p.row] / to.volume[p.unknown];
    buried[m] += shared.lost;
    all.push_back(std::move(shared.amounts));
  }
  now.numbers[sites_at_walls][buried_item] = buried;
  add_owned(now, {name, "mol/kgw", ItemKind::on_wall, static_cast<int>(n), unknowns.name}, std::move(values));
  add_set(now, std::move(unknowns));
  return all;
}

}  // namespace karst
