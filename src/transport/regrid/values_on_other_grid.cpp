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

/// Of the wanted ones of the own volumes: with their neighbours' values as bounds, and gradients as find_gradient()
/// makes them.
void look_around(ScalarGrid& grid, std::span<const double> own, const SourceMarks* wanted,
                 std::span<SourceValue> sources) {
  std::vector<double> c(grid.n_values, 0.0);
  std::ranges::copy(own, c.begin());
  fetch_remote(grid, c);
  const std::span<const Vec3> weights = find_gradient_weights(grid, {});
  const auto begin = [&](std::int32_t v) {
    sources[v] = {c[v], c[v], c[v], {}};
    return wanted == nullptr || wanted->has(v);
  };
  const auto see = [&](SourceValue& s, std::int32_t other) {
    if (other >= grid.n_all) return;
    s.low = std::min(s.low, c[other]);
    s.high = std::max(s.high, c[other]);
  };
  parallel_for(std::ssize(grid.plain), [&](std::int64_t i) {
    const PlainVolumes& p = grid.plain[i];
    const double scale = 0.5 / ScalarGrid::width(p.level);
    for (std::int32_t t = 0; t < p.count; ++t) {
      if (!begin(p.first + t)) continue;
      SourceValue& s = sources[p.first + t];
      for (const std::int32_t first : p.beyond) see(s, first + t);
      for (std::size_t d = 0; d < 3; ++d)
        s.gradient[static_cast<int>(d)] = scale * (c[p.beyond[2 * d + 1] + t] - c[p.beyond[2 * d] + t]);
    }
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    if (!begin(v)) return;
    SourceValue& s = sources[v];
    for (auto k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) {
      const std::int32_t other = grid.volume_faces[k].other();
      see(s, other);
      if (weights[k] != Vec3{}) s.gradient += (c[other] - c[v]) * weights[k];
    }
  });
}

/// Means of the VoFs above volumes, and of volumes with what joins them.
void take_means(const GridChange& change, std::span<const double> own, const SourceMarks* wanted,
                std::span<SourceValue> sources) {
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
      if (to.rank != rank && to.rank >= 0)
        to_owner[to.rank].put(part);
      else if (to.rank == rank && (wanted == nullptr || wanted->has(to.number)))
        add(part);
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
std::vector<double> limits(const GridChange& change, const SourceMarks* wanted, std::span<const SourceValue> sources) {
  std::map<int, ByteWriter> to_owner;
  std::vector<double> part(sources.size(), 1.0);
  const int rank = change.to.composite->comm().rank();
  for (std::size_t v = 0; v < change.source.size(); ++v) {
    if (change.offset[v] == Vec3{} || (wanted != nullptr && !wanted->has(change.source[v]))) continue;
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

std::vector<double> values_on_other_grid(GridChange& change, std::span<const double> values,
                                         const SourceMarks* wanted) {
  std::vector<SourceValue> sources(change.n_sources + change.exchange.n_received());
  look_around(change.from, values, wanted, sources);
  take_means(change, values, wanted, sources);
  change.exchange.exchange(std::span(sources));
  std::vector<double> part = limits(change, wanted, sources);
  change.exchange.exchange(std::span(part));
  std::vector<double> now(change.to.n_own, 0.0);
  parallel_for(std::ssize(now), [&](std::int64_t v) {
    if (wanted != nullptr && !wanted->has(change.source[v])) return;
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
