// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/fit_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry_import/voxels/cluster_labels.hpp"
#include "geometry_import/voxels/clusters.hpp"

namespace karst {
namespace {

using Flags = std::vector<std::uint8_t>;  // per slot

constexpr double one_gray_value = 2;
constexpr double most_scatter = 2, most_misfit = 2.5, least_noise = 0.01;
constexpr double most_offset = 0.1;
constexpr double most_beyond = 0.25, most_beyond_by_blur = 0.15;
constexpr double least_wall_faces = 0.6, most_wall_faces = 1.35;

enum class Phase { pore, solid };

bool in_phase(std::uint8_t label, Phase phase) {
  return (label == pore_label) == (phase == Phase::pore) && label != outside_label;
}

/// Gives clusters of one phase in `clusters_of` that have no voxel of it in `other` the label `to` in `labels`.
ClusterSum relabel_missing(const Comm& comm, const Slabs<std::uint8_t>& clusters_of, const Slabs<std::uint8_t>& other,
                           Phase phase, std::int64_t least, std::uint8_t to, Slabs<std::uint8_t>& labels) {
  const Clusters clusters(comm, clusters_of, phase == Phase::pore ? pore_labels() : solid_labels(),
                          phase == Phase::pore ? Contact::faces : Contact::corners);
  Flags found(clusters.of_rank().size(), 0);
  for (std::size_t r = 0; r < clusters.rows(); ++r) {
    const auto row = other.values().begin() + static_cast<std::int64_t>(r) * other.own().row();
    for (const ClusterRun& run : clusters.row(r))
      if (!found[run.slot])
        found[run.slot] =
            std::any_of(row + run.first, row + run.last, [&](std::uint8_t label) { return in_phase(label, phase); });
  }
  clusters.or_over_ranks(comm, found);
  Flags missing;
  std::array<std::int64_t, 2> sum{};
  for (std::uint32_t s = 0; s < found.size(); ++s) {
    const std::int64_t voxels = clusters.of_rank()[s].voxels;
    missing.push_back(!found[s] && voxels >= least);
    if (!missing[s] || !clusters.owned(s)) continue;
    ++sum[0];
    sum[1] += voxels;
  }
  comm.sum(std::span(sum));
  relabel(labels, clusters, missing, Flags(missing.size(), to));
  return {sum[0], sum[1]};
}

ClusterSum operator+(const ClusterSum& a, const ClusterSum& b) {
  return {a.clusters + b.clusters, a.voxels + b.voxels};
}

}  // namespace

ClusterChanges keep_clusters(const Comm& comm, const Slabs<std::uint8_t>& start, Slabs<std::uint8_t>& labels) {
  constexpr std::uint8_t solid_label = 1;
  ClusterChanges changes;
  changes.invented = relabel_missing(comm, labels, start, Phase::solid, 1, pore_label, labels) +
                     relabel_missing(comm, labels, start, Phase::pore, 1, solid_label, labels);
  changes.lost = relabel_missing(comm, start, labels, Phase::solid, few_voxels, solid_label, labels) +
                 relabel_missing(comm, start, labels, Phase::pore, few_voxels, pore_label, labels);
  return changes;
}

std::int64_t count_wall_faces(const Comm& comm, const Slabs<std::uint8_t>& labels) {
  const ImageWindow& own = labels.own();
  const int nx = own.image[0], ny = own.image[1];
  const int last = own.planes() > 0 ? std::min(own.last + 1, own.image[2]) : own.last;
  const Array<std::uint8_t> all = labels.fetch({own.image, own.first, last});
  std::int64_t faces = 0;
  const auto differ = [](std::uint8_t a, std::uint8_t b) {
    return a != outside_label && b != outside_label && (a == pore_label) != (b == pore_label);
  };
  for (int z = own.first; z < own.last; ++z)
    for (int y = 0; y < ny; ++y) {
      const std::uint8_t* const row = all.data() + own.start_of(z) + std::int64_t{y} * nx;
      for (int x = 0; x < nx; ++x)
        faces += std::int64_t{x + 1 < nx && differ(row[x], row[x + 1])} +
                 std::int64_t{y + 1 < ny && differ(row[x], row[x + nx])} +
                 std::int64_t{z + 1 < last && differ(row[x], row[x + own.plane()])};
    }
  return comm.sum(faces);
}

std::string reason_against(const ScanModel& scan, double pore_peak, double solid_peak, double faces) {
  const double noise = std::max(scan.noise, least_noise), contrast = scan.pore - scan.solid;
  if (scan.minerals > one_gray_value)
    return fmt::format(
        "the gray values of the solid scatter {:.1f} times as much as those of the pore, each relative to its noise, "
        "so there may be several minerals (`segment = multi-otsu` separates them)",
        scan.minerals);
  if (scan.scatter > most_scatter * noise)
    return fmt::format(
        "inside the phases the gray values scatter by {:.2g} of the contrast, {:.1f} times the noise of {:.2g} (at "
        "most {:g} times): they vary in space (halos, cupping, drift, streaks), or there are more than two phases",
        scan.scatter, scan.scatter / noise, scan.noise, most_scatter);
  if (scan.misfit > most_misfit * noise)
    return fmt::format(
        "at the wall the image differs from the model of two phases by {:.2g} of the contrast, {:.1f} times the noise "
        "of {:.2g} (at most {:g} times): pores or grains too small for the blur of {:.2g} voxel, or more than two "
        "phases",
        scan.misfit, scan.misfit / noise, scan.noise, most_misfit, scan.blur);
  const double offset = std::max(std::abs(scan.pore_offset), std::abs(scan.solid_offset));
  if (offset > most_offset)
    return fmt::format(
        "the typical gray value inside a phase differs by {:.2g} of the contrast from the fitted one (at most {:g})",
        offset, most_offset);
  const double beyond = std::max((scan.pore - pore_peak) / contrast, (solid_peak - scan.solid) / contrast);
  const double most = most_beyond + most_beyond_by_blur * scan.blur;
  if (beyond > most)
    return fmt::format(
        "the fitted gray values {:.4g} (pore) and {:.4g} (solid) are beyond the peaks of the histogram at {:.4g} and "
        "{:.4g} by {:.2f} of the contrast, more than a blur of {:.2f} voxel explains ({:.2f})",
        scan.pore, scan.solid, pore_peak, solid_peak, beyond, scan.blur, most);
  if (faces < least_wall_faces || faces > most_wall_faces)
    return fmt::format(
        "the fitted wall has {:.2f} times as many voxel faces as that of the threshold (allowed are {:g} to {:g})",
        faces, least_wall_faces, most_wall_faces);
  return "";
}

}  // namespace karst
