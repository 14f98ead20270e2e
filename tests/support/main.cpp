// SPDX-License-Identifier: BSD-3-Clause
// Main of the unit tests: MPI around GoogleTest; a failure on any rank fails the program.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cfenv>
#include <cstdio>

#include "base/comm/mpi_plugins.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define KARST_LEAKS(call) call
#else
#define KARST_LEAKS(call)
#endif

namespace {

/// Rank 0 tells of the progress; the others speak only when something fails.
class FailuresOnly : public ::testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name() ? result.file_name() : "?",
                 result.line_number(), result.message());
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  KARST_LEAKS(__lsan_disable());  // what MPI leaks at its start is not ours
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  KARST_LEAKS(__lsan_enable());
  karst::keep_mpi_plugins_loaded();
  ::testing::InitGoogleTest(&argc, argv);
#ifdef KARST_FP_TRAPS  // of the debug preset; after MPI, whose start-up is not ours to judge
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#endif
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));  // owned by the list
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  KARST_LEAKS(__lsan_do_leak_check());  // while the libraries of MPI are loaded: their leaks can be told from ours
  MPI_Finalize();
  return failed;
}
