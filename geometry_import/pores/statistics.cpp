// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/pores/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "geometry_import/pores/correlation.hpp"
#include "geometry_import/pores/local_thickness.hpp"
#include "geometry_import/pores/pore_network.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

double ratio(double part, double of) { return of > 0 ? part / of : 0; }

/// Voxels by label and, across each axis, those of the pore and of the sample in each plane.
struct Counts {
  std::array<std::int64_t, 256> label{};
  std::array<std::vector<std::int64_t>, 3> pore, sample;

  explicit Counts(const Index& voxels) {
    for (int d = 0; d < 3; ++d)
      for (auto* of_plane : {&pore[d], &sample[d]}) of_plane->assign(voxels[d], 0);
  }
  std::int64_t sample_voxels() const {
    std::int64_t sum = 0;
    for (int l = 0; l < outside_label; ++l) sum += label[l];
    return sum;
  }
};

/// Collective.
Counts count(const Comm& comm, const Slabs<std::uint8_t>& labels) {
  const ImageWindow own = labels.own();
  const int nx = own.image[0], ny = own.image[1];
  Counts counts(own.image);
  // Threads share the rows of a plane; each adds up its own.
  std::vector<Counts> of_thread(n_threads(), Counts(own.image));
  parallel_for(std::int64_t{ny} * own.planes(), [&](std::int64_t r) {
    Counts& mine = of_thread[thread_number()];
    const std::int64_t y = r % ny, z = own.first + r / ny;
    const std::uint8_t* label = labels.values().data() + r * nx;
    std::int64_t pore = 0, sample = 0;
    for (int x = 0; x < nx; ++x) {
      ++mine.label[label[x]];
      mine.pore[0][x] += label[x] == pore_label;
      mine.sample[0][x] += label[x] != outside_label;
      pore += label[x] == pore_label;
      sample += label[x] != outside_label;
    }
    mine.pore[1][y] += pore;
    mine.sample[1][y] += sample;
    mine.pore[2][z] += pore;
    mine.sample[2][z] += sample;
  });
  for (const Counts& mine : of_thread) {
    const auto add = [](auto& sum, const auto& part) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    };
    add(counts.label, mine.label);
    for (std::size_t d = 0; d < 3; ++d) {
      add(counts.pore[d], mine.pore[d]);
      add(counts.sample[d], mine.sample[d]);
    }
  }
  comm.sum(std::span<std::int64_t>(counts.label));
  for (std::size_t d = 0; d < 3; ++d) {
    comm.sum(std::span(counts.pore[d]));
    comm.sum(std::span(counts.sample[d]));
  }
  return counts;
}

void fill_shares(const Counts& counts, std::span<const std::string> names, ImageStatistics& s) {
  const auto sample = static_cast<double>(counts.sample_voxels());
  s.porosity = ratio(static_cast<double>(counts.label[pore_label]), sample);
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t i = 0; i < counts.pore[d].size(); ++i)
      s.profile[d].push_back(ratio(double(counts.pore[d][i]), double(counts.sample[d][i])));
  for (int l = 0; l < outside_label; ++l) {
    if (counts.label[l] == 0) continue;
    const std::string name = l < std::ssize(names) ? names[l] : l == pore_label ? "pore" : fmt::format("phase {}", l);
    s.phases.push_back({name, l, double(counts.label[l]) / sample});
  }
}

/// Collective.
void fill_connection(const Comm& comm, const Slabs<std::uint8_t>& labels, double sample, ImageStatistics& s) {
  const Clusters clusters(comm, labels, pore_labels(), Contact::faces);
  std::array<std::int64_t, 4> voxels{};  // of the clusters that connect, per axis; of the enclosed ones
  for (std::uint32_t slot = 0; slot < clusters.of_rank().size(); ++slot) {
    if (!clusters.owned(slot)) continue;
    const Cluster& c = clusters.of_rank()[slot];
    for (int d = 0; d < 3; ++d) voxels[d] += c.connects(d) ? c.voxels : 0;
    voxels[3] += c.touches == 0 ? c.voxels : 0;
  }
  comm.sum(std::span<std::int64_t>(voxels));
  s.pore_clusters = clusters.count();
  for (std::size_t d = 0; d < 3; ++d) {
    s.percolates[d] = voxels[d] > 0;
    s.connected_porosity[d] = ratio(double(voxels[d]), sample);
  }
  s.enclosed_porosity = ratio(double(voxels[3]), sample);
}

