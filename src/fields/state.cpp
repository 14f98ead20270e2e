// SPDX-License-Identifier: BSD-3-Clause
#include "fields/state.hpp"

#include <algorithm>

#include "base/core/error.hpp"

namespace karst {

namespace {

template <class T>
void take(const State& state, const std::string& name, int components, std::span<T> to) {
  const auto item = std::ranges::find(state.items, name, &StateItem::name);
  require(item != state.items.end(), "the state has no item \"{}\"", name);
  const auto* const values = std::get_if<std::span<const T>>(&item->values);
  require(values != nullptr, "the state has \"{}\" in another precision", name);
  require(item->components == components && values->size() == to.size(),
          "the state has \"{}\" in {} numbers, {} of them in a row, instead of {}, {} in a row", name, values->size(),
          item->components, to.size(), components);
  std::ranges::copy(*values, to.begin());
}

}  // namespace

VofSet all_vofs(const Geometry& geometry) {
  VofSet set{.name = "vofs"};
  for (const LevelGeometry& level : geometry.levels) set.size += level.graph.slots()->vof_begin.back();
  return set;
}

VofSet unknowns_of(const Geometry& geometry, const CompositeNumbering& numbering) {
  VofSet set{.name = "unknowns", .size = numbering.n_own()};
  set.all = set.size == all_vofs(geometry).size;
  if (set.all) return set;
  std::int64_t place = 0;
  for (int l = 0; l < numbering.n_levels(); ++l) {
    const LevelGraph& graph = geometry.levels[l].graph;
    for (int b = 0; b < graph.n_local(); ++b)
      for (int v = 0; v < graph.slots()->n_own(b); ++v, ++place)
        if (numbering.number(l, b, v) >= 0) set.vofs.push_back(place);
  }
  return set;
}

VofSet some_of(const VofSet& set, std::string name, std::span<const std::int32_t> rows) {
  VofSet some{.name = std::move(name), .size = std::ssize(rows)};
  some.all = set.all && some.size == set.size;
  if (some.all) return some;
  for (const std::int32_t row : rows) some.vofs.push_back(set.all ? row : set.vofs[row]);
  return some;
}

void add_set(State& state, VofSet set) {
  if (std::ranges::find(state.sets, set.name, &VofSet::name) == state.sets.end()) state.sets.push_back(std::move(set));
}

const VofSet& set_of(const State& state, const std::string& name) {
  const auto set = std::ranges::find(state.sets, name, &VofSet::name);
  require(set != state.sets.end(), "the state has no set of volumes \"{}\"", name);
  return *set;
}

bool has_item(const State& state, const std::string& name) {
  return std::ranges::find(state.items, name, &StateItem::name) != state.items.end();
}

State owned(const State& state) {
  State copy{.numbers = state.numbers, .sets = state.sets, .other_grid = state.other_grid};
  for (const StateItem& item : state.items)
    std::visit(
        [&]<class T>(std::span<const T> values) {
          Array<T> own(values.size(), Purpose::buffers);
          std::ranges::copy(values, own.begin());
          add_owned(copy, item, std::move(own));
        },
        item.values);
  return copy;
}

void take_item(const State& state, const std::string& name, int components, std::span<double> to) {
  take(state, name, components, to);
}

void take_item(const State& state, const std::string& name, int components, std::span<float> to) {
  take(state, name, components, to);
}

}  // namespace karst
