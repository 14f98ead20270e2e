// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/petsc_gcr.hpp"

#include <petsc/private/kspimpl.h>

#include <memory>

#include "solvers/krylov/petsc_check.hpp"
#include "solvers/krylov/truncated_gcr.hpp"

namespace karst {
namespace {

/// A method that gains less than this factor in this many steps has stalled.
constexpr PetscInt stall_length = 10;
constexpr double stall_gain = 0.7;

/// Vectors without memory of their own, for the arrays of TruncatedGcr.
struct Method {
  std::unique_ptr<TruncatedGcr> gcr;
  Vec residual = nullptr, direction = nullptr, image = nullptr;
  ~Method() {
    VecDestroy(&residual);
    VecDestroy(&direction);
    VecDestroy(&image);
  }
};

Method& method_of(KSP ksp) { return *static_cast<Method*>(ksp->data); }

PetscErrorCode set_up(KSP ksp) {
  PetscFunctionBegin;
  Method& m = method_of(ksp);
  Mat a = nullptr;
  PetscInt n = 0, all = 0;
  PetscCall(KSPGetOperators(ksp, &a, nullptr));
  PetscCall(MatGetLocalSize(a, &n, nullptr));
  PetscCall(MatGetSize(a, &all, nullptr));
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  for (Vec* v : {&m.residual, &m.direction, &m.image}) {
    PetscCall(VecDestroy(v));
    PetscCall(VecCreateMPIWithArray(comm, 1, n, all, nullptr, v));
  }
  m.gcr = std::make_unique<TruncatedGcr>(Comm(comm), n);
  PetscFunctionReturn(0);
}

/// The values of a PETSc vector as a span, for the time of a call of f.
template <class F>
PetscErrorCode with_values(Vec v, F&& f) {
  PetscFunctionBegin;
  PetscScalar* data = nullptr;
  PetscInt n = 0;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArray(v, &data));
  f(std::span(data, n));
  PetscCall(VecRestoreArray(v, &data));
  PetscFunctionReturn(0);
}

/// direction = M to_precondition, image = A direction
PetscErrorCode find_direction(KSP ksp, Mat a) {
  PetscFunctionBegin;
  Method& m = method_of(ksp);
  PetscCall(VecPlaceArray(m.residual, m.gcr->to_precondition().data()));
  PetscCall(VecPlaceArray(m.direction, m.gcr->direction().data()));
  PetscCall(VecPlaceArray(m.image, m.gcr->image().data()));
  PetscCall(KSP_PCApply(ksp, m.residual, m.direction));
  PetscCall(KSP_MatMult(ksp, a, m.direction, m.image));
  PetscCall(VecResetArray(m.residual));
  PetscCall(VecResetArray(m.direction));
  PetscCall(VecResetArray(m.image));
  PetscFunctionReturn(0);
}

PetscErrorCode note(KSP ksp, double norm) {
  PetscFunctionBegin;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscCall((*ksp->converged)(ksp, ksp->its, norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(0);
}

PetscErrorCode solve(KSP ksp) {
  PetscFunctionBegin;
  Method& m = method_of(ksp);
  Mat a = nullptr;
  PetscCall(KSPGetOperators(ksp, &a, nullptr));
  Vec ax = nullptr;
  PetscCall(VecDuplicate(ksp->vec_rhs, &ax));
  if (ksp->guess_zero)
    PetscCall(VecSet(ax, 0.0));
  else
    PetscCall(KSP_MatMult(ksp, a, ksp->vec_sol, ax));
  double norm = 0.0;
  PetscCall(with_values(ksp->vec_rhs, [&](std::span<const double> b) {
    (void)with_values(ax, [&](std::span<const double> values) { norm = m.gcr->start(b, values); });
  }));
  PetscCall(VecDestroy(&ax));
  ksp->its = 0;
  double some_time_ago = norm;
  ksp->reason = KSP_CONVERGED_ITERATING;
  PetscCall(note(ksp, norm));
  while (ksp->reason == KSP_CONVERGED_ITERATING && ksp->its < ksp->max_it) {
    PetscCall(find_direction(ksp, a));
    PetscCall(with_values(ksp->vec_sol, [&](std::span<double> x) { norm = m.gcr->advance(x); }));
    ++ksp->its;
    const bool stalls = ksp->its % stall_length == 0 && norm > stall_gain * some_time_ago;
    if (ksp->its % stall_length == 0) some_time_ago = norm;
    if (PetscIsNanReal(norm)) {
      ksp->reason = KSP_DIVERGED_BREAKDOWN;
      break;
    }
    PetscCall(note(ksp, norm));
    if (stalls && ksp->reason == KSP_CONVERGED_ITERATING) ksp->reason = KSP_DIVERGED_BREAKDOWN;
  }
  if (ksp->reason == KSP_CONVERGED_ITERATING) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(0);
}

PetscErrorCode destroy(KSP ksp) {
  PetscFunctionBegin;
  delete static_cast<Method*>(ksp->data);
  ksp->data = nullptr;
  PetscFunctionReturn(0);
}

PetscErrorCode create(KSP ksp) {
  PetscFunctionBegin;
  ksp->data = new Method;
  ksp->ops->setup = set_up;
  ksp->ops->solve = solve;
  ksp->ops->destroy = destroy;
  ksp->ops->buildsolution = KSPBuildSolutionDefault;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscFunctionReturn(0);
}

}  // namespace

void register_truncated_gcr() { petsc_check(KSPRegister(truncated_gcr_type, create), "KSPRegister"); }

}  // namespace karst
