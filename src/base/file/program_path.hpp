// SPDX-License-Identifier: BSD-3-Clause
// Where the program lies, and what lies with it.
#pragma once

#include <filesystem>
#include <string>

namespace karst {

/// What starts this program again: its file or, where it came with a loader of its own (the wheel), the script beside
/// that, which is the name under which the script started the program. Empty where the system does not tell.
std::filesystem::path program_path();

/// This program compiled for processors with AVX2 (x86-64-v3), which comes with a program for all processors in
/// ../libexec; empty where there is none, the processor is not one of these, or this program is compiled for them.
std::filesystem::path faster_program();

/// Folder with the plugins and messages of Open MPI that came with the program (the wheel); empty where it uses those
/// of the system.
std::filesystem::path own_mpi();

/// The Python that reads images of other formats and makes views: KARST_PYTHON, else that of the clone in which the
/// program was built (.venv), else the one in PATH.
std::string python_program();

}  // namespace karst
