// SPDX-License-Identifier: BSD-3-Clause
#include "ins/operator/flow_boundary.hpp"

namespace karst {
namespace {

/// A number of a ghost: factor * (that of its cell) + of_value * (value of the end). Values of velocities are those
/// into the domain.
struct GhostRule {
  double factor, of_value;
};
constexpr GhostRule same{1.0, 0.0}, opposite_sign{-1.0, 0.0}, about_value{-1.0, 2.0};

/// Of the velocity along the normal, of that along the end, and of the pressure.
struct GhostRules {
  GhostRule across, along, pressure;
};
constexpr GhostRules mirror{opposite_sign, same, same}, open_end{same, same, about_value};
/// The ghost of momentum is the end itself; that of fluxes makes their mean the value, without a difference of
/// pressure.
constexpr GhostRules end_itself{{0.0, 1.0}, {0.0, 0.0}, same}, about_end{about_value, opposite_sign, same};

struct EndRule {
  bool wall, pressure;    ///< is_wall(), gives_pressure()
  bool velocity, normal;  ///< the multigrid holds at 0: all components, the normal one
  EndRow row;
  GhostRules momentum, fluxes;
  EndInflow inflow;
};
constexpr EndRow as_neighbour{false, 1.0, true, false}, half_way{true, 0.5, false, true};
/// By order of FlowSide.
constexpr std::array<EndRule, 5> rules{{
    {true, false, true, true, as_neighbour, mirror, mirror, EndInflow::as_inside},        // no_slip
    {false, false, false, true, as_neighbour, mirror, mirror, EndInflow::as_inside},      // symmetry
    {false, true, false, false, as_neighbour, open_end, open_end, EndInflow::as_inside},  // pressure
    {false, false, true, true, half_way, end_itself, about_end, EndInflow::as_given},     // velocity
    {false, true, false, false, as_neighbour, open_end, open_end, EndInflow::from_rest},  // outlet
}};

constexpr const EndRule& rule_of(FlowSide kind) { return rules[static_cast<std::size_t>(kind)]; }

}  // namespace

StokesDrive operator*(double factor, StokesDrive drive) {
  drive.force = factor * drive.force;
  for (double& value : drive.at_end) value *= factor;
  for (Vec3& velocity : drive.of_wall) velocity = factor * velocity;
  return drive;
}

StokesDrive velocities_of(const StokesDrive& drive, const FlowSides& sides) {
  StokesDrive only = drive;
  only.force = {};
  for (std::size_t s = 0; s < sides.size(); ++s)
    if (!gives_velocity(sides[s])) only.at_end[s] = 0.0;
  return only;
}

StokesDrive on_level(const StokesDrive& drive, const FlowSides& sides, double width) {
  StokesDrive here = drive;
  here.force = width * width * drive.force;
  for (std::size_t s = 0; s < sides.size(); ++s)
    if (gives_pressure(sides[s])) here.at_end[s] *= width;
  return here;
}

bool is_wall(FlowSide kind) { return rule_of(kind).wall; }
bool gives_pressure(FlowSide kind) { return rule_of(kind).pressure; }
bool gives_velocity(FlowSide kind) { return rule_of(kind).row.given_flux; }
bool holds_velocity(FlowSide kind) { return rule_of(kind).velocity; }
bool holds_normal_velocity(FlowSide kind) { return rule_of(kind).normal; }
double pressure_factor(FlowSide kind) { return rule_of(kind).fluxes.pressure.factor; }
EndInflow inflow_at(FlowSide kind) { return rule_of(kind).inflow; }
const EndRow& row_at(FlowSide kind) { return rule_of(kind).row; }

EndGhosts end_ghosts(const FlowSides& sides, GhostOf of, const StokesDrive& drive) {
  EndGhosts ghosts;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const GhostRules& rules = of == GhostOf::momentum ? rule_of(sides[s]).momentum : rule_of(sides[s]).fluxes;
    for (std::size_t c = 0; c < 4; ++c) {
      const GhostRule& rule = c == 3 ? rules.pressure : c == s / 2 ? rules.across : rules.along;
      const double value = c == 3 || s % 2 == 0 ? drive.at_end[s] : -drive.at_end[s];
      ghosts[s].factor[c] = rule.factor;
      ghosts[s].offset[c] = rule.of_value * value;
    }
  }
  return ghosts;
}

}  // namespace karst
