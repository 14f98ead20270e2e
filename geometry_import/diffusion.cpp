// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/diffusion.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace karst {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// In place, Σ w_m row[j + m] of every row j of n, `stride` apart; `copy` holds n rows afterwards. Both sides are added
/// first, so that a mirrored image has the same bits.
void filter_across_rows(float* values, std::int64_t row, std::int64_t stride, std::int64_t n,
                        const std::vector<float>& w, std::vector<float>& copy) {
  const auto reach = static_cast<std::int64_t>(w.size() / 2);
  copy.resize(at(n * row));
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(values + j * stride, row, copy.data() + j * row);
  for (std::int64_t j = 0; j < n; ++j) {
    float* const out = values + j * stride;
    const float* const here = copy.data() + j * row;
    for (std::int64_t i = 0; i < row; ++i) out[i] = w[at(reach)] * here[i];
    for (std::int64_t m = 1; m <= reach; ++m) {
      const float* low = copy.data() + std::max<std::int64_t>(j - m, 0) * row;
      const float* high = copy.data() + std::min(j + m, n - 1) * row;
      const float weight = w[at(reach + m)];
      for (std::int64_t i = 0; i < row; ++i) out[i] += weight * (low[i] + high[i]);
    }
  }
}

/// In place; `padded` is work space.
void filter_row(float* values, std::int64_t n, const std::vector<float>& w, std::vector<float>& padded) {
  const std::size_t reach = w.size() / 2;
  padded.resize(at(n) + 2 * reach);
  std::fill_n(padded.begin(), reach, values[0]);
  std::copy_n(values, n, padded.begin() + static_cast<std::ptrdiff_t>(reach));
  std::fill(padded.end() - static_cast<std::ptrdiff_t>(reach), padded.end(), values[n - 1]);
  const float* const here = padded.data() + reach;
  for (std::int64_t i = 0; i < n; ++i) values[i] = w[reach] * here[i];
  for (std::size_t m = 1; m <= reach; ++m) {
    const float *low = here - m, *high = here + m;
    const float weight = w[reach + m];
    for (std::int64_t i = 0; i < n; ++i) values[i] += weight * (low[i] + high[i]);
  }
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
  float* const v = values.data();
  parallel_for(nz, [&](std::int64_t z) {
    std::vector<float> work;
    for (std::int64_t y = 0; y < ny; ++y) filter_row(v + z * plane + y * row, row, w, work);
    filter_across_rows(v + z * plane, row, row, ny, w, work);
  });
  parallel_for(ny, [&](std::int64_t y) {
    std::vector<float> work;
    filter_across_rows(v + y * row, row, plane, nz, w, work);
  });
}

}  // namespace karst
