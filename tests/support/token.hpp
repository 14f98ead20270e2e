// SPDX-License-Identifier: BSD-3-Clause
// An empty message from one rank to another: lets a test say what must have happened elsewhere before it goes on.
#pragma once

#include <chrono>

#include "base/comm/comm.hpp"

namespace karst::test {

inline constexpr int token_tag = 77;

inline void send_token(const Comm& comm, int to) { MPI_Send(nullptr, 0, MPI_BYTE, to, token_tag, comm.handle()); }

/// Whether a token is here within this time; leaves it to take_token().
inline bool wait_for_token(const Comm& comm, int from, std::chrono::seconds longest) {
  int here = 0;
  for (const auto start = std::chrono::steady_clock::now();
       here == 0 && std::chrono::steady_clock::now() - start < longest;)
    MPI_Iprobe(from, token_tag, comm.handle(), &here, MPI_STATUS_IGNORE);
  return here != 0;
}

inline void take_token(const Comm& comm, int from) {
  MPI_Recv(nullptr, 0, MPI_BYTE, from, token_tag, comm.handle(), MPI_STATUS_IGNORE);
}

}  // namespace karst::test
