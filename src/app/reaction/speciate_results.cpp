// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/speciate_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/output/curve_chart.hpp"
#include "base/core/text.hpp"
#include "base/core/version.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "chemistry/batch_text.hpp"
#include "chemistry/charge_error.hpp"
#include "page/page_parts.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

/// Sorbents beside the solution, and all of it in equilibrium.
void tell_vessel(const Speciated& s, const ChemistryDeck& deck, std::string& csv) {
  const ReactiveMedium& medium = s.vessel.medium;
  const std::string& name = s.solution.options.name;
  if (!deck.sorbents.empty()) {
    log_info("{}", sorption_text(medium.system, medium.start, deck.sorbents));
    csv += sorption_csv(name, medium.system, medium.start, deck.sorbents);
  }
  if (!s.equilibrium) return;
  log_info("{}", equilibrium_text(name, medium, s.vessel.minerals, *s.equilibrium));
  csv += equilibrium_csv(name, medium, s.vessel.minerals, *s.equilibrium);
  if (deck.sorbents.empty()) return;
  log_info("{}", sorption_text(medium.system, s.equilibrium->solution, deck.sorbents));
  csv += sorption_csv(name, medium.system, s.equilibrium->solution, deck.sorbents, "equilibrium_");
}

Json value_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty()) return nullptr;
  return *end == '\0' ? Json(value) : Json(text);
}

