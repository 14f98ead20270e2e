// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/level_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/diffusion.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

// Squared distances up to (clip + 1/2)² = 272.25 matter; larger ones are all the same.
constexpr std::int16_t far = 300;

/// Along x: squared distance to the nearest opposite voxel of the row, > 0 in the pore, < 0 in the solid.
void distance_in_row(const std::uint8_t* phase, std::int64_t n, std::int16_t* d2) {
  int distance = distance_reach;
  for (std::int64_t i = 0; i < n; ++i) {
    distance = i > 0 && phase[i] != phase[i - 1] ? 1 : std::min(distance + 1, distance_reach + 1);
    d2[i] = static_cast<std::int16_t>(distance);
  }
  distance = distance_reach;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    distance = i < n - 1 && phase[i] != phase[i + 1] ? 1 : std::min(distance + 1, distance_reach + 1);
    const int nearest = std::min<int>(distance, d2[i]);
    const int square = std::min<int>(nearest * nearest, far);
    d2[i] = static_cast<std::int16_t>(phase[i] ? square : -square);
  }
}

/// min over m of (distance of row m)² + m², for both phases at once; rows are stride apart, row j of n.
void distance_across_rows(const std::int16_t* in, std::int64_t row, std::int64_t stride, std::int64_t j, std::int64_t n,
                          std::int16_t* out) {
  std::vector<std::int16_t> pore(row, far), solid(row, far);
  std::int16_t* p = pore.data();
  std::int16_t* s = solid.data();
  for (std::int64_t m = std::max<std::int64_t>(0, j - distance_reach); m < std::min(n, j + distance_reach + 1); ++m) {
    const std::int16_t* from = in + (m - j) * stride;
    const auto add = static_cast<std::int16_t>((m - j) * (m - j));
    for (std::int64_t i = 0; i < row; ++i) {
      const auto to_solid = static_cast<std::int16_t>(std::max<std::int16_t>(from[i], 0) + add);
      const auto to_pore =
          static_cast<std::int16_t>(std::max<std::int16_t>(static_cast<std::int16_t>(-from[i]), 0) + add);
      p[i] = std::min(p[i], to_solid);
      s[i] = std::min(s[i], to_pore);
    }
  }
  for (std::int64_t i = 0; i < row; ++i) out[i] = in[i] > 0 ? p[i] : static_cast<std::int16_t>(-s[i]);
}

std::vector<float> gaussian_weights(double sigma) {
  const int reach = smoothing_reach(sigma);
  std::vector<double> w;
  double sum = 0;
  for (int m = -reach; m <= reach; ++m) {
    w.push_back(std::exp(-0.5 * m * m / (sigma * sigma)));
    sum += w.back();
  }
  std::vector<float> normalised;
  for (const double x : w) normalised.push_back(static_cast<float>(x / sum));
  return normalised;
}

}  // namespace

int smoothing_reach(double sigma) { return static_cast<int>(std::ceil(4 * sigma)); }

namespace {

/// std::lround() of x in [0, 2^23), without a call.
int nearest(float x) {
  const int below = static_cast<int>(x);
  return below + static_cast<int>(x - static_cast<float>(below) >= 0.5F);
}

float rounded(float phi) { return static_cast<float>(nearest(phi * 4096)) / 4096; }

}  // namespace

float kept_off_zero(float phi) {
  const float kept = rounded(std::clamp(std::abs(phi), gray_margin, level_set_clip));
  return phi > 0 ? kept : -kept;
}

void gray_level_set(std::span<const float> gray, const GrayScale& scale, std::span<float> phi) {
  const float toward_pore = (scale.pore_above ? 1.0F : -1.0F) / static_cast<float>(scale.gradient);
  const auto threshold = static_cast<float>(scale.threshold);
  parallel_for(static_cast<std::int64_t>(phi.size()),
               [&](std::int64_t n) { phi[n] = kept_off_zero(toward_pore * (gray[n] - threshold)); });
}

