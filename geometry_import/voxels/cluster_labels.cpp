// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/cluster_labels.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

/// Rows of a slab and of the planes below and above it.
class RowsAround {
 public:
  /// Collective.
  explicit RowsAround(const Slabs<std::uint8_t>& labels)
      : labels_(labels),
        own_(labels.own()),
        below_(labels.fetch(beside(own_.first - 1))),
        above_(labels.fetch(beside(own_.last))) {}
  /// Empty outside of the image.
  std::span<const std::uint8_t> row(int y, int z) const {
    if (y < 0 || y >= own_.image[1] || z < 0 || z >= own_.image[2]) return {};
    const std::span<const std::uint8_t> plane = z < own_.first   ? below_.span()
                                                : z >= own_.last ? above_.span()
                                                                 : labels_.plane(z);
    const std::size_t n = own_.row();
    return plane.subspan(y * n, n);
  }
  int y_of(std::size_t r) const { return static_cast<int>(r % own_.image[1]); }
  int z_of(std::size_t r) const { return own_.first + static_cast<int>(r / own_.image[1]); }

 private:
  ImageWindow beside(int z) const {
    const bool there = own_.planes() > 0 && z >= 0 && z < own_.image[2];
    return there ? ImageWindow{own_.image, z, z + 1} : ImageWindow{own_.image, own_.first, own_.first};
  }

  const Slabs<std::uint8_t>& labels_;
  ImageWindow own_;
  Array<std::uint8_t> below_, above_;
};

/// Voxel faces between a cluster and each label.
using Faces = std::array<std::int64_t, 256>;

void count_faces(const RowsAround& rows, const ClusterRun& run, std::size_t r, Faces& faces) {
  const int y = rows.y_of(r), z = rows.z_of(r);
  const std::span<const std::uint8_t> row = rows.row(y, z);
  const std::size_t first = run.first, last = run.last;
  if (first > 0) ++faces[row[first - 1]];
  if (last < row.size()) ++faces[row[last]];
  for (const std::span<const std::uint8_t> beside :
       {rows.row(y - 1, z), rows.row(y + 1, z), rows.row(y, z - 1), rows.row(y, z + 1)})
    if (!beside.empty())
      for (const std::uint8_t label : beside.subspan(first, last - first)) ++faces[label];
}

std::uint8_t most_faces(const Faces& faces) {
  const auto begin = faces.begin() + 1, end = faces.begin() + outside_label, most = std::max_element(begin, end);
  return static_cast<std::uint8_t>(*most == 0 ? 1 : most - faces.begin());
}

/// Runs of the clusters asked, cluster by cluster.
class RunsOfClusters {
 public:
  struct Place {
    std::uint32_t row, run;  ///< run of a row
  };
  RunsOfClusters(const Clusters& clusters, std::span<const std::uint8_t> asked) : end_(asked.size() + 1, 0) {
    for_asked(clusters, asked, [&](std::size_t slot, Place) { ++end_[slot + 1]; });
    for (std::size_t slot = 1; slot < end_.size(); ++slot) end_[slot] += end_[slot - 1];
    places_ = Array<Place>(end_.back(), Purpose::buffers);
    for_asked(clusters, asked, [&](std::size_t slot, Place place) { places_[end_[slot]++] = place; });
  }
  std::span<const Place> of(std::size_t slot) const {
    const std::size_t begin = slot == 0 ? 0 : end_[slot - 1];
    return places_.span().subspan(begin, end_[slot] - begin);
  }

 private:
  template <class F>
  static void for_asked(const Clusters& clusters, std::span<const std::uint8_t> asked, F&& f) {
    for (std::size_t r = 0; r < clusters.rows(); ++r) {
      std::uint32_t i = 0;
      for (const ClusterRun& run : clusters.row(r)) {
        if (asked[run.slot]) f(run.slot, Place{static_cast<std::uint32_t>(r), i});
        ++i;
      }
    }
  }

  std::vector<std::uint32_t> end_;
  Array<Place> places_;
};

struct Vote {
  std::int64_t number, label, faces;
};

