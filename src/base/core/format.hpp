// SPDX-License-Identifier: BSD-3-Clause
// Numbers for people: bytes, seconds, SI prefixes.
#pragma once

#include <string>
#include <string_view>

namespace karst {

/// 0 B, 512 B, 1.5 GiB: three significant digits, binary prefixes.
std::string format_bytes(double bytes);

/// 35 ns, 1.25 ms, 12.3 s, 4 min 05 s, 3 h 02 min, 2 d 05 h.
std::string format_seconds(double seconds);

/// Value with an SI prefix and a unit, three significant digits: 5.3e-6 m -> "5.30 µm". 0 and values beyond the
/// prefixes from atto to exa have none. For units with a power (m²) use plain numbers, because the prefix would be
/// raised to the power, too.
std::string format_si(double value, std::string_view unit);

}  // namespace karst
