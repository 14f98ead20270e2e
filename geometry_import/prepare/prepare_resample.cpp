// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare_resample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {
namespace {

/// ∫ from -∞ to x of the hat function |t| < 1.
double hat_integral(double x) {
  if (x <= -1) return 0;
  if (x >= 1) return 1;
  return x < 0 ? 0.5 * (x + 1) * (x + 1) : 1 - 0.5 * (1 - x) * (1 - x);
}

/// Weights of voxels low .. low + w.size() - 1, those beyond the ends added to the end voxels.
Share folded(int n, int low, const std::vector<double>& w) {
  const int high = low + static_cast<int>(w.size()) - 1;
  Share s;
  s.first = std::clamp(low, 0, n - 1);
  s.weights.assign(std::clamp(high, 0, n - 1) - s.first + 1, 0.0);
  double sum = 0;
  for (const double x : w) sum += x;
  for (int i = low; i <= high; ++i) s.weights[std::clamp(i, 0, n - 1) - s.first] += w[i - low] / sum;
  return s;
}

Share interpolated(int n, double center) {
  const double p = center - 0.5, whole = std::floor(p), part = p - whole;
  if (part < 1e-9) return folded(n, static_cast<int>(whole), {1.0});
  return folded(n, static_cast<int>(whole), {1 - part, part});
}

Share averaged(int n, double from, double to) {
  const int low = static_cast<int>(std::floor(from - 0.5)), high = static_cast<int>(std::ceil(to - 0.5));
  std::vector<double> w;
  for (int i = low; i <= high; ++i) w.push_back(hat_integral(to - i - 0.5) - hat_integral(from - i - 0.5));
  return folded(n, low, w);
}

Share overlapping(int n, double from, double to) {
  const int low = static_cast<int>(std::floor(from + 1e-9)), high = static_cast<int>(std::ceil(to - 1e-9)) - 1;
  std::vector<double> w;
  for (int i = low; i <= high; ++i) w.push_back(std::min(to, i + 1.0) - std::max(from, double(i)));
  return folded(n, low, w);
}

/// Mixes rows of a plane along x and y. [ny'][nx'] of `to`.
void resample_plane(std::span<const float> plane, int nx, const Resampling& r, float* to) {
  const auto columns = static_cast<std::int64_t>(r[0].size());
  parallel_for(static_cast<std::int64_t>(r[1].size()), [&](std::int64_t j) {
    const Share& y = r[1][j];
    std::vector<double> row(nx, 0.0);
    for (std::size_t m = 0; m < y.weights.size(); ++m) {
      const float* from = plane.data() + (y.first + static_cast<std::int64_t>(m)) * nx;
      for (int i = 0; i < nx; ++i) row[i] += y.weights[m] * double{from[i]};
    }
    for (std::int64_t i = 0; i < columns; ++i) {
      const Share& x = r[0][i];
      double sum = 0;
      for (std::size_t m = 0; m < x.weights.size(); ++m) sum += x.weights[m] * row[x.first + m];
      to[j * columns + i] = static_cast<float>(sum);
    }
  });
}

using Shares = std::array<Share, 3>;

/// A block with the voxels that touch it, all of the same weight.
Shares around(const Shares& block, const Index& n) {
  Shares wide;
  for (int d = 0; d < 3; ++d) {
    const int low = std::max(block[d].first - 1, 0),
              high = std::min(block[d].first + static_cast<int>(block[d].weights.size()) + 1, n[d]);
    wide[d] = {low, std::vector<double>(high - low, 1.0)};
  }
  return wide;
}

/// Planes of the source, of which the first is `first`.
struct SourcePlanes {
  const float* values;
  Index n;
  int first;

  float at(int x, int y, int z) const {
    return values[x + std::int64_t{n[0]} * (y + std::int64_t{n[1]} * (z - first))];
  }
};

using Labels = std::vector<std::pair<float, double>>;  ///< with their weights

void add_labels(const SourcePlanes& planes, const Shares& block, Labels& found, bool only_found) {
  const auto& [x, y, z] = block;
  for (std::size_t c = 0; c < z.weights.size(); ++c)
    for (std::size_t b = 0; b < y.weights.size(); ++b)
      for (std::size_t a = 0; a < x.weights.size(); ++a) {
        const float v =
            planes.at(x.first + static_cast<int>(a), y.first + static_cast<int>(b), z.first + static_cast<int>(c));
        auto place = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.first == v; });
        if (place == found.end() && only_found) continue;
        if (place == found.end()) place = found.insert(found.end(), {v, 0.0});
        place->second += x.weights[a] * y.weights[b] * z.weights[c];
      }
}

void keep_largest(Labels& found) {
  double largest = 0;
  for (const auto& f : found) largest = std::max(largest, f.second);
  std::erase_if(found, [&](const auto& f) { return f.second < largest - 1e-9; });
}

/// The label with the largest weight in a block; among equals the one with most voxels in and around it, then the
/// smallest and the largest in turn: no label gains by its value.
float most_frequent(const SourcePlanes& planes, const Shares& block, bool even) {
  Labels found;
  add_labels(planes, block, found, false);
  keep_largest(found);
  if (found.size() == 1) return found.front().first;
  add_labels(planes, around(block, planes.n), found, true);
  keep_largest(found);
  const auto [least, most] = std::minmax_element(found.begin(), found.end());
  return (even ? least : most)->first;
}

