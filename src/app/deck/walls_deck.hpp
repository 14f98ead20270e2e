// SPDX-License-Identifier: BSD-3-Clause
// The [walls] table of the deck: walls that move, because a mineral dissolves or grows (decision 062). SI units.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"

namespace karst {

/// One [[walls.mineral]]: what makes the walls of a mineral move. Its wall recedes by
///
///   speed + molar_volume moles (flux of the component out of the fluid, from transport.wall)   [m/s]
///
/// or, where a mineral of [chemistry] lies on it, speed + molar_volume (moles of that which dissolve per area and
/// time).
struct MovingMineral {
  std::string name;           ///< empty: all walls that no other one names
  double molar_volume = 0.0;  ///< [m³/mol]; 0: `speed` alone, or that of the database
  std::string component;      ///< whose flux dissolves it; empty: the only one
  double moles = 1.0;         ///< of the mineral that dissolve per mole of the component
  bool moles_given = false;
  double speed = 0.0;  ///< into the solid [m/s]; < 0: the mineral grows
};

/// walls.until: a quantity against a number, or against a multiple of what it was at the beginning.
struct WallsEnd {
  enum class Of : std::uint8_t { nothing, porosity, permeability };
  Of of = Of::nothing;
  bool above = true;  ///< it ends above; false: below
  double value = 0.0;
  bool of_first = false;  ///< value is a multiple
  double limit(double first) const { return of_first ? value * first : value; }
  bool reached(double first, double now) const { return above ? now > limit(first) : now < limit(first); }
  /// Of the way to the limit, from 0 to 1; by the logarithm of a permeability.
  double part(double first, double now) const;
};
/// What to say where the condition, of this text, is met by the first value; empty where it is not.
std::string met_at_once(const WallsEnd& end, const std::string& text, double first);
/// "porosity > 0.8", "permeability > 10 * first". Throws Error that says what is expected.
WallsEnd parse_walls_end(const std::string& text);

/// What becomes of solid that comes loose.
enum class LooseSolid : std::uint8_t { keep, remove };

struct WallsDeck {
  double displacement = 0.5;  ///< most per step [h0]
  double standstill = 1e-3;   ///< change below which transport in time counts as steady; 0: never
  std::string until_text;
  WallsEnd until{};
  LooseSolid fragments = LooseSolid::keep;
  bool animation = false;               ///< moving pictures of walls
  std::vector<MovingMineral> minerals;  ///< none: walls stand

  bool asked() const { return !minerals.empty(); }
};

/// Declares and reads [walls]. Validation errors: two entries for one mineral, neither a molar volume nor a speed.
void read(Reader& in, WallsDeck& deck);

}  // namespace karst
