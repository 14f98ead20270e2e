// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/petsc_matrix.hpp"

#include <limits>

#include "base/comm/timer.hpp"
#include "solvers/krylov/petsc_check.hpp"
#include "solvers/krylov/petsc_session.hpp"

namespace karst {

struct PetscMatrix::Hidden {
  Mat mat = nullptr;
  ~Hidden() { MatDestroy(&mat); }
};

namespace {

void fill(const EllipticOperator& op, Mat mat) {
  const CompositeNumbering& numbers = op.numbering();
  std::vector<PetscInt> columns;
  op.for_each_row([&](std::int32_t row, std::span<const GlobalNumber> c, std::span<const double> w) {
    columns.assign(c.begin(), c.end());
    const auto r = static_cast<PetscInt>(numbers.first() + row);
    petsc_check(MatSetValues(mat, 1, &r, static_cast<PetscInt>(c.size()), columns.data(), w.data(), INSERT_VALUES),
                "MatSetValues");
  });
  petsc_check(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY), "MatAssemblyBegin");
  petsc_check(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY), "MatAssemblyEnd");
}

double info_of(Mat mat, double MatInfo::*what) {
  MatInfo info{};
  petsc_check(MatGetInfo(mat, MAT_GLOBAL_SUM, &info), "MatGetInfo");
  return info.*what;
}

}  // namespace

PetscMatrix::PetscMatrix(const EllipticOperator& op) : hidden_(std::make_unique<Hidden>()) {
  begin_petsc();
  const Timer timer("assemble matrix");
  const CompositeNumbering& numbers = op.numbering();
  require(numbers.n_global() <= std::numeric_limits<PetscInt>::max(),
          "matrix: {} unknowns, but PETSc has 32-bit numbers; build with KARST_64BIT_INDICES=ON", numbers.n_global());
  const auto n = static_cast<PetscInt>(numbers.n_own());
  std::vector<PetscInt> own(n), other(n);
  op.for_each_row([&](std::int32_t row, std::span<const GlobalNumber> columns, std::span<const double>) {
    const auto mine = std::count_if(columns.begin(), columns.end(), [&](GlobalNumber g) { return numbers.is_own(g); });
    own[row] = static_cast<PetscInt>(mine);
    other[row] = static_cast<PetscInt>(std::ssize(columns) - mine);
  });
  Mat& mat = hidden_->mat;
  petsc_check(MatCreate(op.comm().handle(), &mat), "MatCreate");
  petsc_check(MatSetSizes(mat, n, n, PETSC_DETERMINE, PETSC_DETERMINE), "MatSetSizes");
  petsc_check(MatSetType(mat, MATAIJ), "MatSetType");
  petsc_check(MatSeqAIJSetPreallocation(mat, 0, own.data()), "MatSeqAIJSetPreallocation");
  petsc_check(MatMPIAIJSetPreallocation(mat, 0, own.data(), 0, other.data()), "MatMPIAIJSetPreallocation");
  petsc_check(MatSetOption(mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_TRUE), "MatSetOption");
  petsc_check(MatSetOption(mat, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE), "MatSetOption");
  fill(op, mat);
  if (op.symmetric()) petsc_check(MatSetOption(mat, MAT_SYMMETRIC, PETSC_TRUE), "MatSetOption");
}

PetscMatrix::PetscMatrix(PetscMatrix&&) noexcept = default;
PetscMatrix& PetscMatrix::operator=(PetscMatrix&&) noexcept = default;
PetscMatrix::~PetscMatrix() = default;

void PetscMatrix::multiply(std::span<const double> x, std::span<double> y) const {
  Vec in = nullptr, out = nullptr;
  petsc_check(MatCreateVecs(hidden_->mat, &in, &out), "MatCreateVecs");
  petsc_check(VecPlaceArray(in, x.data()), "VecPlaceArray");
  petsc_check(VecPlaceArray(out, y.data()), "VecPlaceArray");
  petsc_check(MatMult(hidden_->mat, in, out), "MatMult");
  petsc_check(VecResetArray(in), "VecResetArray");
  petsc_check(VecResetArray(out), "VecResetArray");
  VecDestroy(&in);
  VecDestroy(&out);
}

double PetscMatrix::entries() const { return info_of(hidden_->mat, &MatInfo::nz_used); }
double PetscMatrix::unused_entries() const { return info_of(hidden_->mat, &MatInfo::nz_unneeded); }
void* PetscMatrix::mat() const { return hidden_->mat; }

}  // namespace karst
