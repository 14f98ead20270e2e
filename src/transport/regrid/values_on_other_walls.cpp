// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/values_on_other_walls.hpp"

#include <algorithm>
#include <limits>

#include "base/core/error.hpp"
#include "transport/regrid/moved_state.hpp"

namespace karst {
namespace {

using Part = WallChange::Part;

/// A content of an old volume where it parts: value + slope·(x - x̄), x̄ the centroid of what is left of it.
struct Profile {
  double value = 0.0, at_wall = 0.0;
  Vec3 slope{};
  double of_centroid = 0.0;  ///< slope·x̄
  bool knows_wall() const { return at_wall != value; }
  double at(const Vec3& x) const { return slope == Vec3{} ? value : value + (dot(slope, x) - of_centroid); }
};

/// Values of the sources, those that arrive included. Collective.
template <class T>
std::vector<T> of_sources(WallChange& change, std::span<const T> values) {
  std::vector<T> all(change.from.n_own + change.exchange.n_received());
  std::ranges::copy(values, all.begin());
  change.exchange.exchange(std::span(all));
  return all;
}

/// Calls f(volume, its parts, what opened in it) for the listed volumes.
template <class F>
void for_listed(const WallChange& change, F&& f) {
  for (std::size_t i = 0; i < change.listed.size(); ++i)
    f(change.listed[i],
      std::span(change.parts).subspan(change.part_begin[i], change.part_begin[i + 1] - change.part_begin[i]),
      change.opened[i]);
}

/// (Σ kept c + Σ (taken - kept) c_w) / Σ taken; that of one source, and a constant, keep their bits.
template <class ValueOf, class AtWall>
double mean(std::span<const Part> parts, ValueOf&& value_of, AtWall&& at_wall) {
  const double one = value_of(parts[0]);
  double difference = 0.0, sum = 0.0;
  for (const Part& part : parts) {
    const double value = value_of(part), wall = at_wall(part);
    difference += wall == value ? part.taken * (value - one)
                                : part.kept * (value - one) + (part.taken - part.kept) * (wall - one);
    sum += part.taken;
  }
  return difference == 0.0 ? one : one + difference / sum;
}

/// What water at the wall of a volume has: of those of its sources that have one, else its own.
double beside_wall(std::span<const Part> parts, std::span<const Profile> sources, double own) {
  double value = 0.0, sum = 0.0;
  for (const Part& part : parts) {
    if (part.source == WallChange::from_pore || !sources[part.source].knows_wall()) continue;
    const double wall = sources[part.source].at_wall, before = sum;
    sum += part.taken;
    value = before == 0.0 ? wall : value + part.taken / sum * (wall - value);
  }
  return sum == 0.0 ? own : value;
}

void sum_up(const Comm& comm, WallBalance& b) {
  std::array<double, 4> sums{b.opened, b.closed, b.entered, b.cut_off};
  comm.sum(std::span(sums));
  b.opened = sums[0], b.closed = sums[1], b.entered = sums[2], b.cut_off = sums[3];
}

/// What is left of each volume, of which some may have closed. Collective.
std::vector<double> left_of(const WallChange& change, std::span<const double> values, std::span<const double> at_wall) {
  constexpr double most = 10.0;  // closed / kept: a linear profile between wall and volume stays one
  std::vector<double> left(values.begin(), values.end());
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double c : values) low = std::min(low, c), high = std::max(high, c);
  low = change.from.composite->comm().min(low);
  high = change.from.composite->comm().max(high);
  for (const WallChange::Old& o : change.old) {
    if (!(o.kept > 0.0) || !(o.closed > 0.0)) continue;
    const double c = values[o.volume], part = std::min(o.closed / o.kept, most);
    left[o.volume] = std::clamp(c + part * (c - at_wall[o.volume]), low, high);
  }
  return left;
}

/// Profiles of the volumes whose fluid goes to several, by least squares, with all of it between the values of the
/// neighbours and the wall. Whole cells among whole cells have none: walls would have to go farther than a cell at
/// once. Collective.
std::vector<Profile> profiles_of(WallChange& change, std::span<const double> values, std::span<const double> left,
                                 std::span<const double> at_wall) {
  ScalarGrid& grid = change.from;
  std::vector<Profile> all(grid.n_own);
  for (std::int32_t v = 0; v < grid.n_own; ++v) all[v] = {left[v], at_wall[v]};
  std::vector<double> c(grid.n_values, 0.0);
  std::ranges::copy(values, c.begin());
  fetch_remote(grid, c);
  const std::span<const Vec3> weights = find_gradient_weights(grid, {});
  for (const WallChange::Old& o : change.old) {
    const auto at = std::ranges::lower_bound(grid.special, o.volume);
    if (o.reach == 0.0 || at == grid.special.end() || *at != o.volume) continue;
    Profile& p = all[o.volume];
    auto [low, high] = std::minmax({c[o.volume], p.value, p.at_wall});
    const std::int64_t s = at - grid.special.begin();
    for (std::int64_t k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k) {
      const std::int32_t other = grid.volume_faces[k].other();
      if (other >= grid.n_all) continue;
      low = std::min(low, c[other]);
      high = std::max(high, c[other]);
      if (weights[k] != Vec3{}) p.slope += (c[other] - c[o.volume]) * weights[k];
    }
    const double farthest = norm(p.slope) * o.reach, most = std::min(high - p.value, p.value - low);
    if (farthest > most) p.slope *= most / farthest;
    p.of_centroid = dot(p.slope, o.at);
  }
  return of_sources<Profile>(change, all);
}

}  // namespace

