// SPDX-License-Identifier: BSD-3-Clause
// State of a solve of implicit_reaction.hpp: the active reactions, and the sums that contain them.
#pragma once

#include <cstdint>
#include <limits>

#include "chemistry/equations.hpp"
#include "chemistry/implicit_reaction.hpp"

namespace karst {

/// Rates that are eliminated from the sums of all primaries except one; equilibria always are.
enum class TakenOut : std::uint8_t { fast, all, none };

struct ReactionSolve {
  const ReactiveMedium& medium;
  const ImplicitReaction& reaction;
  Speciation& state;
  ReactionWorkspace& work;
  TakenOut taken_out = TakenOut::fast;
  double size = 0.0;  ///< Σ |T|

  std::size_t n() const { return medium.minerals.size(); }
  bool reacts(std::size_t m) const { return reaction.share[m] > 0.0; }
  bool at_once(std::size_t m) const { return medium.minerals[m].at_once(); }
  bool goes_on(std::size_t m) const { return reacts(m) && work.bound[m] == ReactionWorkspace::Bound::free; }
  double least(std::size_t m) const {
    return reaction.least.empty() ? -std::numeric_limits<double>::infinity() : reaction.least[m];
  }
  double bound_extent(std::size_t m) const {
    return work.bound[m] == ReactionWorkspace::Bound::at_most ? reaction.most[m] : least(m);
  }
  /// ν combined.
  double& brought(std::size_t m, std::size_t p) const { return work.brought[m * medium.n_totals() + p]; }
  /// Of the two terms of a path the first is the dissolved amount, the second the precipitated one.
  bool supplies(std::size_t m, int term) const { return (term - medium.first_term[m]) % 2 == 0; }
  Equations equations() const {
    return {medium.system, medium.table, work.sums, work.speciation.conditions, work.speciation};
  }
};

/// The unknowns of the state.
void begin_at_state(const ReactionSolve& s);

/// Σ of the paths of a rate at the last evaluation.
struct RateWays {
  double net = 0.0, size = 0.0;  ///< dissolved minus precipitated, and their sum
};
RateWays rate_of(const ReactionSolve& s, std::size_t m);

/// Finds, at the state, the rates that exceed two of their totals: all other terms would be lost in both sums.
void find_fast(const ReactionSolve& s);

/// Sums of all totals, with the ways of rates, and totals with what is at its bound; combined, and as equations. False
/// where the phase rule forbids one of the equilibria and none can give way to it.
bool combine_sums(const ReactionSolve& s);

}  // namespace karst
