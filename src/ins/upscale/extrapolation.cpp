// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/extrapolation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace karst {

namespace {

constexpr double least_difference = 0.02;   // of b: below it κ is not seen
constexpr double safety = 2.0;              // of k0 - k(1)
constexpr double least_of_image = 2.0 / 3;  // of the difference to the second grid
constexpr double lowest_order = 1.0, highest_order = 3.0;

/// k0 - k(1) with p = 2 and κ; nothing when b and w² are as good as the same.
std::optional<double> limit_of_image(std::span<const GridValue> g) {
  const double b2 = g[1].line_offset - g[0].line_offset, b3 = g[2].line_offset - g[0].line_offset;
  const double w2 = g[1].width * g[1].width - 1.0, w3 = g[2].width * g[2].width - 1.0;
  const double d2 = g[1].permeability - g[0].permeability, d3 = g[2].permeability - g[0].permeability;
  const double determinant = b2 * w3 - b3 * w2;
  if (std::abs(b2) < least_difference || std::abs(determinant) < least_difference * w3) return {};
  const double kappa = (d2 * w3 - d3 * w2) / determinant, c = (b2 * d3 - b3 * d2) / determinant;
  return -kappa * g[0].line_offset - c;
}

/// k0 - k(1) with κ = 0: L. F. Richardson, Phil. Trans. R. Soc. A 210 (1911) 307, with the order that three grids show.
double limit_by_order(std::span<const GridValue> g) {
  const double d2 = g[1].permeability - g[0].permeability, d3 = g[2].permeability - g[0].permeability;
  const auto ratio = [&](double p) { return (std::pow(g[2].width, p) - 1.0) / (std::pow(g[1].width, p) - 1.0); };
  double low = lowest_order, high = highest_order;
  for (int i = 0; i < 40; ++i) {
    const double p = 0.5 * (low + high);
    (ratio(p) < d3 / d2 ? low : high) = p;
  }
  return -d2 / (std::pow(g[1].width, 0.5 * (low + high)) - 1.0);
}

}  // namespace

Extrapolated extrapolate(std::span<const GridValue> grids) {
  assert(!grids.empty());
  if (grids.size() < 2) return {std::numeric_limits<double>::quiet_NaN(), {}};
  const double k = grids[0].permeability, d2 = grids[1].permeability - k;
  Extrapolated result{std::abs(d2), {}};
  if (grids.size() < 3) return result;
  const double d3 = grids[2].permeability - k;
  if (!(d2 * d3 > 0.0)) return result;  // the coarsest grid has lost its way
  const std::optional<double> of_image = limit_of_image(grids);
  if (!of_image && std::abs(d3) < std::abs(d2)) return result;
  const double change = of_image.value_or(limit_by_order(grids)), least = of_image ? least_of_image : 0.0;
  constexpr double rounded = 1.0 + 1e-9;
  if (std::abs(change) > rounded * std::abs(d2)) return result;
  result.limit = k + change;
  result.error = std::clamp(safety * std::abs(change), least * std::abs(d2), std::abs(d2));
  return result;
}

double line_offset(double voxels, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    const double at = (i + 0.5) * voxels - 0.5, t = at - std::floor(at);
    sum += t * (1.0 - t);
  }
  return sum / n - 1.0 / 6.0;
}

std::vector<Index> wider_grids(const Index& all_cells, const Index& copies) {
  Index cells;
  for (int d = 0; d < 3; ++d) cells[d] = all_cells[d] / copies[d];
  int common = 0;
  for (int d = 0; d < 3; ++d)
    if (cells[d] > 1) common = std::gcd(common, cells[d]);
  std::vector<Index> grids;
  for (const int wider : {2, 3}) {
    const int part = (common + wider / 2) / wider;  // of the common divisor; the nearest to its half or third
    if (part == 0 || std::abs(static_cast<double>(common) / part - wider) > 0.4) break;
    Index n;
    int least = 4;
    for (int d = 0; d < 3; ++d) {
      n[d] = cells[d] > 1 ? cells[d] / common * part : 1;
      if (cells[d] > 1) least = std::min(least, n[d]);
    }
    if (least < 4) break;
    for (int d = 0; d < 3; ++d) n[d] *= copies[d];
    grids.push_back(n);
  }
  return grids;
}

}  // namespace karst
