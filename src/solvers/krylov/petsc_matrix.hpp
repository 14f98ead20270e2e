// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

/// The operator as a PETSc matrix (AIJ), assembled from the same stencils with exact preallocation.
class PetscMatrix {
 public:
  /// Throws Error if PETSc is not running, or if it has 32-bit indices and there are more unknowns. Collective.
  explicit PetscMatrix(const EllipticOperator& op);
  PetscMatrix(PetscMatrix&&) noexcept;
  PetscMatrix& operator=(PetscMatrix&&) noexcept;
  ~PetscMatrix();

  /// y = A x over the own unknowns. Collective.
  void multiply(std::span<const double> x, std::span<double> y) const;
  double entries() const;         ///< stored nonzeros over all ranks. Collective.
  double unused_entries() const;  ///< preallocated and not used. Collective.
  void* mat() const;              ///< PETSc's Mat

 private:
  struct Hidden;
  std::unique_ptr<Hidden> hidden_;
};

}  // namespace karst
