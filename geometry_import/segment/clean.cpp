// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/clean.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/voxels/cluster_labels.hpp"
#include "geometry_import/voxels/clusters.hpp"

namespace karst {
namespace {

using Flags = std::vector<std::uint8_t>;  // per slot

/// Clusters of the whole image whose flag is set. Collective.
ClusterSum sum_flagged(const Comm& comm, const Clusters& clusters, const Flags& flags) {
  std::array<std::int64_t, 2> sum{};
  for (std::uint32_t s = 0; s < flags.size(); ++s) {
    if (!flags[s] || !clusters.owned(s)) continue;
    ++sum[0];
    sum[1] += clusters.of_rank()[s].voxels;
  }
  comm.sum(std::span<std::int64_t>(sum));
  return {sum[0], sum[1]};
}

Flags smaller_than(const Clusters& clusters, std::int64_t voxels) {
  Flags flags;
  flags.reserve(clusters.of_rank().size());
  for (const Cluster& c : clusters.of_rank()) flags.push_back(c.voxels < voxels);
  return flags;
}

/// Solid clusters of fewer voxels that are not in contact with the outside. Collective.
Flags find_specks(const Comm& comm, const Slabs<std::uint8_t>& labels, const Clusters& solids, std::int64_t voxels) {
  Flags small = smaller_than(solids, voxels);
  if (count_labels(comm, labels, outside_label, outside_label) == 0) return small;
  const Flags held = in_contact(comm, labels, solids, small, outside_label);
  for (std::size_t s = 0; s < small.size(); ++s) small[s] = small[s] && !held[s];
  return small;
}

std::int64_t most_voxels(const Comm& comm, const Clusters& clusters) {
  std::int64_t most = 0;
  for (const Cluster& c : clusters.of_rank()) most = std::max(most, c.voxels);
  return comm.max(most);
}

/// Clusters that `keep` does not ask for. Collective.
Flags find_dropped(const Comm& comm, const Clusters& pores, const CleanOptions& options) {
  Flags drop(pores.of_rank().size(), 1);
  if (options.keep == KeepClusters::connected) {
    for (std::size_t s = 0; s < drop.size(); ++s)
      for (int d = 0; d < 3; ++d)
        if (options.axes[d] && pores.of_rank()[s].connects(d)) drop[s] = 0;
    return drop;
  }
  const std::int64_t most = most_voxels(comm, pores);
  std::int64_t first = pores.count();
  for (std::uint32_t s = 0; s < drop.size(); ++s)
    if (pores.of_rank()[s].voxels == most) first = std::min(first, pores.number(s));
  first = comm.min(first);
  for (std::uint32_t s = 0; s < drop.size(); ++s) drop[s] = pores.number(s) != first;
  return drop;
}

std::string names_of(const std::array<bool, 3>& axes) {
  std::string names;
  for (std::size_t d = 0; d < 3; ++d)
    if (axes[d]) names += std::string(names.empty() ? "" : " or ") + axis_names[d];
  return names;
}

void check(const CleanOptions& options) {
  require(options.specks >= 0, "clean: specks = {} voxels given; allowed are 0 (none) and more", options.specks);
  require(options.holes >= 0, "clean: holes = {} voxels given; allowed are 0 (none) and more", options.holes);
  require(options.keep != KeepClusters::connected || options.axes[0] || options.axes[1] || options.axes[2],
          "clean: pores that connect the faces are to be kept, but no axis is given; give at least one of x, y, z");
}

ClusterSum remove_specks(const Comm& comm, Slabs<std::uint8_t>& labels, std::int64_t specks) {
  const Clusters solids(comm, labels, solid_labels(), Contact::corners);
  const Flags flags = find_specks(comm, labels, solids, specks);
  const ClusterSum sum = sum_flagged(comm, solids, flags);
  require(sum.clusters == 0 || sum.clusters < solids.count(),
          "clean: specks = {} voxels removes all {} solid clusters, the largest of {} voxels; use a smaller value",
          specks, solids.count(), most_voxels(comm, solids));
  relabel(labels, solids, flags, Flags(flags.size(), pore_label));
  return sum;
}

/// Throws Error when no cluster is left. Collective.
void require_pores(const Comm& comm, const Clusters& pores, const CleanOptions& options, const Flags& filled) {
  require(pores.count() > 0, "clean: there is no pore voxel; choose another threshold or another value for the pore");
  if (sum_flagged(comm, pores, filled).clusters < pores.count()) return;
  throw Error(fmt::format(
      "clean: no pore cluster{} connects the faces of the image across {} ({} clusters in all, the largest of {} "
      "voxels); use other axes, keep the largest cluster or all of them, or choose another threshold",
      options.holes > 1 ? fmt::format(" of at least holes = {} voxels", options.holes) : "", names_of(options.axes),
      pores.count(), most_voxels(comm, pores)));
}

/// Holes and pores that are not to be kept: two pore clusters share no face, so each sees the solid as it was.
void fill_pores(const Comm& comm, Slabs<std::uint8_t>& labels, const CleanOptions& options, CleanReport& report) {
  const Clusters pores(comm, labels, pore_labels(), Contact::faces);
  Flags filled = smaller_than(pores, options.holes);
  report.holes = sum_flagged(comm, pores, filled);
  require(report.holes.clusters == 0 || report.holes.clusters < pores.count(),
          "clean: holes = {} voxels fills all {} pore clusters, the largest of {} voxels; use a smaller value",
          options.holes, pores.count(), most_voxels(comm, pores));
  if (options.keep != KeepClusters::all) {
    Flags dropped = find_dropped(comm, pores, options);
    for (std::size_t s = 0; s < dropped.size(); ++s) {
      dropped[s] = dropped[s] && !filled[s];
      filled[s] = filled[s] || dropped[s];
    }
    require_pores(comm, pores, options, filled);
    report.dropped = sum_flagged(comm, pores, dropped);
  }
  relabel(labels, pores, filled, solid_around(comm, labels, pores, filled));
}

}  // namespace

CleanReport clean(const Comm& comm, Slabs<std::uint8_t>& labels, const CleanOptions& options) {
  check(options);
  CleanReport report;
  if (options.specks > 1) report.specks = remove_specks(comm, labels, options.specks);
  if (options.holes > 1 || options.keep != KeepClusters::all) fill_pores(comm, labels, options, report);
  return report;
}

GrownSeeds grow_seeds(const Comm& comm, Slabs<std::uint8_t>& labels, std::uint8_t candidate, std::uint8_t solid) {
  require(candidate != pore_label && candidate != outside_label,
          "seeded growth: candidates have the label {}; allowed are 1 to 254", candidate);
  require(solid != pore_label && solid != outside_label,
          "seeded growth: candidates without a seed get the label {}; allowed are 1 to 254", solid);
  LabelSet set = pore_labels();
  set[candidate] = true;
  const Clusters clusters(comm, labels, set, Contact::faces);
  Flags seeded(clusters.of_rank().size(), 0);
  for (std::size_t r = 0; r < clusters.rows(); ++r) {
    const auto row = labels.values().begin() + static_cast<std::int64_t>(r) * labels.own().row();
    for (const ClusterRun& run : clusters.row(r))
      if (!seeded[run.slot])
        seeded[run.slot] = std::find(row + run.first, row + run.last, pore_label) != row + run.last;
  }
  clusters.or_over_ranks(comm, seeded);
  const std::int64_t candidates = count_labels(comm, labels, candidate, candidate);
  Flags to;
  to.reserve(seeded.size());
  for (const std::uint8_t s : seeded) to.push_back(s ? pore_label : solid);
  relabel(labels, clusters, Flags(seeded.size(), 1), to);
  GrownSeeds result;
  for (std::uint8_t& s : seeded) s = !s;
  result.without_seed = sum_flagged(comm, clusters, seeded);
  result.grown = candidates - result.without_seed.voxels;
  return result;
}

}  // namespace karst
