// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/image_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/comm/fail_together.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "geometry_import/file/end_planes.hpp"

namespace karst {

namespace {

constexpr double cells_per_throat = 3.0;  // from which on the flow through a slit or tube is right to some percent

/// Where cells are wider than voxels; the import has spoken of throats of a few voxels.
std::vector<std::string> throat_warnings(const GridOptions& grid, const GeometryInfo& image) {
  const ThroatWidths& throats = image.found.throats;
  const double h = cell_width_at_walls(grid), tenth = throats.tenth * image.voxel / h,
               median = throats.median * image.voxel / h;
  if (throats.count == 0 || h < image.voxel * (1 + 1e-6) || tenth >= cells_per_throat) return {};
  return {fmt::format(
      "grid: the cells at the wall are {} wide; of the {} throats of the image, half are narrower than {} ({:.1f} "
      "cells) and a tenth are narrower than {} ({:.1f} cells). Flow through throats of fewer than {:g} cells is poorly "
      "resolved: use more cells (grid.cells, at least one per voxel) or another level at the wall ([[grid.refine]])",
      format_si(h, "m"), throats.count, format_si(median * h, "m"), median, format_si(tenth * h, "m"), tenth,
      cells_per_throat)};
}

std::vector<std::string> seam_warnings(const GridOptions& grid, const GeometryFile& image) {
  std::vector<std::string> all;
  for (int d = 0; d < 3; ++d) {
    if (!grid.periodic[d]) continue;
    const EndPlanes planes = compare_ends(image, d);
    if (ends_match(planes)) continue;
    all.push_back(
        fmt::format("grid.periodic: the image is not periodic along {0}: on {1:.1f} % of the area of its two faces "
                    "there, pore meets solid (neighbouring planes inside: {2:.1f} %, uncorrelated planes: {3:.1f} %), "
                    "which blocks the flow along {0}. Set grid.periodic to false along {0} and drive the flow by a "
                    "pressure drop (flow.drive = \"pressure-drop\"), or crop the image to a whole period",
                    axis_names[d], 100 * planes.differ, 100 * planes.inside, 100 * planes.unrelated));
  }
  return all;
}

}  // namespace

std::vector<std::string> image_warnings(const Comm& comm, const Source& source, bool compare_faces) {
  if (!source.image) return {};
  const GeometryInfo& image = source.image->info();
  std::vector<std::string> all;
  for (const std::string& w : image.found.warnings) all.push_back("import: " + w);
  std::string seams;
  fail_together(comm, [&] {
    if (comm.rank() == 0 && compare_faces) seams = join(seam_warnings(source.grid, *source.image), "\n");
  });
  comm.broadcast(seams);
  if (!seams.empty()) std::ranges::move(split(seams, '\n'), std::back_inserter(all));
  std::ranges::move(throat_warnings(source.grid, image), std::back_inserter(all));
  return all;
}

}  // namespace karst
