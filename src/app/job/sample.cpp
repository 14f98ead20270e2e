// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/sample.hpp"

#include <fmt/format.h>

#include "base/core/text.hpp"

namespace karst {

std::shared_ptr<const Sample> sample_between(const Reservoirs& reservoirs, const GridOptions& grid,
                                             const GeometryReport& report) {
  Index before{};
  before[reservoirs.axis] = reservoirs.cells;
  return std::make_shared<const Sample>(Sample{grid, report, before});
}

std::string reservoirs_text(const Sample& sample, const GridOptions& domain, const GeometryStatistics& of_domain) {
  int axis = 0;
  while (sample.before[axis] == 0) ++axis;
  return fmt::format(
      "With reservoirs of {} cells before and behind it along {} the domain of this run has {} x {} x {} cells, {} of "
      "them with fluid; it begins {:.6g} m before the sample\n",
      sample.before[axis], axis_names[axis], domain.cells[0], domain.cells[1], domain.cells[2],
      grouped(of_domain.sum(&LevelReport::vofs)), sample.before[axis] * domain.cell_width());
}

}  // namespace karst
