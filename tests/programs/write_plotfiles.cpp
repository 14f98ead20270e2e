// SPDX-License-Identifier: BSD-3-Clause
// Writes one plotfile of known values: write_plotfiles FILE NX NY NZ BOX LEVELS COMPONENTS [COMPRESSION [BUFFER_BYTES
// [PARTS]]]. Prints the sizes and the seconds. tests/checks/read_plotfile.py reads the files with yt and VTK.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "base/comm/mpi_plugins.hpp"
#include "base/core/error.hpp"
#include "tests/support/plot_samples.hpp"

namespace {

int write(const karst::Comm& comm, int argc, char** argv) {
  karst::require(argc >= 8,
                 "usage: write_plotfiles FILE NX NY NZ BOX LEVELS COMPONENTS [COMPRESSION [BUFFER_BYTES [PARTS]]]");
  const auto number = [&](int n) { return std::atoi(argv[n]); };
  auto sample = karst::test::plot_sample(comm, {number(2), number(3), number(4)}, number(5), number(6), number(7));
  karst::test::connect(sample, comm);
  if (argc > 8) sample.plot.compression = number(8);
  if (argc > 9) sample.plot.buffer_bytes = number(9);
  if (argc > 10) sample.plot.parts = number(10);
  const auto start = std::chrono::steady_clock::now();
  const karst::PlotSize size = karst::write_plotfile(comm, argv[1], sample.plot);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (comm.rank() == 0)
    fmt::print("file {} bytes, values {} bytes, dense {} bytes, {:.3f} s, {:.0f} MB/s\n", size.file_bytes,
               size.box_bytes, size.dense_bytes, seconds, 1e-6 * static_cast<double>(size.box_bytes) / seconds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  karst::keep_mpi_plugins_loaded();
  try {
    status = write(karst::Comm::world(), argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "rank {}: {}\n", karst::Comm::world().rank(), e.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
