// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/dispersion_options.hpp"

#include <algorithm>
#include <functional>

#include "base/deck/read_axes.hpp"
#include "transport/volumes/usual_diffusivities.hpp"

namespace karst {

void read(Reader& in, DispersionOptions& options) {
  in.changes_answers_of("dispersion", {"dispersion"});
  in.changes_answers_of("dispersion.axes", {});  // which solves there are
  in.changes_answers_of("dispersion.peclet", {});
  const bool none = read_axes(in, "dispersion.axes", options.axes,
                              "axes of the flow for which the dispersion tensor of a periodic sample is computed, such "
                              "as [\"x\"]; each must be in flow.axes; if any are named, `karst run` does this job");
  in.numbers("dispersion.peclet", options.peclet, "-",
             "Péclet numbers, increasing: mean velocity of the fluid in the pores x dispersion.length / diffusivity; "
             "default: that of the flow of the deck. The flow is solved once",
             0.0, 1e9);
  in.number("dispersion.length", options.length, "m",
            "length of the Péclet number; 0: the mean diameter of the grains, 6 x volume of the solid / its surface",
            0.0, 1e6);
  in.number("dispersion.diffusivity", options.diffusivity, "m2/s",
            "diffusivity of the species in the free fluid; D*/D at a Péclet number does not depend on it", 1e-300,
            1e300, usual_diffusivities);
  in.flag("dispersion.transverse", options.transverse,
          "also the periodic directions transverse to the flow, one solve each; false: only along the flow");
  in.number("dispersion.tolerance", options.tolerance, "-", "relative residual at which a solve ends", 1e-13, 1e-2);
  in.integer("dispersion.max_iterations", options.max_iterations, "-", "a solve that needs more is an error", 1,
             1000000);
  in.changes_answers_of("dispersion.estimate_error", {});
  in.flag("dispersion.estimate_error", options.estimate_error,
          "also solves flow and dispersion on cells twice and three times as wide (a sixth of the work), where these "
          "fill the domain, to estimate the discretisation error of the dispersion coefficients and to extrapolate "
          "them to zero cell width; where these grids disagree, also on cells 1.5 times as wide");
  if (std::ranges::adjacent_find(options.peclet, std::ranges::greater_equal{}) != options.peclet.end())
    in.mistake("dispersion.peclet", "must increase: each solve starts from the previous solution");
  if (none)
    in.refuse({"dispersion.peclet", "dispersion.length", "dispersion.diffusivity", "dispersion.transverse",
               "dispersion.tolerance", "dispersion.max_iterations", "dispersion.estimate_error"},
              "given without dispersion.axes, which requests the job: axes = [\"x\"]");
}

}  // namespace karst
