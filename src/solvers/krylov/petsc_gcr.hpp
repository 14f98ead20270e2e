// SPDX-License-Identifier: BSD-3-Clause
// Inside solvers/ only: A x = b by truncated GCR (truncated_gcr.hpp) with the tolerances and monitors of a KSP of
// PETSc.
//
// The method is registered in PETSc by name only, so that -PREFIX_ksp_type accepts it like any other; the loop is that
// of Karst. A method inside KSPSolve() would need PETSc's private headers. Consequences: -PREFIX_ksp_view,
// -PREFIX_ksp_converged_reason and convergence tests other than the default one have no effect with this method, and
// monitors that request vectors of the KSP are rejected. -PREFIX_ksp_rtol, _atol, _divtol, _max_it and _monitor work as
// with other methods.
#pragma once

#include <petscksp.h>

#include <functional>
#include <span>
#include <string>

#include "solvers/krylov/truncated_gcr.hpp"

namespace karst {

inline constexpr const char* truncated_gcr_type = "tgcr";  ///< -PREFIX_ksp_type tgcr

/// Registers the name in PETSc, which must be running. May be called again.
void register_truncated_gcr();

/// Throws Error if the options request a monitor that needs more than the norm of the residual.
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

/// KSP_DIVERGED_BREAKDOWN: the method found no further direction, or stagnates. Collective.
/// @param settings  of type truncated_gcr_type
/// @param[in,out] x  initial guess if settings say that there is one, otherwise zeros; on return the solution
KrylovEnd solve_gcr(KSP settings, const GcrMaps& maps, TruncatedGcr& gcr, Vec b, Vec x);

}  // namespace karst
