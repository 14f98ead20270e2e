// SPDX-License-Identifier: BSD-3-Clause
// Inside solvers/ only: TruncatedGcr as a method of PETSc, so that its options, monitors and tests of convergence work
// with it as with all others.
#pragma once

namespace karst {

inline constexpr const char* truncated_gcr_type = "tgcr";  ///< -PREFIX_ksp_type tgcr

/// Makes the type known to PETSc, which must run. May be called again.
void register_truncated_gcr();

}  // namespace karst
