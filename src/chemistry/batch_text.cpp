// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/batch_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace karst {

namespace {

/// 0 in place of -0.00.
double index_of(const ChemicalSystem& system, const Speciation& state, int phase) {
  const double index = saturation_index(system, state, phase);
  return std::abs(index) < 5e-3 ? 0.0 : index;
}

}  // namespace

std::string states_text(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states,
                        const StatesOver& over) {
  const ChemicalSystem& system = medium.system;
  std::string text =
      fmt::format("{} of {} [mol/kgw; SI: saturation index]\n  {:>10}  {:>6}", over.what, name, over.head, "pH");
  const auto told = [&](const SurfaceReaction& r) { return over.rates || r.at_once(); };
  for (const SurfaceReaction& r : medium.minerals)
    if (told(r)) text += fmt::format("  {:>16}  {:>7}", r.mineral.name + " dissolved", "SI");
  for (int p = 1; p < system.n_primaries; ++p) text += fmt::format("  {:>11}", system.elements[p]);
  text += '\n';
  for (const BatchState& s : states) {
    text += fmt::format("  {:>10.4g}  {:>6.3f}", s.time, ph_of(s.solution));
    for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
      const KineticMineral& mineral = medium.minerals[m].mineral;
      if (told(medium.minerals[m]))
        text +=
            fmt::format("  {:>{}.4e}  {:>7.2f}", s.dissolved[m], std::max<std::size_t>(16, mineral.name.size() + 10),
                        index_of(system, s.solution, mineral.phase));
    }
    for (int p = 1; p < system.n_primaries; ++p) text += fmt::format("  {:>11.4e}", total_of(system, s.solution, p));
    text += '\n';
  }
  return text;
}

std::string states_csv(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states,
                       const StatesOver& over, bool header) {
  const ChemicalSystem& system = medium.system;
  std::string text = header ? fmt::format("solution,{},kind,name,value,unit\n", over.column) : "";
  for (const BatchState& s : states) {
    const auto add = [&](const char* kind, const std::string& what, double value, const char* unit) {
      text += fmt::format("{},{:.10g},{},{},{:.10g},{}\n", name, s.time, kind, what, value, unit);
    };
    add("property", "pH", ph_of(s.solution), "");
    add("property", "ionic_strength", s.solution.ionic_strength, "mol/kgw");
    add("property", "alkalinity", alkalinity_of(system, s.solution), "eq/kgw");
    if (const double carbon = inorganic_carbon_of(system, s.solution); !std::isnan(carbon))
      add("property", "inorganic_carbon", carbon, "mol/kgw");
    for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
      const KineticMineral& mineral = medium.minerals[m].mineral;
      if (!over.rates && !medium.minerals[m].at_once()) continue;
      add("dissolved", mineral.name, s.dissolved[m], "mol/kgw");
      add("saturation_index", mineral.name, saturation_index(system, s.solution, mineral.phase), "log10");
    }
    for (int p = 1; p < system.n_primaries; ++p)
      add("total", system.elements[p], total_of(system, s.solution, p), "mol/kgw");
    for (int p = 0; p < system.n_primaries && !medium.sites.empty(); ++p)
      add("sorbed", system.elements[p], sorbed_of(system, s.solution, p), "mol/kgw");
  }
  return text;
}

std::string equilibrium_text(const std::string& name, const ReactiveMedium& medium, const BatchMinerals& minerals,
                             const BatchState& state) {
  const ChemicalSystem& system = medium.system;
  std::string text = fmt::format("{} in equilibrium\n  {:<18} {:.3f}\n  {:<18} {:.4e} mol/kgw\n", name, "pH",
                                 ph_of(state.solution), "ionic strength", state.solution.ionic_strength);
  text += "\nPhase                  index    dissolved    remaining [mol/kgw]\n";
  for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
    const KineticMineral& mineral = medium.minerals[m].mineral;
    if (medium.minerals[m].at_once())
      text += fmt::format("  {:<18} {:>7.2f}  {:>11.4e}  {:>11.4e}\n", mineral.name,
                          index_of(system, state.solution, mineral.phase), state.dissolved[m],
                          minerals.amount[m] - state.dissolved[m]);
  }
  text += "\nTotals                  mol/kgw\n";
  for (int p = 1; p < system.n_primaries; ++p)
    text += fmt::format("  {:<18} {:>11.4e}\n", system.elements[p], total_of(system, state.solution, p));
  return text;
}

std::string equilibrium_csv(const std::string& name, const ReactiveMedium& medium, const BatchMinerals& minerals,
                            const BatchState& state) {
  const ChemicalSystem& system = medium.system;
  std::string text;
  const auto add = [&](const char* kind, const std::string& what, double value, const char* unit) {
    text += fmt::format("{},{},{},{:.10g},{},,\n", name, kind, what, value, unit);
  };
  add("equilibrium_property", "pH", ph_of(state.solution), "");
  add("equilibrium_property", "ionic_strength", state.solution.ionic_strength, "mol/kgw");
  for (int p = 1; p < system.n_primaries; ++p)
    add("equilibrium_total", system.elements[p], total_of(system, state.solution, p), "mol/kgw");
  for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
    if (!medium.minerals[m].at_once()) continue;
    add("dissolved", medium.minerals[m].mineral.name, state.dissolved[m], "mol/kgw");
    add("left", medium.minerals[m].mineral.name, minerals.amount[m] - state.dissolved[m], "mol/kgw");
  }
  return text;
}

}  // namespace karst
