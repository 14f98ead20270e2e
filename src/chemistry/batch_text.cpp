// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/batch_text.hpp"

#include <fmt/format.h>

namespace karst {

std::string batch_text(const Solution& start, const std::vector<KineticMineral>& minerals,
                       const std::vector<BatchState>& states) {
  std::string text = fmt::format("Batch reaction of {} [mol/kgw; SI: saturation index]\n  {:>10}  {:>6}",
                                 start.options.name, "time [s]", "pH");
  for (const KineticMineral& m : minerals) text += fmt::format("  {:>16}  {:>7}", m.name + " dissolved", "SI");
  for (int p = 1; p < start.system.n_primaries; ++p) text += fmt::format("  {:>11}", start.system.elements[p]);
  text += '\n';
  for (const BatchState& s : states) {
    text += fmt::format("  {:>10.4g}  {:>6.3f}", s.time, ph_of(s.solution));
    for (std::size_t m = 0; m < minerals.size(); ++m)
      text +=
          fmt::format("  {:>{}.4e}  {:>7.2f}", s.dissolved[m], std::max<std::size_t>(16, minerals[m].name.size() + 10),
                      saturation_index(start.system, s.solution, minerals[m].phase));
    for (int p = 1; p < start.system.n_primaries; ++p)
      text += fmt::format("  {:>11.4e}", total_of(start.system, s.solution, p));
    text += '\n';
  }
  return text;
}

std::string batch_csv(const Solution& start, const std::vector<KineticMineral>& minerals,
                      const std::vector<BatchState>& states, bool header) {
  std::string text = header ? "solution,time_s,kind,name,value,unit\n" : "";
  for (const BatchState& s : states) {
    const auto add = [&](const char* kind, const std::string& name, double value, const char* unit) {
      text += fmt::format("{},{:.10g},{},{},{:.10g},{}\n", start.options.name, s.time, kind, name, value, unit);
    };
    add("property", "pH", ph_of(s.solution), "");
    for (std::size_t m = 0; m < minerals.size(); ++m) {
      add("dissolved", minerals[m].name, s.dissolved[m], "mol/kgw");
      add("saturation_index", minerals[m].name, saturation_index(start.system, s.solution, minerals[m].phase), "log10");
    }
    for (int p = 1; p < start.system.n_primaries; ++p)
      add("total", start.system.elements[p], total_of(start.system, s.solution, p), "mol/kgw");
  }
  return text;
}

}  // namespace karst
