// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare_denoise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "base/comm/fail_together.hpp"
#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

/// The rows (y + b, z + c), |b|, |c| <= reach, with `reach` values repeated at both ends, one after the other.
class PaddedRows {
 public:
  PaddedRows(const ImageWindow& window, int reach) : window_(window), reach_(reach), length_(window.row() + 2 * reach) {
    rows_.resize(length_ * (2 * reach + 1) * (2 * reach + 1));
  }
  void load(std::span<const float> in, int y, int z) {
    float* to = rows_.data();
    for (int c = -reach_; c <= reach_; ++c)
      for (int b = -reach_; b <= reach_; ++b, to += length_) {
        const int yy = std::clamp(y + b, 0, window_.image[1] - 1);
        const int zz = std::clamp(z + c, window_.first, window_.last - 1);
        const float* from = in.data() + window_.start_of(zz) + yy * window_.row();
        std::fill_n(to, reach_, from[0]);
        std::copy_n(from, window_.row(), to + reach_);
        std::fill_n(to + reach_ + window_.row(), reach_, from[window_.row() - 1]);
      }
  }
  /// Value 0 of the row is the one at x = -reach.
  const float* row(int number) const { return rows_.data() + length_ * number; }
  int count() const { return (2 * reach_ + 1) * (2 * reach_ + 1); }

 private:
  ImageWindow window_;
  int reach_;
  std::size_t length_;
  std::vector<float> rows_;
};

/// work(rows, start) for every row of planes [first, last), rows loaded; `start` is its place in those planes.
template <class Work>
void for_rows(const ImageWindow& window, std::span<const float> in, int reach, int first, int last, Work&& work) {
  constexpr std::int64_t together = 8;  // rows that share their buffers
  const std::int64_t ny = window.image[1], n = ny * (last - first);
  parallel_for((n + together - 1) / together, [&](std::int64_t block) {
    PaddedRows rows(window, reach);
    for (std::int64_t r = block * together; r < std::min(n, (block + 1) * together); ++r) {
      rows.load(in, static_cast<int>(r % ny), first + static_cast<int>(r / ny));
      work(rows, window.row() * r);
    }
  });
}

constexpr std::int64_t n_lanes = 16;
/// Neighbouring voxels, worked on together (vector types of GCC and Clang: loops over arrays are not vectorised here).
using Lanes [[gnu::vector_size(4 * n_lanes)]] = float;

void exchange(Lanes& a, Lanes& b) {
  const Lanes low = a < b ? a : b, high = a < b ? b : a;
  a = low;
  b = high;
}

/// Medians of an odd number of values >= 3, by forgetting the smallest and the largest of those looked at so far:
/// half of all plus two are enough to start with. Destroys v.
const Lanes& median_of(std::vector<Lanes>& v) {
  std::size_t held = v.size() / 2 + 2, next = held;
  for (;; --held) {
    for (std::size_t i = 0; i < held / 2; ++i) exchange(v[i], v[held - 1 - i]);
    for (std::size_t i = 1; i < (held + 1) / 2; ++i) exchange(v[0], v[i]);
    for (std::size_t i = held / 2; i + 1 < held; ++i) exchange(v[i], v[held - 1]);
    if (held == 3) return v[1];
    v[0] = v[next++];
  }
}

}  // namespace

void median(const ImageWindow& window, std::span<const float> in, int radius, int first, int last,
            std::span<float> out) {
  const std::int64_t nx = window.row();
  for_rows(window, in, radius, first, last, [&](const PaddedRows& rows, std::int64_t start) {
    std::vector<Lanes> values(rows.count() * (2 * radius + 1));
    for (std::int64_t x = 0; x < nx; x += n_lanes) {
      const std::size_t bytes = sizeof(float) * std::min(n_lanes, nx - x);
      std::size_t v = 0;
      for (int r = 0; r < rows.count(); ++r)
        for (int a = 0; a <= 2 * radius; ++a, ++v) {
          std::memcpy(&values[v], rows.row(r) + x + a, bytes);
        }
      std::memcpy(out.data() + start + x, &median_of(values), bytes);
    }
  });
}

int bilateral_reach(double sigma) { return static_cast<int>(std::ceil(2 * sigma)); }

void bilateral(const ImageWindow& window, std::span<const float> in, const Bilateral& filter, int first, int last,
               std::span<float> out) {
  const int reach = bilateral_reach(filter.sigma), side = 2 * reach + 1;
  const std::int64_t nx = window.row();
  std::vector<float> by_distance(side * side * side);
  for (int n = 0; n < side * side * side; ++n) {
    const int a = n % side - reach, b = n / side % side - reach, c = n / side / side - reach;
    by_distance[n] = static_cast<float>(std::exp(-0.5 * (a * a + b * b + c * c) / (filter.sigma * filter.sigma)));
  }
  const auto inverse = static_cast<float>(1 / filter.step);
  for_rows(window, in, reach, first, last, [&](const PaddedRows& rows, std::int64_t start) {
    std::vector<float> weights(nx, 0.0F), sums(nx, 0.0F);  // sums of differences: equal values stay exact
    const float* here = rows.row(rows.count() / 2) + reach;
    for (int r = 0; r < rows.count(); ++r)
      for (int a = 0; a < side; ++a) {
        const float weight = by_distance[r * side + a];
        const float* there = rows.row(r) + a;
        for (std::int64_t x = 0; x < nx; ++x) {
          const float difference = there[x] - here[x], share = difference * inverse;
          const float nearness = std::max(0.0F, 1 - share * share);
          const float w = weight * nearness * nearness;
          weights[x] += w;
          sums[x] += w * difference;
        }
      }
    for (std::int64_t x = 0; x < nx; ++x) out[start + x] = here[x] + sums[x] / weights[x];
  });
}

double noise_of(const Comm& comm, ImageFile& image) {
  constexpr int every = 8,
                shift = 15;  // floats >= 0 are ordered like their bits, which 8 + 8 leading ones tell to 0.4 %
  std::vector<std::int64_t> count(std::size_t{1} << 16, 0);
  const Index n = image.info().size;
  fail_together(comm, [&] {
    Array<float> plane(std::int64_t{n[0]} * n[1], Purpose::buffers);
    for (int z = every * comm.rank(); z < n[2]; z += every * comm.size()) {
      image.read_plane(z, plane.span());
      for (std::int64_t i = 1; i < std::ssize(plane.span()); ++i)
        if (i % n[0] != 0) ++count[std::bit_cast<std::uint32_t>(std::abs(plane[i] - plane[i - 1])) >> shift];
    }
  });
  comm.sum(std::span(count));
  std::int64_t all = 0, below = 0;
  for (const std::int64_t c : count) all += c;
  std::uint32_t bin = 0;
  while (bin + 1 < count.size() && 2 * (below + count[bin]) < all) below += count[bin++];
  if (all == 0 || bin == 0) return 0;
  return 1.4826 / std::numbers::sqrt2 * double{std::bit_cast<float>(((bin << 1) + 1) << (shift - 1))};
}

}  // namespace karst
