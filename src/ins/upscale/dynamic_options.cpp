// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/dynamic_options.hpp"

#include <algorithm>
#include <functional>

#include "base/deck/read_axes.hpp"

namespace karst {

void read(Reader& in, DynamicOptions& options) {
  in.changes_answers_of("dynamic_permeability", {});  // its solves are not kept
  const bool none = read_axes(in, "dynamic_permeability.axes", options.axes,
                              "directions of an oscillating driving force for which the dynamic permeability k(ω) of "
                              "creeping flow is computed, such as [\"x\"]; each must be in flow.axes; about fifteen "
                              "solves each for all frequencies; if any are named, `karst run` does this job");
  in.numbers(
      "dynamic_permeability.frequencies", options.frequencies, "Hz",
      "increasing; default: ten per decade, up to the frequency at which the viscous skin at a wall is one cell thick",
      1e-30, 1e30);
  if (in.documenting()) return;
  if (std::ranges::adjacent_find(options.frequencies, std::ranges::greater_equal{}) != options.frequencies.end())
    in.mistake("dynamic_permeability.frequencies", "must increase");
  if (none && in.given("dynamic_permeability.frequencies"))
    in.mistake("dynamic_permeability.frequencies",
               "given without dynamic_permeability.axes, which requests the job: axes = [\"x\"]");
}

}  // namespace karst
