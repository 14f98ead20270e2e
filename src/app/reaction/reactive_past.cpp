// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/reactive_past.hpp"

#include "app/reaction/reactive_quantities.hpp"
#include "base/core/error.hpp"

namespace karst {

/// What is kept of a step.
template <class Line, class F>
void each_quantity(Line& l, F&& f) requires std::is_same_v<std::remove_const_t<Line>, ReactiveLine> {
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

template <class Mineral, class F>
void each_quantity(Mineral& m, F&& f) requires std::is_same_v<std::remove_const_t<Mineral>, MineralLine> {
  f(Quantity{"rate"}, m.rate);
  f(Quantity{"well_mixed"}, m.well_mixed);
  f(Quantity{"dissolved"}, m.dissolved);
  f(Quantity{"amount"}, m.amount);
  f(Quantity{"time_error"}, m.time_error);
}

/// What the next search begins with; all else follows.
template <class State, class F>
void each_quantity(State& s, F&& f) requires std::is_same_v<std::remove_const_t<State>, Speciation> {
  f(Quantity{"ln_m"}, s.basis);
  f(Quantity{"strength"}, s.ionic_strength);
  f(Quantity{"ln_water"}, s.ln_water);
}

template <class Plane, class F>
void each_quantity(Plane& p, F&& f) requires std::is_same_v<std::remove_const_t<Plane>, PlaneValues> {
  f(Quantity{"direction"}, p.direction);
  f(Quantity{"plane"}, p.plane);
  f(Quantity{"nx"}, p.nx);
  f(Quantity{"ny"}, p.ny);
  f(Quantity{"values"}, p.values);
  f(Quantity{"fluid"}, p.fluid);
}

template <class Picture, class F>
void each_quantity(Picture& p, F&& f) requires std::is_same_v<std::remove_const_t<Picture>, ReactivePicture> {
  f(Quantity{"time"}, p.time);
  f(Quantity{"planes"}, p.planes);
}

template <class Past, class F>
void each_quantity(Past& p, F&& f) requires std::is_same_v<std::remove_const_t<Past>, ReactivePast> {
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

void keep_past(const ReactivePast& past, PastBefore& before) {
  static_cast<ReactiveNow&>(before) = past;
  before.n_history = past.history.size();
}

void give_past_back(const PastBefore& before, ReactivePast& past) {
  static_cast<ReactiveNow&>(past) = before;
  past.history.resize(before.n_history);
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