std::vector<double> contents_on_other_walls(WallChange& change, std::span<const double> values,
                                            std::span<const double> at_wall, double of_pore, WallBalance& balance) {
  const bool known = change.from.composite->comm().any(!at_wall.empty());  // a rank without volumes has none
  if (!known) at_wall = values;
  const std::vector<double> left =
      known ? left_of(change, values, at_wall) : std::vector<double>(values.begin(), values.end());
  const std::vector<Profile> old = profiles_of(change, values, left, at_wall);
  const auto value_of = [&](const Part& p) {
    return p.source == WallChange::from_pore ? of_pore : old[p.source].at(p.at);
  };
  const auto wall_of = [&](const Part& p) {
    return p.source == WallChange::from_pore ? of_pore : old[p.source].at_wall;
  };
  std::vector<double> now(change.to.n_all, 0.0), open(change.to.n_all, 0.0);  // open: what opens there
  for (std::int32_t v = 0; v < change.to.n_own; ++v)
    if (change.same[v] >= 0) now[v] = old[change.same[v]].value, open[v] = old[change.same[v]].at_wall;
  balance = {};
  for_listed(change, [&](std::int32_t v, std::span<const Part> parts, double opened) {
    if (!parts.empty()) {
      now[v] = mean(parts, value_of, wall_of);
      open[v] = known ? beside_wall(parts, old, now[v]) : now[v];
      if (open[v] != now[v]) now[v] += opened / change.to.volume[v] * (open[v] - now[v]);
    }
    for (const Part& p : parts) {
      if (p.source != WallChange::from_pore) continue;
      balance.entered += p.kept * of_pore;
      balance.opened += (p.taken - p.kept) * of_pore;
    }
  });
  fill_from_neighbours(change.to, change.born, open);
  for (const std::int32_t v : change.born.volume) now[v] = open[v];
  now.resize(change.to.n_own);
  for_listed(change, [&](std::int32_t v, std::span<const Part>, double opened) { balance.opened += opened * open[v]; });
  for (const WallChange::Old& o : change.old) {
    balance.opened += o.opened * at_wall[o.volume];
    balance.closed += o.closed * values[o.volume] - o.kept * (left[o.volume] - values[o.volume]);
    balance.cut_off += o.cut_off * left[o.volume];
  }
  sum_up(change.to.composite->comm(), balance);
  balance.before = content_of(change.from, values);
  balance.after = content_of(change.to, now);
  return now;
}

