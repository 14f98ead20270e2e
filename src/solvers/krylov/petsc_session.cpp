// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/petsc_session.hpp"

#include <exception>

#include "solvers/krylov/petsc_check.hpp"

namespace karst {

PetscSession::PetscSession(const std::vector<std::string>& options) : exceptions_(std::uncaught_exceptions()) {
  PetscBool begun = PETSC_FALSE;
  petsc_check(PetscInitialized(&begun), "PetscInitialized");
  if (begun == PETSC_FALSE) {
    set_petsc_option("-no_signal_handler", "");  // a broken pipe or a kill ends the program as it ends any other
    petsc_check(PetscInitializeNoArguments(), "PetscInitialize");
    mine_ = true;
  }
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool has_value =
        i + 1 < options.size() && !(options[i + 1].size() > 1 && options[i + 1][0] == '-' &&
                                    std::isalpha(static_cast<unsigned char>(options[i + 1][1])) != 0);
    set_petsc_option(options[i], has_value ? options[i + 1] : "");
    i += has_value;
  }
}

PetscSession::~PetscSession() {
  if (mine_ && std::uncaught_exceptions() == exceptions_) PetscFinalize();
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