GradientSums wall_gradient(const ImageWindow& window, std::span<const float> gray, double threshold, int first,
                           int last, std::span<const std::uint8_t> sample) {
  const int nx = window.image[0], ny = window.image[1];
  const std::int64_t rows = std::int64_t{ny} * (last - first);
  std::vector<GradientSums> of_row(rows);
  parallel_for(rows, [&](std::int64_t r) {
    const int y = static_cast<int>(r % ny), z = first + static_cast<int>(r / ny);
    const std::int64_t row = window.start_of(z) + std::int64_t{y} * nx;
    const std::int64_t y_low = y > 0 ? -nx : 0, y_high = y + 1 < ny ? nx : 0;
    const std::int64_t z_low = z > window.first ? -window.plane() : 0;
    const std::int64_t z_high = z + 1 < window.last ? window.plane() : 0;
    for (int x = 0; x < nx; ++x) {
      if (!sample.empty() && sample[std::int64_t{y} * nx + x] == 0) continue;
      const float* g = gray.data() + row + x;
      const std::array<std::int64_t, 6> to{x > 0 ? -1 : 0, x + 1 < nx ? 1 : 0, y_low, y_high, z_low, z_high};
      double square = 0;
      bool at_wall = false;
      for (std::size_t d = 0; d < 3; ++d) {
        const float low = g[to[2 * d]], high = g[to[2 * d + 1]];
        const double width = (to[2 * d] != 0) + (to[2 * d + 1] != 0);
        if (width > 0) square += std::pow((double{high} - double{low}) / width, 2);
        at_wall = at_wall || (low > threshold) != (*g > threshold) || (high > threshold) != (*g > threshold);
      }
      if (at_wall) of_row[r] += {1, std::sqrt(square)};
    }
  });
  GradientSums total;
  for (const GradientSums& s : of_row) total += s;
  return total;
}

void squared_distance(const ImageWindow& window, std::span<const std::uint8_t> phase, const ImageWindow& kept,
                      std::span<std::int16_t> square) {
  const std::int64_t row = window.row(), plane = window.plane(), ny = window.image[1], nz = window.planes();
  Array<std::int16_t> a(window.count(), Purpose::buffers), b(window.count(), Purpose::buffers);
  parallel_for(ny * nz, [&](std::int64_t r) { distance_in_row(phase.data() + r * row, row, a.data() + r * row); });
  parallel_for(ny * nz, [&](std::int64_t r) {
    distance_across_rows(a.data() + r * row, row, row, r % ny, ny, b.data() + r * row);
  });
  a = {};
  parallel_for(ny * kept.planes(), [&](std::int64_t r) {
    const std::int64_t j = kept.first - window.first + r / ny, from = (r % ny) * row + j * plane;
    distance_across_rows(b.data() + from, row, plane, j, nz, square.data() + r * row);
  });
}

void distances_of_squares(std::span<const std::int16_t> square, std::span<float> phi) {
  for (std::size_t i = 0; i < phi.size(); ++i) {
    const float d = std::min(std::sqrt(std::abs(static_cast<float>(square[i]))) - 0.5F, level_set_clip);
    phi[i] = square[i] > 0 ? d : -d;
  }
}

void signed_distance(const ImageWindow& window, std::span<const std::uint8_t> phase, std::span<float> phi) {
  Array<std::int16_t> square(window.count(), Purpose::buffers);
  squared_distance(window, phase, window, square.span());
  distances_of_squares(square.span(), phi);
}

void gaussian(const ImageWindow& window, double sigma, std::span<float> values) {
  if (sigma > 0) convolve(window, gaussian_weights(sigma), values);
}

void smooth(const ImageWindow& window, double sigma, std::span<float> values) {
  if (sigma <= 0) return;
  gaussian(window, sigma, values);
  Array<float> twice(values.size(), Purpose::buffers);
  std::copy(values.begin(), values.end(), twice.begin());
  gaussian(window, sigma, twice.span());
  constexpr float a = 1 + std::numbers::sqrt2_v<float>;
  parallel_for(static_cast<std::int64_t>(values.size()),
               [&](std::int64_t n) { values[n] = (1 + a) * values[n] - a * twice[n]; });
}

void keep_phase(std::span<const std::uint8_t> phase, std::span<float> phi) {
  for (std::size_t n = 0; n < phi.size(); ++n) {
    const float kept = rounded(std::clamp(phase[n] ? phi[n] : -phi[n], phase_margin, level_set_clip));
    phi[n] = phase[n] ? kept : -kept;
  }
}

