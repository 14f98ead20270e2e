// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/petsc_library.hpp"

#include <dlfcn.h>

#include "base/core/error.hpp"
#include "base/core/heap.hpp"

namespace karst {
namespace {

/// Stays open: PETSc leaves behind what the end of the process calls.
void* open_petsc() {
  void* library = dlopen(KARST_PETSC, RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw Error(fmt::format(
        "PETSc, which this run needs, cannot be opened: {}; install the package that has {}, or name its folder in "
        "LD_LIBRARY_PATH",
        reason != nullptr ? reason : "no reason given", KARST_PETSC));
  }
  set_up_heap();  // a library that comes with it has changed that
  return library;
}

}  // namespace

void* petsc_symbol(const char* name) {
  static void* const library = open_petsc();
  void* found = dlsym(library, name);
  require(found != nullptr, "{} has no {}: it is another version of PETSc than this program was built with",
          KARST_PETSC, name);
  return found;
}

}  // namespace karst
