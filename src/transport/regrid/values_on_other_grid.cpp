// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/values_on_other_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/core/error.hpp"
#include "grid/questions.hpp"

namespace karst {
namespace {

/// A source as its volumes see it.
struct SourceValue {
  double value = 0.0, low = 0.0, high = 0.0;
  Vec3 gradient;  ///< [1/h0]
};

/// What one volume gives to a VoF above it.
struct PartOfMean {
  std::int32_t number;
  double volume, content, low, high;
};

/// Of the own volumes: with their neighbours' values as bounds.
void look_around(ScalarGrid& grid, std::span<const double> own, std::span<SourceValue> sources) {
  std::vector<double> values(grid.n_values, 0.0);
  std::ranges::copy(own, values.begin());
  fetch_remote(grid, values);
  std::array<std::vector<double>, 3> g;
  for (std::vector<double>& component : g) component.resize(grid.n_all);
  find_gradient(grid, find_gradient_weights(grid, {}), values, Gradient{g[0], g[1], g[2]});
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    SourceValue& s = sources[v];
    s = {values[v], values[v], values[v], {g[0][v], g[1][v], g[2][v]}};
    faces([&](std::int32_t, std::int32_t other, double) {
      if (other >= grid.n_all) return;
      s.low = std::min(s.low, values[other]);
      s.high = std::max(s.high, values[other]);
    });
  });
}

/// Means of the VoFs above volumes, and of volumes with what joins them.
void take_means(const GridChange& change, std::span<const double> own, std::span<SourceValue> sources) {
  const int rank = change.from.composite->comm().rank();
  constexpr PartOfMean none{0, 0.0, 0.0, std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  std::vector<PartOfMean> sums(change.n_sources, none);
  const auto add = [&](const PartOfMean& part) {
    PartOfMean& sum = sums[part.number];
    sum.volume += part.volume;
    sum.content += part.content;
    sum.low = std::min(sum.low, part.low);
    sum.high = std::max(sum.high, part.high);
  };
  std::map<int, ByteWriter> to_owner;
  for (std::int32_t v = 0; v < change.from.n_own; ++v) {
    const double volume = change.from.volume[v];
    PartOfMean part{v, volume, volume * own[v], own[v], own[v]};
    const auto give = [&](const RemoteItem& to) {
      part.number = to.number;
      if (to.rank == rank)
        add(part);
      else if (to.rank >= 0)
        to_owner[to.rank].put(part);
    };
    for (const RemoteItem& above : change.ancestors_of(v)) give(above);
    if (const RemoteItem& heir = change.heir[v]; change.ancestors_of(v).empty() && heir != RemoteItem{rank, v})
      give(heir);
  }
  send_to_ranks(change.from.composite->comm(), std::move(to_owner),
                [&](ByteReader& in, int) { add(in.get<PartOfMean>()); });
  for (std::int32_t i = 0; i < change.n_sources; ++i) {
    PartOfMean& sum = sums[i];
    if (sum.volume == 0.0) continue;
    const bool covered = i >= change.from.n_own;
    const SourceValue was = sources[i];
    if (!covered) add({i, change.from.volume[i], change.from.volume[i] * was.value, was.low, was.high});
    const double mean = std::clamp(sum.content / sum.volume, sum.low, sum.high);  // round-off
    sources[i] = {mean, sum.low, sum.high, covered ? Vec3{} : was.gradient};
  }
}

/// Largest part of the slopes with which all volumes of a source stay within its bounds, [source], on all ranks.
std::vector<double> limits(const GridChange& change, std::span<const SourceValue> sources) {
  std::map<int, ByteWriter> to_owner;
  std::vector<double> part(sources.size(), 1.0);
  const int rank = change.to.composite->comm().rank();
  for (std::size_t v = 0; v < change.source.size(); ++v) {
    const SourceValue& s = sources[change.source[v]];
    const double step = dot(s.gradient, change.offset[v]), room = step > 0.0 ? s.high - s.value : s.low - s.value;
    if (std::abs(step) <= std::abs(room)) continue;
    if (change.id[v].rank == rank) {
      part[change.source[v]] = std::min(part[change.source[v]], room / step);
    } else {
      to_owner[change.id[v].rank].put(change.id[v].number);
      to_owner[change.id[v].rank].put(room / step);
    }
  }
  send_to_ranks(change.to.composite->comm(), std::move(to_owner), [&](ByteReader& in, int) {
    const auto number = in.get<std::int32_t>();
    part[number] = std::min(part[number], in.get<double>());
  });
  return part;
}

/// Σ value x volume on all ranks.
double content(const ScalarGrid& grid, std::span<const double> values) {
  return grid.composite->comm().sum(
      parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v] * values[v]; }));
}

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

