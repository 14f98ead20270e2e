// SPDX-License-Identifier: BSD-3-Clause
// Finished solves of a run, on disk as soon as they end: a later run with --resume reads them instead of solving again.
// A file per solve (io/vof_file.hpp) holds its results, its fields by cell, and what they depend on; a solve whose
// dependencies are others now is not used, and the run says which.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/file/json.hpp"
#include "eb/geometry.hpp"
#include "io/field_file.hpp"

namespace karst {

/// How names of states end that a job keeps on its way, and goes on from. The last few of a name are kept, and an
/// earlier one is used where the last one is damaged.
inline constexpr std::string_view checkpoint_suffix = ", checkpoint";

/// A finished solve as summary.json tells of it.
struct FinishedSolve {
  std::string name;
  Json result;  ///< an object
};

/// What a solve gave, as objects.
struct SolveRecord {
  Json result;  ///< for summary.json of a run that ended early
  Json state;   ///< all that is wanted back
};

class SolveStore {
 public:
  /// Keeps nothing, knows nothing.
  SolveStore() = default;
  /// @param folder  where the files are; made with the first one
  /// @param deck    the complete deck (Reader::echo)
  /// @param resume  files of an earlier run may be used
  /// @param keep    states of a name on its way, >= 1
  SolveStore(const Comm& comm, std::string folder, std::string deck, bool resume, int keep = 1)
      : comm_(comm), folder_(std::move(folder)), deck_(std::move(deck)), resume_(resume), keep_(keep) {}

  /// False: nothing that is saved is kept, nothing is there to be loaded.
  bool keeps() const { return !folder_.empty(); }

  /// What answers of a job on this geometry depend on: version of Karst, cut cells, cell width, tables of the deck;
  /// one statement per line. Collective.
  /// @param job  "flow", "diffusion"
  std::string dependencies(const std::string& job, const Geometry& geometry, double cell_width) const;

  /// When the file cannot be written, says so, goes on, and returns false, as where nothing is kept. Collective.
  /// @param name  of the solve, unique in the run
  bool save(const std::string& name, const std::string& dependencies, const SolveRecord& record,
            std::span<const VofTable> fields, std::span<const RankedList> lists = {});

  /// The state that an earlier run saved, when there is one that fits; nothing also when no file can be read. Says on
  /// the terminal why one is not used. Collective.
  /// @param read_fields  fetches the fields; may throw Error. On every rank; once more where an earlier state is used
  std::optional<Json> load(const std::string& name, const std::string& dependencies,
                           const std::function<void(const VofFile&, const Json& state)>& read_fields = {});
  using StateDependencies = std::function<std::string(const VofFile&, const Json& state)>;
  /// The same where what a state is read on, and with it the dependencies, follows from the state.
  /// @param dependencies  prepares for a state, which may not fit, and tells what it has to depend on; collective
  std::optional<Json> load(const std::string& name, const StateDependencies& dependencies,
                           const std::function<void(const VofFile&, const Json& state)>& read_fields);

  /// Keeps a copy of a file beside the solves; its checksum (io/file_checksum.hpp). Throws Error. On one rank.
  std::uint32_t keep_file(const std::string& path) const;
  /// Puts a kept file where it was. Throws Error: not there, or not what it was. On one rank.
  void bring_file(const std::string& path, std::uint32_t checksum) const;

  /// No longer needed: what was saved under a name on the way to a solve that is finished now. Collective.
  void drop(const std::string& name);

  /// What this run has saved or read, in order, without what was dropped. The same on every rank.
  const std::vector<FinishedSolve>& finished() const { return finished_; }
  /// Of finished(), read from an earlier run.
  int n_read() const { return n_read_; }

 private:
  std::string copy_of(const std::string& path) const;
  std::string file_of(const std::string& name, int age = 0) const;
  void make_room(const std::string& name) const;
  void note(const std::string& name, const Json& result);

  Comm comm_ = Comm::self();
  std::string folder_, deck_;
  bool resume_ = false;
  int keep_ = 1;
  std::vector<FinishedSolve> finished_;
  int n_read_ = 0;
};

/// What is not the same in the dependencies of before and of now: "was X, is Y now"; empty: all is.
std::string first_difference(const std::string& before, const std::string& now);

/// The same for the same cut cells on any number of ranks, otherwise almost surely another one. Collective.
std::uint64_t fingerprint(const Comm& comm, const Geometry& geometry);

}  // namespace karst
