// SPDX-License-Identifier: BSD-3-Clause
// What the answers of a run depend on beside its geometry, as text: every key of the deck, unless it is said where it
// is declared that answers of a job do not (Reader::changes_answers_of()), and what is in the files that the deck
// names.
#pragma once

#include <string>

#include "base/comm/comm.hpp"

namespace karst {

/// The complete deck (Reader::echo) with what is in files (keys of the type "file name") in place of their names:
/// length and checksum. Names of files of the geometry stay, and those of what is no plain file (a folder, a pattern):
/// whoever reads it adds what was in it to what its answers depend on. Throws Error on all ranks. Collective.
std::string with_contents(const Comm& comm, const std::string& deck);

/// Lines of a deck that answers of a job depend on, without comments, each with its table in front; every table begins
/// with its name. What describes the geometry is left out: cut cells and minerals tell it. Not collective.
/// @param deck  as from with_contents()
/// @param job   "flow", "flow in time", "diffusion", "dispersion", "transport"; Error: another one
std::string identity_of(const std::string& deck, const std::string& job);

}  // namespace karst
