// SPDX-License-Identifier: BSD-3-Clause
// Inside solvers/ only: A x = b by truncated GCR (truncated_gcr.hpp) with the tolerances and monitors of a KSP of
// PETSc.
//
// To PETSc the method is a name, so that -PREFIX_ksp_type takes it as any other; the loop is ours. A method inside
// KSPSolve() would need PETSc's private headers. What that costs: -PREFIX_ksp_view, -PREFIX_ksp_converged_reason and
// other tests of convergence than the default one do nothing with this method, and monitors that ask the KSP for
// vectors are refused. -PREFIX_ksp_rtol, _atol, _divtol, _max_it and _monitor do what they do with others.
#pragma once

#include <petscksp.h>

#include <functional>
#include <span>
#include <string>

#include "solvers/krylov/truncated_gcr.hpp"

namespace karst {

inline constexpr const char* truncated_gcr_type = "tgcr";  ///< -PREFIX_ksp_type tgcr

/// Makes the name known to PETSc, which must run. May be called again.
void register_truncated_gcr();

/// Throws Error when the options ask for a monitor that needs more than the size of the residual.
void refuse_monitors_of_vectors(const std::string& prefix);

/// Maps over the own unknowns. Collective.
struct GcrMaps {
  std::function<void(std::span<const double> x, std::span<double> y)> multiply;      ///< y = A x
  std::function<void(std::span<const double> r, std::span<double> z)> precondition;  ///< z = M r
};

/// How a method ended.
struct KrylovEnd {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscInt iterations = 0;
};

/// KSP_DIVERGED_BREAKDOWN: the method found no further direction, or hardly gains any more. Collective.
/// @param settings  of type truncated_gcr_type
/// @param[in,out] x  initial guess when settings say that there is one, else zeros; the solution
KrylovEnd solve_gcr(KSP settings, const GcrMaps& maps, TruncatedGcr& gcr, Vec b, Vec x);

}  // namespace karst
