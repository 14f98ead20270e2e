// SPDX-License-Identifier: BSD-3-Clause
// The quantities of the chemistry of a run: names, units and where they are shown, a row each (output/quantity.hpp).
#pragma once

#include <string>
#include <vector>

#include "app/output/quantity.hpp"
#include "app/reaction/reactive_past.hpp"
#include "base/math/no_number.hpp"

namespace karst {

template <class Line, class F>
void each_of_time(Line& line, F&& f) {
  f(Quantity{"time", "s", shown::csv | shown::history | shown::record}, line.time);
  f(Quantity{"pore_volumes", "", shown::history | shown::record}, line.pore_volumes);
}

template <class Line, class F>
void each_of_mineral(Line& line, std::size_t mineral, F&& f) {
  using namespace shown;
  auto& m = line.minerals[mineral];
  f(Quantity{"rate", "mol_s", csv | json | shown::history | record}, m.rate);
  f(Quantity{"well_mixed", "mol_s", csv}, double{m.well_mixed});
  f(Quantity{"over_well_mixed", "", csv}, m.ratio());
  f(Quantity{"well_mixed_rate", "mol_s", json | shown::history | record}, m.well_mixed);
  f(Quantity{"ratio_to_well_mixed", "", json}, m.ratio());
  f(Quantity{"dissolved", "mol", csv | json | record}, m.dissolved);
  f(Quantity{"amount", "mol", csv | json | record}, m.amount);
  f(Quantity{"saturation_index_outlet", "", csv | json | shown::history}, line.outlet.index(mineral));
  f(Quantity{"saturation_index_mean", "", csv | json | shown::history}, line.mean.index(mineral));
  f(Quantity{"step_error", "mol", json | record}, m.time_error);
}

template <class Line, class F>
void each_of_water(Line& line, F&& f) {
  constexpr unsigned all = shown::csv | shown::json | shown::history | shown::record;
  f(Quantity{"pH_outlet", "", all}, line.outlet.ph);
  f(Quantity{"pH_mean", "", all}, line.mean.ph);
}

/// Whether elements may be on sorbents.
enum class Sorbents { none, some };

/// @param line  of a step; that of the beginning has no contents
template <class F>
void each_of_element(const ReactiveLine& line, std::size_t element, Sorbents sorbents, F&& f) {
  using namespace shown;
  const auto of = [&](const std::vector<double>& all) { return element < all.size() ? all[element] : no_number; };
  f(Quantity{"content", "mol", csv | json}, of(line.content));
  f(Quantity{"imbalance", "", csv | shown::history, "{:.3e}"}, of(line.imbalance));
  f(Quantity{"sorbed", "mol", sorbents == Sorbents::some ? csv | json : json}, of(line.sorbed));
}

template <class Line, class F>
void each_of_step(Line& line, F&& f) {
  using namespace shown;
  f(Quantity{"charge", "mol", csv | json | record}, line.charge);
  f(Quantity{"charge_imbalance", "", csv | shown::history | record, "{:.3e}"}, line.charge_imbalance);
  f(Quantity{"solved", "", csv | record}, line.solved);
  f(Quantity{"kept", "", csv | record}, line.kept);
  f(Quantity{"speciations", "", csv | record}, line.speciations);
}

/// Columns of chemistry.csv.
/// @param reader  (what stands before each name) -> CsvHead or CsvLine
template <class Reader>
void each_column(const ReactiveLine& line, const std::vector<std::string>& minerals,
                 const std::vector<std::string>& elements, Sorbents sorbents, Reader&& reader) {
  each_of_time(line, reader(""));
  for (std::size_t m = 0; m < minerals.size(); ++m) each_of_mineral(line, m, reader(minerals[m] + '_'));
  each_of_water(line, reader(""));
  for (std::size_t p = 0; p < elements.size(); ++p) each_of_element(line, p, sorbents, reader(elements[p] + '_'));
  each_of_step(line, reader(""));
}

}  // namespace karst
