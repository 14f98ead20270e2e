// SPDX-License-Identifier: BSD-3-Clause
// Inside solvers/ only: includes PETSc.
#pragma once

#include "base/core/error.hpp"
#include "solvers/krylov/petsc_library.hpp"

namespace karst {

/// Throws Error with PETSc's message if a call failed.
inline void petsc_check(PetscErrorCode code, const char* what) {
  if (code == 0) return;
  const char* words = nullptr;
  PetscErrorMessage(code, &words, nullptr);
  throw Error(fmt::format("PETSc failed in {}: {} (code {})", what, words != nullptr ? words : "no text",
                          static_cast<int>(code)));
}

}  // namespace karst
