// SPDX-License-Identifier: BSD-3-Clause
// The commands of the karst program, one .cpp file each. All are collective and throw Error.
#pragma once

#include <string>
#include <vector>

#include "app/deck/command_line.hpp"
#include "base/comm/comm.hpp"
#include "base/file/log.hpp"

namespace karst {

/// Runs the program for the arguments after its name.
void run_karst(const Comm& comm, const std::vector<std::string>& arguments);

/// `karst run`: builds the geometry, does the jobs that the deck asks for, and writes summary, page, plotfile, deck,
/// timers and log.
void run_command(const Comm& comm, const CommandLine& line);

/// `karst init`: writes a deck. Throws Error when the file exists, or the deck would be wrong.
void init_command(const Comm& comm, const CommandLine& line);

/// `karst geometry`: builds the geometry, prints what it is, writes plotfile, deck, summary, timers and log.
void geometry_command(const Comm& comm, const CommandLine& line);

/// `karst check`: what a run will need, from a sample; a small geometry is built as well; writes nothing.
void check_command(const Comm& comm, const CommandLine& line);

/// `karst report`: report.html of a run directory once more, from its summary, deck and plotfiles.
void report_command(const Comm& comm, const CommandLine& line);

/// `karst view`: a page to turn the results of a run, by the Python package. Throws Error without the package,
/// ExitStatus when Python has said what is wrong.
void view_command(const Comm& comm, const CommandLine& line);

/// `karst status`: how far the run in a directory has come, or how it ended. Throws Error where there is none.
void status_command(const Comm& comm, const CommandLine& line);

/// `karst study`: a deck run with many values, images or parts of an image; a table and a page of all. Throws Error
/// when a case fails, after all. On one rank: runs of several ranks are started by it.
void study_command(const Comm& comm, const CommandLine& line);

/// `karst variation`: a deck run several times, and how much the times differ. Throws Error when a run fails. On one
/// rank, as study_command().
void variation_command(const Comm& comm, const CommandLine& line);

/// `karst import`: image to geometry file.
void import_command(const Comm& comm, const CommandLine& line);

/// Throws Error on all ranks where a file stands that is to be written. Collective.
void require_free(const Comm& comm, const std::string& path, bool overwrite);

/// `karst speciate`: pH, species and saturation indices of the solutions of a [chemistry] deck.
void speciate_command(const Comm& comm, const CommandLine& line);

/// `karst completion`: a script that makes a shell ("bash", "zsh") complete commands, options and keys of the deck,
/// from their declarations.
std::string completion_command(const CommandLine& line);

/// `karst help`: the text for a key, a table, or nothing. Throws Error when there is no such key, naming the nearest.
std::string help_command(const CommandLine& line);

/// Now [s since 1970].
double unix_time();

std::string status_line(const ProgressState& state, double begun);

}  // namespace karst
