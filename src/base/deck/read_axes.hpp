// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

/// A list of "x", "y", "z" of the deck as 0, 1, 2, increasing; validation errors: invalid or repeated axes.
/// @param[in,out] axes  those without the key
/// Returns whether none is named.
bool read_axes(Reader& in, std::string_view key, std::vector<int>& axes, std::string_view help);

}  // namespace karst
