// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/wall_change.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/items_of.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

std::int32_t own_number(const Composite& grid, int level, VofName name) {
  return grid.numbering().number(level, grid.graph(level).local(box_of(name)), vof_of(name));
}

/// Own numbers of old volumes of other ranks, by their names.
class RemoteNumbers {
 public:
  /// Collective.
  RemoteNumbers(const Composite& grid, int level, const PieceMap& map) : grid_(grid), level_(level) {
    const LevelGraph& graph = grid.graph(level);
    std::map<int, std::vector<VofName>> wanted;
    const auto want = [&](VofName name) {
      if (name != no_face && graph.local(box_of(name)) < 0) wanted[graph.layout().owner(box_of(name))].push_back(name);
    };
    for (const PieceMap::Whole& w : map.whole) want(w.before);
    for (const SharedFluid& s : map.shared) want(s.before);
    for (auto& [rank, names] : wanted) {
      std::ranges::sort(names);
      erase_repeated(names);
    }
    ask_ranks_per_item(
        grid.comm(), wanted, [](VofName name, ByteWriter& w) { w.put(name); },
        [&](ByteReader& in, ByteWriter& w) { w.put(own_number(grid, level, in.get<VofName>())); },
        [&](VofName name, ByteReader& in) { numbers_[name] = in.get<std::int32_t>(); });
  }
  /// Number -1: covered by a finer level.
  RemoteItem operator()(VofName name) const {
    const LevelGraph& graph = grid_.graph(level_);
    if (graph.local(box_of(name)) >= 0) return {grid_.comm().rank(), own_number(grid_, level_, name)};
    return {graph.layout().owner(box_of(name)), numbers_.at(name)};
  }

 private:
  const Composite& grid_;
  int level_;
  std::map<VofName, std::int32_t> numbers_;
};

/// A part of a new volume whose source has no place in a list yet.
struct NamedPart {
  std::int32_t volume;
  RemoteItem source;  ///< rank -1: from_pore
  double kept, taken;
  Vec3 at;
};

class Comparison {
 public:
  explicit Comparison(WallChange& change) : change_(change), from_(*change.from.composite), to_(*change.to.composite) {
    whole_.assign(change.to.n_own, {-1, -1});
    opened_.assign(change.to.n_own, 0.0);
  }
  /// Collective.
  void add_level(int level);
  void finish();

 private:
  void add_new(int level, const PieceMap& map, const RemoteNumbers& numbers);
  void add_old(int level, const PieceMap& map);
  void list_sources();
  void find_neighbours();
  void sum_volumes();

  WallChange& change_;
  const Composite &from_, &to_;
  std::vector<RemoteItem> whole_;  // [new volume]
  std::vector<NamedPart> parts_;   // by volume
  std::vector<double> opened_;     // [new volume]
  std::int64_t other_levels_ = 0;  // volumes that are covered in one of the two grids alone
};

void Comparison::add_level(int level) {
  const PieceMap map = map_pieces(from_.comm(), from_.level(level), to_.level(level));
  add_new(level, map, RemoteNumbers(from_, level, map));
  add_old(level, map);
  VolumeEvents& sum = change_.events;
  sum.born += map.events.born;
  sum.gone += map.events.gone;
  sum.joined += map.events.joined;
  sum.split += map.events.split;
}

void Comparison::add_new(int level, const PieceMap& map, const RemoteNumbers& numbers) {
  const double width = Composite::width(level), cell = std::pow(width, 3);
  for (const auto& [after, before] : map.whole) {
    const std::int32_t v = own_number(to_, level, after);
    const RemoteItem source = numbers(before);
    other_levels_ += (v < 0) != (source.number < 0) ? 1 : 0;
    if (v >= 0) whole_[v] = source;
  }
  for (const SharedFluid& s : map.shared) {
    const std::int32_t v = own_number(to_, level, s.after);
    const RemoteItem source = s.before == no_face ? RemoteItem{-1, v} : numbers(s.before);
    other_levels_ += (v < 0) != (source.number < 0) ? 1 : 0;
    if (v >= 0) parts_.push_back({v, source, cell * s.kept, cell * s.taken, width * s.at});
  }
  for (const OpenedFluid& o : map.opened)
    if (const std::int32_t v = own_number(to_, level, o.after); v >= 0) opened_[v] = cell * o.volume;
}

void Comparison::add_old(int level, const PieceMap& map) {
  const double width = Composite::width(level), cell = std::pow(width, 3);
  for (const OldFluid& o : map.old) {
    const std::int32_t v = own_number(from_, level, o.before);
    if (v < 0) continue;
    change_.old.push_back(
        {v, cell * o.kept, cell * o.closed, cell * o.opened, cell * o.cut_off, width * o.at, width * o.reach});
  }
}