std::vector<double> values_on_other_grid(GridChange& change, std::span<const double> values) {
  std::vector<SourceValue> sources(change.n_sources + change.exchange.n_received());
  look_around(change.from, values, sources);
  take_means(change, values, sources);
  change.exchange.exchange(std::span(sources));
  std::vector<double> part = limits(change, sources);
  change.exchange.exchange(std::span(part));
  std::vector<double> now(change.to.n_own);
  for (std::size_t v = 0; v < now.size(); ++v) {
    const SourceValue& s = sources[change.source[v]];
    const double moved = s.value + part[change.source[v]] * dot(s.gradient, change.offset[v]);
    now[v] = std::clamp(moved, s.low, s.high);  // round-off
  }
  return now;
}

std::vector<double> amounts_on_other_grid(GridChange& change, std::span<const double> values) {
  std::vector<double> amount(change.n_sources + change.exchange.n_received(), 0.0);
  const int rank = change.from.composite->comm().rank();
  std::map<int, ByteWriter> to_owner;
  for (std::int64_t v = 0; v < change.from.n_own; ++v) {
    const RemoteItem& to = change.heir[v];
    if (to.rank < 0) continue;  // a fragment of fluid that the new grid does not have, nor any fluid beside it
    const double mine = change.from.volume[v] * values[v];
    if (to.rank == rank) {
      amount[to.number] += mine;
    } else {
      to_owner[to.rank].put(to.number);
      to_owner[to.rank].put(mine);
    }
  }
  send_to_ranks(change.from.composite->comm(), std::move(to_owner), [&](ByteReader& in, int) {
    const auto number = in.get<std::int32_t>();
    amount[number] += in.get<double>();
  });
  change.exchange.exchange(std::span(amount));
  std::vector<double> now(change.to.n_own);
  for (std::size_t v = 0; v < now.size(); ++v) now[v] = amount[change.source[v]] / change.shares[v];
  return now;
}

State state_on_other_grid(GridChange& change, const State& state, std::vector<ItemChange>& changes) {
  const Composite &from = *change.from.composite, &to = *change.to.composite;
  State moved{.numbers = state.numbers, .other_grid = true};
  for (const StateItem& item : state.items) {
    if (item.kind == ItemKind::face_flux || item.kind == ItemKind::memory) continue;
    const bool everywhere = item.set == all_vofs(from.geometry()).name;
    VofSet set = everywhere ? all_vofs(to.geometry()) : unknowns_of(to.geometry(), to.numbering());
    const std::string name = set.name;
    add_set(moved, std::move(set));
    const std::vector<std::int64_t> rows = rows_of_unknowns(state, item.set, from),
                                    new_rows = rows_of_unknowns(moved, name, to);
    const std::span<const double> was = std::get<std::span<const double>>(item.values);
    Array<double> now(set_of(moved, name).size * item.components, Purpose::buffers, 0.0);
    std::vector<double> of_old(rows.size());
    for (int c = 0; c < item.components; ++c) {
      for (std::size_t u = 0; u < rows.size(); ++u) of_old[u] = was[rows[u] * item.components + c];
      if (c == item.times_width) scale_levels(change.from, -1, of_old);
      std::vector<double> of_new =
          item.kind == ItemKind::amount ? amounts_on_other_grid(change, of_old) : values_on_other_grid(change, of_old);
      if (c == 0) changes.push_back({item.name, content(change.from, of_old), content(change.to, of_new)});
      if (c == item.times_width) scale_levels(change.to, 1, of_new);
      for (std::size_t u = 0; u < of_new.size(); ++u) now[new_rows[u] * item.components + c] = of_new[u];
    }
    StateItem copy = item;
    copy.set = name;
    add_owned(moved, std::move(copy), std::move(now));
  }
  return moved;
}

}  // namespace karst
