// SPDX-License-Identifier: BSD-3-Clause
// `karst speciate`: the species of solutions, and batch reactions with minerals, without any grid.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "app/chemistry_deck.hpp"
#include "app/commands.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "chemistry/batch_text.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// A solution, and what is done with it.
struct Speciated {
  Solution solution;
  Vessel vessel;
  std::optional<BatchState> equilibrium;  ///< with all that is in equilibrium
  std::vector<BatchState> states;
};

Speciated speciated(const Database& database, const ChemistryDeck& deck, SolutionOptions options) {
  VesselOptions parts{deck.sorbents, {}, deck.equilibria};
  for (const MineralDeck& m : deck.minerals) parts.minerals.push_back(m.options);
  for (const MineralOptions& m : parts.minerals) add_elements_of_phase(database, m.phase, options);
  for (const EquilibriumOptions& e : parts.equilibria) add_elements_of_phase(database, e.phase, options);
  Speciated result{solve_solution(database, options), {}, {}, {}};
  try {
    result.vessel = make_vessel(database, result.solution, parts);
    const Vessel& v = result.vessel;
    if (!deck.equilibria.empty()) result.equilibrium = equilibrate(v.medium, v.minerals, v.totals);
    if (!deck.times.empty()) result.states = react(v.medium, v.minerals, v.totals, deck.times);
  } catch (const Error& e) {
    throw Error(fmt::format("solution {}: {}", options.name, e.what()));
  }
  return result;
}

/// All solutions, or one error that tells what is wrong with each.
std::vector<Speciated> speciate_all(const Database& database, const ChemistryDeck& deck) {
  std::vector<Speciated> all;
  std::string problems;
  for (const SolutionOptions& options : deck.solutions) try {
      all.push_back(speciated(database, deck, options));
    } catch (const Error& e) {
      problems += fmt::format("{}{}", problems.empty() ? "" : "\n", e.what());
    }
  require(problems.empty(), "{}", problems);
  return all;
}

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

/// "results.csv" -> "results_batch.csv"
std::string batch_file(const std::string& file) {
  const fs::path path(file);
  return (path.parent_path() / (path.stem().string() + "_batch" + path.extension().string())).string();
}

void check_targets(const Comm& comm, const std::vector<std::string>& files, bool overwrite) {
  std::string there;
  if (comm.rank() == 0 && !overwrite)
    for (const std::string& file : files)
      if (there.empty() && fs::exists(file)) there = file;
  comm.broadcast(there);
  require(there.empty(), "{}: this file exists; choose another name, or give --overwrite to replace it", there);
}

}  // namespace

void speciate_command(const Comm& comm, const CommandLine& line) {
  Reader in = Reader::from_file(line.deck, line.overrides);
  ChemistryDeck deck;
  read(in, deck, ChemistryUse::speciate);
  in.finish();
  std::vector<std::string> files;
  if (!line.file.empty()) files.push_back(line.file);
  if (!line.file.empty() && !deck.times.empty()) files.push_back(batch_file(line.file));
  check_targets(comm, files, line.overwrite);
  const Database database = read_database(database_path(deck.database, in.directory()));
  const std::vector<Speciated> all = speciate_all(database, deck);
  if (!deck.title.empty()) log_info("{}\n", deck.title);
  if (const std::string unused = left_out(database); !unused.empty()) log_info("{}\n", unused);
  std::string csv, batch;
  for (const Speciated& s : all) {
    log_info("{}", solution_text(s.solution, deck.database));
    for (const std::string& w : solution_warnings(s.solution)) log_warn("{}", w);
    csv += solution_csv(s.solution, csv.empty());
    tell_vessel(s, deck, csv);
    if (s.states.empty()) continue;
    log_info("{}", batch_text(s.solution.options.name, s.vessel.medium, s.states));
    batch += batch_csv(s.solution.options.name, s.vessel.medium, s.states, batch.empty());
  }
  for (const std::string& file : files) {
    write_file(comm, file, file == line.file ? csv : batch);
    log_info("Table: {}", file);
  }
}

}  // namespace karst
