// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdio>

#include "app/cli/commands.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

void print(const Comm& comm, const std::string& text) {
  if (comm.rank() == 0) std::fwrite(text.data(), 1, text.size(), stdout);
}

struct NamedCommand {
  const char* name;
  void (*run)(const Comm& comm, const CommandLine& line);
};
constexpr std::array commands{
    NamedCommand{"run", run_command},
    NamedCommand{"init", init_command},
    NamedCommand{"geometry", geometry_command},
    NamedCommand{"check", check_command},
    NamedCommand{"report", report_command},
    NamedCommand{"view", view_command},
    NamedCommand{"status", status_command},
    NamedCommand{"study", study_command},
    NamedCommand{"variation", variation_command},
    NamedCommand{"import", import_command},
    NamedCommand{"speciate", speciate_command},
    NamedCommand{"completion",
                 [](const Comm& comm, const CommandLine& line) { print(comm, completion_command(line)); }},
    NamedCommand{"help", [](const Comm& comm, const CommandLine& line) { print(comm, help_command(line)); }}};

}  // namespace

void run_karst(const Comm& comm, const std::vector<std::string>& arguments) {
  set_up_log(comm);
  const Parsed parsed = parse_command_line(arguments);
  if (parsed.stop) return print(comm, parsed.text);
  std::ranges::find(commands, parsed.line.command, &NamedCommand::name)->run(comm, parsed.line);
}

}  // namespace karst
