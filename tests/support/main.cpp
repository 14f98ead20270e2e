// SPDX-License-Identifier: BSD-3-Clause
// Main of the unit tests: MPI around GoogleTest; a failure on any rank fails the program.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cfenv>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  ::testing::InitGoogleTest(&argc, argv);
#ifdef KARST_FP_TRAPS  // of the debug preset; after MPI, whose start-up is not ours to judge
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {  // one voice; failures of the other ranks are still printed by their asserts
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
