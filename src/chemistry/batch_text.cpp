// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/batch_text.hpp"

#include <fmt/format.h>

namespace karst {

std::string batch_text(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states) {
  const ChemicalSystem& system = medium.system;
  std::string text =
      fmt::format("Batch reaction of {} [mol/kgw; SI: saturation index]\n  {:>10}  {:>6}", name, "time [s]", "pH");
  for (const SurfaceReaction& r : medium.minerals)
    text += fmt::format("  {:>16}  {:>7}", r.mineral.name + " dissolved", "SI");
  for (int p = 1; p < system.n_primaries; ++p) text += fmt::format("  {:>11}", system.elements[p]);
  text += '\n';
  for (const BatchState& s : states) {
    text += fmt::format("  {:>10.4g}  {:>6.3f}", s.time, ph_of(s.solution));
    for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
      const KineticMineral& mineral = medium.minerals[m].mineral;
      text += fmt::format("  {:>{}.4e}  {:>7.2f}", s.dissolved[m], std::max<std::size_t>(16, mineral.name.size() + 10),
                          saturation_index(system, s.solution, mineral.phase));
    }
    for (int p = 1; p < system.n_primaries; ++p) text += fmt::format("  {:>11.4e}", total_of(system, s.solution, p));
    text += '\n';
  }
  return text;
}

std::string batch_csv(const std::string& name, const ReactiveMedium& medium, const std::vector<BatchState>& states,
                      bool header) {
  const ChemicalSystem& system = medium.system;
  std::string text = header ? "solution,time_s,kind,name,value,unit\n" : "";
  for (const BatchState& s : states) {
    const auto add = [&](const char* kind, const std::string& what, double value, const char* unit) {
      text += fmt::format("{},{:.10g},{},{},{:.10g},{}\n", name, s.time, kind, what, value, unit);
    };
    add("property", "pH", ph_of(s.solution), "");
    for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
      const KineticMineral& mineral = medium.minerals[m].mineral;
      add("dissolved", mineral.name, s.dissolved[m], "mol/kgw");
      add("saturation_index", mineral.name, saturation_index(system, s.solution, mineral.phase), "log10");
    }
    for (int p = 1; p < system.n_primaries; ++p)
      add("total", system.elements[p], total_of(system, s.solution, p), "mol/kgw");
  }
  return text;
}

}  // namespace karst
