// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/plot_extent.hpp"

#include "base/core/text.hpp"

namespace karst {

std::optional<Box> plotted_region(const OutputOptions& output, const GridOptions& grid, const Vec3& sample_low) {
  if (!output.region_given) return {};
  Refinement place;
  place.lo = output.region_lo + grid.cell_width() * sample_low;
  place.hi = output.region_hi + grid.cell_width() * sample_low;
  Box cells = intersect(region_cells(grid, place, 0), grid.domain().box());
  if (cells.empty()) return Box{};
  const int width = grid.box * output.coarsening;  // of a box of the file
  for (int d = 0; d < 3; ++d) {
    cells.lo[d] = cells.lo[d] / width * width;
    cells.hi[d] = (cells.hi[d] + width - 1) / width * width;
  }
  return intersect(cells, grid.domain().box());
}

Messages plot_mistakes(const OutputOptions& output, const GridOptions& grid, const Vec3& sample_low) {
  Messages found;
  const std::optional<Box> region = plotted_region(output, grid, sample_low);
  if (region && region->empty())
    found.add("output.region_lo, output.region_hi: no cell of the domain is between them; it has {:g} x {:g} x {:g} m",
              grid.size[0], grid.size[1], grid.size[2]);
  const int n = output.coarsening;
  if (2 * n > grid.box)
    found.add("output.coarsening = {}: at most half the width of a box, grid.box = {} cells, is possible", n, grid.box);
  for (int d = 0; d < 3; ++d) {
    if (grid.cells[d] % n == 0) continue;
    int possible = n;
    while (grid.cells[d] % possible != 0) possible /= 2;
    found.add("output.coarsening = {}: the domain has {} cells along {}, which {} does not divide; write {}", n,
              grid.cells[d], axis_names[d], n, possible);
  }
  return found;
}

double plotted_part(const OutputOptions& output, const GridOptions& grid, const Vec3& sample_low) {
  const std::optional<Box> region = plotted_region(output, grid, sample_low);
  const double n = output.coarsening, all = static_cast<double>(grid.domain().box().count());
  return (region ? static_cast<double>(region->count()) / all : 1.0) / (n * n * n);
}

}  // namespace karst
