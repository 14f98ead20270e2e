// SPDX-License-Identifier: BSD-3-Clause
#include "app/chemistry_deck.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"

namespace karst {

namespace {

void read_solution(Reader& in, SolutionOptions& s) {
  in.text("name", s.name, "what the solution is called in tables");
  in.number("temperature", s.temperature, "C", "temperature", 0.0, 100.0);
  in.number_or_formula("pH", s.ph, "-",
                       "a number; \"charge\": the pH that balances the charge; or a phase and its saturation index "
                       "that it follows from, \"Calcite 0\"");
  in.text(
      "units", s.units,
      "of totals that name none: mol, mmol, umol, g, mg, ug, eq, meq per kgw (kilogram of water), kgs (of solution) "
      "or L; ppt, ppm, ppb by weight");
  in.number("density", s.density, "kg/L", "of the solution, for units per litre", 0.5, 3.0);
  in.texts("totals", s.totals,
           "one text per element: name and amount, then as needed its units, \"as HCO3\" (the formula that grams are "
           "of), \"charge\" (the amount that balances the charge), or a phase and its saturation index that the amount "
           "follows from, of a gas log10 of its partial pressure in atm: \"Ca 412 ppm\", \"Cl 0.1 charge\", "
           "\"Alkalinity 2e-3\", \"C(4) 1e-3 CO2(g) -3.4\"; valences are elements of their own: \"S(6)\", \"S(-2)\"");
  if (in.documenting()) return;
  for (const std::string& total : s.totals) try {
      parse_total(total);
    } catch (const Error& e) {
      in.mistake("totals", e.what());
    }
}

void read_mineral(Reader& in, MineralOptions& m) {
  in.text("name", m.name, "what the mineral is called in tables (default: its phase)");
  in.text("phase", m.phase, "phase of the database");
  in.number("area", m.area, "m2/kgw", "surface per kilogram of water", 0.0, 1e300);
  in.number("amount", m.amount, "mol/kgw", "what there is to dissolve", 0.0, 1e300);
  in.texts(
      "rates", m.rates,
      "ways of the reaction, which add up to the rate of dissolution per surface, times (1 - saturation ratio): k at "
      "25 C [mol/m2/s], then species and exponents of their activities, then Ea and an activation energy [kJ/mol]: "
      "\"0.89 H+ 1\", \"6.6e-7 Ea 23.5\"");
  if (in.documenting()) return;
  if (m.phase.empty()) in.mistake("phase", "missing; wanted: a phase of the database, \"Calcite\"");
  if (m.rates.empty()) in.mistake("rates", "missing; a mineral without a rate does not react");
  if (m.area <= 0.0) in.mistake("area", "missing, or 0: a mineral without a surface does not react");
  if (m.name.empty()) m.name = m.phase;
}

void check_batch(Reader& in, const ChemistryDeck& deck) {
  if (deck.times.empty() != deck.minerals.empty())
    in.mistake(deck.times.empty() ? "chemistry.times" : "chemistry.mineral",
               deck.times.empty() ? "missing: the minerals react over these times"
                                  : "missing: nothing reacts over these times");
  for (std::size_t t = 1; t < deck.times.size(); ++t)
    if (deck.times[t] <= deck.times[t - 1]) return in.mistake("chemistry.times", "must increase");
}

}  // namespace

void read(Reader& in, ChemistryDeck& deck) {
  in.text("title", deck.title, "one line on what this is");
  in.text("chemistry.database", deck.database,
          "file in PHREEQC's format, relative to the deck; phreeqc.dat comes along with Karst");
  in.tables("chemistry.solution", "a solution; one table each", [&](Reader& item) {
    SolutionOptions s;
    s.name = deck.solutions.empty() ? "1" : std::to_string(deck.solutions.size() + 1);
    read_solution(item, s);
    if (std::ranges::find(deck.solutions, s.name, &SolutionOptions::name) != deck.solutions.end())
      item.mistake("name", "another solution has this name already");
    deck.solutions.push_back(std::move(s));
  });
  in.tables("chemistry.mineral",
            "a mineral that reacts with each of the solutions over chemistry.times; one table each", [&](Reader& item) {
              MineralOptions m;
              read_mineral(item, m);
              deck.minerals.push_back(std::move(m));
            });
  in.numbers("chemistry.times", deck.times, "s", "times that the batch reaction is told at", 1e-9, 1e300);
  if (in.documenting()) return;
  check_batch(in, deck);
  if (deck.solutions.empty())
    in.mistake("chemistry.solution", "missing; `karst speciate` wants at least one [[chemistry.solution]]");
}

std::vector<KeyInfo> chemistry_keys() {
  Reader in = Reader::declarations_only();
  ChemistryDeck deck;
  read(in, deck);
  return in.keys();
}

std::string database_path(const std::string& name, const std::string& deck_directory) {
  namespace fs = std::filesystem;
  const fs::path beside = fs::path(deck_directory) / name, shipped = fs::path(KARST_DATABASES) / name;
  if (fs::exists(beside)) return beside.string();
  require(fs::exists(shipped), "chemistry.database: there is no {}, and no database {} that Karst brings along ({})",
          beside.string(), name, KARST_DATABASES);
  return shipped.string();
}

}  // namespace karst
