// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/values_on_other_grid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "grid/questions.hpp"
#include "transport/regrid/moved_state.hpp"

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
  parallel_for(change.n_sources, [&](std::int64_t i) {
    PartOfMean& sum = sums[i];
    if (sum.volume == 0.0) return;
    const bool covered = i >= change.from.n_own;
    const SourceValue was = sources[i];
    if (!covered)
      add({static_cast<std::int32_t>(i), change.from.volume[i], change.from.volume[i] * was.value, was.low, was.high});
    const double mean = std::clamp(sum.content / sum.volume, sum.low, sum.high);  // round-off
    sources[i] = {mean, sum.low, sum.high, covered ? Vec3{} : was.gradient};
  });
}

/// Largest part of the slopes with which all volumes of a source stay within its bounds, [source], on all ranks.
std::vector<double> limits(const GridChange& change, std::span<const SourceValue> sources) {
  std::map<int, ByteWriter> to_owner;
  std::vector<double> part(sources.size(), 1.0);
  const int rank = change.to.composite->comm().rank();
  for (std::size_t v = 0; v < change.source.size(); ++v) {
    if (change.offset[v] == Vec3{}) continue;
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

}  // namespace

std::vector<double> values_on_other_grid(GridChange& change, std::span<const double> values) {
  std::vector<SourceValue> sources(change.n_sources + change.exchange.n_received());
  look_around(change.from, values, sources);
  take_means(change, values, sources);
  change.exchange.exchange(std::span(sources));
  std::vector<double> part = limits(change, sources);
  change.exchange.exchange(std::span(part));
  std::vector<double> now(change.to.n_own);
  parallel_for(std::ssize(now), [&](std::int64_t v) {
    const SourceValue& s = sources[change.source[v]];
    const double moved = s.value + part[change.source[v]] * dot(s.gradient, change.offset[v]);
    now[v] = std::clamp(moved, s.low, s.high);  // round-off
  });
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
  return moved_state(change.from, change.to, state, [&](const StateItem& item, int c, std::span<const double> was) {
    std::vector<double> is =
        item.kind == ItemKind::amount ? amounts_on_other_grid(change, was) : values_on_other_grid(change, was);
    if (c == 0) changes.push_back({item.name, content_of(change.from, was), content_of(change.to, is)});
    return is;
  });
}

}  // namespace karst
