// SPDX-License-Identifier: BSD-3-Clause
// The quantities of the job `walls`: names, units and where they are shown, a row each (output/quantity.hpp).
#pragma once

#include "app/output/quantity.hpp"
#include "app/walls/wall_evolution.hpp"
#include "base/math/no_number.hpp"

namespace karst {

/// Of a mineral then; its name stands before these.
/// @param molar_volume  [m³/mol]; 0: not known
void each_quantity(Of<MovingMineralLine> auto& m, double molar_volume, auto&& f) {
  using namespace shown;
  constexpr unsigned all = csv | json | shown::history | record;
  constexpr const char* digits = "{:.12g}";
  f(Quantity{"area", "m2", all}, m.area);
  f(Quantity{"volume", "m3", all, digits}, m.volume);
  f(Quantity{"rate", "m3_s", all}, m.rate);
  f(Quantity{"dissolved", "m3", all, digits}, m.dissolved);
  f(Quantity{"carried_away", "m3", csv | json | record, digits}, m.carried_away);
  const double volume = molar_volume > 0.0 ? molar_volume : no_number;
  f(Quantity{"rate", "mol_m2_s", csv | json | shown::history}, m.area > 0.0 ? m.rate / volume / m.area : no_number);
  f(Quantity{"dissolved", "mol", csv | json | shown::history, digits}, m.dissolved / volume);
  f(Quantity{"carried_away", "mol", csv | json, digits}, m.carried_away / volume);
}

/// As records have it.
void each_quantity(Of<MovingMineralLine> auto& m, auto&& f) { each_quantity(m, 0.0, f); }

/// Of an instant, before those of its minerals, in the order of evolution.csv.
void each_quantity(Of<EvolutionLine> auto& l, auto&& f) {
  using namespace shown;
  constexpr unsigned all = csv | json | shown::history | record;
  constexpr const char* digits = "{:.12g}";
  f(Quantity{"time", "s", all, digits}, l.time);
  f(Quantity{"dt", "s", csv | record}, l.dt);
  f(Quantity{"porosity", "", all, digits}, l.porosity);
  f(Quantity{"connected_porosity", "", all, digits}, l.connected_porosity);
  f(Quantity{"specific_surface", "per_m", all}, l.specific_surface);
  f(Quantity{"permeability", "m2", all}, l.permeability);
  f(Quantity{"dissolved", "m3", all, digits}, l.dissolved);
  f(Quantity{"moved", "m3", csv | json | record, digits}, l.moved);
  f(Quantity{"owed", "m3", csv | json | record}, l.owed);
  f(Quantity{"carried_away", "m3", csv | json | record, digits}, l.carried_away);
  f(Quantity{"largest_speed", "m_s", csv | json | record}, l.largest_speed);
  f(Quantity{"fragments", "", csv | json | record}, l.fragments);
  f(Quantity{"fragment_volume", "m3", csv | json | record}, l.fragment_volume);
  f(Quantity{"pore_volumes"}, l.pore_volumes);
  f(Quantity{"pore_rate", "per_s"}, l.pore_rate);
  f(Quantity{"minerals"}, l.minerals);
}

}  // namespace karst
