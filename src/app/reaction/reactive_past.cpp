// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/reactive_past.hpp"

#include "app/reaction/reactive_quantities.hpp"
#include "base/core/error.hpp"

namespace karst {

/// What is kept of a step.
void each_quantity(Of<ReactiveLine> auto& l, auto&& f) {
  each_of_time(l, f);
  each_of_water(l, f);
  each_of_step(l, f);
  f(Quantity{"content"}, l.content);
  f(Quantity{"sorbed"}, l.sorbed);
  f(Quantity{"imbalance"}, l.imbalance);
  f(Quantity{"outlet"}, l.outlet.saturation);
  f(Quantity{"mean"}, l.mean.saturation);
  f(Quantity{"probes"}, l.probes);
  f(Quantity{"in"}, l.ledger.in);
  f(Quantity{"out"}, l.ledger.out);
  f(Quantity{"released"}, l.ledger.released);
  f(Quantity{"by_walls"}, l.ledger.by_walls);
  f(Quantity{"start"}, l.ledger.start);
  f(Quantity{"inflow"}, l.ledger.inflow);
  f(Quantity{"minerals"}, l.minerals);
}

void each_quantity(Of<MineralLine> auto& m, auto&& f) {
  f(Quantity{"rate"}, m.rate);
  f(Quantity{"well_mixed"}, m.well_mixed);
  f(Quantity{"dissolved"}, m.dissolved);
  f(Quantity{"amount"}, m.amount);
  f(Quantity{"time_error"}, m.time_error);
}

/// What the next search begins with; all else follows.
void each_quantity(Of<Speciation> auto& s, auto&& f) {
  f(Quantity{"ln_m"}, s.basis);
  f(Quantity{"strength"}, s.ionic_strength);
  f(Quantity{"ln_water"}, s.ln_water);
}

void each_quantity(Of<PlaneValues> auto& p, auto&& f) {
  f(Quantity{"direction"}, p.direction);
  f(Quantity{"plane"}, p.plane);
  f(Quantity{"nx"}, p.nx);
  f(Quantity{"ny"}, p.ny);
  f(Quantity{"values"}, p.values);
  f(Quantity{"fluid"}, p.fluid);
}

void each_quantity(Of<ReactivePicture> auto& p, auto&& f) {
  f(Quantity{"time"}, p.time);
  f(Quantity{"planes"}, p.planes);
}

void each_quantity(Of<ReactivePast> auto& p, auto&& f) {
  f(Quantity{"line"}, p.line);
  f(Quantity{"worst"}, p.worst);
  f(Quantity{"mean"}, p.mean);
  f(Quantity{"outlet"}, p.outlet);
  f(Quantity{"longest"}, p.longest);
  f(Quantity{"passed"}, p.passed);
  f(Quantity{"provisional"}, p.provisional);
  f(Quantity{"history"}, p.history);
  f(Quantity{"pictures"}, p.pictures);
}

Json past_json(const ReactivePast& past) { return json_of(past, shown::record); }

void take_past(const Json& json, ReactivePast& past) {
  const std::size_t minerals = past.line.minerals.size(), probes = past.line.probes.size();
  const Speciation start = past.mean;
  take_value(json, past);
  require(past.line.minerals.size() == minerals, "{} minerals instead of {}", past.line.minerals.size(), minerals);
  require(past.line.probes.size() == probes, "{} values at probes instead of {}", past.line.probes.size(), probes);
  for (const Speciation* s : {&past.mean, &past.outlet})
    require(s->basis.size() == start.basis.size(), "{} elements instead of {}", s->basis.size(), start.basis.size());
}

}  // namespace karst
