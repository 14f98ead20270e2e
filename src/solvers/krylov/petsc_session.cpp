// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/petsc_session.hpp"

#include <exception>
#include <utility>

#include "solvers/krylov/petsc_check.hpp"

namespace karst {

namespace {
bool in_session = false;
bool running = false;  ///< initialised here
}  // namespace

PetscSession::PetscSession(const std::vector<std::string>& options)
    : first_(!std::exchange(in_session, true)), exceptions_(std::uncaught_exceptions()) {
  if (!options.empty()) begin_petsc();
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool has_value =
        i + 1 < options.size() && !(options[i + 1].size() > 1 && options[i + 1][0] == '-' &&
                                    std::isalpha(static_cast<unsigned char>(options[i + 1][1])) != 0);
    set_petsc_option(options[i], has_value ? options[i + 1] : "");
    i += has_value;
  }
}

PetscSession::~PetscSession() {
  if (!first_) return;
  in_session = false;
  if (running && std::uncaught_exceptions() == exceptions_) {
    PetscFinalize();
    running = false;
  }
}

void begin_petsc() {
  require(in_session, "PETSc does not run; keep a PetscSession while solving");
  if (running) return;
  set_petsc_option("-no_signal_handler", "");  // a broken pipe or a kill ends the program as it ends any other
  petsc_check(PetscInitializeNoArguments(), "PetscInitialize");
  running = true;
}

void set_petsc_option(const std::string& name, const std::string& value) {
  petsc_check(PetscOptionsSetValue(nullptr, name.c_str(), value.empty() ? nullptr : value.c_str()),
              "PetscOptionsSetValue");
}

void clear_petsc_option(const std::string& name) {
  petsc_check(PetscOptionsClearValue(nullptr, name.c_str()), "PetscOptionsClearValue");
}

std::vector<std::string> unused_petsc_options(const std::vector<std::string>& names) {
  std::vector<std::string> unused;
  for (const std::string& name : names) {
    PetscBool used = PETSC_FALSE;
    petsc_check(PetscOptionsUsed(nullptr, name.c_str() + 1, &used), "PetscOptionsUsed");
    if (used == PETSC_FALSE) unused.push_back(name);
  }
  return unused;
}

}  // namespace karst
