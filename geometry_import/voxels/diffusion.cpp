// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/diffusion.hpp"

#include <algorithm>
#include <cmath>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

/// sum += weight (low + high), element by element: both sides first, so that a mirrored image has the same bits.
void add_pair(float weight, const double* low, const double* high, std::int64_t n, double* sum) {
  const double w = double{weight};
  for (std::int64_t i = 0; i < n; ++i) sum[i] += w * (low[i] + high[i]);
}

/// Along a row of values; `padded` is work space.
void filter_row(const float* values, std::int64_t n, const std::vector<float>& w, std::vector<double>& padded,
                double* sum) {
  const std::size_t reach = w.size() / 2;
  padded.resize(n + 2 * reach);
  std::fill_n(padded.begin(), reach, double{values[0]});
  std::copy_n(values, n, padded.begin() + static_cast<std::ptrdiff_t>(reach));
  std::fill(padded.end() - static_cast<std::ptrdiff_t>(reach), padded.end(), double{values[n - 1]});
  const double* const here = padded.data() + reach;
  for (std::int64_t i = 0; i < n; ++i) sum[i] = double{w[reach]} * here[i];
  for (std::size_t m = 1; m <= reach; ++m) add_pair(w[reach + m], here - m, here + m, n, sum);
}

/// Across n rows, row_at(j) the values of row j: row j of the result.
template <class RowAt>
void filter_across(std::int64_t j, std::int64_t n, std::int64_t row, const std::vector<float>& w, RowAt&& row_at,
                   double* sum) {
  const auto reach = static_cast<std::int64_t>(w.size() / 2);
  const double* const here = row_at(j);
  for (std::int64_t i = 0; i < row; ++i) sum[i] = double{w[reach]} * here[i];
  for (std::int64_t m = 1; m <= reach; ++m)
    add_pair(w[reach + m], row_at(std::max<std::int64_t>(j - m, 0)), row_at(std::min(j + m, n - 1)), row, sum);
}

/// Along x and y. Threaded.
void filter_plane(const float* values, std::int64_t row, std::int64_t ny, const std::vector<float>& w,
                  Array<double>& along_x, double* filtered) {
  parallel_for(ny, [&](std::int64_t y) {
    std::vector<double> work;
    filter_row(values + y * row, row, w, work, along_x.data() + y * row);
  });
  parallel_for(ny, [&](std::int64_t y) {
    filter_across(
        y, ny, row, w, [&](std::int64_t j) { return along_x.data() + j * row; }, filtered + y * row);
  });
}

}  // namespace

int diffusion_reach(double variance) {
  return variance > 0 ? static_cast<int>(std::ceil(4 * std::sqrt(variance) + 1)) : 0;
}

std::vector<float> diffusion_weights(double variance) {
  const int reach = diffusion_reach(variance);
  std::vector<double> w;
  double sum = 0;
  for (int n = -reach; n <= reach; ++n) {
    w.push_back(std::cyl_bessel_i(std::abs(n), variance) * std::exp(-variance));
    sum += w.back();
  }
  std::vector<float> normalised;
  for (const double x : w) normalised.push_back(static_cast<float>(x / sum));
  return normalised;
}

void diffuse(const ImageWindow& window, double variance, std::span<float> values) {
  if (variance > 0) convolve(window, diffusion_weights(variance), values);
}

void convolve(const ImageWindow& window, const std::vector<float>& w, std::span<float> values) {
  const std::int64_t row = window.row(), plane = window.plane(), ny = window.image[1], nz = window.planes();
  const auto reach = static_cast<std::int64_t>(w.size() / 2), kept = std::min(2 * reach + 1, nz);
  Array<double> along_x(plane, Purpose::buffers), planes(kept * plane, Purpose::buffers);
  const auto plane_at = [&](std::int64_t z) { return planes.data() + z % kept * plane; };
  std::int64_t next = 0;
  for (std::int64_t z = 0; z < nz; ++z) {
    for (; next <= std::min(z + reach, nz - 1); ++next)
      filter_plane(values.data() + next * plane, row, ny, w, along_x, plane_at(next));
    parallel_for(ny, [&](std::int64_t y) {
      std::vector<double> sum(row);
      filter_across(
          z, nz, row, w, [&](std::int64_t j) { return plane_at(j) + y * row; }, sum.data());
      std::transform(sum.begin(), sum.end(), values.data() + z * plane + y * row,
                     [](double v) { return static_cast<float>(v); });
    });
  }
}

}  // namespace karst
