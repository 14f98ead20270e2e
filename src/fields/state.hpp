// SPDX-License-Identifier: BSD-3-Clause
// The state of what goes through time, as a list of items. A process is made from a ground and its state; what is not
// an item (operators, matrices, time steps, indices of probes) is made again from both (decision 055).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/comm/memory.hpp"
#include "base/file/json.hpp"
#include "fields/composite_numbering.hpp"

namespace karst {

/// What becomes of the values of an item:
///
///                 on disk, other owners   other grid, same walls               other walls
///   content       kept                    goes with the water, in its bounds   follows its pieces of fluid
///   amount        kept                    shared by volume, conserved          follows what it lies on
///   point_value   kept                    interpolated; velocity: projected    kept where the volume lives on
///   face_flux     kept                    dropped: from the projection         dropped
///   on_wall       kept                    -                                    shared among the pieces around
///   memory        kept                    dropped: the scheme starts itself    dropped
///
/// What lies on walls is moved by app/walls/wall_deposits.cpp, and to no other grid. Other grids:
/// transport/regrid/values_on_other_grid.hpp, other walls: values_on_other_walls.hpp beside it.
enum class ItemKind : std::uint8_t {
  content,      ///< dissolved in the water of a volume
  amount,       ///< of a volume, per kilogram of its water: sorbed, minerals in it
  point_value,  ///< of a field at the centroid
  face_flux,
  on_wall,  ///< amount on the wall of a volume, per kilogram of its water
  memory    ///< of a scheme: older time levels, rates of the last step, first guesses
};

/// Own VoFs of a rank that have rows: places among all its VoFs, level after level, box after box (Morton order), VoF
/// after VoF.
struct VofSet {
  std::string name;
  bool all = true;                   ///< else those listed
  std::vector<std::int64_t> vofs{};  ///< increasing
  std::int64_t size = 0;             ///< rows
};

/// Also those that a finer level covers. Not collective.
VofSet all_vofs(const Geometry& geometry);
/// The unknowns, in their numbering. Not collective.
VofSet unknowns_of(const Geometry& geometry, const CompositeNumbering& numbering);
/// Some of another set.
/// @param rows  of that set, increasing
VofSet some_of(const VofSet& set, std::string name, std::span<const std::int32_t> rows);

struct StateItem {
  std::string name, unit;
  ItemKind kind = ItemKind::memory;
  int components = 1;
  std::string set;                                                         ///< name of its VofSet
  std::variant<std::span<const double>, std::span<const float>> values{};  ///< [row][component]
  std::shared_ptr<const void> owner{};  ///< of the values; empty: they stand in the process until its next step
  int times_width = -1;                 ///< component that is stored times the width of its level; -1: none
};

struct State {
  Json numbers = Json::object();  ///< tables and numbers: kept whatever happens
  std::vector<VofSet> sets{};
  std::vector<StateItem> items{};
  bool other_grid = false;  ///< comes from another grid: without fluxes and memory
};

/// Adds the set unless there is one of its name.
void add_set(State& state, VofSet set);
/// Throws Error where there is none.
const VofSet& set_of(const State& state, const std::string& name);

/// Adds an item whose values belong to it.
template <class T>
void add_owned(State& state, StateItem item, Array<T> values) {
  const auto owner = std::make_shared<const Array<T>>(std::move(values));
  item.values = owner->span();
  item.owner = owner;
  state.items.push_back(std::move(item));
}

bool has_item(const State& state, const std::string& name);

/// A copy whose values all belong to it. Not collective.
State owned(const State& state);

/// Copies the values of an item. Throws Error unless there is one with these components, precision and rows. Not
/// collective.
/// @param[out] to  [row][component]
void take_item(const State& state, const std::string& name, int components, std::span<double> to);
void take_item(const State& state, const std::string& name, int components, std::span<float> to);

}  // namespace karst
