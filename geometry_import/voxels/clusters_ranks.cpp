// SPDX-License-Identifier: BSD-3-Clause
// Joining the clusters of the slabs: what is gathered is the clusters that meet at the boundaries between ranks.
#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "base/core/error.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/clusters_runs.hpp"

namespace karst {

/// A cluster of a slab and one of the next slab are in contact.
struct Clusters::Joint {
  int rank, upper_rank;
  std::uint32_t slot, upper_slot;
  auto operator<=>(const Joint&) const = default;
};

namespace {

/// A cluster of a slab that is in contact with one of another.
struct Node {
  int rank;
  std::uint32_t slot;
  Cluster part;
};

std::uint32_t node_of(std::span<const Node> nodes, int rank, std::uint32_t slot) {
  const auto node = std::lower_bound(nodes.begin(), nodes.end(), std::pair(rank, slot),
                                     [](const Node& n, auto key) { return std::pair(n.rank, n.slot) < key; });
  return static_cast<std::uint32_t>(node - nodes.begin());
}

/// The runs of a plane in a message: number of runs of each row, then the runs.
std::vector<std::byte> pack_plane(std::span<const std::uint32_t> row_start, std::span<const ClusterRun> runs) {
  std::vector<std::byte> bytes(row_start.size_bytes() + runs.size_bytes());
  std::memcpy(bytes.data(), row_start.data(), row_start.size_bytes());
  if (!runs.empty()) std::memcpy(bytes.data() + row_start.size_bytes(), runs.data(), runs.size_bytes());
  return bytes;
}

struct PlaneRuns {
  std::vector<std::uint32_t> row_start;
  std::vector<ClusterRun> runs;

