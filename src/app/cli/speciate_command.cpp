// SPDX-License-Identifier: BSD-3-Clause
// `karst speciate`: the species of solutions, and what sorbs from them and reacts with them, without any grid.
#include <fmt/format.h>

#include <filesystem>

#include "app/cli/commands.hpp"
#include "app/deck/chemistry_deck.hpp"
#include "app/deck/config.hpp"
#include "app/reaction/speciate_results.hpp"
#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/log.hpp"
#include "chemistry/reactant.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// @param phreeqc  of the engine phreeqcrm
Speciated speciated(const Database& database, const ChemistryDeck& deck, const std::optional<PhreeqcFiles>& phreeqc,
                    SolutionOptions options) {
  VesselOptions parts{deck.sorbents, {}, deck.equilibria};
  std::vector<Reactant> reactants;
  for (const MineralDeck& m : deck.minerals) parts.minerals.push_back(m.options);
  for (const std::string& text : deck.titration.reactants) reactants.push_back(parse_reactant(text));
  for (const MineralOptions& m : parts.minerals) add_elements_of_phase(database, m.phase, options);
  for (const EquilibriumOptions& e : parts.equilibria) add_elements_of_phase(database, e.phase, options);
  for (const Reactant& r : reactants) add_elements_of_reactant(database, r, options);
  Speciated result{
      phreeqc ? solve_with_phreeqc(*phreeqc, database, options) : solve_solution(database, options), {}, {}, {}, {}};
  try {
    result.vessel = make_vessel(database, result.solution, parts);
    const Vessel& v = result.vessel;
    if (!deck.equilibria.empty())
      result.equilibrium = phreeqc ? react_with_phreeqc(*phreeqc, v.medium, v.minerals, v.totals, {}).front()
                                   : equilibrate(v.medium, v.minerals, v.totals);
    if (!deck.times.empty())
      result.batch = phreeqc ? react_with_phreeqc(*phreeqc, v.medium, v.minerals, v.totals, deck.times)
                             : react(v.medium, v.minerals, v.totals, deck.times);
    if (!reactants.empty())
      result.titration = titrate(v, totals_of_reactants(database, v.medium.system, reactants), deck.titration.amounts);
  } catch (const Error& e) {
    throw Error(fmt::format("solution {}: {}", options.name, e.what()));
  }
  return result;
}

/// All solutions, or one error that tells what is wrong with each.
std::vector<Speciated> speciate_all(const Database& database, const ChemistryDeck& deck,
                                    const std::optional<PhreeqcFiles>& phreeqc) {
  std::vector<Speciated> all;
  std::string problems;
  for (const SolutionOptions& options : deck.solutions) try {
      all.push_back(speciated(database, deck, phreeqc, options));
    } catch (const Error& e) {
      problems += fmt::format("{}{}", problems.empty() ? "" : "\n", e.what());
    }
  require(problems.empty(), "{}", problems);
  return all;
}

/// "results.csv" -> "results_batch.csv"
std::string table_file(const std::string& file, const std::string& table) {
  const fs::path path(file);
  const std::string name = path.stem().string() + (table.empty() ? "" : "_" + table);
  return (path.parent_path() / (name + path.extension().string())).string();
}

/// What will be written.
std::vector<std::string> targets(const CommandLine& line, const ChemistryDeck& deck) {
  std::vector<std::string> files;
  if (!line.file.empty()) {
    files.push_back(line.file);
    if (!deck.times.empty()) files.push_back(table_file(line.file, "batch"));
    if (!deck.titration.reactants.empty()) files.push_back(table_file(line.file, "titration"));
  }
  for (const std::string& file : {line.json, line.page})
    if (!file.empty()) files.push_back(file);
  return files;
}

/// A deck for `karst run`, which has a domain.
bool is_of_a_run(const Reader& in) { return in.given("grid") || in.given("geometry"); }

/// The chemistry of a deck for `karst run`, without minerals that react over its time.
ChemistryDeck chemistry_of_run(Reader& in) {
  Config config = read_config(in);
  if (!config.chemistry.asked())
    in.mistake("chemistry.solution", "missing; `karst speciate` needs at least one [[chemistry.solution]]");
  config.chemistry.title = config.title;
  config.chemistry.minerals.clear();
  return config.chemistry;
}

}  // namespace

void speciate_command(const Comm& comm, const CommandLine& line) {
  Reader in = Reader::from_file(line.deck, line.overrides);
  ChemistryDeck deck;
  const bool of_a_run = is_of_a_run(in);
  if (of_a_run)
    deck = chemistry_of_run(in);
  else
    read(in, deck, ChemistryUse::speciate);
  const std::optional<Database> found = read_database_of(in, deck);
  in.finish();
  for (const std::string& file : targets(line, deck)) require_free(comm, file, line.overwrite);
  const Database& database = *found;  // else finish() has thrown
  const std::optional<PhreeqcFiles> phreeqc = phreeqc_files(deck, in.directory());
  const std::vector<Speciated> all = speciate_all(database, deck, phreeqc);
  if (!deck.title.empty()) log_info("{}\n", deck.title);
  log_info("Engine: {}, 1 thread\n", phreeqc ? "PHREEQC (PhreeqcRM)" : "Karst");
  if (of_a_run)
    log_info(
        "Deck of a run: its solutions, with sorbents and phases in equilibrium; minerals with rates are left out\n");
  if (const std::string unused = left_out(database); !unused.empty()) log_info("{}\n", unused);
  const std::vector<SpeciateTable> tables = tell_speciated(all, deck);
  for (const SpeciateTable& table : tables) {
    if (line.file.empty()) break;
    write_file(comm, table_file(line.file, table.name), table.csv);
    log_info("Table: {}", table_file(line.file, table.name));
  }
  if (!line.json.empty()) {
    write_file(comm, line.json, speciate_json(tables, deck.databases()));
    log_info("JSON: {}", line.json);
  }
  if (!line.page.empty()) {
    write_file(comm, line.page, speciate_page(all, deck, fs::path(line.deck).filename().string()));
    log_info("Page: {}", line.page);
  }
}

}  // namespace karst
