// SPDX-License-Identifier: BSD-3-Clause
// Inside solvers/ only: includes PETSc.
#pragma once

#include <span>

#include "solvers/krylov/petsc_check.hpp"

namespace karst {

/// A PETSc vector's values while it lives.
class ReadValues {
 public:
  explicit ReadValues(Vec v) : v_(v) {
    petsc_check(VecGetArrayRead(v, &data_), "VecGetArrayRead");
    VecGetLocalSize(v, &n_);
  }
  ~ReadValues() { VecRestoreArrayRead(v_, &data_); }
  ReadValues(const ReadValues&) = delete;
  ReadValues& operator=(const ReadValues&) = delete;
  std::span<const double> span() const { return std::span(data_, n_); }

 private:
  Vec v_;
  const double* data_ = nullptr;
  PetscInt n_ = 0;
};

class WriteValues {
 public:
  explicit WriteValues(Vec v) : v_(v) {
    petsc_check(VecGetArray(v, &data_), "VecGetArray");
    VecGetLocalSize(v, &n_);
  }
  ~WriteValues() { VecRestoreArray(v_, &data_); }
  WriteValues(const WriteValues&) = delete;
  WriteValues& operator=(const WriteValues&) = delete;
  std::span<double> span() const { return std::span(data_, n_); }

 private:
  Vec v_;
  double* data_ = nullptr;
  PetscInt n_ = 0;
};

}  // namespace karst
