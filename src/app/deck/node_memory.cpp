// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/node_memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "app/deck/threads.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The number in a file of one; infinite when there is none ("max").
double number_in(const fs::path& file) {
  std::ifstream in(file);
  double value = infinite;
  return in >> value ? value : infinite;
}

/// The number behind a word in a table, times a factor.
double entry(const fs::path& file, const std::string& name, double factor) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    double value = 0;
    if (word == name && in >> value) return factor * value;
  }
  return infinite;
}

/// What a control group leaves: limit less use, without the cache of files that it can give up.
double left_in(const fs::path& group, const char* limit, const char* use, const char* cache) {
  const double most = number_in(group / limit), used = number_in(group / use);
  if (!(most < infinite) || !(used < infinite)) return infinite;
  const double files = entry(group / "memory.stat", cache, 1.0);
  return most - used + (files < infinite ? std::min(files, used) : 0.0);
}

double left_in_groups(const fs::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  double least = infinite;
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> fields = split(line, ':');  // number, controllers, path
    if (fields.size() != 3) continue;
    const bool second = fields[1].empty();
    if (!second && fields[1].find("memory") == std::string::npos) continue;
    const fs::path top = root / (second ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    for (fs::path at = fs::path(fields[2]).relative_path();; at = at.parent_path()) {
      least = std::min(
          least, second ? left_in(top / at, "memory.max", "memory.current", "inactive_file")
                        : left_in(top / at, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"));
      if (at.empty()) break;
    }
  }
  return std::max(0.0, least);
}

}  // namespace

MemoryLimit memory_of_node(const fs::path& root) {
  const MemoryLimit system{entry(root / "proc/meminfo", "MemAvailable:", 1024.0), "free memory of the machine"};
  const MemoryLimit group{left_in_groups(root), "memory limit of the container or batch job"};
  return group.bytes < system.bytes ? group : system;
}

MemoryLimit memory_of_process() {
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return {limited ? static_cast<double>(limit.rlim_cur) : infinite, "address space of a process (ulimit -v)"};
}

MemoryLimit MemoryShare::of_rank() const {
  const MemoryLimit part{node.bytes / ranks, node.by};
  return process.bytes < part.bytes ? process : part;
}

MemoryShare memory_share(const Comm& comm) {
  struct OfRank {
    std::uint64_t node;
    double bytes;
  };
  MemoryShare share{memory_of_node(), 1, memory_of_process()};
  const OfRank mine{this_node(), share.node.bytes};
  const std::vector<OfRank> all = comm.all_gather(std::span<const OfRank>(&mine, 1));
  std::size_t worst = 0;
  double least = infinite;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto ranks = std::ranges::count(all, all[r].node, &OfRank::node);
    if (!(all[r].bytes / static_cast<double>(ranks) < least)) continue;
    least = all[r].bytes / static_cast<double>(ranks);
    worst = r;
    share.ranks = static_cast<int>(ranks);
  }
  share.node.bytes = all[worst].bytes;
  comm.broadcast(share.node.by, static_cast<int>(worst));
  share.process.bytes = comm.min(share.process.bytes);
  return share;
}

double voxels_that_fit(double bytes_of_rank, int ranks) {
  return std::max(0.0, bytes_of_rank - per_importing_rank) * ranks / per_imported_voxel;
}

}  // namespace karst
