// SPDX-License-Identifier: BSD-3-Clause
// Inside solvers/ only: includes PETSc.
//
// PETSc is not linked: its library is opened at the first call of one of its functions. With the libraries that it is
// linked with (about 60) it takes 16 MB and a twentieth of a second at every start of a program, and most runs, of flow
// above all, do without. The functions have the names of PETSc's, which they hide inside karst, and their types.
#pragma once

#include <petscksp.h>

namespace karst {

/// Address of a function or variable of PETSc. Throws Error when the library is not there, or lacks it.
void* petsc_symbol(const char* name);

template <class F>
class PetscFunction;
template <class Result, class... Arguments>
class PetscFunction<Result(Arguments...)> {
 public:
  explicit constexpr PetscFunction(const char* name) : name_(name) {}
  Result operator()(Arguments... arguments) const {
    if (found_ == nullptr) found_ = reinterpret_cast<Result (*)(Arguments...)>(petsc_symbol(name_));
    return found_(arguments...);
  }

 private:
  const char* name_;
  mutable Result (*found_)(Arguments...) = nullptr;
};

#define KARST_PETSC_FUNCTION(name) inline constinit const PetscFunction<decltype(::name)> name(#name)
KARST_PETSC_FUNCTION(KSPCreate);
KARST_PETSC_FUNCTION(KSPDestroy);
KARST_PETSC_FUNCTION(KSPGMRESSetRestart);
KARST_PETSC_FUNCTION(KSPGetConvergedReason);
KARST_PETSC_FUNCTION(KSPGetInitialGuessNonzero);
KARST_PETSC_FUNCTION(KSPGetIterationNumber);
KARST_PETSC_FUNCTION(KSPGetPC);
KARST_PETSC_FUNCTION(KSPGetTolerances);
KARST_PETSC_FUNCTION(KSPGetType);
KARST_PETSC_FUNCTION(KSPMonitor);
KARST_PETSC_FUNCTION(KSPMonitorCancel);
KARST_PETSC_FUNCTION(KSPMonitorSet);
KARST_PETSC_FUNCTION(KSPRegister);
KARST_PETSC_FUNCTION(KSPSetFromOptions);
KARST_PETSC_FUNCTION(KSPSetInitialGuessNonzero);
KARST_PETSC_FUNCTION(KSPSetNormType);
KARST_PETSC_FUNCTION(KSPSetOperators);
KARST_PETSC_FUNCTION(KSPSetOptionsPrefix);
KARST_PETSC_FUNCTION(KSPSetPCSide);
KARST_PETSC_FUNCTION(KSPSetTolerances);
KARST_PETSC_FUNCTION(KSPSetType);
KARST_PETSC_FUNCTION(KSPSetUp);
KARST_PETSC_FUNCTION(KSPSolve);
KARST_PETSC_FUNCTION(MatAssemblyBegin);
KARST_PETSC_FUNCTION(MatAssemblyEnd);
KARST_PETSC_FUNCTION(MatCreate);
KARST_PETSC_FUNCTION(MatCreateShell);
KARST_PETSC_FUNCTION(MatCreateVecs);
KARST_PETSC_FUNCTION(MatDestroy);
KARST_PETSC_FUNCTION(MatGetInfo);
KARST_PETSC_FUNCTION(MatMPIAIJSetPreallocation);
KARST_PETSC_FUNCTION(MatMult);
KARST_PETSC_FUNCTION(MatSeqAIJSetPreallocation);
KARST_PETSC_FUNCTION(MatSetOption);
KARST_PETSC_FUNCTION(MatSetSizes);
KARST_PETSC_FUNCTION(MatSetType);
KARST_PETSC_FUNCTION(MatSetValues);
KARST_PETSC_FUNCTION(MatShellGetContext);
KARST_PETSC_FUNCTION(MatShellSetOperation);
KARST_PETSC_FUNCTION(PCApply);
KARST_PETSC_FUNCTION(PCCreate);
KARST_PETSC_FUNCTION(PCDestroy);
KARST_PETSC_FUNCTION(PCGetType);
KARST_PETSC_FUNCTION(PCSetFromOptions);
KARST_PETSC_FUNCTION(PCSetOperators);
KARST_PETSC_FUNCTION(PCSetOptionsPrefix);
KARST_PETSC_FUNCTION(PCSetType);
KARST_PETSC_FUNCTION(PCSetUp);
KARST_PETSC_FUNCTION(PCShellGetContext);
KARST_PETSC_FUNCTION(PCShellSetApply);
KARST_PETSC_FUNCTION(PCShellSetContext);
KARST_PETSC_FUNCTION(PetscErrorMessage);
KARST_PETSC_FUNCTION(PetscFinalize);
KARST_PETSC_FUNCTION(PetscInitializeNoArguments);
KARST_PETSC_FUNCTION(PetscInitialized);
KARST_PETSC_FUNCTION(PetscOptionsClearValue);
KARST_PETSC_FUNCTION(PetscOptionsHasName);
KARST_PETSC_FUNCTION(PetscOptionsSetValue);
KARST_PETSC_FUNCTION(PetscOptionsUsed);
KARST_PETSC_FUNCTION(PetscPopErrorHandler);
KARST_PETSC_FUNCTION(PetscPushErrorHandler);
KARST_PETSC_FUNCTION(PetscTraceBackErrorHandler);
KARST_PETSC_FUNCTION(VecCreateMPIWithArray);
KARST_PETSC_FUNCTION(VecDestroy);
KARST_PETSC_FUNCTION(VecGetArray);
KARST_PETSC_FUNCTION(VecGetArrayRead);
KARST_PETSC_FUNCTION(VecGetLocalSize);
KARST_PETSC_FUNCTION(VecNorm);
KARST_PETSC_FUNCTION(VecPlaceArray);
KARST_PETSC_FUNCTION(VecResetArray);
KARST_PETSC_FUNCTION(VecRestoreArray);
KARST_PETSC_FUNCTION(VecRestoreArrayRead);
#undef KARST_PETSC_FUNCTION

}  // namespace karst
