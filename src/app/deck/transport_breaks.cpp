// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/transport_breaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "app/deck/clock.hpp"

namespace karst {

namespace {

std::vector<double> in_order(std::vector<double> times) {
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

std::vector<double> jumps_of(const TransportDeck& deck, double end) {
  std::vector<double> jumps;
  const auto add = [&](const std::vector<double>& times) { jumps.insert(jumps.end(), times.begin(), times.end()); };
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    if (c.outlet) add(jumps_of(fmt::format("transport.component[{}].outlet", i), *c.outlet, end));
    if (c.inlet_of_place) continue;
    if (!c.inlet_table) {
      add(jumps_of(fmt::format("transport.component[{}].inlet", i), c.inlet, end));
      continue;
    }
    const std::vector<double>&time = c.inlet_table->time, &value = c.inlet_table->value;
    for (std::size_t n = 1; n < time.size(); ++n)
      if (time[n] == time[n - 1] && value[n] != value[n - 1] && time[n] > 0.0 && time[n] < end)
        jumps.push_back(time[n]);
  }
  return in_order(std::move(jumps));
}

bool is_constant(const TransportDeck& deck, double from, double to) {
  const auto formula_is = [&](const std::string& text) {
    const FormulaBounds bounds = Formula(text, "t").bounds({from, 0.0, 0.0}, {to, 0.0, 0.0});
    return bounds.value.lo == bounds.value.hi;
  };
  const auto table_is = [&](const TimeTable& table) {
    const double value = table.at(from);
    for (std::size_t n = 0; n < table.time.size(); ++n)
      if (table.time[n] > from && table.time[n] < to && table.value[n] != value) return false;
    return table.at(to) == value;
  };
  return std::ranges::all_of(deck.components, [&](const ComponentDeck& c) {
    const bool inlet = c.inlet_of_place || (c.inlet_table ? table_is(*c.inlet_table) : formula_is(c.inlet));
    return inlet && (!c.outlet || formula_is(*c.outlet));
  });
}

std::vector<double> breaks_of(const TransportDeck& deck, double end) {
  std::vector<double> breaks = jumps_of(deck, end);
  for (const ComponentDeck& c : deck.components)
    if (c.inlet_table)
      std::ranges::copy_if(c.inlet_table->time, std::back_inserter(breaks),
                           [&](double t) { return t > 0.0 && t < end; });
  return in_order(std::move(breaks));
}

}  // namespace karst
