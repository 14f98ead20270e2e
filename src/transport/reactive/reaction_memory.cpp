// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reaction_memory.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/core/error.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

/// Calls f(numbers of all sites, how many of one).
template <class State, class Scratch, class F>
void for_parts(const ReactiveMedium& medium, const ReactiveSites& sites, State& state, Scratch* coupled, F&& f) {
  const std::size_t totals = medium.n_totals();
  const std::size_t minerals = medium.minerals.size();
  f(state.start, medium.n_basis() + 2);
  f(state.seen, totals);
  f(state.sorbed, medium.sites.empty() ? 0 : totals);
  f(state.rate, minerals);
  f(state.amount, sites.ends() ? minerals : 0);
  if (coupled == nullptr) return;
  f(coupled->seen, totals);
  f(coupled->rate, minerals);
  f(coupled->slope, minerals);
}

}  // namespace

std::size_t memory_width(const ReactiveMedium& medium, const ReactiveSites& sites, bool coupled) {
  const ReactionState state{};
  const CoupledScratch scratch{};
  std::size_t width = 0;
  for_parts(medium, sites, state, coupled ? &scratch : nullptr, [&](const auto&, std::size_t n) { width += n; });
  return width;
}

std::vector<double> reaction_memory(const ReactiveMedium& medium, const ReactiveSites& sites, std::int64_t n_own,
                                    const ReactionState& state, const CoupledScratch* coupled) {
  const std::size_t width = memory_width(medium, sites, coupled != nullptr);
  std::vector<double> rows(n_own * width, no_number);
  std::size_t first = 0;
  for_parts(medium, sites, state, coupled, [&](const auto& from, std::size_t n) {
    for (std::size_t s = 0; s < sites.size() && !from.empty(); ++s)  // no step was coupled yet: empty
      std::copy_n(from.data() + s * n, n, rows.data() + sites.volume[s] * width + first);
    first += n;
  });
  return rows;
}

void take_reaction_memory(const ReactiveMedium& medium, const ReactiveSites& sites, std::span<const double> rows,
                          ReactionState& state, CoupledScratch* coupled) {
  const std::size_t width = memory_width(medium, sites, coupled != nullptr);
  for (const std::int32_t v : sites.volume)
    require(!std::isnan(rows[v * width]), "volume {} reacts, but has no stored state", v);
  std::size_t first = 0;
  for_parts(medium, sites, state, coupled, [&](auto& to, std::size_t n) {
    to.resize(sites.size() * n);
    for (std::size_t s = 0; s < sites.size(); ++s)
      for (std::size_t k = 0; k < n; ++k)
        to[s * n + k] =
            static_cast<typename std::decay_t<decltype(to)>::value_type>(rows[sites.volume[s] * width + first + k]);
    first += n;
  });
}

}  // namespace karst
