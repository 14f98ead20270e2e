// SPDX-License-Identifier: BSD-3-Clause
// The quantities of the chemistry of a run: names, units and where they are shown, a row each (output/quantity.hpp).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "app/deck/reactive_plan.hpp"
#include "app/output/probes.hpp"
#include "app/output/quantity.hpp"
#include "app/reaction/reactive_past.hpp"
#include "base/math/no_number.hpp"

namespace karst {

void each_of_time(auto& line, auto&& f) {
  f(Quantity{"time", "s", shown::csv | shown::history | shown::record}, line.time);
  f(Quantity{"pore_volumes", "", shown::history | shown::record}, line.pore_volumes);
}

void each_of_mineral(const ReactiveLine& line, std::size_t mineral, auto&& f) {
  using namespace shown;
  const MineralLine& m = line.minerals[mineral];
  f(Quantity{"rate", "mol_s", csv | json | shown::history}, m.rate);
  f(Quantity{"well_mixed", "mol_s", csv}, m.well_mixed);
  f(Quantity{"over_well_mixed", "", csv}, m.ratio());
  f(Quantity{"well_mixed_rate", "mol_s", json | shown::history}, m.well_mixed);
  f(Quantity{"ratio_to_well_mixed", "", json}, m.ratio());
  f(Quantity{"dissolved", "mol", csv | json}, m.dissolved);
  f(Quantity{"amount", "mol", csv | json}, m.amount);
  f(Quantity{"saturation_index_outlet", "", csv | json | shown::history}, line.outlet.index(mineral));
  f(Quantity{"saturation_index_mean", "", csv | json | shown::history}, line.mean.index(mineral));
  f(Quantity{"step_error", "mol", json}, m.time_error);
}

void each_of_water(auto& line, auto&& f) {
  constexpr unsigned all = shown::csv | shown::json | shown::history | shown::record;
  f(Quantity{"pH_outlet", "", all}, line.outlet.ph);
  f(Quantity{"pH_mean", "", all}, line.mean.ph);
}

/// Whether elements may be on sorbents.
enum class Sorbents { none, some };

/// @param line  of a step; that of the beginning has no contents
void each_of_element(const ReactiveLine& line, std::size_t element, Sorbents sorbents, auto&& f) {
  using namespace shown;
  const auto of = [&](const std::vector<double>& all) { return element < all.size() ? all[element] : no_number; };
  f(Quantity{"content", "mol", csv | json}, of(line.content));
  f(Quantity{"imbalance", "", csv | shown::history, "{:.3e}"}, of(line.imbalance));
  f(Quantity{"sorbed", "mol", sorbents == Sorbents::some ? csv | json : json}, of(line.sorbed));
}

/// What has become of an element since the beginning. Before the first step nothing has.
/// @param moves  walls do
void each_of_ledger(const ReactiveLine& line, std::size_t element, bool moves, auto&& f) {
  using namespace shown;
  constexpr const char *digits = "{:.15g}", *text_digits = "{:.6g}";
  const ElementLedger& l = line.ledger;
  const auto of = [&](const std::vector<double>& all) { return element < all.size() ? all[element] : no_number; };
  f(Quantity{"in", "mol", csv | json | text, digits, "came in [mol]", text_digits}, of(l.in));
  f(Quantity{"out", "mol", csv | json | text, digits, "went out [mol]", text_digits}, of(l.out));
  f(Quantity{"released", "mol", csv | json | text, digits, "released by solids and gases [mol]", text_digits},
    of(l.released));
  f(Quantity{"by_walls", "mol", moves ? csv | json | text : 0U, digits, "with the fluid of moving walls [mol]",
             text_digits},
    of(l.by_walls));
  f(Quantity{"stored", "mol", csv | json | text, digits, "stored in the water [mol]", text_digits},
    element < line.content.size() ? l.stored(element, line.content[element]) : 0.0);
}

void each_of_step(auto& line, auto&& f) {
  using namespace shown;
  f(Quantity{"charge", "mol", csv | json | record}, line.charge);
  f(Quantity{"charge_imbalance", "", csv | shown::history | record, "{:.3e}"}, line.charge_imbalance);
  f(Quantity{"solved", "", csv | record}, line.solved);
  f(Quantity{"kept", "", csv | record}, line.kept);
  f(Quantity{"speciations", "", csv | record}, line.speciations);
}

/// Of a solution of the run.
void each_of_solution(const RunWater& w, auto&& f) {
  using namespace shown;
  constexpr double round_off = 1e-6;  // [%]
  constexpr const char* digits = "{:.4g}";
  f(Quantity{"use", "", json | text, "", "use", "{}"}, w.use);
  f(Quantity{"pH", "", json | text, "", "pH", "{:.4f}"}, w.ph);
  f(Quantity{"ionic_strength", "mol_kgw", json | text, "", "ionic strength [mol/kgw]", digits}, w.ionic_strength);
  f(Quantity{"charge_error_percent", "", json}, w.charge_error);
  f(Quantity{"charge_error", "", text, "", "charge error [% of the ions]", "{:.2g}"},
    std::abs(w.charge_error) < round_off ? 0.0 : w.charge_error);
  const unsigned of_carbon = std::isnan(w.inorganic_carbon) ? json : json | text;
  f(Quantity{"alkalinity", "eq_kgw", of_carbon, "", "alkalinity [eq/kgw]", digits}, w.alkalinity);
  f(Quantity{"inorganic_carbon", "mol_kgw", of_carbon, "", "dissolved inorganic carbon [mol/kgw]", digits},
    w.inorganic_carbon);
}

/// Its saturation index of a mineral.
void each_of_solution(const RunWater& w, std::size_t mineral, const std::string& name, auto&& f) {
  f(Quantity{"saturation_index", "", shown::json | shown::text, "", "saturation index of " + name, "{:.4f}"},
    w.saturation.at(mineral));
}

}  // namespace karst
