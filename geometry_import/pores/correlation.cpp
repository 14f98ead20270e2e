// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/pores/correlation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

using Word = std::uint64_t;

/// One bit per voxel; rows begin with a word. The slabs are those of the voxels.
Slabs<Word> bits_of(const Comm& comm, const Slabs<std::uint8_t>& labels, const std::array<bool, 256>& chosen) {
  const Index n = labels.voxels();
  Slabs<Word> bits(comm, {(n[0] + 63) / 64, n[1], n[2]}, Purpose::buffers);
  const std::int64_t words = bits.own().row();
  parallel_for(std::int64_t{n[1]} * labels.own().planes(), [&](std::int64_t r) {
    const std::uint8_t* label = labels.values().data() + r * n[0];
    Word* row = bits.values().data() + r * words;
    for (int x = 0; x < n[0]; ++x) row[x / 64] |= Word{chosen[label[x]]} << (x % 64);
  });
  return bits;
}

std::int64_t pairs(const Word* a, const Word* b, std::int64_t words) {
  std::int64_t n = 0;
  for (std::int64_t w = 0; w < words; ++w) n += std::popcount(a[w] & b[w]);
  return n;
}

/// Pairs of a bit of one row and a bit of the other that is r further.
std::int64_t pairs_in_row(const Word* low, const Word* high, std::int64_t words, int r) {
  const std::int64_t skip = r / 64;
  const int shift = r % 64;
  std::int64_t n = 0;
  for (std::int64_t w = 0; w + skip < words; ++w) {
    const Word next = shift > 0 && w + skip + 1 < words ? high[w + skip + 1] << (64 - shift) : 0;
    n += std::popcount(low[w] & (high[w + skip] >> shift | next));
  }
  return n;
}

using Lags = std::array<std::vector<std::int64_t>, 3>;

Lags no_pairs(const Index& voxels) {
  Lags lags;
  for (int d = 0; d < 3; ++d) lags[d].assign(std::min(voxels[d] / 2, largest_lag) + 1, 0);
  return lags;
}

/// Pairs r apart along each axis of a voxel of `low` and one of `high` above it. Collective.
Lags count_pairs(const Comm& comm, const Index& voxels, const Slabs<Word>& low, const Slabs<Word>& high) {
  const ImageWindow own = low.own();
  const int ny = own.image[1], nz = own.image[2];
  const std::int64_t words = own.row();
  std::vector<Lags> of_thread(n_threads(), no_pairs(voxels));
  const int up = static_cast<int>(of_thread[0][2].size()) - 1;
  ImageWindow next = own;
  next.first = own.last;
  next.last = own.planes() > 0 ? std::min(nz, own.last + up) : own.last;
  const Array<Word> above = high.fetch(next);
  const auto row = [&](std::int64_t y, std::int64_t z) {
    const Word* plane = z < own.last ? high.values().data() + own.start_of(static_cast<int>(z))
                                     : above.data() + next.start_of(static_cast<int>(z));
    return plane + y * words;
  };
  parallel_for(std::int64_t{ny} * own.planes(), [&](std::int64_t i) {
    Lags& sum = of_thread[thread_number()];
    const std::int64_t y = i % ny, z = own.first + i / ny;
    const Word* here = low.values().data() + i * words;
    const Word* same = row(y, z);
    for (std::size_t r = 0; r < sum[0].size(); ++r) sum[0][r] += pairs_in_row(here, same, words, static_cast<int>(r));
    for (std::int64_t r = 0; r < std::int64_t(sum[1].size()) && y + r < ny; ++r)
      sum[1][r] += pairs(here, row(y + r, z), words);
    for (std::int64_t r = 0; r < std::int64_t(sum[2].size()) && z + r < nz; ++r)
      sum[2][r] += pairs(here, row(y, z + r), words);
  });
  Lags total = no_pairs(voxels);
  for (std::size_t d = 0; d < 3; ++d) {
    for (const Lags& mine : of_thread)
      for (std::size_t r = 0; r < mine[d].size(); ++r) total[d][r] += mine[d][r];
    comm.sum(std::span(total[d]));
  }
  return total;
}

/// By lag and axis: pairs of voxels of the sample, those with a pore at the lower, at the higher end, at both.
struct Pairs {
  Lags all, low, high, both;
};

