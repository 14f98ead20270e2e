// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <algorithm>
#include <ctime>
#include <span>
#include <string>

#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/krylov/petsc_check.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "solvers/multigrid/two_point.hpp"

namespace karst::test {

struct AmgResult {
  int iterations = 0;
  bool converged = false;
  double set_up_seconds = 0.0, solve_seconds = 0.0;  ///< processor time of this rank
};

inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Global numbers of the VoFs, box after box on each rank, halo included.
inline NumberField vof_numbers(const Comm& comm, const LevelGraph& graph) {
  NumberField number(graph, 1, Purpose::buffers);
  const std::int64_t first = comm.exclusive_sum(graph.counts().vofs);
  for (int b = 0; b < graph.n_local(); ++b) {
    std::int64_t next = first + graph.vof_begin(b);
    for (std::int64_t& n : number.own(b)) n = next++;
  }
  fill_halo(comm, graph, number);
  return number;
}

/// f(row, columns, values) for every own VoF; the diagonal comes last.
template <class F>
void for_each_row(const TwoPointLevel& level, const NumberField& number, F&& f) {
  const LevelGeometry& geometry = *level.geometry;
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> values;
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const BoxGraph g = geometry.graph.box(b);
    const auto numbers = number.box(b);
    const int first_ghost = g.n_own + g.halo.n_vofs();
    const float* factor = level.ghost_factor.data() + level.ghost_begin[b];
    double diagonal = 0.0;
    const auto add = [&](int slot, double w) {
      if (w <= 0.0) return;
      diagonal += slot < first_ghost ? w : w * (1.0 - factor[slot - first_ghost]);
      if (slot >= first_ghost) return;
      columns.push_back(static_cast<PetscInt>(numbers[slot]));
      values.push_back(-w);
    };
    std::vector<std::int32_t> row(g.n_own, -1);
    for (int r = 0; r < g.n_irregular; ++r) row[g.row_vof[r]] = r;
    const std::size_t first = geometry.moments_begin[b];
    auto extra_weight = level.extra.data() + geometry.extra_begin[b];
    std::size_t e = 0;
    for_each_vof(g, [&](int vof, int, const std::array<std::uint16_t, 6>& slots) {
      const std::size_t v = vof;
      const bool irregular = row[v] >= 0;
      const std::size_t r = first + static_cast<std::size_t>(std::max(row[v], 0));
      columns.clear();
      values.clear();
      diagonal = irregular ? level.shift[r] : level.regular_shift;
      for (std::size_t side = 0; side < 6; ++side)
        add(slots[side],
            irregular ? level.weight[r][side] : level.whole_weight(b, vof, static_cast<int>(side), slots[side]));
      for (; e < g.extra.size() && g.extra[e].vof == vof; ++e) add(g.extra[e].neighbour, extra_weight[e]);
      const auto here = static_cast<PetscInt>(numbers[v]);
      columns.push_back(here);
      values.push_back(diagonal > 0.0 ? diagonal : 1.0);
      f(here, columns, values);
    });
  }
}

/// Owns the PETSc objects of one solve.
class AmgSolve {
 public:
  explicit AmgSolve(const Comm& comm) : comm_(comm) { begin_petsc(); }
  AmgSolve(const AmgSolve&) = delete;
  AmgSolve& operator=(const AmgSolve&) = delete;
  ~AmgSolve() {  // what fails here cannot be mended any more
    static_cast<void>(KSPDestroy(&ksp_));
    static_cast<void>(VecDestroy(&x_));
    static_cast<void>(VecDestroy(&b_));
    static_cast<void>(MatDestroy(&matrix_));
  }

