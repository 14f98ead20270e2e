// SPDX-License-Identifier: BSD-3-Clause
// The words of the command line, as data.
#pragma once

#include <string>
#include <vector>

namespace karst {

struct CommandLine {
  std::string command;  ///< "run", "init" ...
  // run, geometry, check
  std::string deck;                    ///< or an image in its place, see session.hpp; init: the file to write
  std::vector<std::string> overrides;  ///< key=value, and the options of the import as keys of [geometry.import]
  std::string out;                     ///< directory of the results; empty: output.directory of the deck
  bool overwrite = false;
  double time_limit = 0.0;         ///< run: ends in order after so many seconds; 0: run.time_limit of the deck
  bool resume = false;             ///< run: goes on from the finished solves of one that ended early
  bool force = false;              ///< run, geometry: even where the memory will not do
  int threads = 0;                 ///< 0: chosen by the program
  std::string petsc;               ///< run: options of PETSc, as on its command line
  std::string trace, trace_steps;  ///< run: file; "FIRST:LAST", empty: all
  double trace_room = 100.0;       ///< run: of each rank [MB]
  bool uncertainty = false;        ///< run: stands in the overrides, too
  std::string directory;           ///< report, view, status: of a run
  bool as_json = false;            ///< status
  bool list = false;               ///< study: shows the cases alone
  bool slurm = false;              ///< study: writes batch scripts
  int ranks = 1, parallel = 1;     ///< study, variation: of each run; study: runs at a time
  int runs = 5;                    ///< variation
  std::string steps;               ///< variation: "FIRST:LAST", empty: all
  int plan_ranks = 0;              ///< check: of a machine that is not there; 0: no plan
  std::string machine, like;       ///< check: file; folder of a run that has counted what it sends
  // import; init: the image alone; speciate: file
  std::string image, file, json;
  std::string job;   ///< init
  std::string page;  ///< HTML; empty: beside the geometry file; "none": no page. view: empty: in the directory
  // help
  std::string key;
  bool markdown = false, of_study = false;
  std::string shell;  ///< completion
};

/// Result of reading the arguments.
struct Parsed {
  CommandLine line;
  bool stop = false;  ///< nothing to run: print `text` and end with status 0 (--help, --version)
  std::string text;
};

/// Reads the arguments after the program's name. Throws Error (what is wrong, and where help is found) when they make
/// no command. Not collective.
Parsed parse_command_line(const std::vector<std::string>& arguments);

/// An option as it is declared.
struct OptionInfo {
  std::vector<std::string> names;  ///< "-j", "--threads"
  std::string value;               ///< what it takes, as its help says: FILE, N, WORD ...; empty: a flag
};
struct CommandInfo {
  std::string name, help;
  std::vector<OptionInfo> options;
  bool takes_keys = false;  ///< key=value
};
/// What parse_command_line() knows: the commands, and first one without a name for the options before a command.
std::vector<CommandInfo> command_infos();

}  // namespace karst
