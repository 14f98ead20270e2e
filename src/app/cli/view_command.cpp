// SPDX-License-Identifier: BSD-3-Clause
// `karst view`: starts the Python package, which draws (docs/decisions/069-a-view-to-turn.md).
#include "app/cli/commands.hpp"
#include "base/comm/fail_together.hpp"
#include "base/core/error.hpp"
#include "base/file/child.hpp"
#include "base/file/program_path.hpp"
#include "base/file/run_guarded.hpp"

namespace karst {

namespace {

constexpr int no_package = 69;  // exit status of this script
constexpr const char* script = R"(import sys
try:
    from karst.error import guarded
    from karst.plot.__main__ import main
except ImportError as problem:
    print(problem, file=sys.stderr)
    sys.exit(69)
guarded(lambda: main(sys.argv[1:], "karst")))";

}  // namespace

void view_command(const Comm& comm, const CommandLine& line) {
  int status = 0;
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    std::vector<std::string> command{python_program(), "-c", script, "view", line.directory};
    if (!line.page.empty()) command.insert(command.end(), {"-o", line.page});
    status = Child(command, "").wait();
    require(status != no_package,
            "{} does not have the Python package karst with its plots, which makes the view; `pip install "
            "'./python[plot]'` in the sources of Karst installs it, or the variable KARST_PYTHON names a Python that "
            "has it",
            command[0]);
  });
  if (status != 0) throw ExitStatus{status};  // Python has said why
}

}  // namespace karst
