// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/extrapolation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/math/no_number.hpp"

namespace karst {

namespace {

constexpr double least_difference = 0.02;  // of b: below it κ is not seen
constexpr double safety = 2.0;             // of k0 - k(1)
constexpr double least_of_image = 0.9;     // of the difference to the second grid
// Where there is no k0: of the change to the second grid that is alone, to the grid between beside it, and to that
// alone.
constexpr double of_second = 1.5, of_between = 1.25, of_between_alone = 2.0;
constexpr double lowest_order = 1.0, order_of_method = 2.0, believable_order = 2.5;

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

/// k0 - k(1) with κ = 0: L. F. Richardson, Phil. Trans. R. Soc. A 210 (1911) 307, with the order that three grids show,
/// at most that of the method. Nothing where they show a higher one: then the change to the second is small by chance,
/// or the third has lost its way.
std::optional<double> limit_by_order(std::span<const GridValue> g) {
  const double d2 = g[1].permeability - g[0].permeability, d3 = g[2].permeability - g[0].permeability;
  const auto ratio = [&](double p) { return (std::pow(g[2].width, p) - 1.0) / (std::pow(g[1].width, p) - 1.0); };
  if (d3 / d2 > ratio(believable_order)) return {};
  double low = lowest_order, high = order_of_method;
  for (int i = 0; i < 40; ++i) {
    const double p = 0.5 * (low + high);
    (ratio(p) < d3 / d2 ? low : high) = p;
  }
  return -d2 / (std::pow(g[1].width, 0.5 * (low + high)) - 1.0);
}

struct LimitChange {
  double value = 0.0;  ///< k0 - k(1)
  bool of_image = false;
};

/// Nothing where the grids are too few or disagree.
std::optional<LimitChange> change_to_limit(std::span<const GridValue> g) {
  if (g.size() < 3) return {};
  const double d2 = g[1].permeability - g[0].permeability, d3 = g[2].permeability - g[0].permeability;
  if (!(d2 * d3 > 0.0)) return {};  // the coarsest grid has lost its way
  const std::optional<double> of_image = limit_of_image(g);
  if (!of_image && std::abs(d3) < std::abs(d2)) return {};
  const std::optional<double> any = of_image ? of_image : limit_by_order(g);
  if (!any) return {};
  const LimitChange change{*any, of_image.has_value()};
  if (of_image && g[0].line_offset < 0.0 && !(change.value * d2 > 0.0)) return {};
  constexpr double rounded = 1.0 + 1e-9;
  if (std::abs(change.value) > rounded * std::abs(d2)) return {};
  return change;
}

}  // namespace

Extrapolated extrapolate(std::span<const GridValue> grids, const std::optional<GridValue>& between) {
  assert(!grids.empty());
  const double k = grids[0].permeability;
  if (const auto change = change_to_limit(grids)) {
    const double d2 = std::abs(grids[1].permeability - k), least = change->of_image ? least_of_image : 0.0;
    return {std::clamp(safety * std::abs(change->value), least * d2, d2), k + change->value, ErrorBasis::limit};
  }
  const auto changed = [k](const GridValue& g) { return std::abs(g.permeability - k); };
  if (between && grids.size() > 1)
    return {std::max(of_between * changed(*between), changed(grids[1])), {}, ErrorBasis::larger_change};
  // Of an image C and κ may cancel there, and the change says nothing.
  if (between && std::abs(between->line_offset - grids[0].line_offset) > least_difference)
    return {no_number, {}, ErrorBasis::none};
  if (between) return {of_between_alone * changed(*between), {}, ErrorBasis::one_change};
  if (grids.size() > 2) return {std::max(changed(grids[1]), changed(grids[2])), {}, ErrorBasis::larger_change};
  if (grids.size() > 1) return {of_second * changed(grids[1]), {}, ErrorBasis::one_change};
  return {no_number, {}, ErrorBasis::none};
}

Extrapolated extrapolate_value(const NumberedValue& fine, double line_offset, const std::vector<WiderGrid>& wider,
                               const WiderGrid& between) {
  const auto value_on = [&](const WiderGrid& grid) -> std::optional<GridValue> {
    const auto same = std::ranges::find(grid.values, fine.number, &NumberedValue::number);
    if (same == grid.values.end()) return {};
    return GridValue{grid.width, grid.line_offset, same->value};
  };
  std::vector<GridValue> values{{1.0, line_offset, fine.value}};
  for (const WiderGrid& grid : wider) {
    const auto value = value_on(grid);
    if (!value) break;  // a grid that still wider ones cannot stand in for
    values.push_back(*value);
  }
  return extrapolate(values, value_on(between));
}

double line_offset(double voxels, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) {
    const double at = (i + 0.5) * voxels - 0.5, t = at - std::floor(at);
    sum += t * (1.0 - t);
  }
  return sum / n - 1.0 / 6.0;
}

namespace {

/// Cells of a sample whose largest common divisor is parted so; nothing when these are fewer than 4 along a direction.
struct Division {
  Division(const Index& all_cells, const Index& copies) : copies_(copies) {
    for (int d = 0; d < 3; ++d) cells_[d] = all_cells[d] / copies[d];
    for (int d = 0; d < 3; ++d)
      if (cells_[d] > 1) common = std::gcd(common, cells_[d]);
  }
  double width(int part) const { return static_cast<double>(common) / part; }
  std::optional<Index> grid(int part) const {
    constexpr int fewest = 4;
    Index n;
    for (int d = 0; d < 3; ++d) {
      n[d] = cells_[d] > 1 ? cells_[d] / common * part : 1;
      if (cells_[d] > 1 && n[d] < fewest) return {};
      n[d] *= copies_[d];
    }
    return n;
  }
  /// The part whose cells are nearest to so many times as wide; 0 where they are further off than allowed.
  int nearest(double wider, double allowed) const {
    int best = 0;
    for (int part = 1; part < common; ++part) {
      const double off = std::abs(width(part) - wider);
      if (off <= allowed && (best == 0 || off < std::abs(width(best) - wider)) && grid(part)) best = part;
    }
    return best;
  }
  int common = 0;

 private:
  Index cells_, copies_;
};

}  // namespace

std::vector<Index> wider_grids(const Index& cells, const Index& copies) {
  constexpr double off = 0.4, least_third = 2.25;
  const Division division(cells, copies);
  const int half = division.nearest(2.0, off);
  if (half == 0) return {};
  std::vector<Index> grids{*division.grid(half)};
  int third = division.nearest(3.0, off);
  if (third == 0) third = division.nearest(3.0, 3.0 - least_third);
  if (third != 0) grids.push_back(*division.grid(third));
  return grids;
}

std::optional<Index> grid_between(const Index& cells, const Index& copies) {
  const Division division(cells, copies);
  const int part = division.nearest(1.5, 0.3);
  return part == 0 ? std::optional<Index>() : division.grid(part);
}

}  // namespace karst
