// SPDX-License-Identifier: BSD-3-Clause
// Connected components of chosen labels of an image in slabs, as runs along x: memory and time follow the number of
// runs, not that of voxels (12 bytes a run, 24 a cluster, 4 a row). Runs are joined row by row by union-find whose root
// is the run of the lowest index (two-pass labelling with equivalences: Rosenfeld & Pfaltz, J. ACM 13 (1966) 471; by
// runs: He, Chao & Suzuki, IEEE Trans. Image Process. 17 (2008) 749); then slabs are joined through the runs of their
// boundary planes. The result does not depend on the number of ranks and threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

inline constexpr std::uint8_t pore_label = 0;       ///< labels between are solid phases
inline constexpr std::uint8_t outside_label = 255;  ///< not in the sample

/// Which labels belong to the set whose clusters are looked for.
using LabelSet = std::array<bool, 256>;
LabelSet pore_labels();   ///< 0
LabelSet solid_labels();  ///< 1 .. 254

/// Voxels are in contact through faces (6 neighbours), or through faces, edges and corners (26).
enum class Contact { faces, corners };

/// Voxels [first, last) of a row that belong to one cluster, and no voxel beside them does.
struct ClusterRun {
  int first, last;
  std::uint32_t slot;  ///< cluster, as a place in Clusters::of_rank()
};

/// A cluster of the whole image, whatever part of it lies on this rank.
struct Cluster {
  std::int64_t voxels = 0;
  std::int64_t first = 0;    ///< its first voxel, (z ny + y) nx + x
  std::uint8_t touches = 0;  ///< bit 2 d: it touches the lower face of the image across axis d; 2 d + 1: the upper one

  /// It touches both ends of the image along an axis.
  bool connects(int axis) const { return (touches >> (2 * axis) & 3) == 3; }
};

/// The clusters of an image. Numbers 0, 1, ... follow the first voxel of the clusters, x fastest; a slot is the place
/// of a cluster among those that have voxels on this rank.
class Clusters {
 public:
  /// Looks for the clusters. Throws Error when a rank has 2³² runs or rows. The outside label must not be in the set.
  /// Collective.
  Clusters(const Comm& comm, const Slabs<std::uint8_t>& labels, const LabelSet& set, Contact contact);

  std::int64_t count() const { return count_; }  ///< of the whole image
  /// The clusters with voxels on this rank, in the order of their first voxel here.
  std::span<const Cluster> of_rank() const { return clusters_.span(); }
  /// The first voxel of the cluster lies on this rank: sums over owned clusters, then ranks, count each cluster once.
  bool owned(std::uint32_t slot) const { return clusters_[slot].first >= own_.first * own_.plane(); }
  std::int64_t number(std::uint32_t slot) const {
    return slot < first_numbers_.size() ? first_numbers_[slot] : others_begin_ + slot;
  }
  /// Rows of this rank: (z - own().first) ny + y.
  std::size_t rows() const { return row_start_.size() - 1; }
  std::span<const ClusterRun> row(std::size_t r) const {
    return runs_.span().subspan(row_start_[r], row_start_[r + 1] - row_start_[r]);
  }
  std::span<const ClusterRun> row(int y, int z) const {
    return row(std::size_t(z - own_.first) * std::size_t(own_.image[1]) + std::size_t(y));
  }

  /// A cluster with voxels on this rank and on others.
  struct Shared {
    std::int64_t number;
    std::uint32_t slot;
  };
  std::span<const Shared> shared() const { return shared_; }  ///< sorted by number
  /// Slot of a shared cluster with this number; none when it has no voxels here.
  std::optional<std::uint32_t> slot_of(std::int64_t number) const;
  /// flags[slot] |= those of the same cluster on other ranks. Collective.
  void or_over_ranks(const Comm& comm, std::span<std::uint8_t> flags) const;
  std::size_t bytes() const;  ///< of this rank

 private:
  struct Joint;
  void find_runs(const Slabs<std::uint8_t>& labels, const LabelSet& set);
  void join_runs(Contact contact);
  void join_row(std::size_t row, std::size_t with, Contact contact);
  void join_with_plane_below(int z, Contact contact);
  void number_slots();
  void measure();
  std::vector<Joint> joints_above(const Comm& comm, Contact contact) const;
  void join_ranks(const Comm& comm, Contact contact);
  std::vector<std::uint32_t> merge_slots(std::span<const std::uint32_t> into);
  void number_owned(const Comm& comm);

  ImageWindow own_;
  Array<ClusterRun> runs_;
  Array<std::uint32_t> row_start_;
  Array<Cluster> clusters_;
  std::vector<std::int64_t> first_numbers_;  ///< of the clusters in the first plane of the slab
  std::int64_t others_begin_ = 0, count_ = 0;
  std::vector<Shared> shared_;
};

}  // namespace karst
