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

/// The sources whose values are looked at, all or those that are marked: where each is in a list of them.
struct Places {
  const GridChange& change;
  const SourceMarks* wanted;

  std::size_t size() const {
    return wanted != nullptr ? wanted->size() : change.n_sources + change.exchange.n_received();
  }
  /// -1: it is none of them.
  std::int64_t of(std::int32_t source) const { return wanted != nullptr ? wanted->place(source) : source; }
};

/// Fills what arrives from other ranks. Collective.
template <class T>
void exchange(GridChange& change, const Places& places, std::vector<T>& values) {
  std::vector<T> arrived(change.exchange.n_received());
  const std::span<const std::int32_t> sent = change.exchange.sent();
  change.exchange.begin(std::span(arrived), [&](std::size_t i) {
    const std::int64_t at = places.of(sent[i]);
    return at < 0 ? T{} : values[at];
  });
  change.exchange.finish();
  for (std::int64_t i = 0; i < std::ssize(arrived); ++i)
    if (const std::int64_t at = places.of(static_cast<std::int32_t>(change.n_sources + i)); at >= 0)
      values[at] = arrived[i];
}

/// Of the wanted ones of the own volumes: with their neighbours' values as bounds, and gradients as find_gradient()
/// makes them.
void look_around(ScalarGrid& grid, std::span<const double> own, const Places& places, std::span<SourceValue> sources) {
  std::vector<double> c(grid.n_values, 0.0);
  std::ranges::copy(own, c.begin());
  fetch_remote(grid, c);
  const std::span<const Vec3> weights = find_gradient_weights(grid, {});
  const auto begin = [&](std::int32_t v) -> SourceValue* {
    const std::int64_t at = places.of(v);
    if (at < 0) return nullptr;
    sources[at] = {c[v], c[v], c[v], {}};
    return &sources[at];
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
      SourceValue* const s = begin(p.first + t);
      if (s == nullptr) continue;
      for (const std::int32_t first : p.beyond) see(*s, first + t);
      for (std::size_t d = 0; d < 3; ++d)
        s->gradient[static_cast<int>(d)] = scale * (c[p.beyond[2 * d + 1] + t] - c[p.beyond[2 * d] + t]);
    }
  });
  parallel_for(std::ssize(grid.special), [&](std::int64_t i) {
    const std::int32_t v = grid.special[i];
    SourceValue* const s = begin(v);
    if (s == nullptr) return;
    for (auto k = grid.special_begin[i]; k < grid.special_begin[i + 1]; ++k) {
      const std::int32_t other = grid.volume_faces[k].other();
      see(*s, other);
      if (weights[k] != Vec3{}) s->gradient += (c[other] - c[v]) * weights[k];
    }
  });
}

/// Means of the VoFs above volumes, and of volumes with what joins them.
void take_means(const GridChange& change, std::span<const double> own, const Places& places,
                std::span<SourceValue> sources) {
  const int rank = change.from.composite->comm().rank();
  constexpr PartOfMean none{0, 0.0, 0.0, std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  std::vector<PartOfMean> sums(places.size(), none);
  const auto add = [&](const PartOfMean& part) {
    const std::int64_t at = places.of(part.number);
    if (at < 0) return;
    PartOfMean& sum = sums[at];
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
    const std::int64_t at = places.of(static_cast<std::int32_t>(i));
    if (at < 0 || sums[at].volume == 0.0) return;
    PartOfMean& sum = sums[at];
    const bool covered = i >= change.from.n_own;
    const SourceValue was = sources[at];
    if (!covered)
      add({static_cast<std::int32_t>(i), change.from.volume[i], change.from.volume[i] * was.value, was.low, was.high});
    const double mean = std::clamp(sum.content / sum.volume, sum.low, sum.high);  // round-off
    sources[at] = {mean, sum.low, sum.high, covered ? Vec3{} : was.gradient};
  });
}

/// Largest part of the slopes with which all volumes of a source stay within its bounds, on all ranks.
std::vector<double> limits(const GridChange& change, const Places& places, std::span<const SourceValue> sources) {
  std::map<int, ByteWriter> to_owner;
  std::vector<double> part(sources.size(), 1.0);
  const int rank = change.to.composite->comm().rank();
  for (std::size_t v = 0; v < change.source.size(); ++v) {
    const std::int64_t at = places.of(change.source[v]);
    if (at < 0 || change.offset[v] == Vec3{}) continue;
    const SourceValue& s = sources[at];
    const double step = dot(s.gradient, change.offset[v]), room = step > 0.0 ? s.high - s.value : s.low - s.value;
    if (std::abs(step) <= std::abs(room)) continue;
    if (change.id[v].rank == rank) {
      part[at] = std::min(part[at], room / step);
    } else {
      to_owner[change.id[v].rank].put(change.id[v].number);
      to_owner[change.id[v].rank].put(room / step);
    }
  }
  send_to_ranks(change.to.composite->comm(), std::move(to_owner), [&](ByteReader& in, int) {
    const std::int64_t at = places.of(in.get<std::int32_t>());
    part[at] = std::min(part[at], in.get<double>());
  });
  return part;
}

/// Sources whose volumes are others than before, or that take the fluid of others; the others have one volume each,
/// which stays. Collective.
SourceMarks changed_sources(GridChange& change) {
  SourceMarks changed(change);
  for (std::size_t v = 0; v < change.id.size(); ++v)
    if (change.itself[v] < 0) changed.add(change.id[v]);
  const int rank = change.from.composite->comm().rank();
  for (std::int32_t v = 0; v < change.from.n_own; ++v)  // covered VoFs have other volumes, so they are marked
    if (change.ancestors_of(v).empty() && change.heir[v] != RemoteItem{rank, v}) changed.add(change.heir[v]);
  changed.finish();
  return changed;
}

}  // namespace

std::vector<double> values_on_other_grid(GridChange& change, std::span<const double> values,
                                         const SourceMarks* wanted) {
  const Places places{change, wanted};
  std::vector<SourceValue> sources(places.size());
  look_around(change.from, values, places, sources);
  take_means(change, values, places, sources);
  exchange(change, places, sources);
  std::vector<double> part = limits(change, places, sources);
  exchange(change, places, part);
  std::vector<double> now(change.to.n_own, 0.0);
  parallel_for(std::ssize(now), [&](std::int64_t v) {
    const std::int64_t at = places.of(change.source[v]);
    if (at < 0) return;
    const SourceValue& s = sources[at];
    const double moved = s.value + part[at] * dot(s.gradient, change.offset[v]);
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
  const SourceMarks changed = changed_sources(change);
  const auto values_of = [&](std::span<const double> was) {
    std::vector<double> is = values_on_other_grid(change, was, &changed);
    parallel_for(std::ssize(is), [&](std::int64_t v) {
      if (!changed.has(change.source[v])) is[v] = was[change.itself[v]];
    });
    return is;
  };
  return moved_state(change.from, change.to, state, [&](const StateItem& item, int c, std::span<const double> was) {
    std::vector<double> is = item.kind == ItemKind::amount ? amounts_on_other_grid(change, was) : values_of(was);
    if (c == 0) changes.push_back({item.name, content_of(change.from, was), content_of(change.to, is)});
    return is;
  });
}

}  // namespace karst
