// SPDX-License-Identifier: BSD-3-Clause
#include "fields/joined_cells.hpp"

#include <algorithm>
#include <map>

#include "base/core/items_of.hpp"
#include "grid/questions.hpp"

namespace karst {

namespace {

/// A home on another rank and the entry that asks for it.
struct Asked {
  VofName home;
  std::int64_t entry;
};

/// Global numbers of VoFs of other ranks, no_unknown where covered; one per question. Collective.
std::vector<GlobalNumber> numbers_of(const Comm& comm, const LevelGraph& graph, const CompositeNumbering& numbering,
                                     int level, const std::vector<Asked>& asked) {
  std::map<int, std::vector<std::size_t>> of_rank;
  for (std::size_t i = 0; i < asked.size(); ++i) of_rank[graph.layout().owner(box_of(asked[i].home))].push_back(i);
  const auto question = [&](std::size_t i, ByteWriter& w) { w.put(asked[i].home); };
  const auto answer = [&](ByteReader& in, ByteWriter& w) {
    const auto home = in.get<VofName>();
    const std::int32_t number = numbering.number(level, graph.local(box_of(home)), vof_of(home));
    w.put(number < 0 ? no_unknown : numbering.first() + number);
  };
  std::vector<GlobalNumber> found(asked.size(), no_unknown);
  ask_ranks_per_item(comm, of_rank, question, answer,
                     [&](std::size_t i, ByteReader& in) { found[i] = in.get<GlobalNumber>(); });
  return found;
}

}  // namespace

JoinedCells::JoinedCells(const Comm& comm, std::shared_ptr<const Geometry> geometry,
                         std::shared_ptr<const CompositeNumbering> unknowns)
    : comm_(comm), geometry_(std::move(geometry)), numbering_(std::move(unknowns)) {
  std::vector<std::vector<std::pair<std::int64_t, GlobalNumber>>> elsewhere;  // per level: entry, home
  for (const LevelGeometry& level : geometry_->levels) {
    std::vector<std::int32_t>& homes = homes_.emplace_back(level.joined.size(), -1);
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < homes.size(); ++i) {
      const VofName home = level.joined[i].home;
      if (home == no_face) continue;
      if (const int box = level.graph.local(box_of(home)); box >= 0)
        homes[i] = numbering().number(level.level, box, vof_of(home));
      else
        asked.push_back({home, static_cast<std::int64_t>(i)});
    }
    const std::vector<GlobalNumber> numbers = numbers_of(comm, level.graph, numbering(), level.level, asked);
    elsewhere.emplace_back();
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (numbers[i] == no_unknown) continue;
      elsewhere.back().emplace_back(asked[i].entry, numbers[i]);
      wanted_.push_back(numbers[i]);
    }
  }
  std::ranges::sort(wanted_);
  erase_repeated(wanted_);
  for (std::size_t l = 0; l < elsewhere.size(); ++l)
    for (const auto& [entry, number] : elsewhere[l])
      homes_[l][entry] = static_cast<std::int32_t>(numbering().n_own() +
                                                   (std::ranges::lower_bound(wanted_, number) - wanted_.begin()));
}

}  // namespace karst
