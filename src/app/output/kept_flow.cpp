// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/kept_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/text.hpp"

namespace karst {

KeptFlow kept_flow(int axis, std::span<const Quad> solution) {
  KeptFlow kept{axis, std::vector<std::array<float, 4>>(solution.size())};
  for (std::size_t v = 0; v < solution.size(); ++v)
    std::ranges::transform(solution[v].v, kept.values[v].begin(), [](double x) { return static_cast<float>(x); });
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
