// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/threads.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "base/comm/parallel.hpp"
#include "base/core/traffic.hpp"
#include "base/file/program_path.hpp"

namespace karst {

namespace {

RankPlace place_of_this_rank() {
  RankPlace place{this_node(), {}};
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (int p = 0; p < std::min(max_processors, CPU_SETSIZE); ++p)
      if (CPU_ISSET(p, &mask)) place.processors.set(p);
  if (place.processors.none()) place.processors.set(0);
  return place;
}

}  // namespace

void start_well(char** argv) {
  constexpr const char* variable = "GOMP_SPINCOUNT";
  const bool spins_long = std::getenv(variable) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr;
  if (spins_long && setenv(variable, "1000", 0) != 0) return;
  const std::string faster = faster_program();
  if (!faster.empty()) execv(faster.c_str(), argv);  // returns only when it fails: no harm done
  if (spins_long) execv(program_path().c_str(), argv);
}

std::uint64_t this_node() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::hash<std::string_view>{}(host.data());
}

double share_of_processors(const std::vector<RankPlace>& ranks, int rank) {
  const RankPlace& own = ranks[rank];
  std::vector<int> users(max_processors, 0);
  for (const RankPlace& r : ranks) {
    if (r.node != own.node) continue;
    for (std::size_t p = 0; p < max_processors; ++p) users[p] += r.processors[p] ? 1 : 0;
  }
  double share = 0.0;
  for (std::size_t p = 0; p < max_processors; ++p)
    if (own.processors[p]) share += 1.0 / users[p];
  return share;
}

ThreadChoice choose_threads(const Comm& comm, int asked) {
  const RankPlace own = place_of_this_rank();
  const std::vector<RankPlace> ranks = comm.all_gather(std::span<const RankPlace>(&own, 1));
  constexpr double round_off = 1e-6;
  const double processors = share_of_processors(ranks, comm.rank());
  const int share = std::max(1, static_cast<int>(processors + round_off));
  const bool from_environment = asked == 0 && std::getenv("OMP_NUM_THREADS") != nullptr;
  if (asked > 0)
    set_n_threads(asked);
  else if (!from_environment)
    set_n_threads(share);
  count_processor_time(comm.max(n_threads() / processors) > 1.0 + round_off);
  ThreadChoice choice{n_threads(), ""};
  const auto most = comm.max(static_cast<double>(choice.threads) / share);
  if (most > 1.0)
    choice.warning = fmt::format(
        "{} threads on a rank that may use only {} processors: they will slow each other down. Use fewer threads (-j), "
        "or run mpirun without binding (--bind-to none).",
        comm.max(std::int64_t{choice.threads}), comm.min(std::int64_t{share}));
  return choice;
}

}  // namespace karst
