// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/plane_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/comm/parallel.hpp"
#include "base/math/no_number.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/histogram.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

constexpr double enough_places = 1000, few_places = 50;

}  // namespace

Array<std::uint8_t> inner_phases(const ImageWindow& window, std::span<const std::uint8_t> labels,
                                 const ImageWindow& part) {
  Array<std::uint8_t> phases(part.count(), Purpose::buffers);
  const int nx = part.image[0], ny = part.image[1];
  parallel_for(std::int64_t{ny} * part.planes(), [&](std::int64_t r) {
    const int y = static_cast<int>(r % ny), z = part.first + static_cast<int>(r / ny);
    std::array<const std::uint8_t*, 9> rows{};
    std::size_t n = 0;
    for (int c = std::max(z - 1, window.first); c < std::min(z + 2, window.last); ++c)
      for (int b = std::max(y - 1, 0); b < std::min(y + 2, ny); ++b)
        rows[n++] = labels.data() + window.start_of(c) + std::int64_t{b} * nx;
    const std::uint8_t* const here = labels.data() + window.start_of(z) + std::int64_t{y} * nx;
    for (int x = 0; x < nx; ++x) {
      const std::uint8_t label = here[x];
      const bool pore = label == pore_label;
      const auto alike = [&](const std::uint8_t* row) {
        return std::all_of(row + std::max(x - 1, 0), row + std::min(x + 2, nx),
                           [&](std::uint8_t l) { return (l == pore_label) == pore || l == outside_label; });
      };
      const bool inner =
          label != outside_label && std::all_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n), alike);
      phases[r * nx + x] = !inner ? near_wall : pore ? inner_pore : inner_solid;
    }
  });
  return phases;
}

void PlaneNoise::add(const ImageWindow& planes, std::span<const float> values, std::span<const std::uint8_t> phases) {
  std::vector<std::vector<std::int64_t>> of_thread(n_threads());
  const int nx = planes.image[0], ny = planes.image[1];
  parallel_for(planes.planes(), [&](std::int64_t p) {
    std::vector<std::int64_t>& count = of_thread[thread_number()];
    count.resize(count_.size(), 0);
    const double scale = 1 / unit_;
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const std::int64_t n = p * planes.plane() + std::int64_t{y} * nx + x;
        const std::uint8_t phase = phases[n];
        if (phase >= near_wall) continue;
        const auto add_along = [&](std::int64_t step, int before, int after) {
          for (int lag = 1; lag <= std::min({static_cast<int>(lags), before, after}); ++lag) {
            const std::int64_t low = n - lag * step, high = n + lag * step;
            if (phases[low] != phase || phases[high] != phase) return;
            const double second = std::abs((double{values[low]} + double{values[high]}) - 2 * double{values[n]});
            ++count[start(phase, lag - 1) + static_cast<std::int64_t>(std::min(second * scale, bins - 1.0))];
          }
        };
        add_along(1, x, nx - 1 - x);
        add_along(nx, y, ny - 1 - y);
      }
  });
  for (const auto& part : of_thread)
    for (std::size_t b = 0; b < part.size(); ++b) count_[b] += part[b];
}

PlaneNoise::Measured PlaneNoise::measured(InnerPhase phase) const {
  for (const double enough : {enough_places, few_places})
    for (std::size_t lag = lags; lag-- > 0;) {
      const auto first = count_.begin() + static_cast<std::ptrdiff_t>(start(phase, lag));
      const Histogram h{0, unit_ * bins, {first, first + bins}};
      const auto all = static_cast<double>(std::accumulate(h.count.begin(), h.count.end(), std::int64_t{0}));
      if (all >= enough) return {1.4826 / std::sqrt(6.0) * h.quantile(0.5), all};
    }
  return {no_number, 0};
}

double PlaneNoise::of(InnerPhase phase) const { return measured(phase).sigma; }

double PlaneNoise::of_both() const {
  const Measured pore = measured(inner_pore), solid = measured(inner_solid);
  if (pore.places == 0) return solid.sigma;
  if (solid.places == 0) return pore.sigma;
  return std::sqrt((pore.places * pore.sigma * pore.sigma + solid.places * solid.sigma * solid.sigma) /
                   (pore.places + solid.places));
}

}  // namespace karst
