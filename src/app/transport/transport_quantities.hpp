// SPDX-License-Identifier: BSD-3-Clause
// The quantities of the job `transport`: names, units and where they are shown, a row each (output/quantity.hpp).
#pragma once

#include "app/output/quantity.hpp"
#include "app/transport/transport_job.hpp"
#include "base/math/no_number.hpp"

namespace karst {

/// Of a step, before those of its components, in the order of transport.csv.
void each_quantity(Of<TransportLine> auto& l, auto&& f) {
  using namespace shown;
  f(Quantity{"time", "s", csv | shown::history | record, "{:.12g}"}, l.time);
  f(Quantity{"pore_volumes", "", csv | shown::history | record}, l.pore_volumes);
  f(Quantity{"dt", "s", csv | record}, l.dt);
  f(Quantity{"probes"}, l.probes);
  f(Quantity{"components"}, l.components);
}

/// Of a component in a step; the name of the component stands before these.
void each_quantity(Of<ComponentLine> auto& c, auto&& f) {
  using namespace shown;
  constexpr const char* digits = "{:.12g}";
  f(Quantity{"outlet", "", csv | shown::history | record, digits}, c.outlet);
  f(Quantity{"mean", "", csv | shown::history | record, digits}, c.mean);
  f(Quantity{"inflow", "C_m3_s", csv | record, digits}, c.inflow);
  f(Quantity{"outflow", "C_m3_s", csv | record, digits}, c.outflow);
  f(Quantity{"wall", "C_m3_s", csv | record, digits}, c.wall);
  f(Quantity{"made", "C_m3_s", csv | record, digits}, c.made);
  f(Quantity{"min", "", csv | record}, c.least);
  f(Quantity{"max", "", csv | record}, c.largest);
  f(Quantity{"imbalance", "", csv | record, "{:.2g}"}, c.imbalance);
}

/// Of a component over the run, with its last line.
void each_quantity(const TransportResult& r, const ComponentResult& c, const ComponentLine& end, auto&& f) {
  using namespace shown;
  constexpr const char* digits = "{:.5g}";
  const auto label = [&](const char* steady, const char* in_time) { return r.steady ? steady : in_time; };
  const auto with_unit = [&, unit = r.unit()](const char* steady, const char* in_time) {
    return fmt::format("{} [{}]", label(steady, in_time), unit);
  };
  f(Quantity{"diffusivity", "m2_s", json}, c.diffusivity);
  f(Quantity{"peclet", "", r.flows ? json | text : json, "", "Péclet number", digits},
    r.flows ? r.peclet(c) : no_number);
  f(Quantity{"outlet", "", r.has_ends ? json | text : json, "", with_unit("at the outlet", "at the outlet, at the end"),
             digits},
    end.outlet);
  f(Quantity{"mean", "", json | text, "", with_unit("mean in the fluid", "mean in the fluid, at the end"), digits},
    end.mean);
  f(Quantity{"inlet", "", json}, c.inlet);
  f(Quantity{"least", "", text, "", with_unit("smallest value", "smallest value up to now"), digits}, c.least);
  f(Quantity{"largest", "", text, "", with_unit("largest value", "largest value up to now"), digits}, c.largest);
  f(Quantity{"largest_imbalance", "", json | text, "",
             label("imbalance, relative", "largest imbalance of a step, relative"), "{:.1e}"},
    c.imbalance);
}

/// Of the breakthrough of a component.
void each_quantity(const TransportResult& r, const ComponentResult& c, const Breakthrough& b, auto&& f) {
  using namespace shown;
  constexpr const char* digits = "{:.5g}";
  const double square = b.mean_time * b.mean_time;
  const auto found = r.dispersion(c);
  const double d = found.value_or(no_number);
  const unsigned known = found ? json | text : text;
  f(Quantity{"recovered", "", json}, b.recovered);
  f(Quantity{"mean_residence_time", "s", json | text, "", "mean residence time [s]", digits}, b.mean_time);
  f(Quantity{"mean_residence_pore_volumes", "", json | text, "", "  in pore volumes", digits},
    b.mean_time / r.pore_time);
  f(Quantity{"variance", "s2", json}, b.variance);
  f(Quantity{"relative_variance", "", json | text, "", "variance / mean² of the residence time", digits},
    b.variance / square);
  f(Quantity{"dispersion", "m2_s", known, "", "longitudinal dispersion D_L [m2/s]", digits}, d);
  f(Quantity{"dispersion_over_diffusivity", "", known, "", "  D_L / D", digits}, d / c.diffusivity);
  f(Quantity{"dispersivity", "m", known & json}, d / std::abs(r.pore_velocity()));
}

/// Of the wall that takes a component.
void each_quantity(const TransportResult& r, const ComponentResult& c, const WallResult& w, auto&& f) {
  using namespace shown;
  constexpr const char* digits = "{:.5g}";
  const double ratio = w.ratio_to_well_mixed();
  f(Quantity{"area", "m2", json}, w.area);
  f(Quantity{"rate", "m_s", json}, w.rate);
  f(Quantity{"loss", "C_m3_s", json | text, "", "loss into the wall [C m3/s]", digits}, w.loss);
  f(Quantity{"well_mixed_loss", "C_m3_s", json}, w.well_mixed);
  f(Quantity{"ratio_to_well_mixed", "", json | text, "", "  over that of a well-mixed fluid", digits}, ratio);
  f(Quantity{"effective_rate", "m_s", json | text, "", "effective rate of the wall [m/s]", digits}, w.rate * ratio);
  f(Quantity{"order", "", json}, w.order);
  f(Quantity{"damkohler_diffusion", "", json | text, "", "Damköhler number k L / D", digits}, r.damkohler(c));
  f(Quantity{"concentration", "", json | text, "", "mean concentration at the wall [C]", digits}, w.concentration);
  f(Quantity{"sherwood", "", json | text, "", "Sherwood number of the wall", digits},
    w.to_wall * r.number_length.length / c.diffusivity);
  f(Quantity{"damkohler_advection", "", json},
    r.flow_rate != 0.0 ? w.rate * w.area / std::abs(r.flow_rate) : no_number);
}

}  // namespace karst