/// The widest ball that an image can hold, in 2-D a disc: what reaches further goes on where nobody looked. [voxels]
double widest_ball(const Index& voxels) {
  int least = 0;
  for (int d = 0; d < 3; ++d)
    if (voxels[d] > 1) least = least == 0 ? voxels[d] : std::min(least, voxels[d]);
  return least;
}

/// Collective. Destroys the distance.
void fill_sizes(const Comm& comm, Slabs<std::uint16_t>& distance, ImageStatistics& s) {
  const NetworkFigures network = timed("pore network", [&] { return network_figures(comm, distance); });
  const double bound = widest_ball(distance.voxels());
  s.pores = network.pores;
  s.throats = network.throats;
  s.coordination = ratio(2 * double(network.throats), double(network.pores));
  s.throat_size = size_distribution(network.throat_radius, bound);
  constexpr std::size_t thin = 3 * distance_unit / 2;
  std::int64_t thin_throats = 0;
  for (std::size_t r = 0; r < std::min(thin, network.throat_radius.size()); ++r)
    thin_throats += network.throat_radius[r];
  s.thin_throats = ratio(double(thin_throats), double(network.throats));
  for (std::size_t d = 0; d < 3; ++d)
    if (s.percolates[d]) {
      const double diameter = 2.0 * network.critical[d] / distance_unit;
      s.critical_diameter[d] = bound > 0 ? std::min(diameter, bound) : diameter;
    }
  timed("local thickness", [&] { local_thickness(comm, distance); });
  s.pore_size = size_distribution(radius_counts(comm, distance), bound);
}

/// The widest cells that leave the ways through the sample 4 cells wide and 9 throats of 10 at least 2.
void suggest_width(ImageStatistics& s) {
  constexpr double cells_of_way = 4, cells_of_throat = 2, finest = 0.125, coarsest = 4;
  const bool any_way = std::any_of(s.percolates.begin(), s.percolates.end(), [](bool p) { return p; });
  double way = 0;
  for (const double d : s.critical_diameter)
    if (d > 0 && (way == 0 || d < way)) way = d;
  if (way == 0) way = s.pore_size.median;  // nothing flows: the pores themselves
  if (way == 0) {
    s.suggested_width = 1;
    s.suggestion = "one cell per voxel: the image has no pore";
    return;
  }
  double most = way / cells_of_way;
  if (s.throats > 0) most = std::min(most, s.throat_size.tenth / cells_of_throat);
  s.suggested_width = coarsest;
  while (s.suggested_width > most && s.suggested_width > finest) s.suggested_width /= 2;
  const double w = s.suggested_width;
  const std::string what = any_way ? "the critical throat of the sample" : "the median pore";
  s.suggestion = fmt::format("with cells {} voxel{} wide, {} ({:.3g} voxels) is {:.3g} cells wide", w, w > 1 ? "s" : "",
                             what, way, way / w);
  if (s.throats > 0)
    s.suggestion += fmt::format(" and 90 % of the throats are wider than {:.3g} cells", s.throat_size.tenth / w);
  s.suggestion += w > most
                      ? fmt::format("; {} and {} are recommended, so scan or resample the image with smaller voxels",
                                    cells_of_way, cells_of_throat)
                      : fmt::format(" (recommended: {} and {})", cells_of_way, cells_of_throat);
}

}  // namespace

ImageStatistics image_statistics(const Comm& comm, Slabs<std::uint8_t> labels, Slabs<std::uint16_t> distance,
                                 double wall_area, std::span<const std::string> names) {
  assert(labels.voxels() == distance.voxels());
  ImageStatistics s;
  const Counts counts = count(comm, labels);
  const auto sample = static_cast<double>(counts.sample_voxels());
  fill_shares(counts, names, s);
  timed("connection", [&] { fill_connection(comm, labels, sample, s); });
  s.specific_surface = ratio(wall_area, sample);
  const Correlation c = timed("correlation", [&] { return correlation(comm, labels); });
  s.correlation = c.rho;
  s.correlation_length = c.length;
  { const Slabs<std::uint8_t> released = std::move(labels); }
  fill_sizes(comm, distance, s);
  suggest_width(s);
  return s;
}

}  // namespace karst
