// SPDX-License-Identifier: BSD-3-Clause
// When what is given on the ends of a transport jumps or bends.
#pragma once

#include <vector>

#include "transport/transport_deck.hpp"

namespace karst {

/// Times between 0 and `end` at which what is given on inlets and outlets jumps; those at which it bends or jumps:
/// lines of tables, jumps of formulas. Increasing. Throws Error for a formula that jumps more than 10 000 times. Not
/// collective.
std::vector<double> jumps_of(const TransportDeck& deck, double end);
std::vector<double> breaks_of(const TransportDeck& deck, double end);

/// Whether what is given on inlets and outlets is the same at all times between two [s]. Not collective.
bool is_constant(const TransportDeck& deck, double from, double to);

}  // namespace karst
