// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reaction_items.hpp"

#include <algorithm>
#include <type_traits>

#include "base/core/error.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

constexpr const char *minerals_left = "minerals left", *error_of_minerals = "error of minerals";

/// Calls f(name, unit, kind, numbers of all sites, how many of one).
template <class Reaction, class Scratch, class F>
void for_parts(const ReactiveMedium& medium, const ReactiveSites& sites, Reaction& reaction, Scratch* coupled, F&& f) {
  const std::size_t totals = medium.n_totals(), minerals = medium.minerals.size();
  const char *amount = "mol/kgw", *rate = "mol/kgw/s";
  f("first guess", "", ItemKind::memory, reaction.start, medium.n_basis() + 2);
  f("totals of the last solve", amount, ItemKind::memory, reaction.seen, totals);
  if (minerals > 0) f("rates", rate, ItemKind::memory, reaction.rate, minerals);
  if (!medium.sites.empty()) f("sorbed", amount, ItemKind::amount, reaction.sorbed, totals);
  if (sites.ends()) {
    f(minerals_left, amount, coupled != nullptr ? ItemKind::on_wall : ItemKind::amount, reaction.amount, minerals);
    f(error_of_minerals, amount, coupled != nullptr ? ItemKind::memory : ItemKind::amount, reaction.error, minerals);
  }
  if (coupled == nullptr) return;
  f("totals of the last coupled solve", amount, ItemKind::memory, coupled->seen, totals);
  f("coupled rates", rate, ItemKind::memory, coupled->rate, minerals);
  f("slopes of the coupled rates", "1/s", ItemKind::memory, coupled->slope, minerals);
}

/// Calls f(what sites have, its copy).
template <class Reaction, class Scratch, class Before, class F>
void for_copies(Reaction& reaction, Scratch* coupled, Before& before, F&& f) {
  f(reaction.start, before.start);
  f(reaction.seen, before.seen);
  f(reaction.sorbed, before.sorbed);
  f(reaction.amount, before.amount);
  f(reaction.error, before.error);
  f(reaction.rate, before.rate);
  f(reaction.dt, before.dt);
  if (coupled == nullptr) return;
  f(coupled->seen, before.coupled_seen);
  f(coupled->rate, before.coupled_rate);
  f(coupled->slope, before.slope);
  f(coupled->counts, before.counts);
}

}  // namespace

std::string amounts_item(const std::string& name) { return name + ": " + minerals_left; }

void keep_sites(const ReactionState& reaction, const CoupledScratch* coupled, SitesBefore& before) {
  for_copies(reaction, coupled, before, [](const auto& from, auto& to) { to = from; });
}

void give_sites_back(const SitesBefore& before, ReactionState& reaction, CoupledScratch* coupled) {
  for_copies(reaction, coupled, before, [](auto& to, const auto& from) { to = from; });
}

void add_items(const ReactiveMedium& medium, const ReactiveSites& sites, const VofSet& unknowns,
               const std::string& name, const ReactionState& reaction, const CoupledScratch* coupled, State& state) {
  add_set(state, some_of(unknowns, name, sites.volume));
  Json& numbers = state.numbers[name];
  numbers["dt"] = reaction.dt;
  numbers[buried_item] = reaction.buried;
  if (coupled != nullptr) {
    const CoupledCounts& c = coupled->counts;
    numbers["counts"] = {c.steps, c.iterations, c.from_zero, c.in_turn};
  }
  const auto add = [&]<class T>(const char* part, const char* unit, ItemKind kind, const std::vector<T>& from,
                                std::size_t n) {
    StateItem item{name + ": " + part, unit, kind, static_cast<int>(n), name, std::span<const T>(from)};
    if (from.empty())  // no step was coupled yet
      add_owned(state, std::move(item), Array<T>(sites.size() * n, Purpose::buffers, static_cast<T>(no_number)));
    else
      state.items.push_back(std::move(item));
  };
  for_parts(medium, sites, reaction, coupled, add);
}

void take_items(const State& state, const ReactiveMedium& medium, const ReactiveSites& sites, const VofSet& unknowns,
                const std::string& name, ReactionState& reaction, CoupledScratch* coupled) {
  if (!state.other_grid) {
    const VofSet &there = set_of(state, name), here = some_of(unknowns, name, sites.volume);
    require(there.all == here.all && there.vofs == here.vofs, "the state has {} {}, which are not the {} here",
            there.size, name, here.size);
  }
  const auto take = [&]<class T>(const char* part, const char*, ItemKind kind, std::vector<T>& to, std::size_t n) {
    if (state.other_grid && kind == ItemKind::memory) return;  // as in a reaction that begins
    to.resize(sites.size() * n);
    if (state.other_grid && kind == ItemKind::on_wall) {
      if constexpr (std::is_same_v<T, double>) {
        std::vector<double> all(unknowns.size * n);
        take_item(state, name + ": " + part, static_cast<int>(n), std::span(all));
        for (std::size_t s = 0; s < sites.size(); ++s)
          std::copy_n(all.begin() + sites.volume[s] * n, n, to.begin() + s * n);
      }
      return;
    }
    take_item(state, name + ": " + part, static_cast<int>(n), std::span(to));
  };
  for_parts(medium, sites, reaction, coupled, take);
  const Json& numbers = state.numbers.at(name);
  if (!state.other_grid) reaction.dt = numbers.at("dt");
  reaction.buried = numbers.at(buried_item).get<std::vector<double>>();
  if (coupled == nullptr) return;
  const auto counts = numbers.at("counts").get<std::array<std::int64_t, 4>>();
  coupled->counts = {counts[0], counts[1], counts[2], counts[3]};
}

}  // namespace karst
