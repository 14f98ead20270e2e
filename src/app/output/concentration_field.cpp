// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/concentration_field.hpp"

#include <utility>
#include <vector>

#include "app/deck/plot_words.hpp"

namespace karst {

JobComponent concentration_field(const JobContext& run, std::shared_ptr<const JoinedCells> joined,
                                 const std::string& name, std::span<const double> values) {
  auto all = std::make_shared<std::vector<float>>(values.begin(), values.end());
  const std::vector<float> remote = joined->remote<float>([&](std::size_t v) { return (*all)[v]; });
  all->insert(all->end(), remote.begin(), remote.end());
  return {
      PlotField::concentration, concentration_name(name),
      [&geometry = run.geometry, joined = std::move(joined), all](int level, std::int64_t box, std::span<float> cells) {
        fill_cells(geometry, *joined, level, box, cells, [&](std::size_t v) { return double{(*all)[v]}; });
      }};
}

}  // namespace karst