namespace {

using Four = std::array<float, 4>;

/// Values at -3/8 -1/8 1/8 3/8 of a voxel between three neighbours, linear.
Four at_sub_samples(float low, float here, float high) {
  return {0.375F * low + 0.625F * here, 0.125F * low + 0.875F * here, 0.875F * here + 0.125F * high,
          0.625F * here + 0.375F * high};
}

/// Half of a line between two values, linear in between: the share that is positive, in parts of a voxel.
int positive_parts(float a, float b) {
  constexpr float unit = volume_parts / 16 / 2;
  const float low = std::min(a, b), high = std::max(a, b);
  return nearest(unit * (std::max(high, 0.0F) / (high > 0 ? high - std::min(low, 0.0F) : 1.0F)));
}

constexpr std::array<std::size_t, 3> stride_of{1, 3, 9};  // of the neighbours of a voxel, x fastest

/// Volume of one voxel with φ > 0, exact on 4 x 4 lines along d. n[27]: φ of the voxel and its neighbours.
std::int64_t volume_on_lines(const std::array<float, 27>& n, std::size_t d) {
  const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
  std::array<std::array<float, 16>, 3> across;  // at -1 0 1 along d, 4 x 4 places along e and f
  for (std::size_t t = 0; t < 3; ++t) {
    std::array<Four, 3> along_e;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t at = t * stride_of[d] + k * stride_of[f];
      along_e[k] = at_sub_samples(n[at], n[at + stride_of[e]], n[at + 2 * stride_of[e]]);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const Four along_f = at_sub_samples(along_e[0][i], along_e[1][i], along_e[2][i]);
      for (std::size_t j = 0; j < 4; ++j) across[t][4 * j + i] = along_f[j];
    }
  }
  int volume = 0;
  for (std::size_t line = 0; line < 16; ++line) {
    const float here = across[1][line];
    volume += positive_parts(0.5F * (across[0][line] + here), here);
    volume += positive_parts(here, 0.5F * (here + across[2][line]));
  }
  return volume;
}

/// On lines along the direction in which φ changes most: a wall that is plane there counts to the last bit, wherever it
/// is. The mean where φ changes as much in several: no axis comes first.
std::int64_t volume_in_pore(const std::array<float, 27>& n) {
  std::array<double, 3> change{};  // sums of multiples of 2^-12: exact
  for (std::size_t m = 0; m < 27; ++m)
    for (std::size_t d = 0; d < 3; ++d)
      if (m / stride_of[d] % 3 > 0) change[d] += std::abs(double{n[m]} - double{n[m - stride_of[d]]});
  const double most = std::ranges::max(change);
  std::int64_t volume = 0, directions = 0;
  for (std::size_t d = 0; d < 3; ++d)
    if (change[d] == most) {
      volume += volume_on_lines(n, d);
      ++directions;
    }
  return (volume + directions / 2) / directions;
}

/// A row of voxels and what is between their centres and their corners: φ at -1/2 0 1/2 of a voxel along each axis is
/// the mean of samples, and between those points φ is trilinear. Where they have one sign, so has the voxel.
class SignsOfVoxels {
 public:
  explicit SignsOfVoxels(int n) : low_(n), high_(n), sums_(n + 2) {}

  /// @param line  the rows at -1 0 1 along y and z, y fastest
  void find(const std::array<const float*, 9>& line) {
    std::ranges::fill(low_, std::numeric_limits<float>::infinity());
    std::ranges::fill(high_, -std::numeric_limits<float>::infinity());
    for (int c = 0; c < 9; ++c) {
      const int y = c % 3, z = c / 3;  // -1/2 0 1/2
      add(line[std::min(y, 1) + 3 * std::min(z, 1)], line[std::max(y, 1) + 3 * std::min(z, 1)],
          line[std::min(y, 1) + 3 * std::max(z, 1)], line[std::max(y, 1) + 3 * std::max(z, 1)]);
    }
  }
  bool positive(int x) const { return low_[x] > 0; }
  bool negative(int x) const { return high_[x] <= 0; }

