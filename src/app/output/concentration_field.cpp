// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/concentration_field.hpp"

#include <utility>
#include <vector>

#include "app/deck/plot_words.hpp"
#include "app/output/vof_values.hpp"

namespace karst {

JobComponent concentration_field(const JobContext& run, const std::string& name, std::span<const double> values) {
  const std::shared_ptr<const JoinedCells>& joined = run.ground->joined();
  auto all = std::make_shared<std::vector<float>>(values.begin(), values.end());
  const std::vector<float> remote = joined->remote<float>([&](std::size_t v) { return (*all)[v]; });
  all->insert(all->end(), remote.begin(), remote.end());
  return {PlotField::concentration, concentration_name(name),
          [joined, all](int level, std::int64_t box, std::span<float> cells) {
            fill_cells(*joined, level, box, cells, [&](std::size_t v) { return double{(*all)[v]}; });
          },
          run.ground};
}

}  // namespace karst
