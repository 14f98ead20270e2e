// SPDX-License-Identifier: BSD-3-Clause
#include "app/reaction/speciate_results.hpp"

#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "chemistry/batch_text.hpp"

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

}  // namespace karst