void choose_labels(ImageFile& source, const Resampling& r, int first, int last, std::span<float> values) {
  const Index n = source.info().size;
  const std::int64_t plane = std::int64_t{n[0]} * n[1], columns = std::ssize(r[0]), rows = std::ssize(r[1]);
  for (int z = first; z < last; ++z) {
    const Share needed = around({{{0, {}}, {0, {}}, r[2][z]}}, n)[2];
    Array<float> planes(plane * needed.weights.size(), Purpose::buffers);
    for (std::size_t c = 0; c < needed.weights.size(); ++c)
      source.read_plane(needed.first + static_cast<int>(c), planes.span().subspan(c * plane, plane));
    const SourcePlanes from{planes.data(), n, needed.first};
    float* to = values.data() + (z - first) * rows * columns;
    parallel_for(rows, [&](std::int64_t j) {
      for (std::int64_t i = 0; i < columns; ++i)
        to[j * columns + i] = most_frequent(from, {r[0][i], r[1][j], r[2][z]}, (i + j + z) % 2 == 0);
    });
  }
}

}  // namespace

std::vector<Share> resampling_shares(int n, double ratio, bool labels) {
  constexpr double same = 1e-4, rounding = 1e-3;  // of a ratio of 1; of the number of voxels
  const bool copied = std::abs(ratio - 1) < same;
  const int fitting = labels ? static_cast<int>(std::lround(n / ratio)) : static_cast<int>(n / ratio + rounding);
  const int made = copied ? n : std::max(1, fitting);
  std::vector<Share> shares;
  for (int i = 0; i < made; ++i) {
    const double from = i * ratio, to = std::min(from + ratio, double(n));
    if (copied) {
      shares.push_back({i, {1.0}});
    } else if (labels && ratio < 1) {
      shares.push_back({std::min(static_cast<int>((i + 0.5) * ratio), n - 1), {1.0}});
    } else if (ratio < 1) {
      shares.push_back(interpolated(n, 0.5 * (from + to)));
    } else {
      shares.push_back(labels ? overlapping(n, from, to) : averaged(n, from, to));
    }
  }
  return shares;
}

double cube_width(const Index& voxels, const Vec3& spacing) {
  constexpr double least = 0.75, fits = 5e-3;
  const int d = spacing[0] <= std::min(spacing[1], spacing[2]) ? 0 : spacing[1] <= spacing[2] ? 1 : 2;
  double best = spacing[d], best_off = 1;
  for (int made = voxels[d]; made * least <= voxels[d] && best_off > fits; ++made) {
    const double width = spacing[d] * voxels[d] / made;
    double off = 0;
    for (int e = 0; e < 3; ++e) {
      const double cubes = voxels[e] * spacing[e] / width;
      off = std::max(off, std::abs(std::max(1.0, std::round(cubes)) / cubes - 1));
    }
    if (off > best_off - fits / 10) continue;
    best = width;
    best_off = off;
  }
  return best;
}

SourceLattice lattice_of(const Resampling& r, const Index& voxels, const Vec3& ratio) {
  SourceLattice lattice;
  for (int d = 0; d < 3; ++d) {
    const std::vector<Share>& shares = r[d];
    const int n = static_cast<int>(shares.size());
    std::vector<int>& first = lattice.first_cube[d];
    lattice.voxels[d] = n;
    if (ratio[d] >= 1 || n == voxels[d]) {
      first.resize(n);
      std::iota(first.begin(), first.end(), 0);
      continue;
    }
    lattice.voxels[d] = voxels[d];
    lattice.ratio[d] = ratio[d];
    for (int i = 0; i < n; ++i)
      if (i == 0 || shares[i].first != shares[i - 1].first) first.push_back(i);
    // Boundaries of the voxels among the cubes, of which the last one may reach beyond the file.
    const auto boundary = [&](int v) { return v < voxels[d] ? v / ratio[d] : static_cast<double>(n); };
    for (int v = 0; v < voxels[d]; ++v) {
      const int cubes = (v + 1 < voxels[d] ? first[v + 1] : n) - first[v];
      lattice.width[d].insert(lattice.width[d].end(), cubes, (boundary(v + 1) - boundary(v)) / cubes);
    }
  }
  return lattice;
}

Index resampled_size(const Resampling& r) {
  return {static_cast<int>(r[0].size()), static_cast<int>(r[1].size()), static_cast<int>(r[2].size())};
}

void resample(ImageFile& source, const Resampling& r, bool labels, int first, int last, std::span<float> values) {
  if (labels) return choose_labels(source, r, first, last, values);
  const Index n = source.info().size;
  const std::int64_t plane = std::ssize(r[0]) * std::ssize(r[1]);
  Array<float> from(std::int64_t{n[0]} * n[1], Purpose::buffers), turned(plane, Purpose::buffers);
  Array<double> sums(plane * (last - first), Purpose::buffers, 0.0);
  const Share& end = r[2][last - 1];
  for (int z = r[2][first].first; z < end.first + static_cast<int>(end.weights.size()); ++z) {
    source.read_plane(z, from.span());
    resample_plane(std::as_const(from).span(), n[0], r, turned.data());
    parallel_for(last - first, [&](std::int64_t to) {
      const Share& share = r[2][first + to];
      const int m = z - share.first;
      if (m < 0 || m >= static_cast<int>(share.weights.size())) return;
      double* sum = sums.data() + to * plane;
      for (std::int64_t i = 0; i < plane; ++i) sum[i] += share.weights[m] * double{turned[i]};
    });
  }
  std::transform(sums.begin(), sums.end(), values.begin(), [](double s) { return static_cast<float>(s); });
}

}  // namespace karst
