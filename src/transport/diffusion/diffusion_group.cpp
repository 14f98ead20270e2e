// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "base/comm/timer.hpp"
#include "fields/irregular_unknowns.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/elliptic/row_maker.hpp"
#include "transport/diffusion/diffusion_stages.hpp"
#include "transport/diffusion/kept_diffusion.hpp"

namespace karst {
namespace {

WallPiece piece_of(const LevelGeometry& geometry, const VofMoments& m, int level, std::int64_t row,
                   const Vec3& center) {
  return wall_piece(m, level, row, wall_parts(geometry, row), Composite::width(level) * (center + m.wall_centroid));
}

constexpr double least_film = 0.05;  ///< distance of a mean from the wall / h

/// Rates and values of the walls of the own irregular unknowns, as EllipticOperator::set_wall() takes them, and the
/// films of the step of low order.
struct Walls {
  WallField rates, values;
};

Walls find_walls(const ScalarGrid& grid, const ScalarComponent& component, LowOrderTerms& low) {
  Walls walls{WallField(grid.composite), WallField(grid.composite)};
  const Composite& composite = *grid.composite;
  low.wall = Array<double>(grid.n_own, Purpose::fields, 0.0);
  low.equilibrium = Array<double>(grid.n_own, Purpose::fields, 0.0);
  for_irregular_unknowns(
      composite, [&](std::int32_t v, int l, std::int64_t row, const VofMoments& m, const Vec3& center, bool inside) {
        if (!(m.wall_area > 0.0)) return;
        const WallPiece piece = piece_of(composite.level(l), m, l, row, center);
        const ScalarWall wall = component.wall(piece);
        walls.rates.level(l)[row] = wall.rate;
        walls.values.level(l)[row] = wall.rate * wall.equilibrium;
        if (!inside && m.wall_area > crumb * m.kappa) return;
        const double h = Composite::width(l);
        const Vec3 to_wall = m.centroid - m.wall_centroid;
        const double film = h * std::max(least_film, dot(to_wall, piece.normal));
        low.wall[v] = piece.area * wall.rate / (1.0 + wall.rate * film / component.diffusivity);
        low.equilibrium[v] = wall.equilibrium;
      });
  return walls;
}

/// What the wall adds to right-hand sides, by rows: of rate x c_eq, and of the rate alone.
std::vector<DiffusionGroup::WallRow> find_wall_rows(EllipticOperator& op, const Walls& walls) {
  std::vector<double> constant(op.numbering().n_own()), rate(constant.size());
  op.set_wall(walls.rates, walls.rates);
  op.right_side({}, rate);
  op.set_wall(walls.rates, walls.values);
  op.right_side({}, constant);
  std::vector<DiffusionGroup::WallRow> rows;
  for (std::size_t v = 0; v < rate.size(); ++v)
    if (rate[v] != 0.0 || constant[v] != 0.0) rows.push_back({static_cast<std::int32_t>(v), constant[v], rate[v]});
  return rows;
}

/// @param weights  of gradients
/// @param special  place of the volume among the special ones
/// @param by       cell centre - centroid [h0]
void add_moved(const ScalarGrid& grid, std::span<const Vec3> weights, std::int64_t special, const Vec3& by,
               MovedValues& moved) {
  for (auto k = grid.special_begin[special]; k < grid.special_begin[special + 1]; ++k) {
    if (weights[k] == Vec3{}) continue;
    moved.other.push_back(grid.volume_faces[k].other());
    moved.weight.push_back(dot(weights[k], by));
  }
  moved.volume.push_back(grid.special[special]);
  moved.begin.push_back(std::ssize(moved.other));
}

/// The own fragments, with their neighbours that are none, by two-point conductances.
MovedValues find_followers(const ScalarGrid& grid, const LowOrderTerms& low) {
  MovedValues followers;
  for (std::int64_t s = 0; s < std::ssize(grid.special); ++s) {
    if (grid.fragment[grid.special[s]] == 0) continue;
    double sum = 0.0;
    const auto neighbours = [&](auto&& f) {
      for (std::int64_t k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k) {
        const std::int32_t other = grid.volume_faces[k].other();
        if (other < grid.n_all && grid.fragment[other] == 0 && low.g.of_faces[k] > 0.0) f(other, low.g.of_faces[k]);
      }
    };
    neighbours([&](std::int32_t, double g) { sum += g; });
    neighbours([&](std::int32_t other, double g) {
      followers.other.push_back(other);
      followers.weight.push_back(g / sum);
    });
    followers.volume.push_back(grid.special[s]);
    followers.begin.push_back(std::ssize(followers.other));
  }
  return followers;
}

/// Whether all walls of rows that are those of before have the same rates: products of rows contain them, also those of
/// isolated fragments in the boxes beside, which are no unknowns of the products.
bool same_rates(const OperatorBefore& before, const EllipticOperator& now) {
  const auto rates_of = [](const BoundaryTerms& terms, std::int32_t begin, std::int32_t end) {
    const auto row = [&](const RobinWall& wall) { return terms.walls[wall.term].row; };  // increasing
    return std::ranges::subrange(std::ranges::lower_bound(terms.robin, begin, {}, row),
                                 std::ranges::lower_bound(terms.robin, end, {}, row));
  };
  const CompositeNumbering& numbering = now.numbering();
  const SameBoxes& same = *before.same;
  for (int l = 0; l < std::ssize(same.boxes); ++l)
    for (int b = 0; b < std::ssize(same.boxes[l]); ++b) {
      const SameBoxes::Box& box = same.of(l, b).box >= 0 ? same.of(l, b) : same.partly[l][b];
      if (box.box < 0) continue;
      const auto was = rates_of(before.op->boundary(), box.begin, box.end),
                 is = rates_of(now.boundary(), numbering.box_begin(l, b), numbering.box_end(l, b));
      auto at = was.begin();
      for (const RobinWall& wall : is) {
        const std::int32_t row = now.boundary().walls[wall.term].row;
        if (before.known[row] == KnownRow::no) continue;
        const std::int32_t row_was = box.begin + (row - numbering.box_begin(l, b));
        while (before.op->boundary().walls[at->term].row < row_was) ++at;
        if ((at++)->rate != wall.rate) return false;
      }
    }
  return true;
}

std::vector<DiffusionGroup::Joined> find_joined(const EllipticOperator& op) {
  std::vector<DiffusionGroup::Joined> joined;
  for (const std::int32_t o : op.joined_orphans()) joined.push_back({o, op.diagonal_of_joined(o)});
  return joined;
}

}  // namespace

std::int64_t DiffusionGroup::bytes() const {
  std::int64_t sum = op->bytes() + moved.bytes() + followers.bytes() + rows.bytes() + sweeps.bytes() + flux.bytes() +
                     low.bytes() + static_cast<std::int64_t>(sizeof(WallRow) * wall_rows.capacity());
  std::apply([&](const auto&... of) { sum += (of.bytes() + ...); }, stiff);
  return sum;
}

bool diffuse_alike(const ScalarGrid& grid, const ScalarComponent& a, const ScalarComponent& b) {
  if (a.diffusivity != b.diffusivity || fixed_sides(a) != fixed_sides(b) || !a.wall != !b.wall) return false;
  bool same = true;
  if (a.wall)
    for_irregular_unknowns(*grid.composite,
                           [&](std::int32_t, int l, std::int64_t row, const VofMoments& m, const Vec3& center, bool) {
                             if (!(m.wall_area > 0.0) || !same) return;
                             const WallPiece piece = piece_of(grid.composite->level(l), m, l, row, center);
                             const ScalarWall x = a.wall(piece), y = b.wall(piece);
                             same = x.rate == y.rate && x.equilibrium == y.equilibrium;
                           });
  return !grid.composite->comm().any(!same);
}

std::shared_ptr<DiffusionGroup> make_diffusion_group(ScalarGrid& grid, const ScalarComponent& component) {
  const Timer timer("diffusion set-up");
  const Composite& composite = *grid.composite;
  auto group = std::make_shared<DiffusionGroup>();
  group->low.diffusivity = component.diffusivity;
  group->low.fixed = fixed_sides(component);
  find_conductances(grid, group->low);
  EllipticProblem problem;
  problem.beta = component.diffusivity;
  for (int side = 0; side < 6; ++side)  // the values are those of each component: value_at() in diffusion_stages.cpp
    if (group->low.fixed[side]) problem.sides[side] = [](const Vec3&) { return dirichlet(0.0); };
  if (component.wall) problem.wall = [](const WallPiece&) { return robin(0.0, 0.0); };
  group->reacts = static_cast<bool>(component.wall);
  const std::shared_ptr<KeptDiffusion> kept = composite.in_use().find<KeptDiffusion>();
  KeptDiffusion::Group before = kept ? kept->take(*group) : KeptDiffusion::Group{};
  std::vector<KnownRow> known(before.op ? grid.n_own : 0, KnownRow::no);
  const OperatorBefore rows_before =
      before.op ? OperatorBefore{before.op.get(), kept->same.get(), known} : OperatorBefore{};
  group->op = std::make_unique<EllipticOperator>(grid.composite, problem, WallForm::fluxes, Faces::keep, rows_before);
  if (component.wall) group->wall_rows = find_wall_rows(*group->op, find_walls(grid, component, group->low));
  RowsBefore products_before;
  if (before.op && same_rates(rows_before, *group->op)) products_before = {&before.rows, kept->same.get(), known};
  before.op.reset();
  std::vector<std::int64_t> special(grid.n_own, -1);
  for (std::size_t s = 0; s < grid.special.size(); ++s) special[grid.special[s]] = static_cast<std::int64_t>(s);
  const std::span<const Vec3> weights = gradient_weights(grid, group->low.fixed);
  for_irregular_unknowns(composite,
                         [&](std::int32_t v, int l, std::int64_t, const VofMoments& m, const Vec3&, bool inside) {
                           if (inside)
                             add_moved(grid, weights, special[v], -Composite::width(l) * m.centroid, group->moved);
                         });
  group->followers = find_followers(grid, group->low);
  group->joined = find_joined(*group->op);
  group->any_joined = grid.composite->comm().any(!group->joined.empty());
  group->rows = make_diffusion_rows(grid, *group->op, group->moved, group->followers, products_before);
  before = {};
  group->flux = DiffusiveFlux(grid, *group->op);
  group->of_grid = composite.in_use().get<DiffusionGroups>([] { return std::make_shared<DiffusionGroups>(); });
  group->of_grid->groups.push_back(group);
  return group;
}

}  // namespace karst
