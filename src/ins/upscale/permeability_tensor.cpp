// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/math/no_number.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

Matrix3 tensor(const std::vector<FlowColumn>& columns) {
  Matrix3 k;
  k.fill(Vec3::all(no_number));
  for (const FlowColumn& a : columns)
    for (int e = 0; e < 3; ++e) k[e][a.axis] = a.permeability[e];
  for (const FlowColumn& a : columns)
    for (const FlowColumn& b : columns)
      if (a.periodic && b.periodic && !a.unresolved && !b.unresolved)
        k[a.axis][b.axis] = 0.5 * (a.permeability[b.axis] + b.permeability[a.axis]);
  return k;
}

double asymmetry(const std::vector<FlowColumn>& columns) {
  double largest = 0.0, worst = 0.0;
  for (const FlowColumn& a : columns)
    for (const FlowColumn& b : columns) {
      largest = std::max(largest, std::abs(a.permeability[b.axis]));
      worst = std::max(worst, std::abs(a.permeability[b.axis] - b.permeability[a.axis]));
    }
  return largest > 0.0 ? worst / largest : 0.0;
}

std::optional<PrincipalPermeability> principal(const std::vector<FlowColumn>& columns) {
  if (columns.size() != 3 || !std::ranges::all_of(columns, &FlowColumn::periodic)) return {};
  if (std::ranges::any_of(columns, [](const FlowColumn& c) { return c.unbounded || c.unresolved; })) return {};
  const SymmetricEigen e = symmetric_eigen(tensor(columns));
  std::array<int, 3> order{0, 1, 2};
  std::ranges::sort(order, std::ranges::greater{}, [&](int i) { return e.value[i]; });
  PrincipalPermeability result;
  for (std::size_t i = 0; i < 3; ++i) {
    const Vec3& v = e.vector[order[i]];
    result.value.v[i] = e.value[order[i]];
    const auto largest = std::ranges::max(v.v, {}, [](double x) { return std::abs(x); });
    result.axis[i] = std::copysign(1.0, largest) * v;
  }
  return result;
}

}  // namespace karst
