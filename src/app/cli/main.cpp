// SPDX-License-Identifier: BSD-3-Clause
#include "app/cli/commands.hpp"
#include "app/deck/threads.hpp"
#include "base/file/run_guarded.hpp"
#include "io/hdf5_end.hpp"

int main(int argc, char** argv) {
  karst::start_well(argv);
  karst::leave_hdf5_at_end();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::run_karst(comm, arguments); });
}
