// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "base/comm/parallel.hpp"
#include "geometry_import/segment/labels.hpp"

namespace karst {
namespace {

constexpr int reach = 3;                           // planes a corrected label depends on, each side
constexpr int chunk_planes = 32;                   // worked on at once
constexpr std::uint8_t undecided = outside_label;  // neither has a say

/// Up to nine rows around row (y, z) of a window, those that there are.
struct Rows {
  std::array<const std::uint8_t*, 9> row;
  int number = 0;
};
Rows rows_around(const ImageWindow& window, const std::uint8_t* labels, std::int64_t y, int z) {
  Rows rows;
  for (int zz = std::max(z - 1, window.first); zz < std::min(z + 2, window.last); ++zz)
    for (std::int64_t yy = std::max<std::int64_t>(y - 1, 0); yy < std::min<std::int64_t>(y + 2, window.image[1]); ++yy)
      rows.row[rows.number++] = labels + window.start_of(zz) + yy * window.row();
  return rows;
}

/// Solid voxels next to the pore become undecided.
void mark_rim(const ImageWindow& window, std::span<const std::uint8_t> labels, const ImageWindow& in,
              std::span<std::uint8_t> marked) {
  const std::int64_t ny = window.image[1];
  const std::size_t nx = window.image[0];
  parallel_for(ny * in.planes(), [&](std::int64_t r) {
    const int z = in.first + static_cast<int>(r / ny);
    const Rows rows = rows_around(window, labels.data(), r % ny, z);
    std::vector<std::uint8_t> pore(nx + 2, 0);  // in any of the rows, from x = -1 on
    for (int m = 0; m < rows.number; ++m)
      for (std::size_t x = 0; x < nx; ++x) pore[x + 1] = pore[x + 1] | (rows.row[m][x] == pore_label);
    const std::int64_t start = window.start_of(z) + r % ny * window.row();
    for (std::size_t x = 0; x < nx; ++x) {
      const std::uint8_t label = labels[start + x];
      const bool rim = label != pore_label && (pore[x] | pore[x + 1] | pore[x + 2]) != 0;
      marked[start + x] = rim ? undecided : label;
    }
  });
}

/// The most frequent solid label around voxel x of the middle row, the smallest of equals; undecided when none.
std::uint8_t majority(const Rows& rows, std::int64_t x, std::int64_t nx) {
  std::array<std::uint8_t, 256> votes{};
  std::uint8_t best = undecided;
  for (int m = 0; m < rows.number; ++m)
    for (std::int64_t i = std::max<std::int64_t>(x - 1, 0); i < std::min(x + 2, nx); ++i) {
      const std::uint8_t label = rows.row[m][i];
      if (label != pore_label && label != undecided) ++votes[label];
    }
  for (int m = 0; m < rows.number; ++m)
    for (std::int64_t i = std::max<std::int64_t>(x - 1, 0); i < std::min(x + 2, nx); ++i) {
      const std::uint8_t label = rows.row[m][i];
      if (votes[label] > votes[best] || (votes[label] == votes[best] && votes[label] > 0 && label < best)) best = label;
    }
  return best;
}

/// Undecided solid voxels of planes `in` take the majority; `solid` tells them from voxels outside of the sample.
void decide(const ImageWindow& window, std::span<const std::uint8_t> original, std::span<const std::uint8_t> from,
            const ImageWindow& in, std::span<std::uint8_t> to) {
  const std::int64_t ny = window.image[1], nx = window.row();
  parallel_for(ny * in.planes(), [&](std::int64_t r) {
    const int z = in.first + static_cast<int>(r / ny);
    const Rows rows = rows_around(window, from.data(), r % ny, z);
    const std::int64_t start = window.start_of(z) + r % ny * nx;
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::size_t at = start + x;
      const bool open = from[at] == undecided && original[at] != outside_label;
      to[at] = open ? majority(rows, x, nx) : from[at];
    }
  });
}

/// Corrected labels of planes `in`, put into `labels` of the window; returns how many changed.
std::int64_t correct(const ImageWindow& window, std::span<const std::uint8_t> before, const ImageWindow& in,
                     std::span<std::uint8_t> after) {
  Array<std::uint8_t> a(window.count(), Purpose::buffers), b(window.count(), Purpose::buffers);
  const auto within = [&](int n) {
    return ImageWindow{window.image, std::max(window.first, in.first - n), std::min(window.last, in.last + n)};
  };
  mark_rim(window, before, within(2), a.span());
  decide(window, before, a.span(), within(1), b.span());
  decide(window, before, b.span(), in, a.span());
  std::vector<std::int64_t> changed(in.planes(), 0);
  parallel_for(in.planes(), [&](std::int64_t p) {
    const std::size_t start = window.start_of(in.first + static_cast<int>(p));
    const std::size_t out = p * window.plane();
    for (std::int64_t i = 0; i < window.plane(); ++i) {
      const std::uint8_t was = before[start + i], is = a[start + i] == undecided ? was : a[start + i];
      changed[p] += is != was;
      after[out + i] = is;
    }
  });
  std::int64_t all = 0;
  for (const std::int64_t n : changed) all += n;
  return all;
}

}  // namespace

std::int64_t correct_rim(const Comm& comm, Slabs<std::uint8_t>& labels) {
  const ImageWindow own = labels.own();
  const std::size_t plane = own.plane();
  const bool none = own.planes() == 0;
  const ImageWindow empty{own.image, 0, 0};
  const ImageWindow below = none ? empty : ImageWindow{own.image, own.grown(reach).first, own.first};
  const ImageWindow above = none ? empty : ImageWindow{own.image, own.last, own.grown(reach).last};
  Array<std::uint8_t> low = labels.fetch(below);  // uncorrected planes below the chunk
  const Array<std::uint8_t> high = labels.fetch(above);
  std::int64_t changed = 0;
  for (int first = own.first; first < own.last; first += chunk_planes) {
    const ImageWindow chunk{own.image, first, std::min(own.last, first + chunk_planes)}, window = chunk.grown(reach);
    Array<std::uint8_t> before(window.count(), Purpose::buffers);
    std::copy(low.begin(), low.end(), before.begin());
    for (int z = first; z < window.last; ++z) {
      const auto from =
          z < own.last ? std::as_const(labels).plane(z) : high.span().subspan((z - own.last) * plane, plane);
      std::copy(from.begin(), from.end(), before.begin() + window.start_of(z));
    }
    const ImageWindow next = ImageWindow{own.image, chunk.last, chunk.last}.grown(reach);
    low = Array<std::uint8_t>(plane * (chunk.last - next.first), Purpose::buffers);
    std::copy_n(before.begin() + window.start_of(next.first), low.size(), low.begin());
    changed += correct(window, before.span(), chunk, labels.values().subspan(own.start_of(first), chunk.count()));
  }
  return comm.sum(changed);
}

}  // namespace karst
