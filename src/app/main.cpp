// SPDX-License-Identifier: BSD-3-Clause
#include "app/commands.hpp"
#include "app/threads.hpp"
#include "base/run_guarded.hpp"

int main(int argc, char** argv) {
  karst::shorten_spinning(argv);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::run_karst(comm, arguments); });
}