  PlaneRuns(std::span<const std::byte> bytes, int ny) : row_start(ny + 1) {
    const std::size_t head = row_start.size() * sizeof(std::uint32_t);
    std::memcpy(row_start.data(), bytes.data(), head);
    runs.resize((bytes.size() - head) / sizeof(ClusterRun));
    if (!runs.empty()) std::memcpy(runs.data(), bytes.data() + head, bytes.size() - head);
  }
  std::span<const ClusterRun> row(int y) const {
    const std::size_t begin = row_start[y];
    return std::span(runs).subspan(begin, row_start[y + 1] - begin);
  }
};

/// The clusters that meet at the boundaries between ranks.
struct Joined {
  std::vector<Node> nodes;           ///< sorted by rank and slot; a root holds the data of its whole cluster
  std::vector<std::uint32_t> roots;  ///< of each node: the first node of its cluster
  std::size_t begin = 0, end = 0;    ///< those of this rank
};

template <class Joint>
Joined join(const Comm& comm, const std::vector<Joint>& joints, std::span<const Cluster> clusters) {
  std::vector<std::uint32_t> slots;
  for (const Joint& j : joints) {
    if (j.rank == comm.rank()) slots.push_back(j.slot);
    if (j.upper_rank == comm.rank()) slots.push_back(j.upper_slot);
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  std::vector<Node> mine;
  for (const std::uint32_t slot : slots) mine.push_back({comm.rank(), slot, clusters[slot]});
  Joined joined{comm.all_gather(std::span<const Node>(mine)), {}};
  std::vector<Node>& nodes = joined.nodes;
  require(nodes.size() < std::numeric_limits<std::uint32_t>::max(), "clusters: {} meet at the boundaries of ranks",
          nodes.size());
  joined.begin = node_of(nodes, comm.rank(), 0);
  joined.end = joined.begin + mine.size();

  std::vector<std::uint32_t>& roots = joined.roots;
  roots.resize(nodes.size());
  std::iota(roots.begin(), roots.end(), 0U);
  const auto parent = [&](std::uint32_t n) -> std::uint32_t& { return roots[n]; };
  for (const Joint& j : joints)
    unite(node_of(nodes, j.rank, j.slot), node_of(nodes, j.upper_rank, j.upper_slot), parent);
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    roots[n] = find_root(n, parent);
    if (roots[n] == n) continue;
    nodes[roots[n]].part.voxels += nodes[n].part.voxels;
    nodes[roots[n]].part.touches |= nodes[n].part.touches;
  }
  return joined;
}

}  // namespace

std::vector<Clusters::Joint> Clusters::joints_above(const Comm& comm, Contact contact) const {
  const int ny = own_.image[1], reach = contact == Contact::corners ? 1 : 0;
  std::vector<Message> out;
  if (own_.planes() > 0 && own_.first > 0) {
    int below = comm.rank() - 1;
    while (slab_begin(own_.image, below, comm.size()) == own_.first) --below;  // empty slabs
    const auto start = row_start_.span().first(ny + 1);
    out.push_back({below, pack_plane(start, runs_.span().first(start.back()))});
  }
  std::vector<Joint> joints;
  for (const Message& m : comm.sparse_exchange(out)) {
    const PlaneRuns above(m.bytes, ny);
    for (int y = 0; y < ny; ++y) {
      const std::span<const ClusterRun> mine = row(y, own_.last - 1);
      for (int with = std::max(0, y - reach); with <= std::min(ny - 1, y + reach); ++with) {
        const std::span<const ClusterRun> upper = above.row(with);
        for_contacts(mine, upper, contact, [&](std::size_t i, std::size_t j) {
          joints.push_back({comm.rank(), m.rank, mine[i].slot, upper[j].slot});
        });
      }
    }
  }
  std::sort(joints.begin(), joints.end());
  joints.erase(std::unique(joints.begin(), joints.end()), joints.end());
  return joints;
}

/// Numbers the clusters that begin on this rank; those of the others in the first plane get none yet.
void Clusters::number_owned(const Comm& comm) {
  std::uint32_t in_first_plane = 0, owned_there = 0;
  if (own_.planes() > 0)
    for (const ClusterRun& run : runs_.span().first(row_start_[own_.image[1]]))
      in_first_plane = std::max(in_first_plane, run.slot + 1);
  for (std::uint32_t slot = 0; slot < in_first_plane; ++slot) owned_there += owned(slot);
  const auto slots = static_cast<std::int64_t>(clusters_.size());
  const std::int64_t n_owned = slots - in_first_plane + owned_there, begin = comm.exclusive_sum(n_owned);
  count_ = comm.sum(n_owned);
  others_begin_ = begin + owned_there - in_first_plane;
  first_numbers_.assign(in_first_plane, -1);
  std::int64_t next = begin;
  for (std::uint32_t slot = 0; slot < in_first_plane; ++slot)
    if (owned(slot)) first_numbers_[slot] = next++;
}

/// Makes each slot one with a lower one or itself; returns the new numbers of the old slots, which follow the same
/// order.
std::vector<std::uint32_t> Clusters::merge_slots(std::span<const std::uint32_t> into) {
  std::vector<std::uint32_t> renamed(into.size());
  std::uint32_t n = 0;
  for (std::uint32_t slot = 0; slot < into.size(); ++slot) {
    renamed[slot] = into[slot] == slot ? n : renamed[into[slot]];
    if (into[slot] == slot) clusters_[n++] = clusters_[slot];
  }
  if (n == into.size()) return renamed;
  for (ClusterRun& run : runs_) run.slot = renamed[run.slot];
  Array<Cluster> fewer(n, Purpose::buffers);
  std::copy_n(clusters_.begin(), n, fewer.begin());
  clusters_ = std::move(fewer);
  return renamed;
}

void Clusters::join_ranks(const Comm& comm, Contact contact) {
  const Joined joined =
      join(comm, comm.all_gather(std::span<const Joint>(joints_above(comm, contact))), clusters_.span());
  std::vector<std::uint32_t> into(clusters_.size());
  std::iota(into.begin(), into.end(), 0U);
  std::map<std::uint32_t, std::uint32_t> slot_of_root;
  for (std::size_t n = joined.begin; n < joined.end; ++n) {
    const Node& node = joined.nodes[n];
    clusters_[node.slot] = joined.nodes[joined.roots[n]].part;
    into[node.slot] = slot_of_root.try_emplace(joined.roots[n], node.slot).first->second;
  }
  const std::vector<std::uint32_t> renamed = merge_slots(into);
  number_owned(comm);
  std::vector<std::int64_t> numbers;
  for (std::size_t n = joined.begin; n < joined.end; ++n)
    numbers.push_back(joined.roots[n] == n ? number(renamed[joined.nodes[n].slot]) : -1);
  numbers = comm.all_gather(std::span<const std::int64_t>(numbers));
  for (const auto& [root, old_slot] : slot_of_root) {
    const std::uint32_t slot = renamed[old_slot];
    if (!owned(slot)) first_numbers_[slot] = numbers[root];
    shared_.push_back({numbers[root], slot});
  }
  assert(std::is_sorted(shared_.begin(), shared_.end(), [](auto& a, auto& b) { return a.number < b.number; }));
}

void Clusters::or_over_ranks(const Comm& comm, std::span<std::uint8_t> flags) const {
  struct Flag {
    std::int64_t number;
    std::int64_t bits;
  };
  std::vector<Flag> mine;
  for (const Shared& s : shared_)
    if (flags[s.slot] != 0) mine.push_back({s.number, flags[s.slot]});
  for (const Flag& f : comm.all_gather(std::span<const Flag>(mine)))
    if (const auto slot = slot_of(f.number)) flags[*slot] |= static_cast<std::uint8_t>(f.bits);
}

std::optional<std::uint32_t> Clusters::slot_of(std::int64_t number) const {
  const auto s = std::lower_bound(shared_.begin(), shared_.end(), number,
                                  [](const Shared& shared, std::int64_t n) { return shared.number < n; });
  if (s == shared_.end() || s->number != number) return {};
  return s->slot;
}

}  // namespace karst