std::vector<double> amounts_on_other_walls(WallChange& change, std::span<const double> values, double of_pore,
                                           WallBalance& balance) {
  balance = {};
  const std::int32_t n = change.from.n_own;
  // What neighbours that closed wholly have given, and then what a volume has per volume that is left of it.
  std::vector<double> given(n, 0.0), density(values.begin(), values.end());
  for (const WallChange::Old& o : change.old)
    if (o.kept == 0.0) given[o.volume] = o.closed * values[o.volume];
  give_to_neighbours(change.from, change.closed, given);
  for (const std::int32_t v : change.closed.isolated) {
    balance.cut_off += given[v];
    given[v] = 0.0;
  }
  auto listed = change.old.begin();
  for (std::int32_t v = 0; v < n; ++v) {
    const bool is_listed = listed != change.old.end() && listed->volume == v;
    const double left = is_listed ? listed->kept : change.from.volume[v];
    density[v] = left > 0.0 ? values[v] * (change.from.volume[v] / left) + given[v] / left : 0.0;
    if (!is_listed) continue;
    balance.cut_off += listed->cut_off * density[v];
    ++listed;
  }
  density = of_sources<double>(change, density);
  std::vector<double> now(change.to.n_own);
  for (std::int32_t v = 0; v < change.to.n_own; ++v)
    if (change.same[v] >= 0) now[v] = density[change.same[v]];
  for_listed(change, [&](std::int32_t v, std::span<const Part> parts, double) {
    double sum = 0.0;
    for (const Part& p : parts) {
      const bool entered = p.source == WallChange::from_pore;
      sum += p.kept * (entered ? of_pore : density[p.source]);
      if (entered) balance.entered += p.kept * of_pore;
    }
    now[v] = sum / change.to.volume[v];
  });
  sum_up(change.to.composite->comm(), balance);
  balance.before = content_of(change.from, values);
  balance.after = content_of(change.to, now);
  return now;
}

std::vector<double> points_on_other_walls(WallChange& change, std::span<const double> values, double of_pore) {
  const std::vector<double> old = of_sources<double>(change, values);
  std::vector<double> now(change.to.n_all, 0.0);
  for (std::int32_t v = 0; v < change.to.n_own; ++v)
    if (change.same[v] >= 0) now[v] = old[change.same[v]];
  for_listed(change, [&](std::int32_t v, std::span<const Part> parts, double) {
    if (parts.empty()) return;
    const Part& most = *std::ranges::max_element(parts, {}, &Part::kept);
    now[v] = most.source == WallChange::from_pore ? of_pore : old[most.source];
  });
  fill_from_neighbours(change.to, change.born, now);
  now.resize(change.to.n_own);
  return now;
}

State state_on_other_walls(WallChange& change, const State& state, const ValueOfPores& of_pores,
                           const ValuesAtWalls& at_walls, std::vector<ItemOnOtherWalls>& items) {
  const bool asks = change.volumes.entered > 0.0;
  require(!asks || of_pores,
          "walls that move: pores that had been removed are open now, and nothing says what is in them");
  return moved_state(change.from, change.to, state, [&](const StateItem& item, int c, std::span<const double> was) {
    const double of_pore = asks ? of_pores(item, c) : 0.0;
    if (item.kind == ItemKind::point_value) return points_on_other_walls(change, was, of_pore);
    ItemOnOtherWalls moved{item.name, c, {}};
    std::vector<double> is =
        item.kind == ItemKind::amount
            ? amounts_on_other_walls(change, was, of_pore, moved.balance)
            : contents_on_other_walls(change, was, at_walls ? at_walls(item, c) : std::vector<double>(), of_pore,
                                      moved.balance);
    items.push_back(std::move(moved));
    return is;
  });
}

}  // namespace karst
