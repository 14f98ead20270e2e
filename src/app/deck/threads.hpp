// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "base/comm/comm.hpp"

namespace karst {

/// Starts the program again where that makes it faster; to be called first in main().
/// - Threads that wait for each other spin a while before they sleep: with libgomp for milliseconds, in which other
///   programs on the same cores, and with them the threads that are waited for, stand still. They shall for less than
///   0.1 ms, and libgomp reads its environment before main(). What the user has set in OMP_WAIT_POLICY or
///   GOMP_SPINCOUNT holds.
/// - A program for all processors goes on as faster_program() where there is one.
void start_well(char** argv);

inline constexpr int max_processors = 1024;  ///< of one node, as the system's affinity masks number them

/// Hash of the host name.
std::uint64_t this_node();

/// The processors a rank may run on, and its node.
struct RankPlace {
  std::uint64_t node;  ///< this_node() there
  std::bitset<max_processors> processors;
};

/// Processors for one rank: each counts one over the number of ranks of the node that may use it.
double share_of_processors(const std::vector<RankPlace>& ranks, int rank);

struct ThreadChoice {
  int threads;          ///< of this rank
  std::string warning;  ///< empty when all is well
};

/// Threads of this rank: `asked` when it is not 0, else OMP_NUM_THREADS, else the rank's share of the processors of its
/// node, rounded down, at least one. Sets them for all parallel loops to come. Warns when the ranks of a node ask for
/// more threads than that share; where threads outnumber processors, ranks count processor time from then on
/// (base/core/traffic.hpp). Collective; the same warning on every rank.
ThreadChoice choose_threads(const Comm& comm, int asked);

}  // namespace karst
