// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/petsc_gcr.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/memory.hpp"
#include "solvers/krylov/petsc_check.hpp"
#include "solvers/krylov/petsc_values.hpp"

namespace karst {
namespace {

/// A method that gains less than this factor in this many steps has stalled.
constexpr PetscInt stall_length = 10;
constexpr double stall_gain = 0.7;

/// PETSc's default test of convergence (KSPConvergedDefault()).
class ConvergenceTest {
 public:
  /// @param reference  size that residuals are compared with
  ConvergenceTest(KSP settings, double reference) : reference_(reference) {
    PetscReal relative = 0.0;
    petsc_check(KSPGetTolerances(settings, &relative, &absolute_, &growth_, &max_iterations_), "KSPGetTolerances");
    enough_ = std::max(relative * reference, absolute_);
  }

  PetscInt max_iterations() const { return max_iterations_; }
  KSPConvergedReason operator()(double residual) const {
    if (!std::isfinite(residual)) return KSP_DIVERGED_NANORINF;
    if (residual <= enough_) return residual < absolute_ ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    return residual >= growth_ * reference_ ? KSP_DIVERGED_DTOL : KSP_CONVERGED_ITERATING;
  }

 private:
  double reference_, enough_ = 0.0;
  PetscReal absolute_ = 0.0, growth_ = 0.0;
  PetscInt max_iterations_ = 0;
};

bool has_guess(KSP settings) {
  PetscBool given = PETSC_FALSE;
  petsc_check(KSPGetInitialGuessNonzero(settings, &given), "KSPGetInitialGuessNonzero");
  return given == PETSC_TRUE;
}

/// |b - A x|
double start(const GcrMaps& maps, TruncatedGcr& gcr, std::span<const double> b, std::span<const double> guess) {
  if (guess.empty()) return gcr.start(b);
  Array<double> ax(guess.size(), Purpose::solver);
  maps.multiply(guess, ax.span());
  return gcr.start(b, ax.span());
}

/// |b|; |b - A x| where b = 0.
double reference_size(Vec b, double residual) {
  PetscReal size = 0.0;
  petsc_check(VecNorm(b, NORM_2, &size), "VecNorm");
  return size > 0.0 ? size : residual;
}

}  // namespace

void register_truncated_gcr() {
  petsc_check(KSPRegister(truncated_gcr_type, [](KSP) { return PetscErrorCode{0}; }), "KSPRegister");
}

void refuse_monitors_of_vectors(const std::string& prefix) {
  for (const char* name : {"true_residual", "true_residual_max", "range", "solution", "error"}) {
    const std::string option = "-" + prefix + "ksp_monitor_" + name;
    PetscBool given = PETSC_FALSE;
    petsc_check(PetscOptionsHasName(nullptr, nullptr, option.c_str(), &given), "PetscOptionsHasName");
    require(given == PETSC_FALSE,
            "{} does not work with truncated GCR, the default method. -{}ksp_monitor shows its residual, which is that "
            "of its solution; or choose a method of PETSc, -{}ksp_type fgmres",
            option, prefix, prefix);
  }
}

KrylovEnd solve_gcr(KSP settings, const GcrMaps& maps, TruncatedGcr& gcr, Vec b, Vec x) {
  const bool guessed = has_guess(settings);
  const WriteValues solution(x);
  double residual = start(maps, gcr, ReadValues(b).span(), guessed ? solution.span() : std::span<double>());
  const ConvergenceTest test(settings, guessed ? reference_size(b, residual) : residual);
  petsc_check(KSPMonitor(settings, 0, residual), "KSPMonitor");
  KrylovEnd end{test(residual), 0};
  double some_time_ago = residual;
  while (end.reason == KSP_CONVERGED_ITERATING && end.iterations < test.max_iterations()) {
    maps.precondition(gcr.to_precondition(), gcr.direction());
    maps.multiply(gcr.direction(), gcr.image());
    residual = gcr.advance(solution.span());
    ++end.iterations;
    if (std::isnan(residual)) return {KSP_DIVERGED_BREAKDOWN, end.iterations};
    petsc_check(KSPMonitor(settings, end.iterations, residual), "KSPMonitor");
    end.reason = test(residual);
    if (end.iterations % stall_length != 0) continue;
    if (end.reason == KSP_CONVERGED_ITERATING && residual > stall_gain * some_time_ago)
      end.reason = KSP_DIVERGED_BREAKDOWN;
    some_time_ago = residual;
  }
  if (end.reason == KSP_CONVERGED_ITERATING) end.reason = KSP_DIVERGED_ITS;
  return end;
}

}  // namespace karst
