// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "base/comm/comm.hpp"

namespace karst::test {

/// The first ranks of a communicator as one of their own. Collective.
class FirstRanks {
 public:
  FirstRanks(const Comm& comm, int n) {
    MPI_Comm_split(comm.handle(), comm.rank() < n ? 0 : MPI_UNDEFINED, comm.rank(), &handle_);
  }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  ~FirstRanks() {
    if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
  }
  bool is_in() const { return handle_ != MPI_COMM_NULL; }
  Comm comm() const { return Comm(handle_); }  ///< only on ranks that are in

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

}  // namespace karst::test
