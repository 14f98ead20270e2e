// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/vof_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/deck/plot_words.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// Calls f(cell, unknown) for the own unknowns of a box.
template <class F>
void for_each_unknown(const Geometry& geometry, const CompositeNumbering& numbering, int level, int box, F&& f) {
  const BoxGraph graph = geometry.levels[level].graph.box(box);
  for_each_vof(graph, [&](int vof, int cell) {
    const std::int32_t number = numbering.number(level, box, vof);
    if (number >= 0) f(cell, number);
  });
}

}  // namespace

void fill_cells(const JoinedCells& joined, int level, std::int64_t box, std::span<float> cells,
                const std::function<double(std::size_t unknown)>& value) {
  std::vector<double> sum(cells.size(), 0.0), count(cells.size(), 0.0);
  const auto add = [&](std::size_t cell, std::size_t unknown) {
    const double v = value(unknown);
    if (std::isnan(v)) return;
    sum[cell] += v;
    count[cell] += 1.0;
  };
  std::vector<std::uint8_t> own(cells.size(), 0);
  for_each_unknown(joined.geometry(), joined.numbering(), level, static_cast<int>(box),
                   [&](int cell, std::size_t unknown) {
                     own[cell] = 1;
                     add(cell, unknown);
                   });
  const LevelGeometry& at = joined.geometry().levels[level];
  const auto [first, last] = at.joined_in(static_cast<int>(box));
  for (std::int64_t i = first; i < last; ++i) {
    const std::int32_t home = joined.homes(level)[i];
    if (home >= 0 && own[at.joined[i].cell] == 0) add(at.joined[i].cell, home);
  }
  for (std::size_t i = 0; i < cells.size(); ++i)
    cells[i] = static_cast<float>(count[i] > 0.0 ? sum[i] / count[i] : no_number);
}

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

KeptFlow kept_flow(int axis, std::span<const Quad> solution, double velocity, double pressure) {
  KeptFlow kept{axis, std::vector<std::array<float, 4>>(solution.size())};
  for (std::size_t v = 0; v < solution.size(); ++v)
    for (std::size_t c = 0; c < 4; ++c)
      kept.values[v][c] = static_cast<float>((c < 3 ? velocity : pressure) * solution[v].v[c]);
  return kept;
}

void append_homes(const JoinedCells& joined, KeptFlow& flow) {
  const auto remote = joined.remote<std::array<float, 4>>([&](std::size_t v) { return flow.values[v]; });
  flow.values.insert(flow.values.end(), remote.begin(), remote.end());
}

std::string prefix_of(int axis, Drives drives) {
  return drives == Drives::several ? fmt::format("drive_{}_", axis_names[axis]) : std::string();
}

std::vector<JobComponent> flow_components(const std::shared_ptr<const Ground>& ground, const KeptFlows& flows,
                                          Drives drives) {
  std::vector<JobComponent> components;
  const auto add = [&](PlotField field, const std::string& name, const auto& flow, auto&& value_of) {
    components.push_back(
        {field, prefix_of(flow->axis, drives) + name,
         [joined = ground->joined(), flow, value_of](int level, std::int64_t box, std::span<float> cells) {
           fill_cells(*joined, level, box, cells, [&](std::size_t v) { return value_of(flow->values[v]); });
         },
         ground});
  };
  using Value = std::array<float, 4>;
  for (const auto& flow : flows)
    for (std::size_t d = 0; d < 3; ++d)
      add(PlotField::velocity, fmt::format("velocity_{}", axis_names[d]), flow,
          [d](const Value& u) { return double{u[d]}; });
  for (const auto& flow : flows)
    add(PlotField::speed, "speed", flow,
        [](const Value& u) { return std::hypot(double{u[0]}, double{u[1]}, double{u[2]}); });
  for (const auto& flow : flows)
    add(PlotField::pressure, "pressure", flow, [](const Value& u) { return double{u[3]}; });
  return components;
}

}  // namespace karst