/// Where every voxel is of the sample, pores at one end of a pair are those of the planes that have another one r away.
/// Collective.
Pairs pairs_of_whole_image(const Comm& comm, const Slabs<std::uint8_t>& labels, const Slabs<Word>& pore) {
  const Index n = labels.voxels();
  const ImageWindow own = labels.own();
  Lags planes;
  for (int d = 0; d < 3; ++d) planes[d].assign(n[d], 0);
  std::vector<Lags> of_thread(n_threads(), planes);
  parallel_for(std::int64_t{n[1]} * own.planes(), [&](std::int64_t i) {
    Lags& mine = of_thread[thread_number()];
    const std::uint8_t* label = labels.values().data() + i * n[0];
    std::int64_t of_row = 0;
    for (int x = 0; x < n[0]; ++x) {
      mine[0][x] += label[x] == pore_label;
      of_row += label[x] == pore_label;
    }
    mine[1][i % n[1]] += of_row;
    mine[2][own.first + i / n[1]] += of_row;
  });
  Pairs p{no_pairs(n), no_pairs(n), no_pairs(n), count_pairs(comm, n, pore, pore)};
  const std::int64_t voxels = std::int64_t{n[0]} * n[1] * n[2];
  for (std::size_t d = 0; d < 3; ++d) {
    for (const Lags& mine : of_thread)
      for (std::size_t i = 0; i < mine[d].size(); ++i) planes[d][i] += mine[d][i];
    comm.sum(std::span(planes[d]));
    const std::int64_t length = std::ssize(planes[d]);
    std::int64_t low = p.both[d][0], high = low;
    for (std::int64_t r = 0; r < std::ssize(p.all[d]); ++r) {
      if (r > 0) low -= planes[d][length - r], high -= planes[d][r - 1];
      p.all[d][r] = voxels / length * (length - r);
      p.low[d][r] = low;
      p.high[d][r] = high;
    }
  }
  return p;
}

/// Collective.
Pairs pairs_of(const Comm& comm, const Slabs<std::uint8_t>& labels) {
  const Index n = labels.voxels();
  std::array<bool, 256> inside;
  inside.fill(true);
  inside[outside_label] = false;
  const auto& values = labels.values();
  const Slabs<Word> pore = bits_of(comm, labels, pore_labels());
  if (!comm.any(std::find(values.begin(), values.end(), outside_label) != values.end()))
    return pairs_of_whole_image(comm, labels, pore);
  const Slabs<Word> sample = bits_of(comm, labels, inside);
  return {count_pairs(comm, n, sample, sample), count_pairs(comm, n, pore, sample), count_pairs(comm, n, sample, pore),
          count_pairs(comm, n, pore, pore)};
}

/// Of pairs with shares of pore at the lower, the higher end and both; 0 where one of the ends is the same everywhere.
double coefficient(double low, double high, double both) {
  const double variances = low * (1 - low) * high * (1 - high);
  return variances > 0 ? std::clamp((both - low * high) / std::sqrt(variances), -1.0, 1.0) : 0;
}

double integral_to_zero(const std::vector<double>& rho) {
  double sum = 0;
  for (std::size_t r = 1; r < rho.size(); ++r) {
    if (rho[r] <= 0) return sum + 0.5 * rho[r - 1] * rho[r - 1] / (rho[r - 1] - rho[r]);
    sum += 0.5 * (rho[r - 1] + rho[r]);
  }
  return sum;
}

}  // namespace

Correlation correlation(const Comm& comm, const Slabs<std::uint8_t>& labels) {
  const Pairs pairs = pairs_of(comm, labels);
  Correlation c;
  if (pairs.both[0][0] == 0 || pairs.both[0][0] == pairs.all[0][0]) return c;
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t r = 0; r < pairs.all[d].size() && pairs.all[d][r] > 0; ++r) {
      const auto share = [&](const Lags& of) { return double(of[d][r]) / double(pairs.all[d][r]); };
      c.rho[d].push_back(coefficient(share(pairs.low), share(pairs.high), share(pairs.both)));
    }
    c.length[d] = integral_to_zero(c.rho[d]);
  }
  return c;
}

}  // namespace karst