Json rows_of(const std::string& csv) {
  Json rows = Json::array();
  std::vector<std::string> columns;
  for (const std::string& line : split(csv, '\n')) {
    const std::vector<std::string> cells = split(line, ',');
    if (line.empty()) continue;
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Json row = Json::object();
    for (std::size_t c = 0; c < columns.size(); ++c)
      row[columns[c]] = columns[c] == "solution" || columns[c] == "name" ? Json(cells[c]) : value_of(cells[c]);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<SpeciateTable> tell_speciated(const std::vector<Speciated>& all, const ChemistryDeck& deck) {
  SpeciateTable solutions{"", ""}, batch{"batch", ""}, titration{"titration", ""};
  for (const Speciated& s : all) {
    const std::string& name = s.solution.options.name;
    log_info("{}", solution_text(s.solution, deck.databases()));
    for (const std::string& w : solution_warnings(s.solution)) log_warn("{}", w);
    solutions.csv += solution_csv(s.solution, solutions.csv.empty());
    tell_vessel(s, deck, solutions.csv);
    const auto tell = [&](const std::vector<BatchState>& states, const StatesOver& over, SpeciateTable& table) {
      if (states.empty()) return;
      log_info("{}", states_text(name, s.vessel.medium, states, over));
      table.csv += states_csv(name, s.vessel.medium, states, over, table.csv.empty());
    };
    tell(s.batch, over_time, batch);
    tell(s.titration, over_added, titration);
  }
  std::vector<SpeciateTable> tables{std::move(solutions)};
  for (SpeciateTable* table : {&batch, &titration})
    if (!table->csv.empty()) tables.push_back(std::move(*table));
  return tables;
}

std::string speciate_json(const std::vector<SpeciateTable>& tables, const std::string& database) {
  Json json{{"database", database}};
  for (const SpeciateTable& table : tables) json[table.name.empty() ? "solutions" : table.name] = rows_of(table.csv);
  return json.dump(1);
}

namespace {

constexpr double decades_of_totals = 8.0;  ///< of totals on one chart, at most
constexpr double least_total = 1e-25;      ///< [mol/kgw] that is on a chart

constexpr double least_charge_error = 1e-6;  ///< [%]: round-off is below
constexpr double least_alkalinity = 1e-14;   ///< [eq/kgw]: the same

/// What happens to one vessel over time, or over what is added.
struct Course {
  const Speciated& of;
  const std::vector<BatchState>& states;
  bool added;  ///< or else the time, by its logarithm
};

template <class Value>
Curve curve_of(const Course& course, Value&& value) {
  Curve all;
  for (const BatchState& s : course.states) all.push_back(value(s));
  return all;
}

CurveChart chart_of(const Course& course, const std::string& title, const std::string& label) {
  const Curve x = curve_of(course, [](const BatchState& s) { return s.time; });
  const std::string whole = fmt::format("{}: {}", course.of.solution.options.name, title);
  if (course.added) return {whole, "added [mol/kgw]", label, x};
  CurveChart chart(whole, "time [s]", label, log10_of(x, 0.0));
  chart.logarithmic_x();
  return chart;
}

std::string ph_chart(const Course& course) {
  CurveChart chart = chart_of(course, "pH", "pH");
  chart.add("pH", 0, curve_of(course, [](const BatchState& s) { return ph_of(s.solution); }));
  return chart.html("", 0.5);
}

/// Of all elements, dissolved and dashed on what sorbs.
std::string totals_chart(const Course& course) {
  const ChemicalSystem& system = course.of.vessel.medium.system;
  CurveChart chart = chart_of(course, "totals", "mol/kgw");
  chart.logarithmic_y();
  const bool sorbs = !course.of.vessel.medium.sites.empty();
  for (int p = 1; p < system.n_primaries; ++p) {
    const std::string& name = system.elements[p];
    const auto add = [&](const std::string& label, auto&& value, const char* dash) {
      Curve y = curve_of(course, value);
      for (double& v : y) v = v > least_total ? v : NAN;
      chart.add(label, p - 1, log10_of(y, 0.0), dash);
    };
    add(
        name, [&](const BatchState& s) { return total_of(system, s.solution, p); }, "");
    if (sorbs)
      add(
          "", [&](const BatchState& s) { return sorbed_of(system, s.solution, p); }, dashes);
  }
  return chart.html(sorbs ? "Dissolved; dashed: sorbed." : "", 1.0, chart.highest() - decades_of_totals);
}

enum class OfMinerals { dissolved, saturation_index };

std::string minerals_chart(const Course& course, OfMinerals what) {
  const bool index = what == OfMinerals::saturation_index;
  const ReactiveMedium& medium = course.of.vessel.medium;
  CurveChart chart =
      index ? chart_of(course, "saturation indices", "log₁₀ Ω") : chart_of(course, "dissolved", "mol/kgw");
  double largest = 0.0;
  for (std::size_t m = 0; m < medium.minerals.size(); ++m) {
    const KineticMineral& mineral = medium.minerals[m].mineral;
    if (course.added && !medium.minerals[m].at_once()) continue;
    const Curve y = curve_of(course, [&](const BatchState& s) {
      return index ? saturation_index(medium.system, s.solution, mineral.phase) : s.dissolved[m];
    });
    for (const double v : y) largest = std::max(largest, std::abs(v));
    chart.add(mineral.name, m, y);
  }
  if (index) return chart.html("Below 0 a mineral dissolves.", 0.5, lowest_index);
  return chart.html("Negative: precipitated.", largest > 0.0 ? 0.2 * axis_end(largest) : 1.0);
}

void add_course(const Course& course, std::vector<std::string>& cards) {
  if (course.states.size() < 2) return;
  for (std::string (*chart)(const Course&) : {ph_chart, totals_chart}) cards.push_back(chart(course));
  cards.push_back(minerals_chart(course, OfMinerals::dissolved));
  cards.push_back(minerals_chart(course, OfMinerals::saturation_index));
}

/// pH, strength and totals of all solutions side by side.
std::string solutions_card(const std::vector<Speciated>& all) {
  std::vector<std::vector<std::string>> rows{{""},
                                             {"temperature [°C]"},
                                             {"pH"},
                                             {"ionic strength [mol/kgw]"},
                                             {"alkalinity [eq/kgw]"},
                                             {"dissolved inorganic carbon [mol/kgw]"},
                                             {"charge error [% of the ions]"}};
  const std::size_t n_properties = rows.size();
  std::vector<std::string> elements;
  for (const Speciated& s : all)
    for (std::size_t p = 1; p < s.solution.system.elements.size(); ++p)
      if (std::ranges::count(elements, s.solution.system.elements[p]) == 0)
        elements.push_back(s.solution.system.elements[p]);
  for (const std::string& e : elements) rows.push_back({escape_html(e) + " [mol/kgw]"});
  for (const Speciated& s : all) {
    const ChemicalSystem& system = s.solution.system;
    rows[0].push_back(escape_html(s.solution.options.name));
    rows[1].push_back(fmt::format("{:g}", s.solution.options.temperature));
    rows[2].push_back(fmt::format("{:.3f}", ph_of(s.solution.state)));
    rows[3].push_back(fmt::format("{:.4g}", s.solution.state.ionic_strength));
    const double carbon = inorganic_carbon_of(system, s.solution.state), error = charge_error(s.solution);
    const double alkalinity = alkalinity_of(system, s.solution.state);
    rows[4].push_back(fmt::format("{:.4g}", std::abs(alkalinity) < least_alkalinity ? 0.0 : alkalinity));
    rows[5].push_back(std::isnan(carbon) ? "–" : fmt::format("{:.4g}", carbon));
    rows[6].push_back(fmt::format("{:.2g}", std::abs(error) < least_charge_error ? 0.0 : error));
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const int p = system.primary_of(elements[e]);
      const double total = p < 0 ? 0.0 : total_of(system, s.solution.state, p);
      rows[n_properties + e].push_back(p < 0 ? "–" : fmt::format("{:.4g}", total > 2.0 * least_amount ? total : 0.0));
    }
  }
  return card("Solutions", html_table(rows));
}

/// Species of which there is most, and phases nearest to saturation.
std::string species_card(const Solution& s) {
  constexpr std::size_t most = 12;
  std::vector<std::size_t> order(s.system.species.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return s.state.molality[i]; });
  std::vector<std::vector<std::string>> rows{{"", "mol/kgw", "activity"}};
  for (std::size_t k = 0; k < std::min(most, order.size()); ++k)
    rows.push_back({escape_html(s.system.species[order[k]].name), fmt::format("{:.4g}", s.state.molality[order[k]]),
                    fmt::format("{:.4g}", std::exp(ln_activity(s.system, s.state, static_cast<int>(order[k]))))});
  return card(s.options.name + ": species", html_table(rows),
              order.size() > most ? fmt::format("The first {} of {}.", most, order.size()) : "");
}

std::string index_card(const Solution& s) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t p = 0; p < s.system.phases.size(); ++p)
    order.emplace_back(saturation_index(s.system, s.state, static_cast<int>(p)), p);
  std::ranges::stable_sort(order, std::greater{}, [](const auto& o) { return o.first; });
  std::vector<std::vector<std::string>> rows{{"", "log₁₀ Ω"}};
  for (const auto& [index, p] : order)
    if (index > lowest_index)
      rows.push_back(
          {escape_html(s.system.phases[p].name), fmt::format("{:.2f}", std::abs(index) < 5e-3 ? 0.0 : index)});
  return card(s.options.name + ": saturation", html_table(rows),
              "Those above -5; for gases log₁₀ of the fugacity in atm.");
}

}  // namespace

std::string speciate_page(const std::vector<Speciated>& all, const ChemistryDeck& deck, const std::string& source) {
  std::vector<std::string> warnings, cards;
  for (const Speciated& s : all)
    for (const std::string& w : solution_warnings(s.solution)) warnings.push_back(w);
  for (const Speciated& s : all) {
    add_course({s, s.batch, false}, cards);
    add_course({s, s.titration, true}, cards);
  }
  std::string body = warnings_html(warnings) + solutions_card(all) + pairs_html(cards);
  for (const Speciated& s : all) body += pairs_html({species_card(s.solution), index_card(s.solution)});
  return page_html(deck.title.empty() ? "Solutions" : deck.title, "Karst speciate",
                   fmt::format("{}, database {}", source, deck.databases()), body, std::string(version_and_git_id()));
}

}  // namespace karst
