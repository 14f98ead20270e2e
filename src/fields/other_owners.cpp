// SPDX-License-Identifier: BSD-3-Clause
#include "fields/other_owners.hpp"

#include <algorithm>
#include <array>

#include "base/core/error.hpp"

namespace karst {

namespace {

/// Where the VoFs of own boxes begin among all of a rank.
std::vector<std::int64_t> begins_of(const Geometry& geometry) {
  std::vector<std::int64_t> begin;
  std::int64_t n = 0;
  for (const LevelGeometry& level : geometry.levels) {
    begin.push_back(n);
    n += level.graph.slots()->vof_begin.back();
  }
  return begin;
}

/// Rows of a set that belong to a box.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};
RowRange rows_of(const VofSet& set, std::int64_t first, std::int64_t end) {
  if (set.all) return {first, end};
  const auto row = [&](std::int64_t place) { return std::ranges::lower_bound(set.vofs, place) - set.vofs.begin(); };
  return {row(first), row(end)};
}

/// Values of an item that arrive box after box.
struct Arrived {
  std::vector<double> exact;
  std::vector<float> single;
};

template <class T>
void append(std::span<const std::byte>& bytes, std::size_t n, std::vector<T>& to) {
  to.resize(to.size() + n);
  unpack(bytes, std::span(to).last(n));
}

template <class T>
Array<T> array_of(std::vector<T>& values) {
  Array<T> all(values.size(), Purpose::buffers);
  std::ranges::copy(values, all.begin());
  values = std::vector<T>();
  return all;
}

/// f(numbers) for the lists of fluxes of the faces of an own box.
template <class Field, class F>
void for_box(Field& field, int l, int b, F&& f) {
  const Composite& grid = field.grid();
  const BoxGraph graph = grid.graph(l).box(b);
  const std::size_t first_ghost = graph.n_own + graph.halo.n_vofs() + graph.halo.n_coarse();
  for (int d = 0; d < 3; ++d) {
    f(field.primary(l).own(b, d));
    f(field.primary(l).box(b, d).subspan(first_ghost, graph.halo.n_domain()));
  }
  const auto& begin = grid.level(l).extra_begin;
  f(field.extra(l).subspan(begin[b], begin[b + 1] - begin[b]));
  if (l == 0) return;
  const std::int64_t first = grid.coarse_fine_begin(l - 1, b);
  f(field.coarse_fine(l - 1).subspan(first, grid.coarse_fine_begin(l - 1, b + 1) - first));
}

}  // namespace

OtherOwners other_owners(const Geometry& from, const Geometry& to) {
  OtherOwners owners;
  for (const LevelGeometry& level : from.levels) owners.from.push_back(&level.graph.layout());
  for (const LevelGeometry& level : to.levels) owners.to.push_back(&level.graph.layout());
  return owners;
}

State with_other_owners(const Comm& comm, const State& state, const Geometry& from, const Geometry& to) {
  const std::vector<std::int64_t> from_begin = begins_of(from), to_begin = begins_of(to);
  const auto bytes_of = [&](int level, int box) {
    BoxBytes bytes;
    const SlotMap& slots = *from.levels[level].graph.slots();
    const std::int64_t first = from_begin[level] + slots.vof_begin[box], end = first + slots.n_own(box);
    for (const VofSet& set : state.sets) {
      const RowRange rows = rows_of(set, first, end);
      std::vector<std::int32_t> vofs;  // in the box
      for (std::int64_t r = rows.begin; r < rows.end; ++r)
        vofs.push_back(static_cast<std::int32_t>((set.all ? r : set.vofs[r]) - first));
      pack<std::int64_t>(bytes, std::array{std::int64_t{slots.n_own(box)}, std::ssize(vofs)});
      pack<std::int32_t>(bytes, vofs);
      for (const StateItem& item : state.items)
        if (item.set == set.name)
          std::visit(
              [&]<class T>(std::span<const T> values) {
                pack(bytes, values.subspan(rows.begin * item.components, (rows.end - rows.begin) * item.components));
              },
              item.values);
    }
    return bytes;
  };
  State moved{.numbers = state.numbers};
  std::vector<Arrived> arrived(state.items.size());
  for (const VofSet& set : state.sets) moved.sets.push_back({.name = set.name, .all = false});
  const auto take = [&](int level, int box, std::span<const std::byte> bytes) {
    const SlotMap& slots = *to.levels[level].graph.slots();
    for (VofSet& set : moved.sets) {
      std::array<std::int64_t, 2> n{};
      unpack<std::int64_t>(bytes, n);
      require(n[0] == slots.n_own(box), "a box has {} VoFs with its new owner, {} with the one before",
              slots.n_own(box), n[0]);
      std::vector<std::int32_t> vofs(n[1]);
      unpack<std::int32_t>(bytes, vofs);
      for (const std::int32_t v : vofs) set.vofs.push_back(to_begin[level] + slots.vof_begin[box] + v);
      for (std::size_t i = 0; i < state.items.size(); ++i) {
        const StateItem& item = state.items[i];
        if (item.set != set.name) continue;
        const std::size_t count = vofs.size() * item.components;
        if (item.values.index() == 0)
          append(bytes, count, arrived[i].exact);
        else
          append(bytes, count, arrived[i].single);
      }
    }
  };
  send_boxes(comm, other_owners(from, to), bytes_of, take);
  for (VofSet& set : moved.sets) {
    set.size = std::ssize(set.vofs);
    set.all = set.size == all_vofs(to).size;
    if (set.all) set.vofs = {};
  }
  for (std::size_t i = 0; i < state.items.size(); ++i)
    if (state.items[i].values.index() == 0)
      add_owned(moved, state.items[i], array_of(arrived[i].exact));
    else
      add_owned(moved, state.items[i], array_of(arrived[i].single));
  return moved;
}

std::vector<double> with_other_owners(const Comm& comm, std::span<const double> rows, int components,
                                      const Composite& from, const Composite& to) {
  State state;
  add_set(state, unknowns_of(from.geometry(), from.numbering()));
  state.items.push_back({"rows", "", ItemKind::point_value, components, state.sets[0].name, rows});
  std::vector<double> moved(to.numbering().n_own() * components);
  take_item(with_other_owners(comm, state, from.geometry(), to.geometry()), "rows", components, std::span(moved));
  return moved;
}

FaceField with_other_owners(const FaceField& field, const std::shared_ptr<const Composite>& to) {
  FaceField moved(to);
  send_boxes(
      to->comm(), other_owners(field.grid().geometry(), to->geometry()),
      [&](int level, int box) {
        BoxBytes bytes;
        for_box(field, level, box, [&](std::span<const double> values) { pack(bytes, values); });
        return bytes;
      },
      [&](int level, int box, std::span<const std::byte> bytes) {
        for_box(moved, level, box, [&](std::span<double> values) { unpack(bytes, values); });
        require(bytes.empty(), "a box has other faces with its new owner");
      });
  return moved;
}

}  // namespace karst
