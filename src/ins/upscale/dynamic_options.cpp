// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/dynamic_options.hpp"

#include <algorithm>
#include <functional>

#include "base/deck/read_axes.hpp"

namespace karst {

void read(Reader& in, DynamicOptions& options) {
  const bool none = read_axes(
      in, "dynamic_permeability.axes", options.axes,
      "directions of an oscillating drive for which the permeability k(ω) of creeping flow is wanted, such as [\"x\"]; "
      "each must stand in flow.axes; some fifteen solves each for all frequencies; naming any makes `karst run` do "
      "this job");
  in.numbers("dynamic_permeability.frequencies", options.frequencies, "Hz",
             "increasing; empty: ten per decade, from slow to where the skin of the flow on a wall is one cell thick",
             1e-30, 1e30);
  if (in.documenting()) return;
  if (std::ranges::adjacent_find(options.frequencies, std::ranges::greater_equal{}) != options.frequencies.end())
    in.mistake("dynamic_permeability.frequencies", "must increase");
  if (none && in.given("dynamic_permeability.frequencies"))
    in.mistake("dynamic_permeability.frequencies",
               "given without dynamic_permeability.axes, which says what is wanted: axes = [\"x\"]");
}

}  // namespace karst
