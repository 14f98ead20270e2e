// SPDX-License-Identifier: BSD-3-Clause
// The solves of a steady job, one after the other: what an earlier run has finished is read, the rest is solved, told
// of and kept as soon as it ends (decision 052).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/job/run_services.hpp"
#include "app/job/solve_progress.hpp"
#include "base/comm/timer.hpp"

namespace karst {

/// One solve of a list.
template <class Result>
struct SteadySolve {
  std::string name;               ///< "stokes x": begins the text of its errors
  std::function<Result()> solve;  ///< throws Error; collective
  bool trivial = false;           ///< nothing is to be solved: neither told of nor kept
  std::string on_its_way{};       ///< name of a state that solve() keeps (SolveStore), and that is to go at its end
};

/// A field of a result: rows of components of own unknowns.
struct SolveField {
  std::string name;
  int components = 1;
  std::variant<std::span<double>, std::span<float>> values;
};

/// How the results of a list are told of and kept.
template <class Result>
struct SolveKind {
  std::string job;      ///< its timer
  std::string where{};  ///< added to the names: what is other than in the deck
  /// Lines of the log and of summary.json. Those that solve() has told of itself are not told again.
  std::function<std::vector<SolveReport>(const Result&)> rows{};

  // What is on the disk; without `record`, nothing is. Collective.
  std::string depends{};  ///< SolveStore::dependencies()
  VofPlaces places{};     ///< of the fields
  std::function<SolveRecord(const Result&)> record{};
  std::function<Result(const Json& state)> restore{};  ///< with fields of the right size; throws Error, not collective
  std::function<std::vector<SolveField>(Result&)> fields = [](Result&) { return std::vector<SolveField>(); };
};

/// Throws the Error of a solve with its name in the text.
template <class Result>
Result solve_by_name(const SteadySolve<Result>& one) try {
  return one.solve();
} catch (const Error& e) {
  if (std::string(e.what()).find(one.name) != std::string::npos) throw;
  throw Error(one.name + ": " + e.what());
}

/// Of the fields of a solve in its file.
inline constexpr const char* solve_table = "unknowns";

/// What an earlier run has kept. Collective.
template <class Result>
std::optional<Result> known(SolveStore& store, const SolveKind<Result>& kind, const std::string& name) {
  Result result;
  if (kind.record && store.load(name, kind.depends, [&](const VofFile& file, const Json& state) {
        result = kind.restore(state);
        for (const SolveField& f : kind.fields(result))
          std::visit([&](auto values) { file.read(solve_table, f.name, kind.places, f.components, values); }, f.values);
      }))
    return result;
  return {};
}

/// Collective.
template <class Result>
void keep(SolveStore& store, const SolveKind<Result>& kind, const std::string& name, Result& result) {
  if (!kind.record) return;
  VofTable table{solve_table, kind.places, {}};
  for (const SolveField& f : kind.fields(result))
    std::visit([&](auto values) { table.values.push_back({f.name, f.components, values}); }, f.values);
  store.save(name, kind.depends, kind.record(result), {&table, 1});
}

/// Results in the order of the list. Throws Error of the first solve that fails; those before it are kept. Collective.
template <class Result>
std::vector<Result> run_solves(const JobContext& run, const SolveKind<Result>& kind, SolveProgress& progress,
                               const std::vector<SteadySolve<Result>>& list) {
  const Timer timer(kind.job);
  SolveStore& store = run.services.solved;
  std::vector<Result> results;
  for (const SteadySolve<Result>& one : list) {
    const std::string name = one.name + kind.where;
    if (one.trivial) {
      results.push_back(one.solve());
    } else if (std::optional<Result> result = known(store, kind, name)) {
      for (const SolveReport& row : kind.rows(*result)) progress.read(row);
      results.push_back(std::move(*result));
    } else {
      Result& solved = results.emplace_back(solve_by_name(one));
      for (const SolveReport& row : kind.rows(solved))
        if (!progress.has_told(row.name)) progress.solved(row);
      keep(store, kind, name, solved);
      if (!one.on_its_way.empty()) store.drop(one.on_its_way);
    }
  }
  return results;
}

}  // namespace karst