/// Replaces the labels of the clusters that several ranks hold by those that all votes give. Collective.
void choose_over_ranks(const Comm& comm, const Clusters& clusters, const std::vector<Vote>& mine,
                       std::vector<std::uint8_t>& chosen) {
  std::vector<Vote> votes;
  for (const Vote& v : comm.all_gather(std::span<const Vote>(mine)))
    if (clusters.slot_of(v.number)) votes.push_back(v);
  std::sort(votes.begin(), votes.end(), [](const Vote& a, const Vote& b) { return a.number < b.number; });
  for (std::size_t i = 0; i < votes.size();) {
    const std::int64_t number = votes[i].number;
    Faces faces{};
    for (; i < votes.size() && votes[i].number == number; ++i) faces[votes[i].label] += votes[i].faces;
    chosen[*clusters.slot_of(number)] = most_faces(faces);
  }
}

}  // namespace

std::int64_t count_labels(const Comm& comm, const Slabs<std::uint8_t>& labels, std::uint8_t first, std::uint8_t last) {
  const auto width = static_cast<std::uint8_t>(last - first);
  return comm.sum(std::int64_t{std::count_if(labels.values().begin(), labels.values().end(), [&](std::uint8_t label) {
    return static_cast<std::uint8_t>(label - first) <= width;
  })});
}

std::vector<std::uint8_t> in_contact(const Comm& comm, const Slabs<std::uint8_t>& labels, const Clusters& clusters,
                                     std::span<const std::uint8_t> asked, std::uint8_t label) {
  std::vector<std::uint8_t> found(asked.size(), 0);
  const RowsAround rows(labels);
  parallel_for(static_cast<std::int64_t>(clusters.rows()), [&](std::int64_t r) {
    for (const ClusterRun& run : clusters.row(r)) {
      if (!asked[run.slot]) continue;
      for (int k = 0; k < 9; ++k) {
        const std::span<const std::uint8_t> row = rows.row(rows.y_of(r) + k % 3 - 1, rows.z_of(r) + k / 3 - 1);
        if (row.empty()) continue;
        const auto begin = row.begin() + std::max(0, run.first - 1),
                   end = row.begin() + std::min(static_cast<int>(row.size()), run.last + 1);
        if (std::find(begin, end, label) != end) std::atomic_ref(found[run.slot]).store(1, std::memory_order_relaxed);
      }
    }
  });
  clusters.or_over_ranks(comm, found);
  return found;
}

std::vector<std::uint8_t> solid_around(const Comm& comm, const Slabs<std::uint8_t>& labels, const Clusters& clusters,
                                       std::span<const std::uint8_t> asked) {
  std::vector<std::uint8_t> chosen(asked.size(), 1);
  if (count_labels(comm, labels, 2, outside_label - 1) == 0) return chosen;
  const RowsAround rows(labels);
  const RunsOfClusters runs(clusters, asked);
  const auto faces_of = [&](std::size_t slot) {
    Faces faces{};
    for (const auto& place : runs.of(slot)) count_faces(rows, clusters.row(place.row)[place.run], place.row, faces);
    return faces;
  };
  parallel_for(static_cast<std::int64_t>(asked.size()), [&](std::int64_t slot) {
    if (asked[slot]) chosen[slot] = most_faces(faces_of(slot));
  });
  std::vector<Vote> votes;
  for (const Clusters::Shared& s : clusters.shared()) {
    if (!asked[s.slot]) continue;
    const Faces faces = faces_of(s.slot);
    for (std::size_t label = 1; label < outside_label; ++label)
      if (faces[label] > 0) votes.push_back({s.number, static_cast<std::int64_t>(label), faces[label]});
  }
  choose_over_ranks(comm, clusters, votes, chosen);
  return chosen;
}

void relabel(Slabs<std::uint8_t>& labels, const Clusters& clusters, std::span<const std::uint8_t> asked,
             std::span<const std::uint8_t> to) {
  const std::int64_t n = labels.own().row();
  parallel_for(static_cast<std::int64_t>(clusters.rows()), [&](std::int64_t r) {
    for (const ClusterRun& run : clusters.row(r))
      if (asked[run.slot]) std::fill_n(labels.values().begin() + r * n + run.first, run.last - run.first, to[run.slot]);
  });
}

}  // namespace karst
