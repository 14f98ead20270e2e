// SPDX-License-Identifier: BSD-3-Clause
// The [transport] table of the deck: dissolved components with advection, diffusion and wall reactions. SI units;
// concentrations in any unit C.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "base/deck/time_table.hpp"
#include "eb/geometry_options.hpp"

namespace karst {

/// Boundary condition of a component at inlet or outlet: the concentration of the inflow (no diffusion through the
/// face), or the concentration on the face.
enum class EndKind : std::uint8_t { flux, value };

/// One [[transport.component]].
struct ComponentDeck {
  std::string name;
  double diffusivity = 0.0;   ///< [m²/s]
  double decay = 0.0;         ///< [1/s]
  double source = 0.0;        ///< [C/s]
  std::string initial = "0";  ///< formula of x, y, z [m]
  std::string initial_file;   ///< in place of the formula: an array of one value per cell, relative to the deck
  std::string initial_file_type = "float64";  ///< of a raw file
  bool initial_file_type_given = false;
  std::optional<std::array<double, 2>> bounds;  ///< that all values given must keep
  std::string inlet = "0";                      ///< formula of t [s] or of x, y, z [m]
  bool inlet_of_place = false;                  ///< of x, y, z
  bool inlet_given = false, initial_given = false;
  std::optional<TimeTable> inlet_table;  ///< in place of the formula
  EndKind inlet_kind = EndKind::flux;
  bool inlet_kind_given = false;
  std::optional<std::string> outlet;  ///< formula of t [s]: the concentration on the outlet; none: open
  std::string group;                  ///< ScalarComponent::group
};

inline constexpr const char* chemistry_group = "chemistry";  ///< of the totals

/// One [[transport.region]]: initial values inside a shape.
struct RegionDeck {
  std::string component;  ///< empty: all components
  std::string initial;    ///< formula of x, y, z [m]
  SolidOptions shape;
};

/// One [[transport.wall]]: -D ∂c/∂n = rate (c^order - equilibrium^order), n out of the fluid, or a given flux.
struct WallDeck {
  std::string mineral;    ///< empty: all walls
  std::string component;  ///< empty: all components
  double rate = 0.0;      ///< [m/s], of another order n [C^(1-n) m/s]
  double equilibrium = 0.0;
  double order = 1.0;
  double flux = 0.0;       ///< out of the fluid, in place of a rate [C m/s]
  double damkohler = 0.0;  ///< rate L / D, in place of the rate; 0: the rate is given
};

/// Transient transport, or the steady state.
enum class TransportMode : std::uint8_t { in_time, steady };

struct TransportDeck {
  TransportMode mode = TransportMode::in_time;
  double diffusivity = 1e-9;   ///< default of components [m²/s]
  double peclet = 0.0;         ///< U/φ length / diffusivity; 0: the flow is that of the drive
  double peclet_length = 0.0;  ///< [m]; 0: 6 (1 - φ) / S
  int axis = 0;                ///< without a flow: from inlet to outlet
  bool axis_given = false;
  double tolerance = 1e-8;                ///< of implicit diffusion, relative to the change of a step
  bool animation = false;                 ///< a moving picture of each component
  std::vector<ComponentDeck> components;  ///< none: the job is not requested
  std::vector<WallDeck> walls;
  std::vector<RegionDeck> regions;  ///< later ones take precedence

  bool steady() const { return mode == TransportMode::steady; }
  bool asked() const { return !components.empty(); }
  std::vector<std::string> names() const;
};

/// Declares and reads [transport]. Validation errors: components without or with the same name, walls and regions of
/// components that do not exist, two laws for the same wall, formulas and tables that cannot be read, keys without a
/// component, and options that the mode does not support.
/// @param more  components come from elsewhere, too
void read(Reader& in, TransportDeck& deck, bool more = false);

/// f(t) of a component's inlet or outlet; throws Error if it is not finite. Not collective.
double value_at(const std::string& formula, double t);

}  // namespace karst
