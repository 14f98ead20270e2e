// SPDX-License-Identifier: BSD-3-Clause
// `karst speciate`: the species of solutions, and batch reactions with minerals, without any grid.
#include <filesystem>

#include "app/chemistry_deck.hpp"
#include "app/commands.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "chemistry/batch_text.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

/// A solution, and what minerals do to it.
struct Speciated {
  Solution solution;
  ReactiveMedium medium;
  std::vector<BatchState> states;
};

Speciated speciated(const Database& database, const ChemistryDeck& deck, SolutionOptions options) {
  for (const MineralDeck& m : deck.minerals) add_elements_of_phase(database, m.options.phase, options);
  Speciated result{solve_solution(database, options), {}, {}};
  const ChemicalSystem& system = result.solution.system;
  std::vector<SurfaceReaction> reactions;
  std::vector<MineralOptions> minerals;
  for (const MineralDeck& m : deck.minerals) {
    reactions.push_back(make_surface_reaction(system, m.options));
    minerals.push_back(m.options);
  }
  result.medium = make_medium(system, std::move(reactions), result.solution.state);
  std::vector<double> totals;
  for (int p = 0; p < system.n_primaries; ++p) totals.push_back(total_of(system, result.solution.state, p));
  if (!deck.times.empty()) result.states = react(result.medium, minerals_of(minerals), totals, deck.times);
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
    if (s.states.empty()) continue;
    log_info("{}", batch_text(s.solution.options.name, s.medium, s.states));
    batch += batch_csv(s.solution.options.name, s.medium, s.states, batch.empty());
  }
  for (const std::string& file : files) {
    write_file(comm, file, file == line.file ? csv : batch);
    log_info("Table: {}", file);
  }
}

}  // namespace karst
