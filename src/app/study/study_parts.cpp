// SPDX-License-Identifier: BSD-3-Clause
#include "app/study/study_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <set>

namespace karst {

namespace {

/// The i-th number of the sequence of van der Corput in a base: fills [0, 1) evenly however many are taken.
double van_der_corput(int i, int base) {
  double x = 0.0;
  for (double digit = 1.0 / base; i > 0; i /= base, digit /= base) x += digit * (i % base);
  return x;
}

std::int64_t places_of(const Index& lattice) { return std::int64_t{lattice[0]} * lattice[1] * lattice[2]; }

/// Places along each direction, n or more in all where the image has as many.
Index lattice_for(const Index& size, int edge, int n) {
  if (n == 1) return Index::all(1);
  Index lattice;
  for (int d = 0; d < 3; ++d) lattice[d] = size[d] / edge;
  while (places_of(lattice) < n) {
    int widest = -1;
    const auto spacing = [&](int d) { return static_cast<double>(size[d] - edge) / lattice[d]; };  // with one more
    for (int d = 0; d < 3; ++d)
      if (lattice[d] <= size[d] - edge && (widest < 0 || spacing(d) > spacing(widest))) widest = d;
    if (widest < 0) break;
    ++lattice[widest];
  }
  return lattice;
}

Index corner_of(const Index& size, int edge, const Index& lattice, const Index& place) {
  Index low;
  for (int d = 0; d < 3; ++d) {
    const double part = lattice[d] > 1 ? static_cast<double>(place[d]) / (lattice[d] - 1) : 0.5;
    low[d] = static_cast<int>(std::lround(part * (size[d] - edge)));
  }
  return low;
}

/// Part of a cube that another one shares.
double shared(const Index& a, const Index& b, int edge) {
  double part = 1.0;
  for (int d = 0; d < 3; ++d) part *= std::max(0.0, 1.0 - static_cast<double>(std::abs(a[d] - b[d])) / edge);
  return part;
}

}  // namespace

ImageParts parts_of_image(const Index& size, int edge, int n) {
  constexpr std::array bases{2, 3, 5};
  const Index lattice = lattice_for(size, edge, n);
  const std::int64_t wanted = std::min<std::int64_t>(n, places_of(lattice));
  ImageParts parts;
  std::set<std::array<int, 3>> seen;
  for (int i = 1; std::ssize(parts.low) < wanted; ++i) {  // the points come to every place
    Index place;
    for (int d = 0; d < 3; ++d) place[d] = static_cast<int>(van_der_corput(i, bases[d]) * lattice[d]);
    if (seen.insert(place.v).second) parts.low.push_back(corner_of(size, edge, lattice, place));
  }
  for (std::size_t a = 0; a < parts.low.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      parts.overlap = std::max(parts.overlap, shared(parts.low[a], parts.low[b], edge));
  return parts;
}

}  // namespace karst