/// Where the values of sources arrive. Collective.
void Comparison::list_sources() {
  const int rank = to_.comm().rank();
  std::vector<RemoteItem> wanted;
  const auto want = [&](const RemoteItem& source) {
    if (source.rank >= 0 && source.rank != rank) wanted.push_back(source);
  };
  for (const RemoteItem& source : whole_) want(source);
  for (const NamedPart& part : parts_) want(part.source);
  std::ranges::sort(wanted);
  erase_repeated(wanted);
  change_.exchange = ListExchange(to_.comm(), wanted);
  const auto place = [&](const RemoteItem& source) {
    if (source.rank < 0) return WallChange::from_pore;
    if (source.rank == rank) return source.number;
    return static_cast<std::int32_t>(change_.from.n_own + (std::ranges::lower_bound(wanted, source) - wanted.begin()));
  };
  std::ranges::stable_sort(parts_, {}, &NamedPart::volume);
  std::size_t p = 0;
  for (std::int32_t v = 0; v < change_.to.n_own; ++v) {
    change_.same.push_back(whole_[v].rank >= 0 ? place(whole_[v]) : -1);
    if (whole_[v].rank >= 0) continue;
    for (; p < parts_.size() && parts_[p].volume == v; ++p)
      change_.parts.push_back({place(parts_[p].source), parts_[p].kept, parts_[p].taken, parts_[p].at});
    change_.listed.push_back(v);
    change_.part_begin.push_back(std::ssize(change_.parts));
    change_.opened.push_back(opened_[v]);
  }
}

/// Of volumes that have opened, and of those that are solid wholly. What has opened where no fluid is near is a pore of
/// its own. Collective.
void Comparison::find_neighbours() {
  std::vector<std::uint8_t> has_value(change_.to.n_own, 1);
  for (std::size_t i = 0; i < change_.listed.size(); ++i)
    has_value[change_.listed[i]] = change_.part_begin[i] < change_.part_begin[i + 1] ? 1 : 0;
  change_.born = find_rounds(change_.to, has_value);
  std::vector<WallChange::Part> parts;
  std::vector<std::int64_t> begin{0};
  for (std::size_t i = 0; i < change_.listed.size(); ++i) {
    parts.insert(parts.end(), change_.parts.begin() + change_.part_begin[i],
                 change_.parts.begin() + change_.part_begin[i + 1]);
    if (std::ranges::binary_search(change_.born.isolated, change_.listed[i])) {
      parts.push_back({WallChange::from_pore, change_.opened[i], change_.opened[i], {}});
      change_.opened[i] = 0.0;
    }
    begin.push_back(std::ssize(parts));
  }
  change_.parts = std::move(parts);
  change_.part_begin = std::move(begin);
  std::vector<std::uint8_t> is_left(change_.from.n_own, 1);
  for (const WallChange::Old& o : change_.old) is_left[o.volume] = o.kept > 0.0 ? 1 : 0;
  change_.closed = find_rounds(change_.from, is_left);
}

void Comparison::sum_volumes() {
  WallChange::Volumes& sum = change_.volumes;
  for (const double v : change_.opened) sum.opened += v;
  for (const WallChange::Part& part : change_.parts)
    if (part.source == WallChange::from_pore) {
      sum.entered += part.kept;
      sum.opened += part.taken - part.kept;
    }
  for (const WallChange::Old& o : change_.old) {
    sum.opened += o.opened;
    sum.closed += o.closed;
    sum.cut_off += o.cut_off;
  }
  std::array<double, 4> all{sum.opened, sum.closed, sum.entered, sum.cut_off};
  to_.comm().sum(std::span(all));
  sum = {all[0], all[1], all[2], all[3]};
}

void Comparison::finish() {
  const std::int64_t other_levels = to_.comm().sum(other_levels_);
  require(other_levels == 0,
          "walls that move: {} volumes are covered by a finer level in one of the two grids alone; let the walls move "
          "with the same refined boxes, then change these",
          other_levels);
  std::ranges::sort(change_.old, {}, &WallChange::Old::volume);
  list_sources();
  find_neighbours();
  sum_volumes();
}

}  // namespace

std::int64_t WallChange::bytes() const {
  const auto of = [](const auto&... lists) {
    return static_cast<std::int64_t>(((lists.size() * sizeof(lists[0])) + ...));
  };
  const auto of_rounds = [&](const NeighbourRounds& r) {
    return of(r.volume, r.begin, r.neighbour, r.weight, r.rounds, r.isolated);
  };
  return of(same, listed, part_begin, parts, opened, old) + of_rounds(born) + of_rounds(closed);
}

WallChange compare_walls(const std::shared_ptr<const Composite>& from, const std::shared_ptr<const Composite>& to) {
  const Timer timer("other walls");
  require(from->n_levels() == to->n_levels(),
          "walls that move: from a grid of {} levels to one of {}; they must be the same", from->n_levels(),
          to->n_levels());
  WallChange change(scalar_grid_of(from, {}), scalar_grid_of(to, {}));
  Comparison comparison(change);
  for (int l = 0; l < from->n_levels(); ++l) comparison.add_level(l);
  comparison.finish();
  return change;
}

}  // namespace karst
