// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/file_voxels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/level_set.hpp"

namespace karst {
namespace {

/// Where the centre of a cube lies between those of the file's voxels along one axis.
struct Place {
  std::array<int, 2> voxel;
  std::array<float, 2> weight;
};

Place place_of(int cube, double ratio, int voxels) {
  const double at = std::clamp((cube + 0.5) * ratio - 0.5, 0.0, voxels - 1.0);
  const int low = static_cast<int>(at);
  const auto part = static_cast<float>(at - low);
  return {{low, std::min(low + 1, voxels - 1)}, {1 - part, part}};
}

/// Of cubes first, first + 1, ... along d.
std::vector<Place> places(const SourceLattice& lattice, int d, int first, int last) {
  std::vector<Place> all;
  for (int i = first; i < last; ++i) all.push_back(place_of(i, lattice.ratio[d], lattice.voxels[d]));
  return all;
}

/// f(place in `to`, voxel place in the window, weight) for each cube and each of the eight voxels around it.
template <class Begin, class Corner, class End>
void for_cubes(const SourceLattice& lattice, const ImageWindow& voxels, const ImageWindow& to, Begin&& begin,
               Corner&& corner, End&& end) {
  const std::vector<Place> xs = places(lattice, 0, 0, to.image[0]), ys = places(lattice, 1, 0, to.image[1]),
                           zs = places(lattice, 2, to.first, to.last);
  parallel_for(std::int64_t{to.image[1]} * to.planes(), [&](std::int64_t r) {
    const Place &y = ys[r % to.image[1]], &z = zs[r / to.image[1]];
    for (int x = 0; x < to.image[0]; ++x) {
      auto cube = begin();
      for (std::size_t m = 0; m < 8; ++m) {
        const std::size_t i = m & 1U, j = m >> 1U & 1U, k = m >> 2U;
        const Place& p = xs[x];
        corner(cube, voxels.start_of(z.voxel[k]) + y.voxel[j] * voxels.row() + p.voxel[i],
               p.weight[i] * (y.weight[j] * z.weight[k]));
      }
      end(r * to.row() + x, cube);
    }
  });
}

/// φ as a distance in cubes.
Array<float> in_cubes(const SourceLattice& lattice, const ImageWindow& window, std::span<const float> phi) {
  const std::array<std::int64_t, 3> step{1, window.row(), window.plane()};
  const Index size{window.image[0], window.image[1], window.planes()};
  Array<float> scaled(phi.size(), Purpose::buffers);
  parallel_for(std::int64_t{size[1]} * size[2], [&](std::int64_t r) {
    for (int x = 0; x < size[0]; ++x) {
      const Index c{x, static_cast<int>(r % size[1]), static_cast<int>(r / size[1])};
      const std::size_t n = r * window.row() + x;
      double own = 0, cubes = 0;
      for (int d = 0; d < 3; ++d) {
        const std::int64_t s = step[d];
        const float low = c[d] > 0 ? phi[n - s] : phi[n], high = c[d] + 1 < size[d] ? phi[n + s] : phi[n];
        const double most = std::max(std::abs(high - phi[n]), std::abs(phi[n] - low));
        own += most * most;
        cubes += most * most * lattice.ratio[d] * lattice.ratio[d];
      }
      scaled[n] = phi[n] * static_cast<float>(cubes > 0 ? std::sqrt(own / cubes) : 1.0);
    }
  });
  return scaled;
}

}  // namespace

ImageWindow voxels_around(const SourceLattice& lattice, const ImageWindow& cubes) {
  if (cubes.planes() == 0) return {lattice.voxels, 0, 0};
  const auto of = [&](int plane) { return place_of(plane, lattice.ratio[2], lattice.voxels[2]); };
  return ImageWindow{lattice.voxels, of(cubes.first).voxel[0], of(cubes.last - 1).voxel[1] + 1}.grown(1);
}

ImageWindow cubes_of(const SourceLattice& lattice, const Index& cubes, const ImageWindow& voxels) {
  if (voxels.planes() == 0) return {cubes, 0, 0};
  const std::vector<int>& first = lattice.first_cube[2];
  return {cubes, first[voxels.first], voxels.last < lattice.voxels[2] ? first[voxels.last] : cubes[2]};
}

Array<std::uint8_t> at_voxels(const SourceLattice& lattice, const ImageWindow& cubes,
                              std::span<const std::uint8_t> labels, std::span<const std::uint8_t> values,
                              const ImageWindow& voxels) {
  Array<std::uint8_t> all(voxels.count(), Purpose::buffers);
  const auto cubes_in = [&](int d, std::int64_t voxel) {
    const std::vector<int>& first = lattice.first_cube[d];
    return std::array{first[voxel], voxel + 1 < lattice.voxels[d] ? first[voxel + 1] : cubes.image[d]};
  };
  parallel_for(voxels.image[1] * voxels.planes(), [&](std::int64_t r) {
    const int z = cubes_in(2, voxels.first + r / voxels.image[1])[0];
    const auto [y, y_end] = cubes_in(1, r % voxels.image[1]);
    for (int x = 0; x < voxels.image[0]; ++x) {
      const auto [i_begin, i_end] = cubes_in(0, x);
      std::int64_t from = cubes.start_of(z) + y * cubes.row() + i_begin;
      for (int j = y; j < y_end && labels[from] == outside_label; ++j)
        for (int i = i_begin; i < i_end && labels[from] == outside_label; ++i)
          if (const std::int64_t n = cubes.start_of(z) + j * cubes.row() + i; labels[n] != outside_label) from = n;
      all[r * voxels.row() + x] = values[from];
    }
  });
  return all;
}

void level_set_at_cubes(const SourceLattice& lattice, const ImageWindow& voxels, std::span<const float> of_voxels,
                        const ImageWindow& to, std::span<float> phi) {
  const Array<float> distance = in_cubes(lattice, voxels, of_voxels);
  for_cubes(
      lattice, voxels, to, [] { return 0.0F; },
      [&](float& sum, std::int64_t voxel, float weight) { sum += weight * distance[voxel]; },
      [&](std::int64_t cube, float sum) { phi[cube] = kept_off_zero(sum); });
}

void labels_as_level_set(const SourceLattice& lattice, const ImageWindow& voxels,
                         std::span<const std::uint8_t> of_voxels, const ImageWindow& to, std::span<const float> phi,
                         std::span<std::uint8_t> labels) {
  struct Nearest {
    float weight = 0;
    std::uint8_t label = 1;
  };
  for_cubes(
      lattice, voxels, to, [] { return Nearest{}; },
      [&](Nearest& n, std::int64_t voxel, float weight) {
        const std::uint8_t label = of_voxels[voxel];
        if (label != pore_label && label != outside_label && weight > n.weight) n = {weight, label};
      },
      [&](std::int64_t cube, const Nearest& n) {
        std::uint8_t& label = labels[cube];
        if (label == outside_label) return;
        if (phi[cube] > 0) label = pore_label;
        if (phi[cube] <= 0 && label == pore_label) label = n.label;
      });
}

}  // namespace karst
