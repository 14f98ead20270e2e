// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "app/cli/commands.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

void print(const Comm& comm, const std::string& text) {
  if (comm.rank() == 0) std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void run_karst(const Comm& comm, const std::vector<std::string>& arguments) {
  set_up_log(comm);
  const Parsed parsed = parse_command_line(arguments);
  if (parsed.stop) return print(comm, parsed.text);
  switch (parsed.line.command) {
    case Command::run:
      return run_command(comm, parsed.line);
    case Command::init:
      return init_command(comm, parsed.line);
    case Command::geometry:
      return geometry_command(comm, parsed.line);
    case Command::check:
      return check_command(comm, parsed.line);
    case Command::report:
      return report_command(comm, parsed.line);
    case Command::status:
      return status_command(comm, parsed.line);
    case Command::study:
      return study_command(comm, parsed.line);
    case Command::variation:
      return variation_command(comm, parsed.line);
    case Command::import:
      return import_command(comm, parsed.line);
    case Command::speciate:
      return speciate_command(comm, parsed.line);
    case Command::completion:
      return print(comm, completion_command(parsed.line));
    case Command::help:
      return print(comm, help_command(parsed.line));
  }
}

}  // namespace karst