  void assemble(const TwoPointLevel& level) {
    const NumberField number = vof_numbers(comm_, level.geometry->graph);
    const auto n = static_cast<PetscInt>(level.geometry->graph.counts().vofs);
    const auto first = static_cast<PetscInt>(comm_.exclusive_sum(std::int64_t{n}));
    std::vector<PetscInt> own, other;
    for_each_row(level, number, [&](PetscInt, const auto& columns, const auto&) {
      const auto inside = std::ranges::count_if(columns, [&](PetscInt c) { return c >= first && c < first + n; });
      own.push_back(static_cast<PetscInt>(inside));
      other.push_back(static_cast<PetscInt>(std::ssize(columns) - inside));
    });
    petsc_check(
        MatCreateAIJ(comm_.handle(), n, n, PETSC_DETERMINE, PETSC_DETERMINE, 0, own.data(), 0, other.data(), &matrix_),
        "MatCreateAIJ");
    for_each_row(level, number, [&](PetscInt row, const auto& columns, const auto& values) {
      petsc_check(MatSetValues(matrix_, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(), values.data(),
                               ADD_VALUES),
                  "set a row");
    });
    petsc_check(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY), "assemble");
    petsc_check(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY), "assemble");
    petsc_check(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE), "mark the matrix");
    petsc_check(MatCreateVecs(matrix_, &x_, &b_), "make vectors");
  }

  void set_up(const std::string& preconditioner, double tolerance) {
    petsc_check(KSPCreate(comm_.handle(), &ksp_), "make a solver");
    petsc_check(KSPSetOperators(ksp_, matrix_, matrix_), "set the operator");
    petsc_check(KSPSetType(ksp_, KSPCG), "choose conjugate gradients");
    petsc_check(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED), "choose the norm");
    petsc_check(KSPSetTolerances(ksp_, tolerance, 0.0, PETSC_DEFAULT, 500), "set the tolerance");
    PC pc = nullptr;
    petsc_check(KSPGetPC(ksp_, &pc), "give its preconditioner");
    petsc_check(PCSetType(pc, preconditioner.c_str()), "choose the preconditioner");
    petsc_check(KSPSetFromOptions(ksp_), "read its options");
    petsc_check(KSPSetUp(ksp_), "set up the preconditioner");
  }

  void solve(std::span<const double> b, std::span<double> x, AmgResult& result) {
    PetscScalar* values = nullptr;
    petsc_check(VecGetArray(b_, &values), "give an array");
    std::ranges::copy(b, values);
    petsc_check(VecRestoreArray(b_, &values), "take an array");
    petsc_check(KSPSolve(ksp_, b_, x_), "solve");
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
    PetscInt iterations = 0;
    petsc_check(KSPGetConvergedReason(ksp_, &reason), "tell how it ended");
    petsc_check(KSPGetIterationNumber(ksp_, &iterations), "count iterations");
    result.converged = reason > 0;
    result.iterations = static_cast<int>(iterations);
    petsc_check(VecGetArray(x_, &values), "give an array");
    std::copy_n(values, x.size(), x.begin());
    petsc_check(VecRestoreArray(x_, &values), "take an array");
  }

 private:
  const Comm& comm_;
  Mat matrix_ = nullptr;
  Vec b_ = nullptr, x_ = nullptr;
  KSP ksp_ = nullptr;
};

/// Solves A x = b for the two-point operator of one level by PETSc: conjugate gradients on the assembled matrix with a
/// preconditioner of this name (gamg, hypre: BoomerAMG, ...), PETSc's defaults, relative residual in the
/// unpreconditioned norm. The yardstick for the graph multigrid. Solves twice and times the second. PETSc must run
/// (PetscSession). Throws Error when PETSc refuses. Collective.
/// @param b  own VoFs, box after box
/// @param[out] x  as b
inline AmgResult solve_two_point_with_amg(const Comm& comm, const TwoPointLevel& level,
                                          const std::string& preconditioner, std::span<const double> b,
                                          std::span<double> x, double tolerance) {
  AmgSolve solve(comm);
  solve.assemble(level);
  AmgResult result;
  double start = processor_seconds();
  solve.set_up(preconditioner, tolerance);
  result.set_up_seconds = processor_seconds() - start;
  solve.solve(b, x, result);
  start = processor_seconds();
  solve.solve(b, x, result);
  result.solve_seconds = processor_seconds() - start;
  return result;
}

}  // namespace karst::test