 private:
  /// Of a line of points, each the mean of four samples (multiples of 2^-12: exact).
  void add(const float* a, const float* b, const float* c, const float* d) {
    const std::size_t n = low_.size();
    float *const sum = sums_.data(), *const low = low_.data(), *const high = high_.data();
    for (std::size_t x = 0; x < n; ++x) sum[x + 1] = (a[x] + b[x]) + (c[x] + d[x]);
    sum[0] = sum[1];
    sum[n + 1] = sum[n];
    for (std::size_t x = 0; x < n; ++x) {
      const float here = sum[x + 1], before = here + sum[x], after = here + sum[x + 2];
      low[x] = std::min(low[x], std::min(here, std::min(before, after)));
      high[x] = std::max(high[x], std::max(here, std::max(before, after)));
    }
  }
  std::vector<float> low_, high_;  ///< of multiples of φ
  std::vector<float> sums_;        ///< 4 φ of a line of points, its ends twice
};

}  // namespace

WallSums wall_sums(const ImageWindow& window, std::span<const float> phi, int first, int last) {
  const int nx = window.image[0], ny = window.image[1];
  const std::int64_t rows = std::int64_t{ny} * (last - first);
  std::vector<WallSums> of_row(rows);
  parallel_for(rows, [&](std::int64_t r) {
    const int y = static_cast<int>(r % ny), z = first + static_cast<int>(r / ny);
    std::array<const float*, 9> line;
    for (int m = 0; m < 9; ++m) {
      const int yy = std::clamp(y + m % 3 - 1, 0, ny - 1);
      const int zz = std::clamp(z + m / 3 - 1, window.first, window.last - 1);
      line[m] = phi.data() + window.start_of(zz) + std::int64_t{yy} * nx;
    }
    SignsOfVoxels signs(nx);
    signs.find(line);
    WallSums& sums = of_row[r];
    for (int x = 0; x < nx; ++x) {
      sums.voxels += line[4][x] > 0;
      if (signs.positive(x) || signs.negative(x)) {
        sums.pore_volume += signs.positive(x) ? volume_parts : 0;
        continue;
      }
      const std::array<int, 3> near{std::max(x - 1, 0), x, std::min(x + 1, nx - 1)};
      std::array<float, 27> n;
      for (int m = 0; m < 27; ++m) n[m] = line[m / 3][near[m % 3]];
      sums.pore_volume += volume_in_pore(n);
    }
  });
  WallSums total;
  for (const WallSums& s : of_row) {
    total.voxels += s.voxels;
    total.pore_volume += s.pore_volume;
  }
  return total;
}

double steepest_slope(const ImageWindow& window, std::span<const float> phi, int first, int last) {
  const int nx = window.image[0], ny = window.image[1];
  const std::int64_t rows = std::int64_t{ny} * (last - first);
  const double square = parallel_max(rows, [&](std::int64_t r) {
    const int y = static_cast<int>(r % ny), z = first + static_cast<int>(r / ny);
    const auto line = [&](int yy, int zz) {
      return phi.data() + window.start_of(std::min(zz, window.last - 1)) + std::int64_t{std::min(yy, ny - 1)} * nx;
    };
    const float *a = line(y, z), *b = line(y + 1, z), *c = line(y, z + 1), *d = line(y + 1, z + 1);
    double most = 0;  // φ are multiples of 2^-12: no square is rounded, whatever the order
    for (int x = 0; x < nx; ++x) {
      const int e = std::min(x + 1, nx - 1);
      const double dx =
          std::max({std::abs(a[e] - a[x]), std::abs(b[e] - b[x]), std::abs(c[e] - c[x]), std::abs(d[e] - d[x])});
      const double dy =
          std::max({std::abs(b[x] - a[x]), std::abs(d[x] - c[x]), std::abs(b[e] - a[e]), std::abs(d[e] - c[e])});
      const double dz =
          std::max({std::abs(c[x] - a[x]), std::abs(d[x] - b[x]), std::abs(c[e] - a[e]), std::abs(d[e] - b[e])});
      most = std::max(most, dx * dx + dy * dy + dz * dz);
    }
    return most;
  });
  return std::sqrt(std::max(square, 0.0));
}

}  // namespace karst
