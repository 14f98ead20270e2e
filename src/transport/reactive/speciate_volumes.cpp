// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/speciate_volumes.hpp"

#include <algorithm>

namespace karst {

void speciate_volumes(const ReactiveMedium& medium, std::span<const std::int32_t> volumes,
                      std::span<const Array<double>> totals,
                      const std::function<void(std::size_t place, const Speciation* state)>& read) {
  constexpr std::int64_t stretch = 64;
  const std::int64_t n = std::ssize(volumes);
  parallel_for_dynamic((n + stretch - 1) / stretch, [&](std::int64_t block) {
    SpeciationWorkspace work;
    Speciation state = medium.start;
    std::vector<SolutionCondition> conditions(totals.size());
    for (std::int64_t i = block * stretch; i < std::min(n, (block + 1) * stretch); ++i) {
      for (std::size_t p = 0; p < totals.size(); ++p)
        conditions[p] = {SolutionCondition::Kind::total, totals[p][volumes[i]]};
      const bool found = speciate(medium.system, conditions, state, work);
      read(i, found ? &state : nullptr);
      if (!found) state = medium.start;
    }
  });
}

}  // namespace karst
