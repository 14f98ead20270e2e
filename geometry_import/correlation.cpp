// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/correlation.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "base/parallel.hpp"
#include "geometry_import/clusters.hpp"

namespace karst {
namespace {

using Word = std::uint64_t;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

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

/// Pairs of bits of a row that are r apart.
std::int64_t pairs_in_row(const Word* row, std::int64_t words, int r) {
  const std::int64_t skip = r / 64;
  const int shift = r % 64;
  std::int64_t n = 0;
  for (std::int64_t w = 0; w + skip < words; ++w) {
    const Word next = shift > 0 && w + skip + 1 < words ? row[w + skip + 1] << (64 - shift) : 0;
    n += std::popcount(row[w] & (row[w + skip] >> shift | next));
  }
  return n;
}

using Lags = std::array<std::vector<std::int64_t>, 3>;

Lags no_pairs(const Index& voxels) {
  Lags lags;
  for (int d = 0; d < 3; ++d) lags[at(d)].assign(at(std::min(voxels[d] / 2, largest_lag)) + 1, 0);
  return lags;
}

/// Pairs r apart along each axis whose lower ends are on this rank, summed over the ranks. Collective.
Lags count_pairs(const Comm& comm, const Index& voxels, const Slabs<Word>& bits) {
  const ImageWindow own = bits.own();
  const int ny = own.image[1], nz = own.image[2];
  const std::int64_t words = own.row();
  std::vector<Lags> of_thread(at(n_threads()), no_pairs(voxels));
  const int up = static_cast<int>(of_thread[0][2].size()) - 1;
  ImageWindow next = own;
  next.first = own.last;
  next.last = own.planes() > 0 ? std::min(nz, own.last + up) : own.last;
  const Array<Word> above = bits.fetch(next);
  const auto row = [&](std::int64_t y, std::int64_t z) {
    const Word* plane = z < own.last ? bits.values().data() + own.start_of(static_cast<int>(z))
                                     : above.data() + next.start_of(static_cast<int>(z));
    return plane + y * words;
  };
  parallel_for(std::int64_t{ny} * own.planes(), [&](std::int64_t i) {
    Lags& sum = of_thread[at(thread_number())];
    const std::int64_t y = i % ny, z = own.first + i / ny;
    const Word* here = row(y, z);
    for (std::size_t r = 0; r < sum[0].size(); ++r) sum[0][r] += pairs_in_row(here, words, static_cast<int>(r));
    for (std::int64_t r = 0; r < std::int64_t(sum[1].size()) && y + r < ny; ++r)
      sum[1][at(r)] += pairs(here, row(y + r, z), words);
    for (std::int64_t r = 0; r < std::int64_t(sum[2].size()) && z + r < nz; ++r)
      sum[2][at(r)] += pairs(here, row(y, z + r), words);
  });
  Lags total = no_pairs(voxels);
  for (std::size_t d = 0; d < 3; ++d) {
    for (const Lags& mine : of_thread)
      for (std::size_t r = 0; r < mine[d].size(); ++r) total[d][r] += mine[d][r];
    comm.sum(std::span(total[d]));
  }
  return total;
}

Lags all_pairs(const Index& n) {
  Lags lags = no_pairs(n);
  const std::int64_t voxels = std::int64_t{n[0]} * n[1] * n[2];
  for (int d = 0; d < 3; ++d)
    for (std::size_t r = 0; r < lags[at(d)].size(); ++r) lags[at(d)][r] = voxels / n[d] * (n[d] - std::int64_t(r));
  return lags;
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
  const Index n = labels.voxels();
  std::array<bool, 256> sample;
  sample.fill(true);
  sample[outside_label] = false;
  const auto& values = labels.values();
  const bool all = !comm.any(std::find(values.begin(), values.end(), outside_label) != values.end());
  const Lags of_sample = all ? all_pairs(n) : count_pairs(comm, n, bits_of(comm, labels, sample));
  const Lags of_pore = count_pairs(comm, n, bits_of(comm, labels, pore_labels()));
  Correlation c;
  if (of_pore[0][0] == 0 || of_pore[0][0] == of_sample[0][0]) return c;
  const double porosity = double(of_pore[0][0]) / double(of_sample[0][0]);
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t r = 0; r < of_pore[d].size() && of_sample[d][r] > 0; ++r) {
      const double both = double(of_pore[d][r]) / double(of_sample[d][r]);
      c.rho[d].push_back((both - porosity * porosity) / (porosity - porosity * porosity));
    }
    c.length[d] = integral_to_zero(c.rho[d]);
  }
  return c;
}

}  // namespace karst
